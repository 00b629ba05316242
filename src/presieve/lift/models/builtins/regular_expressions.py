# SPDX-License-Identifier: Apache-2.0
"""Trusted. Regular expressions: whether a pattern matches a text, its groups, and replacements.

The position of a match is not modelled, nor a group that may take no part in it. Source: the Python
library reference, ``re``.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from presieve.ir.ops import app, negate
from presieve.ir.sorts import INT, STRING
from presieve.ir.terms import Op, Term, int_lit, string_lit
from presieve.lift.execution.state import Flow, ModelCall, SymbolicMachine
from presieve.lift.models.registry import function, method
from presieve.lift.values.symbolic import Known, Scalar, TupleV, Value, constant_of
from presieve.lift.values.text_parts import FindingsV, MatchV
from presieve.semantics import pattern_prefixes
from presieve.semantics.function_meanings import compile_pattern
from presieve.semantics.preimages import of_arguments
from presieve.semantics.smart_constructors import (
    apply_function,
    group_of_match,
    matches_pattern,
    substitute_matches,
)

_FLAGS = int(re.IGNORECASE | re.MULTILINE | re.DOTALL | re.VERBOSE | re.ASCII | re.UNICODE)


def _compiled_pattern(_: ModelCall, owner: Value) -> Known | None:
    is_pattern = isinstance(owner, Known) and type(owner.target) is re.Pattern
    return owner if isinstance(owner, Known) and is_pattern else None


@method(Known, "match", "search", "fullmatch", arguments=1, owner=_compiled_pattern)
def match_pattern(call: ModelCall, owner: Known) -> Value | None:
    """``PATTERN.match(text)``, ``search`` and ``fullmatch``: of a compiled one."""
    pattern = _source(owner)
    return None if pattern is None else _match(call, *pattern, call.args[0])


@function("re.match", "re.search", "re.fullmatch", arguments=2)
def match_text(call: ModelCall) -> Value | None:
    """``re.match(pattern, text)``, ``search`` and ``fullmatch``, with a constant pattern."""
    pattern = constant_of(call.args[0], STRING)
    return None if pattern is None else _match(call, str(pattern), 0, call.args[1])


@method(Known, "sub", arguments=2, owner=_compiled_pattern)
def substitute_compiled(call: ModelCall, owner: Known) -> Value | None:
    """``PATTERN.sub(by, text)`` of a compiled pattern and a constant text."""
    pattern = _source(owner)
    return None if pattern is None else _substitute(call, *pattern, *call.args)


@function("re.sub", arguments=3)
def substitute_text(call: ModelCall) -> Value | None:
    """``re.sub(pattern, by, text)`` with constants for the pattern and what replaces it."""
    pattern = constant_of(call.args[0], STRING)
    return None if pattern is None else _substitute(call, str(pattern), 0, *call.args[1:])


@method(Known, "findall", arguments=1, owner=_compiled_pattern)
def find_all_compiled(call: ModelCall, owner: Known) -> Value | None:
    """``PATTERN.findall(text)`` of a compiled pattern with at most one group."""
    pattern = _source(owner)
    return None if pattern is None else _find_all(call, *pattern, call.args[0])


@function("re.findall", arguments=2)
def find_all_in_text(call: ModelCall) -> Value | None:
    """``re.findall(pattern, text)`` with a constant pattern that has at most one group."""
    pattern = constant_of(call.args[0], STRING)
    return None if pattern is None else _find_all(call, str(pattern), 0, call.args[1])


@method(MatchV, "group", arguments=range(2))
def group_of(call: ModelCall, match: MatchV) -> Value | None:
    """``match.group(i)`` of a group that takes part in every match, also by its name."""
    return take_group(call.m, call.flow, match, call.args[0] if call.args else None)


@method(MatchV, "groups", arguments=0)
def groups_of(call: ModelCall, match: MatchV) -> Value | None:
    """``match.groups()``, if all groups take part in every match."""
    numbers = range(1, compile_pattern(match.pattern, match.flags).groups + 1)
    if not all(pattern_prefixes.takes_part(match.pattern, match.flags, n) for n in numbers):
        return None
    call.m.fail(call.flow, negate(match.there), AttributeError)
    return TupleV(tuple(_group(match, n) for n in numbers))


def take_group(m: SymbolicMachine, flow: Flow, match: MatchV, key: Value | None) -> Scalar | None:
    """Evaluate ``match.group(key)`` and ``match[key]``; AttributeError if nothing matches."""
    number = 0 if key is None else constant_of(key, INT, STRING)
    if isinstance(number, str):
        number = compile_pattern(match.pattern, match.flags).groupindex.get(number)
    if type(number) is not int or not pattern_prefixes.takes_part(
        match.pattern, match.flags, number
    ):
        return None
    m.fail(flow, negate(match.there), AttributeError)
    return _group(match, number)


def _group(match: MatchV, number: int) -> Scalar:
    return Scalar(group_of_match(match.text, match.pattern, match.flags, match.method, number))


def finding_at(m: SymbolicMachine, flow: Flow, findings: FindingsV, key: Value) -> Scalar | None:
    """Evaluate ``findings[0]``; IndexError if there is none."""
    if constant_of(key, INT) != 0:
        return None
    m.fail(flow, negate(has_match(findings)), IndexError)
    match = MatchV(has_match(findings), *_pattern_of(findings), "search")
    return _group(match, findings.group)


def has_match(findings: FindingsV) -> Term:
    """Return whether there is a match."""
    text, pattern, flags = _pattern_of(findings)
    return matches_pattern(text, pattern_prefixes.anywhere(pattern), flags)


def count_findings(findings: FindingsV) -> Term:
    """Return the number of matches."""
    text, pattern, flags = _pattern_of(findings)
    return apply_function(Op.TEXT_FOUND, text, string_lit(pattern), int_lit(flags))


def _pattern_of(findings: FindingsV) -> tuple[Term, str, int]:
    return findings.text, findings.pattern, findings.flags


class GroupsFound(NamedTuple):
    """Whether a pattern matches anywhere in a text, and then what its groups match, each with its
    name if it has one.
    """

    there: Term
    names: tuple[str | None, ...]
    terms: tuple[Term, ...]


def find_groups(call: ModelCall, pattern: Value, text: Term) -> GroupsFound | None:
    """Return the groups of a constant pattern, if there are some and all of them take part in each
    match; None for other patterns.
    """
    source = _constant_source(call, pattern, text)
    there = None if source is None else matches("search", *source, text)
    if source is None or there is None:
        return None
    compiled = compile_pattern(*source)
    numbers = range(1, compiled.groups + 1)
    if not numbers or not all(pattern_prefixes.takes_part(*source, n) for n in numbers):
        return None
    names = {number: name for name, number in compiled.groupindex.items()}
    match = MatchV(there, text, *source, "search")
    terms = tuple(_group(match, n).term for n in numbers)
    return GroupsFound(there, tuple(map(names.get, numbers)), terms)


def substitute_in(call: ModelCall, pattern: Value, by: Value, text: Term) -> Term | None:
    """Return a text in which all matches of a constant pattern are replaced; None for others."""
    source = _constant_source(call, pattern, text)
    value = None if source is None else _substitute(call, *source, by, Scalar(text))
    return value.term if isinstance(value, Scalar) else None


def count_in(call: ModelCall, pattern: Value, text: Term) -> Term | None:
    """Return how often a constant pattern matches in a text; None for other patterns."""
    source = _constant_source(call, pattern, text)
    return None if source is None else count_findings(FindingsV(text, *source))


def _constant_source(call: ModelCall, pattern: Value, text: Term) -> tuple[str, int] | None:
    """Return a constant pattern, perhaps a compiled one, and its flags; None if it is none, or is
    not supported.
    """
    if isinstance(pattern, Known) and type(pattern.target) is re.Pattern:
        source = _source(pattern)
    else:
        constant = constant_of(pattern, STRING)
        source = None if constant is None else (str(constant), 0)
    if source is None or source[1] & ~_FLAGS:
        return None
    return None if _subject(call, *source, Scalar(text)) is None else source


def words_of(text: Term) -> FindingsV:
    """Return what ``text.split()`` gives: white space is the same for both."""
    return FindingsV(text, r"\S+", 0)


def _source(owner: Known) -> tuple[str, int] | None:
    pattern = owner.target
    assert isinstance(pattern, re.Pattern)
    if not isinstance(pattern.pattern, str):
        return None
    return pattern.pattern, pattern.flags & ~int(re.UNICODE)


def _subject(call: ModelCall, pattern: str, flags: int, text: Value) -> Term | None:
    """Return the text that a pattern is applied to; None unless both are supported."""
    value = call.m.force(text, call.flow)
    if not isinstance(value, Scalar) or value.base != STRING:
        return None
    for form in (pattern, pattern_prefixes.anywhere(pattern), pattern_prefixes.to_the_end(pattern)):
        try:
            compile_pattern(form, flags)
        except (re.error, ValueError):
            return None
    return call.m.scalar(call.flow, value).term


def _match(call: ModelCall, pattern: str, flags: int, text: Value) -> Value | None:
    term = _subject(call, pattern, flags, text)
    if term is None:
        return None
    there = matches(call.name, pattern, flags, term)
    return None if there is None else MatchV(there, term, pattern, flags, call.name)


def matches(how: str, pattern: str, flags: int, text: Term) -> Term | None:
    """Return whether a pattern fits a text, by the function ``how`` of ``re``: ``match``,
    ``search`` or ``fullmatch``. None if the pattern is not supported.
    """
    if flags & ~_FLAGS:
        return None
    whole = {"search": pattern_prefixes.anywhere, "fullmatch": pattern_prefixes.to_the_end}
    tested = whole.get(how, str)(pattern)
    try:
        for form in (pattern, tested):
            compile_pattern(form, flags)
    except (re.error, ValueError):
        return None
    return matches_pattern(text, tested, flags & ~int(re.UNICODE))


def _substitute(call: ModelCall, pattern: str, flags: int, by: Value, text: Value) -> Value | None:
    replacement, term = constant_of(by, STRING), _subject(call, pattern, flags, text)
    if replacement is None or term is None:
        return None
    try:
        compile_pattern(pattern, flags).sub(str(replacement), "")
    except (re.error, IndexError):
        return None
    return Scalar(substitute_matches(term, pattern, flags, str(replacement)))


def _find_all(call: ModelCall, pattern: str, flags: int, text: Value) -> Value | None:
    term = _subject(call, pattern, flags, text)
    if term is None:
        return None
    groups = compile_pattern(pattern, flags).groups
    if groups > 1 or not pattern_prefixes.takes_part(pattern, flags, groups):
        return None
    return FindingsV(term, pattern, flags, groups)


def word_at(m: SymbolicMachine, flow: Flow, findings: FindingsV, place: int) -> Scalar | None:
    """Evaluate ``text.split()[place]``; IndexError if there are fewer words."""
    word = find_word(findings, place)
    if word is None:
        return None
    m.fail(flow, word[1], IndexError)
    return Scalar(word[0])


def find_word(findings: FindingsV, place: int) -> tuple[Term, Term] | None:
    """Return a word of a text, and whether the text has no such word; None for other findings."""
    if findings != words_of(findings.text):
        return None
    least = place + 1 if place >= 0 else -place
    number = count_findings(findings)
    lacks = of_arguments(app(Op.PY_LT, number, int_lit(least)))
    if place >= 0:
        pattern = rf"(?:\S+\s+){{{place}}}(\S+)" if place else r"(\S+)"
    else:
        pattern = rf"(\S+)(?:\s+\S+){{{least - 1}}}\s*\Z"
    return _group(MatchV(number, findings.text, pattern, 0, "search"), 1).term, lacks


@function("re.compile", arguments=range(1, 3))
def compile_constant(call: ModelCall) -> Known | None:
    """``re.compile(pattern, flags)`` of a constant pattern."""
    pattern = constant_of(call.args[0], STRING)
    flags = call.args[1] if len(call.args) == 2 else Known("0", re.RegexFlag(0))
    is_flag = isinstance(flags, Known) and isinstance(flags.target, re.RegexFlag)
    if not isinstance(pattern, str) or not isinstance(flags, Known) or not is_flag:
        return None
    try:
        compiled = re.compile(pattern, flags.target)  # type: ignore[call-overload]
    except re.error:
        return None
    return Known(repr(pattern), compiled)
