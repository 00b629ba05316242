# SPDX-License-Identifier: Apache-2.0
"""Trusted. The possible classes of the results of a scalar UDF, whatever it computes.

A flow-insensitive inference over the syntax: a variable has the classes of all values assigned to
it. An expression that raises has no result, so an operator counts only for the operands that it
takes. Classes are exact: ``bool`` is not ``int`` here, nor is a subclass its base.
"""

from __future__ import annotations

import ast
import builtins
import datetime as dt
import math
from collections.abc import Callable, Iterable, Mapping
from itertools import product
from types import ModuleType
from typing import TypeAlias

from presieve.errors import DeclineSignal
from presieve.ir.sorts import TIMESTAMP, Sort
from presieve.lift.python.names import MODULES, OuterNames
from presieve.lift.python.shipped import member_of
from presieve.semantics.types import SchemaColumn, sort_of
from presieve.semantics.values import CLASS_OF

Classes: TypeAlias = frozenset[type]

_NONE = type(None)
_CLASS_OF: Mapping[Sort | None, type] = {**CLASS_OF, TIMESTAMP: dt.datetime}
"""The classes of values, with those of instants, which come as the time that a clock shows."""
_NUMBERS = (bool, int, float)
_FLOATS = (
    *("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "copysign", "cos"),
    *("cosh", "degrees", "dist", "erf", "erfc", "exp", "exp2", "expm1", "fabs", "fmod", "fsum"),
    *("gamma", "hypot", "ldexp", "lgamma", "log", "log10", "log1p", "log2", "pow", "radians"),
    *("remainder", "sin", "sinh", "sqrt", "tan", "tanh"),
)
_TESTS = ("isnan", "isinf", "isfinite", "isclose")
_FUNCTIONS: tuple[tuple[object, type], ...] = (
    *((f, bool) for f in (bool, isinstance, any, all, callable)),
    *((f, int) for f in (int, len, ord)),
    *((f, str) for f in (str, repr, chr, ascii, bin, hex)),
    (float, float),
    *((f, f) for f in (dt.date, dt.datetime, dt.timedelta)),
    *((getattr(math, n), float) for n in _FLOATS if hasattr(math, n)),
    *((getattr(math, n), bool) for n in _TESTS),
    *((getattr(math, n), int) for n in ("comb", "factorial", "gcd", "isqrt", "lcm", "perm")),
)
"""Functions by identity. The argument of ``math.floor`` and ``trunc`` determines their class."""
_METHODS: Mapping[type, Mapping[str, type]] = {
    str: {
        **dict.fromkeys(("capitalize", "casefold", "center", "expandtabs", "format", "join"), str),
        **dict.fromkeys(("ljust", "lower", "lstrip", "removeprefix", "removesuffix", "rjust"), str),
        **dict.fromkeys(("replace", "rstrip", "strip", "swapcase", "title", "translate"), str),
        **dict.fromkeys(("upper", "zfill"), str),
        **dict.fromkeys(("endswith", "isalnum", "isalpha", "isascii", "isdecimal"), bool),
        **dict.fromkeys(("isdigit", "isidentifier", "islower", "isnumeric", "isprintable"), bool),
        **dict.fromkeys(("isspace", "istitle", "isupper", "startswith"), bool),
        **dict.fromkeys(("count", "find", "index", "rfind", "rindex"), int),
    },
    dt.date: {
        **dict.fromkeys(("isoweekday", "toordinal", "weekday"), int),
        **dict.fromkeys(("ctime", "isoformat", "strftime"), str),
        "replace": dt.date,
    },
    dt.datetime: {
        **dict.fromkeys(("isoweekday", "toordinal", "weekday"), int),
        **dict.fromkeys(("ctime", "isoformat", "strftime"), str),
        "replace": dt.datetime,
        "date": dt.date,
        "timestamp": float,
    },
    dt.timedelta: {"total_seconds": float},
    float: {"is_integer": bool, "hex": str},
    int: {"bit_length": int},
}
_OF_CLASSES: Mapping[tuple[type, str], type] = {
    **{
        (dt.datetime, n): dt.datetime
        for n in ("fromisoformat", "fromtimestamp", "utcfromtimestamp", "strptime", "combine")
    },
    **{(dt.date, n): dt.date for n in ("fromisoformat", "fromordinal", "fromtimestamp")},
}
"""Methods called on the class."""
_ATTRIBUTES: Mapping[type, tuple[str, ...]] = {
    dt.date: ("year", "month", "day"),
    dt.datetime: ("year", "month", "day", "hour", "minute", "second", "microsecond"),
    dt.timedelta: ("days", "seconds", "microseconds"),
}
"""Attributes that are integers."""
_UNKNOWN = object()
"""Stands for the object of a name that is not known."""
_ROUNDING = (builtins.abs, builtins.round, math.floor, math.ceil, math.trunc)
_COMPARED = frozenset((*_NUMBERS, str, _NONE, dt.date, dt.datetime, dt.timedelta))
"""Classes whose comparisons give truth values."""


def classes_of_results(
    node: ast.FunctionDef, inputs: Iterable[tuple[str, SchemaColumn]], names: OuterNames
) -> Classes | None:
    """Return the classes that results may have; None if they are not known. ``inputs`` are
    parameters with the columns whose values they take.
    """
    if any(isinstance(n, ast.Global | ast.Nonlocal) for n in ast.walk(node)):
        return None
    if any(isinstance(n, ast.Yield | ast.YieldFrom) for n in _own_nodes(node)):
        return None
    parameter_classes = {
        p: frozenset((_CLASS_OF.get(sort_of(c.type), object), _NONE)) for p, c in inputs
    }
    inference = _Inference(node, parameter_classes, names)
    returned = [n.value for n in _own_nodes(node) if isinstance(n, ast.Return)]
    classes = [frozenset((_NONE,)) if e is None else inference.of(e) for e in returned]
    return _either(frozenset((_NONE,)), *classes)


def _own_nodes(node: ast.AST) -> Iterable[ast.AST]:
    """Yield the nodes of a function, without those of functions and classes inside it."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            yield from _own_nodes(child)


class _Inference:
    """The classes of variables, as a fixpoint."""

    def __init__(
        self, node: ast.FunctionDef, parameter_classes: Mapping[str, Classes], names: OuterNames
    ) -> None:
        self._names = names
        self._variables: dict[str, Classes | None] = dict(parameter_classes)
        arguments = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
        gathered = (a for a in (node.args.vararg, node.args.kwarg) if a is not None)
        unknown = {a.arg for a in (*arguments, *gathered) if a.arg not in parameter_classes}
        assigned, others = _assignments(node)
        unknown |= others
        for name, _ in assigned:
            self._variables.setdefault(name, frozenset())
        self._variables.update(dict.fromkeys(unknown))
        self._run_to_fixpoint(assigned)

    def _run_to_fixpoint(self, assigned: list[tuple[str, ast.expr]]) -> None:
        has_changed = True
        while has_changed:
            has_changed = False
            for name, value in assigned:
                old, new = self._variables[name], self.of(value)
                union = None if old is None or new is None else old | new
                has_changed = has_changed or union != old
                self._variables[name] = union

    def of(self, node: ast.expr) -> Classes | None:
        """Return the classes that an expression's value may have; None if they are not known."""
        match node:
            case ast.Constant(value):
                return frozenset((type(value),))
            case ast.JoinedStr():
                return frozenset((str,))
            case ast.Name(name):
                return self._variables[name] if name in self._variables else self._of_constant(name)
            case ast.NamedExpr(_, value):
                return self.of(value)
            case ast.IfExp(_, then, otherwise):
                return _either(self.of(then), self.of(otherwise))
            case ast.BoolOp(_, values):
                return _either(*map(self.of, values))
            case ast.UnaryOp(ast.Not()):
                return frozenset((bool,))
            case ast.UnaryOp(_, operand):
                return _by_class({bool: int, int: int, float: float}, self.of(operand))
            case ast.Compare():
                return self._of_comparison(node)
            case ast.BinOp(left, op, right):
                return self._of_operation(op, left, right)
            case ast.Call():
                return self._of_call(node)
            case ast.Attribute(owner, name) if not name.startswith("__"):
                classes = (cls for cls, names in _ATTRIBUTES.items() if name in names)
                return _by_class(dict.fromkeys(classes, int), self.of(owner))
            case ast.Subscript(owner, where):
                return self._of_item(owner, where)
        return None

    def _of_constant(self, name: str) -> Classes | None:
        target = self._object(ast.Name(name, ast.Load()))
        return frozenset((type(target),)) if type(target) in _COMPARED else None

    def _object(self, node: ast.expr) -> object:
        """Return the object of a name from outside: a constant or function that workers have as
        well, or an object of a package; ``_UNKNOWN`` for everything else.
        """
        try:
            match node:
                case ast.Name(name) if name not in self._variables:
                    return self._names.lookup(name)
                case ast.Attribute(owner, name):
                    module = self._object(owner)
                    if isinstance(module, ModuleType) and module.__name__ in MODULES:
                        return member_of(module, name)
        except DeclineSignal:
            pass
        return _UNKNOWN

    def _of_comparison(self, node: ast.Compare) -> Classes | None:
        if all(isinstance(o, ast.Is | ast.IsNot | ast.In | ast.NotIn) for o in node.ops):
            return frozenset((bool,))
        classes = _either(*map(self.of, (node.left, *node.comparators)))
        return frozenset((bool,)) if classes is not None and classes <= _COMPARED else None

    def _of_operation(self, op: ast.operator, left: ast.expr, right: ast.expr) -> Classes | None:
        if isinstance(op, ast.Pow):
            is_integer = isinstance(right, ast.Constant) and type(right.value) is int
            return _map_classes(lambda c: _power(c, right), self.of(left)) if is_integer else None
        a, b = self.of(left), self.of(right)
        if a is None or b is None or not (a | b) <= _COMPARED:
            return None
        results = [_operation_class(op, x, y) for x, y in product(a, b)]
        return None if object in results else frozenset(f for f in results if f is not None)

    def _of_call(self, node: ast.Call) -> Classes | None:
        target = self._object(node.func)
        for function, result in _FUNCTIONS:
            if target is function:
                return frozenset((result,))
        if _is_one(target, *_ROUNDING) and len(node.args) == 1 and not node.keywords:
            rounds = target is not builtins.abs
            sizes = {bool: int, int: int, float: int if rounds else float}
            return _by_class(sizes, self.of(node.args[0]))
        if target is builtins.round and len(node.args) == 2 and not node.keywords:
            number, digits = map(self.of, node.args)
            are_ints = digits is not None and digits <= {bool, int}
            return _by_class({bool: int, int: int, float: float}, number) if are_ints else None
        if _is_one(target, builtins.min, builtins.max) and len(node.args) > 1 and not node.keywords:
            return _either(*map(self.of, node.args))
        if isinstance(node.func, ast.Attribute):
            return self._of_method(node.func.value, node.func.attr, node)
        return None

    def _of_method(self, owner: ast.expr, name: str, node: ast.Call) -> Classes | None:
        of = self._object(owner)
        if name.startswith("__"):
            return None  # None also has some of these methods
        if _is_one(of, dt.date, dt.datetime):
            assert isinstance(of, type)
            result = _OF_CLASSES.get((of, name))
            return None if result is None else frozenset((result,))
        if type(of) is dict and name == "get" and 1 <= len(node.args) <= 2:
            default = self.of(node.args[1]) if len(node.args) == 2 else frozenset((_NONE,))
            return _either(_value_classes(of), default)
        results = {cls: methods.get(name, object) for cls, methods in _METHODS.items()}
        return _by_class(results, self.of(owner))

    def _of_item(self, owner: ast.expr, where: ast.expr) -> Classes | None:
        target = self._object(owner)
        if type(target) is dict:
            return _value_classes(target)
        if isinstance(owner, ast.Call) and isinstance(owner.func, ast.Attribute):
            texts = self.of(owner.func.value)
            lists = ("split", "rsplit", "splitlines", "partition", "rpartition")
            if owner.func.attr in lists and texts is not None and texts <= {str, _NONE}:
                return None if isinstance(where, ast.Slice) else frozenset((str,))
        return _by_class({str: str}, self.of(owner))


def _assignments(node: ast.FunctionDef) -> tuple[list[tuple[str, ast.expr]], set[str]]:
    """Return variables with the values assigned to them, and variables bound in other ways."""
    unknown: set[str] = set()
    assigned: list[tuple[str, ast.expr]] = []
    for part in _own_nodes(node):
        match part:
            case ast.Assign(targets, value):
                for target in targets:
                    if isinstance(target, ast.Name):
                        assigned.append((target.id, value))
                    else:
                        unknown |= _bound_names(target)
            case ast.AnnAssign(ast.Name(name), _, ast.expr() as value) | ast.NamedExpr(
                ast.Name(name), value
            ):
                assigned.append((name, value))
            case ast.AugAssign(ast.Name(name) as target, op, value):
                read = ast.copy_location(ast.Name(name, ast.Load()), target)
                assigned.append((name, ast.copy_location(ast.BinOp(read, op, value), value)))
            case ast.For(target) | ast.AsyncFor(target) | ast.comprehension(target):
                unknown |= _bound_names(target)
            case ast.withitem(optional_vars=ast.expr() as target):
                unknown |= _bound_names(target)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                unknown.add(name)
            case ast.Import(aliases) | ast.ImportFrom(_, aliases):
                unknown |= {a.asname or a.name.partition(".")[0] for a in aliases}
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                unknown.add(name)
            case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                unknown.add(name)
    return assigned, unknown


def _is_one(value: object, *candidates: object) -> bool:
    """Return whether the value is one of these objects, without calling ``==``."""
    return any(value is k for k in candidates)


def _bound_names(target: ast.expr) -> set[str]:
    return {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}


def _either(*options: Classes | None) -> Classes | None:
    known_options = [o for o in options if o is not None]
    return frozenset().union(*known_options) if len(known_options) == len(options) else None


def _map_classes(result: Callable[[type], type | None], classes: Classes | None) -> Classes | None:
    """Map the classes of an operand to results; None means raising, ``object`` unknown."""
    if classes is None:
        return None
    results = [result(c) for c in classes]
    return None if object in results else frozenset(f for f in results if f is not None)


def _by_class(results: Mapping[type, type], classes: Classes | None) -> Classes | None:
    """Look up the results by class; None has no operators, methods and items, and raises."""
    return _map_classes(lambda c: results.get(c, None if c is _NONE else object), classes)


def _value_classes(constants: Mapping[object, object]) -> Classes | None:
    classes = frozenset(map(type, constants.values()))
    return classes if classes <= _COMPARED else None


def _power(base: type, exponent: ast.expr) -> type | None:
    assert isinstance(exponent, ast.Constant)
    if base is float:
        return float
    small = isinstance(exponent.value, int) and exponent.value >= 0
    return {bool: int, int: int, _NONE: None}.get(base, object) if small else object


def _operation_class(op: ast.operator, a: type, b: type) -> type | None:
    """Return the class of the result; None if the operator raises, ``object`` if unknown."""
    if a is str and isinstance(op, ast.Mod):
        return str  # whatever the right side is
    if _NONE in (a, b):
        return None
    if a in _NUMBERS and b in _NUMBERS:
        return _of_numbers(op, a, b)
    add, subtract = isinstance(op, ast.Add), isinstance(op, ast.Sub)
    if a is str:
        return str if add and b is str else object
    if subtract and a is b and a in (dt.date, dt.datetime):
        return dt.timedelta
    if (add or subtract) and b is dt.timedelta and a in (dt.date, dt.datetime, dt.timedelta):
        return a
    if a is b is dt.timedelta and isinstance(op, ast.Div | ast.FloorDiv):
        return float if isinstance(op, ast.Div) else int
    return object


def _of_numbers(op: ast.operator, a: type, b: type) -> type | None:
    if isinstance(op, ast.Div):
        return float
    if isinstance(op, ast.Add | ast.Sub | ast.Mult | ast.FloorDiv | ast.Mod):
        return float if float in (a, b) else int
    if isinstance(op, ast.BitAnd | ast.BitOr | ast.BitXor) and float not in (a, b):
        return bool if a is b is bool else int
    return object


def fits(classes: Classes | None, column: SchemaColumn) -> bool:
    """Return whether all results are values of the column's own class, or None."""
    own = _CLASS_OF.get(sort_of(column.type))
    return classes is not None and own is not None and classes <= {own, _NONE}
