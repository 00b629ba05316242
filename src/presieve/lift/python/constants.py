"""Trusted. Constants that a module's source computes, without running anything of the user's.

Literals, displays of constants, arithmetic on numbers, and calls of a few functions and classes
whose result depends on their arguments alone.
"""

from __future__ import annotations

import ast
import datetime as dt
import decimal
import sys
from collections.abc import Callable, Sequence

from presieve.lift.python.bindings import UndecidedSignal

Look = Callable[[str], object]
"""What a global name of the module is: a constant, or what it imports from a library. A name that
it does not bind is a builtin.
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
"""The constants of modules of libraries, which a driver may have changed in its own copy."""
_MODULES = ("math", "numpy", "sys", "datetime")


def computed(node: ast.expr, look: Look) -> object:
    """The constant. Raises :class:`UndecidedSignal` where the source does not say what it is."""
    try:
        return _computed(node, look)
    except (ValueError, TypeError, ArithmeticError, RecursionError) as error:
        raise _unknown(node) from error


def same(a: object, b: object) -> bool:
    """Whether two constants are the same in everything but identity."""
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
    """Whether this is a class of dates or times that are constants: the very class, no other."""
    timestamp = getattr(sys.modules.get("pandas"), "Timestamp", None)
    known = (dt.date, dt.datetime, *((timestamp,) if timestamp is not None else ()))
    return any(value is k for k in known)


def is_mutable(value: object) -> bool:
    """Whether the constant can be changed in place."""
    return isinstance(value, list | dict | set)


def holds_mutable(value: object) -> bool:
    """Whether something that the constant holds can be changed in place."""
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


def _unknown(node: ast.expr) -> UndecidedSignal:
    return UndecidedSignal(f"it is {ast.unparse(node)}, which is not a constant expression")


def _computed(node: ast.expr, look: Look) -> object:
    match node:
        case ast.Constant(value):
            return value
        case ast.Name(name):
            return look(name)
        case ast.Tuple(items):
            return tuple(_computed(i, look) for i in items)
        case ast.List(items):
            return [_computed(i, look) for i in items]
        case ast.Set(items):
            return {_computed(i, look) for i in items}
        case ast.Dict(keys, items):
            pairs = zip(keys, items, strict=True)
            known = [(k, i) for k, i in pairs if k is not None]
            if len(known) == len(keys):
                return {_computed(k, look): _computed(i, look) for k, i in known}
        case ast.UnaryOp(op, operand):
            return _negated(node, op, _computed(operand, look))
        case ast.BinOp(left, op, right):
            return _combined(node, op, _computed(left, look), _computed(right, look))
        case ast.Attribute(owner, name) if name in NUMBERS:
            if getattr(look_at(owner, look), "__name__", None) in _MODULES:
                return NUMBERS[name]
        case ast.Call(function, arguments, []):
            return _called(node, look_at(function, look), [_computed(a, look) for a in arguments])
    raise _unknown(node)


def look_at(node: ast.expr, look: Look) -> object:
    """A module, class or function that a library holds."""
    match node:
        case ast.Name(name):
            return look(name)
        case ast.Attribute(ast.Name(name), attribute):
            module = look(name)
            if module is dt or module is decimal or getattr(module, "__name__", "") == "pandas":
                return getattr(module, attribute, None)
    raise _unknown(node)


def _negated(node: ast.expr, op: ast.unaryop, value: object) -> object:
    if type(value) in _NUMBERS and isinstance(value, bool | int | float):
        match op:
            case ast.USub():
                return -value
            case ast.UAdd():
                return +value
            case ast.Not():
                return not value
    raise _unknown(node)


def _combined(node: ast.expr, op: ast.operator, a: object, b: object) -> object:
    if type(a) in (str, tuple, list) and type(a) is type(b) and isinstance(op, ast.Add):
        assert isinstance(a, str | tuple | list)
        return a + b  # type: ignore[operator]
    if type(a) is str and type(b) is int and isinstance(op, ast.Mult) and len(a) * b <= _LONGEST:
        return a * b
    if type(a) not in _NUMBERS or type(b) not in _NUMBERS:
        raise _unknown(node)
    assert isinstance(a, int | float)
    assert isinstance(b, int | float)
    if not -_MOST < a < _MOST or not -_MOST < b < _MOST:  # nor NaN
        raise _unknown(node)
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
    raise _unknown(node)


def _called(node: ast.expr, function: object, arguments: Sequence[object]) -> object:
    for builtin in _BUILTINS:
        if function is builtin:
            return builtin(*arguments)
    if function is decimal.Decimal or is_calendar(function):
        assert isinstance(function, type)
        # A text may mean "now"; numbers, and texts that start like a date, do not.
        texts = [a for a in arguments if isinstance(a, str)]
        if function is decimal.Decimal or all(a[:4].isdigit() for a in texts):
            made: object = function(*arguments)
            return made
    raise _unknown(node)
