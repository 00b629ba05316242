# SPDX-License-Identifier: Apache-2.0
r"""Trusted. Regular expressions of Python in a plain form, and in the syntax of Java, which Spark
takes.

For ``RLIKE`` only whether a text matches counts, so groups only group. For ``regexp_replace`` and
``regexp_extract`` it counts what a match and its groups are: Python and Java try the same ways in
the same order. The plain form has no flags: letters whose case is ignored are sets. Java means the
same by all of it but ``.``, ``$``, ``\Z``, ``\d`` and ``\s``, which are written anew: its ``.``
leaves out more line ends, and its classes have fewer characters. There is no plain form of ``\w``
(its characters depend on the version of Unicode, and are too many to list), of boundaries of words,
references to groups and what looks back, nor of groups that are repeated and may be empty, or that
are repeated without a limit, for which Java's stack may be too small; it is not where each
repetition has the same length (``Pattern.GroupCurly``). Sources: ``re/_parser.py``;
``java.util.regex.Pattern``, ``Matcher.appendReplacement``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from presieve.semantics.pattern_prefixes import CODES, parse

_MOST_REPEATED = 100
"""How often groups may be repeated inside of each other: Java's stack grows with it."""
_LONGEST = 5_000
_ANYTHING = r"[\s\S]"
_ANYWHERE = f"{_ANYTHING}*"
_CASELESS = {"i": "\u0130\u0131", "s": "\u017f", "k": "\u212a"}
"""Characters outside of ASCII that equal a letter where case is ignored."""
_ERRORS = (re.error, RecursionError, OverflowError)

_Ranges = Sequence[tuple[int, int]]


class _NoPlainFormError(Exception):
    """The pattern has a part that is not written in the plain form."""


@cache
def plain_pattern(pattern: str, flags: int) -> str | None:
    """Return a pattern without flags that matches the same texts at their beginning; None if there
    is none.
    """
    try:
        form = _write(pattern, flags, _Form())
        while form.startswith(("^", f"{_ANYWHERE}^")):
            form = form.removeprefix(_ANYWHERE)[1:]
        is_stable = _write(form, 0, _Form()) == form
    except (_NoPlainFormError, *_ERRORS):
        return None
    return form if is_stable and len(form) <= _LONGEST else None


def simplified(pattern: str, flags: int) -> tuple[str, int]:
    """Return a pattern and its flags in the plain form, or as they are where there is none."""
    plain = plain_pattern(pattern, flags)
    return (pattern, flags) if plain is None else (plain, 0)


@cache
def java_pattern(plain: str) -> str | None:
    """Return the pattern for Java that is found in the texts which the plain one matches; None if
    the pattern is not in the plain form.
    """
    if plain_pattern(plain, 0) != plain:
        return None
    if plain.startswith(_ANYWHERE):
        return _write(plain.removeprefix(_ANYWHERE), 0, _JavaForm())
    return f"^(?:{_write(plain, 0, _JavaForm())})"


@cache
def python_pattern(java: str) -> str | None:
    """Return the plain pattern that a pattern for Java stands for; None if there is none."""
    is_anchored = java.startswith("^(?:") and java.endswith(")")
    plain = _read_java(java[len("^(?:") : -1] if is_anchored else _ANYWHERE + java)
    return plain if java_pattern(plain) == java else None


def _read_java(java: str) -> str:
    for short, member in _RARE.items():
        if member in java:
            java = java.replace(_members(short), short)
    for short, written in _WRITTEN_ANEW.items():
        java = java.replace(written, short)
    return java


# --- matches and their groups ---------------------------------------------------------------------


@cache
def plain_matcher(pattern: str, flags: int, method: str = "search") -> str | None:
    """Return a pattern without flags of which ``search`` finds the matches, with the same groups,
    that ``method`` of ``re`` finds of ``pattern``; None if there is none.
    """
    try:
        form = _write(pattern, flags, _MatchForm())
        if method in ("match", "fullmatch"):
            form = f"^{form}{_Form.end_of_text if method == 'fullmatch' else ''}"
        is_stable = _write(form, 0, _MatchForm()) == form
    except (_NoPlainFormError, *_ERRORS):
        return None
    return form if is_stable and len(form) <= _LONGEST else None


@cache
def java_matcher(plain: str) -> str | None:
    """Return the pattern for Java that has the matches and groups of a plain one; None if the
    pattern is not in the plain form.
    """
    return _write(plain, 0, _JavaMatchForm()) if plain_matcher(plain, 0) == plain else None


@cache
def python_matcher(java: str) -> str | None:
    """Return the plain pattern that has the matches and groups of a pattern for Java; None if there
    is none.
    """
    plain = _read_java(java)
    return plain if java_matcher(plain) == java else None


_REPLACEMENT = re.compile(r"(?:[^\\]|\\[1-9](?![0-9]))*")


def java_replacement(by: str) -> str | None:
    r"""Return what Java calls a replacement with references like ``\1``; None if it has others."""
    if not _REPLACEMENT.fullmatch(by):
        return None
    return re.sub(r"\\([1-9])", r"$\1", by.replace("$", r"\$"))


def python_replacement(java: str) -> str | None:
    """Return what Python calls a replacement for Java; None if it is none of ours."""
    by = re.sub(r"(?<!\\)\$([1-9])", r"\\\1", java).replace(r"\$", "$")
    return by if java_replacement(by) == java else None


def _write(pattern: str, flags: int, form: _Form) -> str:
    parsed = parse(pattern, flags)
    return form.sequence(parsed, parsed.state.flags)


class _Form:
    """Writes what Python's parser reads, in the plain form."""

    any_but_line_end = "."
    end_of_text = r"\Z"
    end = "$"

    def __init__(self) -> None:
        self._times = 1
        """How often the groups around a part are repeated at most."""

    def sequence(self, items: Any, flags: int) -> str:
        return "".join(self.part(op, argument, flags) for op, argument in items)

    def part(self, op: Any, argument: Any, flags: int) -> str:
        if op is CODES.LITERAL:
            return self.characters([(argument, argument)], flags)
        if op is CODES.NOT_LITERAL:
            return self.characters([(argument, argument)], flags, is_negated=True)
        if op is CODES.IN:
            return self.one_of(argument, flags)
        if op is CODES.ANY:
            return _ANYTHING if flags & re.DOTALL else self.any_but_line_end
        if op is CODES.AT:
            return self.place(argument, flags)
        if op is CODES.BRANCH:
            return f"(?:{'|'.join(self.sequence(branch, flags) for branch in argument[1])})"
        if op is CODES.SUBPATTERN:
            _, added, removed, inner = argument
            return self.sequence(inner, (flags | added) & ~removed)
        if op in (CODES.MAX_REPEAT, CODES.MIN_REPEAT):
            least, most, inner = argument
            return self.repeat(least, most, inner, flags)
        if op in (CODES.ASSERT, CODES.ASSERT_NOT) and argument[0] == 1:
            sign = "=" if op is CODES.ASSERT else "!"
            return f"(?{sign}{self.sequence(argument[1], flags)})"
        raise _NoPlainFormError

    def place(self, argument: Any, flags: int) -> str:
        if argument is CODES.AT_BEGINNING_STRING:
            return "^"
        if argument is CODES.AT_END_STRING:
            return self.end_of_text
        if argument is CODES.AT_BEGINNING and not flags & re.MULTILINE:
            return "^"
        if argument is CODES.AT_END and not flags & re.MULTILINE:
            return self.end
        raise _NoPlainFormError

    def repeat(self, least: int, most: Any, items: Any, flags: int) -> str:
        while len(items) == 1 and items[0][0] is CODES.SUBPATTERN:
            _, added, removed, items = items[0][1]
            flags = (flags | added) & ~removed
        is_unlimited = most is CODES.MAXREPEAT
        if len(items) == 1 and items[0][0] in _SINGLE:
            inner = self.sequence(items, flags)
        else:
            if most > 1 and not items.getwidth()[0]:
                raise _NoPlainFormError  # Java ends with an empty round, also one too few
            inner = self.group(_depth_of(most, items, flags), items, flags)
        if is_unlimited and least < 2:
            return inner + "*+"[least]
        limits = str(least) if most == least else f"{least},{'' if is_unlimited else most}"
        return f"{inner}{{{limits}}}"

    def group(self, most: int, items: Any, flags: int) -> str:
        """Write a group that is repeated at most so often."""
        before, self._times = self._times, self._times * max(most, 1)
        if self._times > _MOST_REPEATED:
            raise _NoPlainFormError
        inner = self.sequence(items, flags)
        self._times = before
        is_grouped = len(items) == 1 and items[0][0] is CODES.BRANCH
        return inner if is_grouped else f"(?:{inner})"

    def one_of(self, items: Any, flags: int) -> str:
        """Write a set of characters."""
        is_negated = bool(items) and items[0][0] is CODES.NEGATE
        members = items[1:] if is_negated else items
        categories = [argument for op, argument in members if op is CODES.CATEGORY]
        if {CODES.CATEGORY_SPACE, CODES.CATEGORY_NOT_SPACE} == set(categories) and not is_negated:
            return _ANYTHING
        if len(members) == 1 and categories and categories[0] in _OPPOSITES:
            members, is_negated = [(CODES.CATEGORY, _OPPOSITES[categories[0]])], not is_negated
        ranges: list[tuple[int, int]] = []
        short: set[str] = set()
        for op, argument in members:
            if op in (CODES.LITERAL, CODES.RANGE):
                ranges.append(argument if op is CODES.RANGE else (argument, argument))
            elif argument not in _IN_ASCII:
                raise _NoPlainFormError
            elif flags & re.ASCII:
                ranges += _IN_ASCII[argument]
            elif argument in _SHORT:
                short.add(_SHORT[argument])
            else:
                raise _NoPlainFormError
        return self.characters(ranges, flags, short, is_negated=is_negated)

    def characters(
        self,
        ranges: _Ranges,
        flags: int,
        short: Sequence[str] | set[str] = (),
        *,
        is_negated: bool = False,
    ) -> str:
        """Write ranges of characters, and classes by their names, as a set."""
        cased = sorted({r for low, high in ranges for r in _with_case(low, high, flags)})
        texts = [_escape(low) + (f"-{_escape(high)}" if high > low else "") for low, high in cased]
        texts += map(self.class_of, sorted(short))
        if len(cased) == 1 and cased[0][0] == cased[0][1] and not short and not is_negated:
            return texts[0]
        return f"[{'^' if is_negated else ''}{''.join(texts)}]"

    def class_of(self, name: str) -> str:
        return name


def _depth_of(most: Any, items: Any, flags: int) -> int:
    """How deep Java's stack gets, in groups, where a group is repeated so often."""
    if most is not CODES.MAXREPEAT:
        return int(most)
    return 1 if all(_has_one_length(op, of, flags) for op, of in items) else _MOST_REPEATED + 1


def _has_one_length(op: Any, argument: Any, flags: int) -> bool:
    """Whether a part has the same number of UTF-16 units in all texts that it matches."""
    if op is CODES.LITERAL:
        return bool(argument <= _LAST_OF_ONE_UNIT)
    if op is CODES.IN:
        return all(
            (of is CODES.LITERAL and member <= _LAST_OF_ONE_UNIT)
            or (of is CODES.RANGE and member[1] <= _LAST_OF_ONE_UNIT)
            or (of is CODES.CATEGORY and flags & re.ASCII and member in _IN_ASCII)
            for of, member in argument
        )
    if op is CODES.MAX_REPEAT:
        least, most, items = argument
        return least == most and all(_has_one_length(inner, of, flags) for inner, of in items)
    return False


_LAST_OF_ONE_UNIT = 0xFFFF


class _MatchForm(_Form):
    """Writes the plain form of a pattern whose matches count, and their groups."""

    def part(self, op: Any, argument: Any, flags: int) -> str:
        if op is CODES.SUBPATTERN and argument[0] is not None:
            if self._times > 1:
                raise _NoPlainFormError
            return f"({super().part(op, argument, flags)})"
        if op is CODES.MIN_REPEAT:
            least, most, inner = argument
            is_once = least == most == 1 and _has_groups(inner)
            return super().part(op, argument, flags) + ("" if is_once else "?")
        if op in (CODES.ASSERT, CODES.ASSERT_NOT) and _has_groups(argument[1]):
            raise _NoPlainFormError
        return super().part(op, argument, flags)

    def repeat(self, least: int, most: Any, items: Any, flags: int) -> str:
        if not _has_groups(items):
            return super().repeat(least, most, items, flags)
        if most != 1:
            raise _NoPlainFormError
        return self.sequence(items, flags) if least else f"{self.group(1, items, flags)}?"


def _has_groups(items: Any) -> bool:
    """Whether there is a group with a number among parts of a pattern, or inside of them."""
    return any(_is_or_has_group(op, argument) for op, argument in items)


def _is_or_has_group(op: Any, argument: Any) -> bool:
    if op is CODES.SUBPATTERN:
        return argument[0] is not None or _has_groups(argument[3])
    if op is CODES.BRANCH:
        return any(map(_has_groups, argument[1]))
    if op in (CODES.MAX_REPEAT, CODES.MIN_REPEAT):
        return _has_groups(argument[2])
    return op in (CODES.ASSERT, CODES.ASSERT_NOT) and _has_groups(argument[1])


class _JavaForm(_Form):
    """Writes the plain form for Java."""

    any_but_line_end = r"[^\n]"
    end_of_text = r"\z"
    end = r"(?=\n?\z)"

    def class_of(self, name: str) -> str:
        return _members(name)


class _JavaMatchForm(_MatchForm, _JavaForm):
    """Writes the plain form of a pattern whose matches count for Java."""


_WRITTEN_ANEW = {
    _Form.any_but_line_end: _JavaForm.any_but_line_end,
    _Form.end: _JavaForm.end,
    _Form.end_of_text: _JavaForm.end_of_text,
}
"""How Java is written parts of the plain form, besides classes."""


@cache
def _members(name: str) -> str:
    """Return the ranges of the characters of a class, as Python has it."""
    of_class = re.compile(name)
    ranges: list[tuple[int, int]] = []
    for match in of_class.finditer("".join(map(chr, range(sys.maxunicode + 1)))):
        code = match.start()
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1] = (ranges[-1][0], code)
        else:
            ranges.append((code, code))
    return "".join(_escape(a) + (f"-{_escape(b)}" if b > a else "") for a, b in ranges)


_SINGLE = (CODES.LITERAL, CODES.NOT_LITERAL, CODES.ANY, CODES.IN)
"""Parts that match one character."""
_OPPOSITES = {
    CODES.CATEGORY_NOT_DIGIT: CODES.CATEGORY_DIGIT,
    CODES.CATEGORY_NOT_SPACE: CODES.CATEGORY_SPACE,
    CODES.CATEGORY_NOT_WORD: CODES.CATEGORY_WORD,
}
_SHORT = {CODES.CATEGORY_DIGIT: r"\d", CODES.CATEGORY_SPACE: r"\s"}
_RARE = {r"\d": "\u0660", r"\s": r"\u2028"}
"""How one member of each class is written: without it, the members need not be listed, which takes
a tenth of a second.
"""
_IN_ASCII: dict[Any, _Ranges] = {
    CODES.CATEGORY_DIGIT: ((48, 57),),
    CODES.CATEGORY_SPACE: ((9, 13), (32, 32)),
    CODES.CATEGORY_WORD: ((48, 57), (65, 90), (95, 95), (97, 122)),
}


def _with_case(low: int, high: int, flags: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of the characters that are equal to those of a range under these flags."""
    yield low, high
    if not flags & re.IGNORECASE:
        return
    if high > 127:
        raise _NoPlainFormError
    for start, end, shift in ((65, 90, 32), (97, 122, -32)):
        first, last = max(low, start), min(high, end)
        if first > last:
            continue
        yield first + shift, last + shift
        if not flags & re.ASCII:
            letters = (chr(code).lower() for code in range(first, last + 1))
            yield from ((ord(c), ord(c)) for a in letters for c in _CASELESS.get(a, ""))


def _escape(code: int) -> str:
    if 0xD800 <= code < 0xE000:
        raise _NoPlainFormError
    if code < 32 or code == 127:
        return f"\\x{code:02x}"
    character = chr(code)
    if not character.isprintable():
        if code > 0xFFFF:
            raise _NoPlainFormError
        return f"\\u{code:04x}"
    is_plain = code > 127 or character.isalnum() or character == "_"
    return character if is_plain else f"\\{character}"
