# SPDX-License-Identifier: Apache-2.0
"""Trusted. Finds a prefix or a part that every text matching a regular expression has.

Python's own parser reads the pattern. Only parts that must match count: literal characters, groups,
and repetitions that occur at least once; the first of anything else ends the run.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

_NEW = sys.version_info >= (3, 11)
CODES: Any = import_module("re._constants" if _NEW else "sre_constants")
"""The names of what the parser reads."""
parse: Any = import_module("re._parser" if _NEW else "sre_parse").parse
"""Python's own parser: takes a pattern and flags."""

_ANYWHERE = "(?s:.*?)"
_Pieces = Iterator["str | None"]


def anywhere(pattern: str) -> str:
    """The pattern that matches at the beginning of a text if this one matches anywhere in it."""
    return f"{_ANYWHERE}(?:{pattern})"


def to_the_end(pattern: str) -> str:
    """The pattern that matches if this one matches the whole text."""
    return f"(?:{pattern})\\Z"


@cache
def beginning(pattern: str, flags: int) -> str:
    """The prefix of every text that the pattern matches at its beginning."""
    prefix = ""
    for piece in _pieces(pattern, flags):
        if piece is None:
            break
        prefix += piece
    return prefix


@cache
def part(pattern: str, flags: int) -> str:
    """The longest run of characters that every matching text contains."""
    runs = [""]
    for piece in _pieces(pattern, flags):
        if piece is None:
            runs.append("")
        else:
            runs[-1] += piece
    return max(runs, key=len)


def is_text(pattern: str, flags: int) -> bool:
    """Whether the pattern matches one text only, which is its beginning."""
    return None not in list(_pieces(pattern, flags))


@cache
def takes_part(pattern: str, flags: int, group: int) -> bool:
    """Whether a group exists and takes part in every match; group 0 is the whole match."""
    return group == 0 or group in _certain_groups(parse(pattern, flags))


def _certain_groups(items: Any) -> Iterator[int]:
    """Yield the numbers of groups that every match goes through."""
    for op, argument in items:
        if op is CODES.SUBPATTERN:
            number, _, _, inner = argument
            if number is not None:
                yield number
            yield from _certain_groups(inner)
        elif op in (CODES.MAX_REPEAT, CODES.MIN_REPEAT) and argument[0] >= 1:
            yield from _certain_groups(argument[2])


@cache
def most_digits(pattern: str, flags: int, group: int) -> int | None:
    """The most digits that a group matches; None if it may match anything else, or any number."""
    parsed = parse(pattern, flags)
    inner = parsed if group == 0 else next(_groups(parsed, group), None)
    if inner is None or not _only_digits(inner):
        return None
    most = int(inner.getwidth()[1])
    return most if most <= _MOST_DIGITS else None


_MOST_DIGITS = 100


@cache
def is_number(pattern: str, flags: int, group: int, kind: str) -> bool:
    """Whether Python's ``int`` or ``float``, by ``kind``, takes all that a group matches."""
    parsed = parse(pattern, flags)
    inner = parsed if group == 0 else next(_groups(parsed, group), None)
    if inner is None or (kind == "int" and int(inner.getwidth()[1]) > _MOST_DIGITS):
        return False
    forms = _number_forms(inner)
    return forms is not None and all(_NUMBERS[kind].fullmatch(form) for form in forms)


_NUMBERS = {"int": re.compile("s?d+"), "float": re.compile(r"s?(?:d+\.?d*|\.d+)")}
"""A sign, digits and a point, as the forms of numbers have them."""
_MOST_FORMS = 100


def _number_forms(items: Any) -> set[str] | None:
    """Return the forms of what parts of a pattern match: ``s`` for a sign, ``d`` for one or more
    digits, and the point; None if they match something else, or too much.
    """
    forms = {""}
    for op, argument in items:
        of_part = _forms_of(op, argument)
        if of_part is None or len(forms) * len(of_part) > _MOST_FORMS:
            return None
        forms = {before + form for before in forms for form in of_part}
    return forms


def _forms_of(op: Any, argument: Any) -> set[str] | None:
    if op is CODES.SUBPATTERN:
        return _number_forms(argument[3])
    if op is CODES.BRANCH:
        branches = [_number_forms(branch) for branch in argument[1]]
        return None if None in branches else set().union(*(b for b in branches if b is not None))
    if op in (CODES.MAX_REPEAT, CODES.MIN_REPEAT):
        least, most, inner = argument
        if _only_digits(inner):
            forms: set[str] | None = {"d"} if inner.getwidth()[0] else None
        else:
            forms = _number_forms(inner) if most == 1 else None
        return forms if forms is None or least else {"", *forms}
    if _only_digits([(op, argument)]):
        return {"d"}
    characters = {(op, argument)} if op is CODES.LITERAL else set(argument)
    if op not in (CODES.LITERAL, CODES.IN) or not characters <= _MARKS.keys():
        return None
    return {_MARKS[c] for c in characters}


_MARKS = {(CODES.LITERAL, ord(c)): form for c, form in (("+", "s"), ("-", "s"), (".", "."))}


def _groups(items: Any, number: int) -> Iterator[Any]:
    """Yield what stands in the group of this number."""
    for op, argument in items:
        if op is CODES.SUBPATTERN and argument[0] == number:
            yield argument[3]
        elif op is CODES.SUBPATTERN:
            yield from _groups(argument[3], number)
        elif op in (CODES.MAX_REPEAT, CODES.MIN_REPEAT):
            yield from _groups(argument[2], number)


def _only_digits(items: Any) -> bool:
    for op, argument in items:
        if op is CODES.LITERAL:
            is_digit = chr(argument).isdecimal()
        elif op is CODES.IN:
            is_digit = all(_is_range_of_digits(*entry) for entry in argument)
        elif op in (CODES.MAX_REPEAT, CODES.MIN_REPEAT):
            is_digit = _only_digits(argument[2])
        else:
            is_digit = op is CODES.SUBPATTERN and _only_digits(argument[3])
        if not is_digit:
            return False
    return True


def _is_range_of_digits(op: Any, argument: Any) -> bool:
    if op is CODES.RANGE:
        return bool(argument[0] >= ord("0") and argument[1] <= ord("9"))
    if op is CODES.LITERAL:
        return chr(argument).isdecimal()
    return bool(op is CODES.CATEGORY and argument is CODES.CATEGORY_DIGIT)


def _pieces(pattern: str, flags: int) -> _Pieces:
    parsed = parse(pattern, flags)
    if parsed.state.flags & (re.IGNORECASE | re.LOCALE):
        yield None
    else:
        yield from _sequence(parsed)


def _sequence(items: Any) -> _Pieces:
    """Yield characters, and None where anything may stand."""
    for op, argument in items:
        if op is CODES.LITERAL and not 0xD800 <= argument < 0xE000:
            yield chr(argument)
        elif op is CODES.AT and argument in (CODES.AT_BEGINNING, CODES.AT_BEGINNING_STRING):
            yield from ()
        elif op is CODES.SUBPATTERN:
            _, added, _, inner = argument
            if added & re.IGNORECASE:
                yield None
            else:
                yield from _sequence(inner)
        elif op in (CODES.MAX_REPEAT, CODES.MIN_REPEAT) and argument[0] >= 1:
            yield from _sequence(argument[2])
            yield None
        else:
            yield None
