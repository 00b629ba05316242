# SPDX-License-Identifier: Apache-2.0
"""Trusted. The meaning of the names in a function: constants, modules and functions outside of it.

Constants are read by value, immutable ones only. Modules and functions are compared by identity
with the known ones, so that shadowing a builtin cannot deceive.
"""

from __future__ import annotations

import datetime as dt
import decimal
import inspect
import math
import sys
from collections.abc import Mapping
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import TypeGuard

from msgspec import Struct

from presieve.ir.sorts import BINARY, BOOL, DATE, TIMESTAMP_NTZ, Decimal
from presieve.ir.terms import Lit, float_lit, int_lit, string_lit
from presieve.lift.python.constants import LIBRARY_CONSTANTS, NUMBERS, same
from presieve.lift.python.outer_members import is_of_program, member_of_program
from presieve.lift.python.shipped import global_of
from presieve.lift.python.zones import Zone
from presieve.lift.values.symbolic import (
    LITERAL,
    NONE,
    PLAIN,
    Known,
    Scalar,
    Traits,
    TupleV,
    Value,
)
from presieve.semantics.types import MAX_DIGITS
from presieve.semantics.values import EXACT_INT_BOUND, days_of, microseconds_of, text_of, units_of

MODULES = (
    *("math", "datetime", "decimal", "pandas", "numpy", "dataclasses"),
    *("pyarrow", "pyarrow.compute", "collections", "heapq", "_heapq", "re"),
    *("base64", "binascii", "html", "ipaddress", "json", "urllib", "urllib.parse"),
    *("bisect", "_bisect", "itertools", "zlib", "string"),
)
"""Modules whose functions and constants may be known objects."""


class OuterNames(Struct, frozen=True):
    """The names that a function sees outside of itself. ``zone`` reads naive timestamps."""

    closure: Mapping[str, object]
    globals: Mapping[str, object]
    zone: Zone

    def resolve(self, name: str) -> Value:
        """Return the value of the name. Declines ``unknown-name`` if it is not defined."""
        return as_constant(self.lookup(name), name, self.zone)

    def lookup(self, name: str, *, read: bool = True) -> object:
        """Return the object that the name means; ``read`` as in :func:`global_of`."""
        if name in self.closure:
            return self.closure[name]
        return global_of(self.globals, name, read=read)


def names_of(function: FunctionType, zone: Zone) -> OuterNames:
    """Return the names that a function sees, except its parameters and variables."""
    closure: dict[str, object] = {}
    cells = function.__closure__ or ()
    for name, cell in zip(function.__code__.co_freevars, cells, strict=True):
        try:
            closure[name] = cell.cell_contents
        except ValueError:  # the enclosing function has not assigned it
            continue
    return OuterNames(closure, function.__globals__, zone)


def as_constant(value: object, name: str, zone: Zone) -> Value:
    """Return a Python object as a value: a literal if it is an immutable constant."""
    scalar = scalar_constant(value, zone)
    if scalar is not None:
        return scalar
    if value is None:
        return NONE
    if type(value) is tuple:
        return TupleV(tuple(as_constant(v, f"{name}[{i}]", zone) for i, v in enumerate(value)))
    return Known(name, value)


def scalar_constant(value: object, zone: Zone) -> Scalar | None:
    """Return a bool, int, float, str, bytes, date, timestamp or decimal as a literal; None for
    others.

    Exact types only: a subclass (numpy.float64 is one of float) may behave differently.
    """
    kind = type(value)
    if kind is bool:
        return Scalar(Lit(BOOL, bool(value)))
    if kind is int:
        number = int(value)  # type: ignore[call-overload]
        return Scalar(int_lit(number), LITERAL if abs(number) <= EXACT_INT_BOUND else PLAIN)
    if kind is float:
        real = float(value)  # type: ignore[arg-type]
        return Scalar(float_lit(real), Traits(maybe_nan=math.isnan(real)))
    if kind is str:
        return _text(str(value))
    if kind is bytes and isinstance(value, bytes):
        return Scalar(Lit(BINARY, text_of(value)))
    if isinstance(value, decimal.Decimal):
        return _decimal(value)
    if isinstance(value, dt.datetime):
        return _naive_datetime(value, zone)
    if kind is dt.date and isinstance(value, dt.date):
        return Scalar(Lit(DATE, days_of(value)))
    return None


def _text(value: str) -> Scalar | None:
    try:
        value.encode()
    except UnicodeEncodeError:  # no column holds a lone surrogate
        return None
    return Scalar(string_lit(value))


def _decimal(value: decimal.Decimal) -> Scalar | None:
    """Return a decimal literal of the least digits; None if Spark has no such decimal."""
    if type(value) is not decimal.Decimal or not value.is_finite():
        return None
    if value and not -MAX_DIGITS <= value.adjusted() < MAX_DIGITS:
        return None
    units = next(
        ((s, u) for s in range(MAX_DIGITS + 1) if (u := units_of(value, s)) is not None), None
    )
    if units is None or abs(units[1]) >= 10**MAX_DIGITS:
        return None
    return Scalar(Lit(Decimal(units[0]), units[1]))


def _naive_datetime(value: dt.datetime, zone: Zone) -> Scalar | None:
    """Return a naive datetime: the time on a clock. Timestamps in session time look the same."""
    timestamp = getattr(module("pandas"), "Timestamp", None)
    if type(value) not in (dt.datetime, timestamp) or value.tzinfo is not None or value.fold:
        return None
    if value != value or getattr(value, "nanosecond", False):  # NaT, or finer than Spark
        return None
    plain = dt.datetime(*value.timetuple()[:6], value.microsecond)
    return Scalar(Lit(TIMESTAMP_NTZ, microseconds_of(plain)), Traits(ahead=zone.fixed_offset()))


def module(name: str) -> ModuleType | None:
    """Return a module if it has been imported: no function can use another one."""
    return sys.modules.get(name)


def member(owner: Known, name: str, zone: Zone) -> Value | None:
    """Return ``owner.name`` for a known module or class; None if it is not one."""
    if owner.target is sys and name == "maxsize":
        return as_constant(NUMBERS[name], "sys.maxsize", zone)
    if owner.target is sys:  # its floats are the same wherever Python runs on doubles
        return Known("sys.float_info", sys.float_info) if name == "float_info" else None
    if name == "value" and is_broadcast(owner.target):
        return as_constant(getattr(owner.target, name), f"{owner.name}.value", zone)
    if owner.target is sys.float_info and name in ("max", "min", "epsilon"):
        return as_constant(getattr(sys.float_info, name), f"sys.float_info.{name}", zone)
    if isinstance(owner.target, FunctionType) and name in ("__name__", "__qualname__"):
        return as_constant(getattr(owner.target, name), f"{owner.name}.{name}", zone)
    if is_of_program(owner.target):
        target_value = member_of_program(owner.target, name)
        return (
            None
            if target_value is None
            else as_constant(target_value, f"{owner.name}.{name}", zone)
        )
    tables = (getattr(module("pyarrow"), c, None) for c in ("Table", "RecordBatch"))
    loaded = (*(module(m) for m in MODULES), *tables, dt.date, dt.datetime)
    is_loaded = any(owner.target is k for k in loaded if k is not None)
    is_loaded |= owner.target is str and name == "maketrans"
    if not is_loaded or not hasattr(owner.target, name):
        return None
    target_value = getattr(owner.target, name)
    value = as_constant(target_value, f"{owner.name}.{name}", zone)
    if isinstance(owner.target, ModuleType):
        module_name = owner.target.__name__
        return value if _is_genuine(module_name, name, target_value, value) else None
    return value


def is_broadcast(target: object) -> bool:
    """Return whether this is a broadcast variable of Spark, whose value every worker has."""
    cls = type(target)
    return cls.__name__ == "Broadcast" and cls.__module__ in _BROADCASTS


_BROADCASTS = ("pyspark.core.broadcast", "pyspark.broadcast")


def _is_genuine(of: str, name: str, target: object, value: Value) -> bool:
    """Return whether a library module has this value itself: workers import the module again, and
    do not see what a driver has put there.
    """
    if isinstance(value, Known):
        plain = _SECOND_NAMES.get(name, name)
        return not isinstance(target, BuiltinFunctionType) or target.__name__ == plain
    constants = LIBRARY_CONSTANTS.get(of, NUMBERS)
    return name in constants and same(constants[name], target)


_SECOND_NAMES = {"bisect": "bisect_right"}
"""Functions that a library holds under a second name."""


def resolve_object(path: str) -> object:
    """Return the object of ``module.name`` or ``module.class.name``; None if it is not loaded."""
    owner, _, name = path.rpartition(".")
    package, _, inner = owner.rpartition(".")
    return getattr(module(owner) or getattr(module(package), inner, None), name, None)


def is_function(value: Known, *paths: str) -> bool:
    """Return whether the object is, by identity, one of these functions (``module.name``)."""
    for path in paths:
        actual = resolve_object(path)
        renamed = isinstance(actual, BuiltinFunctionType) and actual.__name__ != path.split(".")[-1]
        if actual is not None and _is_same(value.target, actual) and not renamed:
            # A replacement that somebody has put there comes from another package.
            package = path.split(".")[0]
            home = actual.__self__ if _is_of_class(actual) else actual
            # A static method of a built-in class names no module.
            named = getattr(home, "__module__", None) or package
            return str(named).split(".")[0] == package
    return False


def _is_same(a: object, b: object) -> bool:
    """Return whether the two are one object; each look-up of a bound method makes a new object."""
    return identity(a) == identity(b)


def identity(target: object) -> tuple[object, ...]:
    """Return an identity that is stable for bound methods, which are new objects on each look-up:
    that of the function, or the name of a built-in one, and of what it is bound to.
    """
    if isinstance(target, MethodType):
        return id(target.__func__), id(target.__self__)
    return (target.__name__, id(target.__self__)) if _is_of_class(target) else (id(target),)


def _is_of_class(target: object) -> TypeGuard[BuiltinFunctionType]:
    return isinstance(target, BuiltinFunctionType) and isinstance(target.__self__, type)


def parameters(function: FunctionType) -> list[inspect.Parameter]:
    """Return the parameters of the function itself, not of one that it wraps."""
    return list(inspect.signature(function, follow_wrapped=False).parameters.values())


def own_names(function: FunctionType) -> tuple[str, ...]:
    """Return the function's variables, parameters included: they hide names outside of it."""
    code = function.__code__
    return tuple(dict.fromkeys((*code.co_varnames, *code.co_cellvars)))
