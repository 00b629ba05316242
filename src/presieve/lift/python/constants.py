# SPDX-License-Identifier: Apache-2.0
"""Trusted. The constants that functions find in their modules: which are the same, which can be
changed in place, and the constants of Python's own modules.
"""

from __future__ import annotations

import datetime as dt
import decimal
import re
import string
import sys
from collections.abc import Mapping

NUMBER_TYPES = (bool, int, float)
SET_TYPES = (set, frozenset)
PLAIN_TYPES = (
    *(*NUMBER_TYPES, str, bytes, type(None), tuple, list, dict, *SET_TYPES, range),
    *(dt.date, dt.datetime, dt.time, dt.timedelta, decimal.Decimal, re.RegexFlag),
)
"""Types of constants: their operators and methods run no code of the program."""

_OF_FLOATS = {"inf": float("inf"), "nan": float("nan"), "pi": 3.141592653589793}
NUMBERS: Mapping[str, int | float] = {
    **_OF_FLOATS,
    "e": 2.718281828459045,
    "tau": 6.283185307179586,
    "MINYEAR": 1,
    "MAXYEAR": 9999,
    "maxsize": 2**63 - 1,
}
"""The numbers of library modules, which a driver may have changed in its own copy."""
_TEXTS = {n: v for n, v in vars(string).items() if type(v) is str and not n.startswith("_")}
_FLAGS = (
    *("A", "I", "M", "S", "U", "X"),
    *("ASCII", "IGNORECASE", "MULTILINE", "DOTALL", "UNICODE", "VERBOSE"),
)
LIBRARY_CONSTANTS: Mapping[str, Mapping[str, object]] = {
    **dict.fromkeys(("math", "numpy", "sys", "datetime"), NUMBERS),
    "string": _TEXTS,
    "re": {name: re.RegexFlag[name] for name in _FLAGS},
}
"""The constants of library modules by the names of the modules."""


def same(a: object, b: object) -> bool:
    """Return whether two constants are the same in everything but identity."""
    if type(a) is not type(b):
        return False
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict) and isinstance(b, dict):
        return same(list(a.items()), list(b.items()))
    if isinstance(a, set | frozenset) and isinstance(b, set | frozenset):
        return _members(a) == _members(b)
    if isinstance(a, re.Pattern) and isinstance(b, re.Pattern):  # whose texts repr cuts
        return same(a.pattern, b.pattern) and a.flags == b.flags
    return repr(a) == repr(b)


def is_calendar(value: object) -> bool:
    """Return whether this is, by identity, a class of dates and times that are constants."""
    timestamp = getattr(sys.modules.get("pandas"), "Timestamp", None)
    calendar_classes = (dt.date, dt.datetime, *((timestamp,) if timestamp is not None else ()))
    return any(value is k for k in calendar_classes)


def is_duration(value: object) -> bool:
    """Return whether this is, by identity, a class of durations, whose arguments decide them."""
    timedelta = getattr(sys.modules.get("pandas"), "Timedelta", None)
    return value is dt.timedelta or (timedelta is not None and value is timedelta)


def is_mutable(value: object) -> bool:
    """Return whether the constant can be changed in place."""
    return isinstance(value, list | dict | set)


def holds_mutable(value: object) -> bool:
    """Return whether something that the constant holds can be changed in place."""
    match value:
        case list() | tuple():
            inside = list(value)
        case dict():
            inside = list(value.values())
        case _:
            return False
    return any(is_mutable(v) or holds_mutable(v) for v in inside)


def _members(values: set[object] | frozenset[object]) -> list[tuple[str, str]]:
    return sorted((repr(v), type(v).__name__) for v in values)
