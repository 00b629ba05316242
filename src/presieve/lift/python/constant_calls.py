# SPDX-License-Identifier: Apache-2.0
"""Trusted. Functions and methods that constants of a module are computed with: their results depend
on their arguments alone, they change nothing, and run no code of the program.
"""

from __future__ import annotations

import ast
import datetime as dt
import decimal
import re
from collections.abc import Callable, Mapping, Sequence
from string import Formatter

from msgspec import Struct

from presieve.lift.python.bindings import UndecidedSignal
from presieve.lift.python.constants import (
    NUMBER_TYPES,
    PLAIN_TYPES,
    SET_TYPES,
    is_calendar,
    is_duration,
)

_NONE: dict[int, int] = {}
_VIEWS = (type(_NONE.items()), type(_NONE.keys()), type(_NONE.values()))
_REVERSED = (type(reversed([0])), type(reversed(_NONE)), type(reversed(range(0))))
ITERATED = (
    *(str, bytes, tuple, list, dict, range, *SET_TYPES),
    *(enumerate, zip, reversed, *_VIEWS, *_REVERSED),
)
"""Types whose iteration runs no code of the program."""
_PRINTED = (*NUMBER_TYPES, str, dt.date)
"""Types whose texts the value alone decides."""
_ORDERLESS = (str, int, bool, bytes, dt.date)
"""Types of which equal values cannot be told apart."""
_WIDEST = 1_000

_FUNCTIONS: tuple[Callable[..., object], ...] = (
    *(frozenset, set, tuple, list, dict, float, int, bool, range, abs, round, min, max, sum),
    *(len, sorted, any, all, chr, ord, enumerate, zip, reversed),
)
_OF_UNORDERED: tuple[Callable[..., object], ...] = (frozenset, set, len, bool, sorted, any, all)
"""Functions whose result does not depend on the order of what they are given."""
_OF_SETS = frozenset(("union", "intersection", "difference", "symmetric_difference", "copy"))
_METHODS: Mapping[type, frozenset[str]] = {
    str: frozenset(
        (
            *("lower", "upper", "title", "capitalize", "casefold", "strip", "lstrip", "rstrip"),
            *("split", "rsplit", "splitlines", "replace", "removeprefix", "removesuffix"),
            *("startswith", "endswith", "count", "find", "rfind", "encode"),
        )
    ),
    dict: frozenset(("get", "items", "keys", "values", "copy")),
    set: _OF_SETS,
    frozenset: _OF_SETS,
    list: frozenset(("index", "count", "copy")),
    tuple: frozenset(("index", "count")),
}


class Unordered(Struct, frozen=True):
    """What an expression yields in an order that depends on the process."""

    items: tuple[object, ...]


def is_orderless(items: Sequence[object]) -> bool:
    """Return whether a set of these items, and their sorted list, are the same in any order."""
    kinds = {type(item) for item in items}
    return len(kinds) <= 1 and kinds <= set(_ORDERLESS)


def check_printed(node: ast.expr, value: object, form: str) -> None:
    """Check that the text of a value in this form is short, and depends on nothing else."""
    widths = re.findall(r"\d+", form)
    if type(value) not in _PRINTED or any(int(width) > _WIDEST for width in widths):
        raise decline_undecided(node)


def decline_undecided(node: ast.expr) -> UndecidedSignal:
    """Return the signal that an expression is no constant."""
    return UndecidedSignal(f"it is {ast.unparse(node)}, which is not a constant expression")


def call_function(
    node: ast.Call, function: object, values: Sequence[object], named: Mapping[str, object]
) -> object:
    """Call a function or a class. Raises :class:`UndecidedSignal` for others, and what the call
    raises.
    """
    if function is str and len(values) == 1 and not named:
        check_printed(node, values[0], "")
        return str(values[0])
    if any(function is f for f in _FUNCTIONS):
        return _call_builtin(node, function, values, named)
    if any(type(v) not in PLAIN_TYPES for v in values):
        raise decline_undecided(node)
    if is_duration(function) or function is re.compile:
        return _make(function, *values, **named)
    if function is decimal.Decimal and not named:
        return decimal.Decimal(*values)  # type: ignore[arg-type]
    # A text may mean "now"; numbers, and texts that start like a date, do not.
    texts = [v for v in values if isinstance(v, str)]
    if is_calendar(function) and not named and all(text[:4].isdigit() for text in texts):
        return _make(function, *values)
    raise decline_undecided(node)


def _make(function: object, *arguments: object, **named: object) -> object:
    assert callable(function)
    instance: object = function(*arguments, **named)
    return instance


def _call_builtin(
    node: ast.Call, function: object, values: Sequence[object], named: Mapping[str, object]
) -> object:
    if len(values) == 1 and not named and any(function is f for f in _OF_UNORDERED):
        items = values[0].items if isinstance(values[0], Unordered) else values[0]
        if type(items) in SET_TYPES or isinstance(values[0], Unordered):
            if function is sorted and not is_orderless(tuple(items)):  # type: ignore[arg-type]
                raise decline_undecided(node)
            return _make(function, items)
    for value in values:
        shows_order = type(value) in SET_TYPES and len(value) > 1  # type: ignore[arg-type]
        if shows_order or type(value) not in (*PLAIN_TYPES, *ITERATED):
            raise decline_undecided(node)
        if type(value) is range and len(value) > _WIDEST:
            raise decline_undecided(node)
    return _make(function, *values, **named)


def call_method(
    node: ast.Call, owner: object, values: Sequence[object], named: Mapping[str, object]
) -> object:
    """Call a method of a constant, or of a class. Raises as :func:`call_function`."""
    assert isinstance(node.func, ast.Attribute)
    name = node.func.attr
    is_of_class = owner is dict and name == "fromkeys"
    is_of_class |= is_calendar(owner) and name == "fromisoformat"
    is_of_class |= owner is str and name == "maketrans"
    if any(type(v) not in PLAIN_TYPES for v in values):
        raise decline_undecided(node)
    if is_of_class and not any(type(v) in SET_TYPES for v in values):
        return _make(getattr(owner, name), *values, **named)
    if type(owner) is str and name == "format":
        return _format(node, owner, values, named)
    if name not in _METHODS.get(type(owner), ()):
        raise decline_undecided(node)
    return _make(getattr(owner, name), *values, **named)


def _format(
    node: ast.Call, form: str, values: Sequence[object], named: Mapping[str, object]
) -> str:
    for _, field, spec, conversion in Formatter().parse(form):
        if (field and not field.isalnum()) or conversion or "{" in (spec or ""):
            raise decline_undecided(node)
        for value in (*values, *named.values()):
            check_printed(node, value, spec or "")
    return form.format(*values, **named)
