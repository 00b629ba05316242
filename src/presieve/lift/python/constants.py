# SPDX-License-Identifier: Apache-2.0
"""Trusted. Constants that a module's source computes, without running any code of the user's.

Literals, displays of constants, arithmetic on numbers, and calls of a few functions and classes
whose result depends on their arguments alone.
"""

from __future__ import annotations

import ast
import datetime as dt
import decimal
import sys
from collections.abc import Callable, Mapping, Sequence

from presieve.lift.python.bindings import UndecidedSignal

Look = Callable[[str], object]
"""Looks up a global name of the module: a constant, or an object imported from a library. A name
that the module does not bind is a builtin.
"""

_MOST = 2**128
_LONGEST = 10_000
_NUMBERS = (bool, int, float)
_BUILTINS: tuple[Callable[..., object], ...] = (
    *(frozenset, set, tuple, list, float, int, bool),
    *(abs, round, min, max, sum, len),
)
NUMBERS = {
    "inf": float("inf"),
    "nan": float("nan"),
    "pi": 3.141592653589793,
    "e": 2.718281828459045,
    "tau": 6.283185307179586,
    "MINYEAR": 1,
    "MAXYEAR": 9999,
    "maxsize": 2**63 - 1,
}
"""The constants of library modules, which a driver may have changed in its own copy."""
_MODULES = ("math", "numpy", "sys", "datetime")


def compute_constant(node: ast.expr, look: Look) -> object:
    """Compute the constant. Raises :class:`UndecidedSignal` if the source does not determine it."""
    try:
        return _evaluate(node, look)
    except (ValueError, TypeError, ArithmeticError, RecursionError) as error:
        raise _decline_undecided(node) from error


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


def _make(cls: object, *arguments: object, **parts: object) -> object:
    assert isinstance(cls, type)
    instance: object = cls(*arguments, **parts)
    return instance


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


def _decline_undecided(node: ast.expr) -> UndecidedSignal:
    return UndecidedSignal(f"it is {ast.unparse(node)}, which is not a constant expression")


def _evaluate(node: ast.expr, look: Look) -> object:
    match node:
        case ast.Constant(value):
            return value
        case ast.Name(name):
            return look(name)
        case ast.Tuple(items):
            return tuple(_evaluate(i, look) for i in items)
        case ast.List(items):
            return [_evaluate(i, look) for i in items]
        case ast.Set(items):
            return {_evaluate(i, look) for i in items}
        case ast.Dict(keys, items):
            pairs = zip(keys, items, strict=True)
            entries = [(k, i) for k, i in pairs if k is not None]
            if len(entries) == len(keys):
                return {_evaluate(k, look): _evaluate(i, look) for k, i in entries}
        case ast.UnaryOp(op, operand):
            return _apply_unary(node, op, _evaluate(operand, look))
        case ast.BinOp(left, op, right):
            return _apply_binary(node, op, _evaluate(left, look), _evaluate(right, look))
        case ast.Attribute(owner, name) if name in NUMBERS:
            if getattr(look_at(owner, look), "__name__", None) in _MODULES:
                return NUMBERS[name]
        case ast.Call(function, positional, keywords):
            values = [_evaluate(a, look) for a in positional]
            named = {k.arg: _evaluate(k.value, look) for k in keywords if k.arg is not None}
            if len(named) == len(keywords):
                return _call(node, look_at(function, look), values, named)
    raise _decline_undecided(node)


def look_at(node: ast.expr, look: Look) -> object:
    """Return a module, class or function that a library holds."""
    match node:
        case ast.Name(name):
            return look(name)
        case ast.Attribute(ast.Name(name), attribute):
            module = look(name)
            if module is dt or module is decimal or getattr(module, "__name__", "") == "pandas":
                return getattr(module, attribute, None)
    raise _decline_undecided(node)


def _apply_unary(node: ast.expr, op: ast.unaryop, value: object) -> object:
    if type(value) in _NUMBERS and isinstance(value, bool | int | float):
        match op:
            case ast.USub():
                return -value
            case ast.UAdd():
                return +value
            case ast.Not():
                return not value
    raise _decline_undecided(node)


def _apply_binary(node: ast.expr, op: ast.operator, a: object, b: object) -> object:
    if type(a) in (str, tuple, list) and type(a) is type(b) and isinstance(op, ast.Add):
        assert isinstance(a, str | tuple | list)
        return a + b  # type: ignore[operator]
    if type(a) is str and type(b) is int and isinstance(op, ast.Mult) and len(a) * b <= _LONGEST:
        return a * b
    if type(a) not in _NUMBERS or type(b) not in _NUMBERS:
        raise _decline_undecided(node)
    assert isinstance(a, int | float)
    assert isinstance(b, int | float)
    if not -_MOST < a < _MOST or not -_MOST < b < _MOST:  # nor NaN
        raise _decline_undecided(node)
    match op:
        case ast.Add():
            return a + b
        case ast.Sub():
            return a - b
        case ast.Mult():
            return a * b
        case ast.Div():
            return a / b
        case ast.FloorDiv():
            return a // b
        case ast.Mod():
            return a % b
        case ast.Pow() if abs(b) <= 64:
            power: object = a**b
            return power
    raise _decline_undecided(node)


def _call(
    node: ast.expr, function: object, arguments: Sequence[object], named: Mapping[str, object]
) -> object:
    if is_duration(function):
        return _make(function, *arguments, **named)
    if named:
        raise _decline_undecided(node)
    for builtin in _BUILTINS:
        if function is builtin:
            return builtin(*arguments)
    if function is decimal.Decimal:
        return _make(function, *arguments)
    # A text may mean "now"; numbers, and texts that start like a date, do not.
    texts = [a for a in arguments if isinstance(a, str)]
    if is_calendar(function) and all(a[:4].isdigit() for a in texts):
        return _make(function, *arguments)
    raise _decline_undecided(node)
