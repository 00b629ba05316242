# SPDX-License-Identifier: Apache-2.0
"""Trusted. The possible classes of the results of a scalar UDF, whatever it computes.

A flow-insensitive inference over the syntax: a variable has the classes of all values assigned to
it. An expression that raises has no result, so an operator counts only for the operands that it
takes. Classes are exact: ``bool`` is not ``int`` here, nor is a subclass its base. The classes of
the items of containers are known, too (:mod:`presieve.lift.entry.item_classes`); what is added to
one of them may be an item of all.
"""

from __future__ import annotations

import ast
import builtins
import datetime as dt
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import product
from types import FunctionType, ModuleType

from presieve.errors import DeclineSignal
from presieve.lift.entry.item_classes import (
    COMPARED,
    LISTS,
    NONE_CLASS,
    Classes,
    are_compared,
    by_class,
    call_on_items,
    either,
    hold,
    holds,
    item_at,
    items_of,
    of_constant,
    of_pairs,
    unpack,
)
from presieve.lift.python.names import MODULES, OuterNames, names_of
from presieve.lift.python.shipped import function_source, member_of
from presieve.semantics.types import SchemaColumn, sort_of
from presieve.semantics.values import CLASS_IN_UDFS

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
_ADDING = {"append": 0, "appendleft": 0, "add": 0, "insert": 1}
"""Methods that add their argument at this place to a container."""
_MERGING = ("extend", "extendleft", "update")
"""Methods that add the items of their argument."""
_CHANGING = frozenset(
    (*_ADDING, *_MERGING, "setdefault", "fill", "put", "push", "symmetric_difference_update")
)
_HARMLESS_KEYWORDS = {"key", "reverse", "strict", "start"}
"""Keywords that do not change the classes of what a function of containers gives."""
_MATCHING = ("match", "search", "fullmatch")
_MOST_INLINED = 2


def classes_of_results(
    node: ast.FunctionDef, inputs: Iterable[tuple[str, SchemaColumn]], names: OuterNames
) -> Classes | None:
    """Return the classes that results may have; None if they are not known. ``inputs`` are
    parameters with the columns whose values they take.
    """
    parameter_classes: dict[str, Classes | None] = {
        p: frozenset((CLASS_IN_UDFS.get(sort_of(c.type), object), NONE_CLASS)) for p, c in inputs
    }
    return _classes_of_function(node, parameter_classes, names, 0)


def _classes_of_function(
    node: ast.FunctionDef,
    parameter_classes: Mapping[str, Classes | None],
    names: OuterNames,
    depth: int,
) -> Classes | None:
    if any(isinstance(n, ast.Global | ast.Nonlocal) for n in ast.walk(node)):
        return None
    if any(isinstance(n, ast.Yield | ast.YieldFrom) for n in _own_nodes(node)):
        return None
    inference = _Inference(node, parameter_classes, names, depth)
    returned = [n.value for n in _own_nodes(node) if isinstance(n, ast.Return)]
    classes = [frozenset((NONE_CLASS,)) if e is None else inference.of(e) for e in returned]
    return either(frozenset((NONE_CLASS,)), *classes)


def _own_nodes(node: ast.AST) -> Iterable[ast.AST]:
    """Yield the nodes of a function, without those of functions and classes inside it."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            yield from _own_nodes(child)


class _Inference:
    """The classes of variables, and of what is added to containers, as a fixpoint."""

    def __init__(
        self,
        node: ast.FunctionDef,
        parameter_classes: Mapping[str, Classes | None],
        names: OuterNames,
        depth: int,
    ) -> None:
        self._names = names
        self._depth = depth
        self._variables: dict[str, Classes | None] = dict(parameter_classes)
        self._added: Classes | None = frozenset()
        self._results: dict[tuple[object, ...], Classes | None] = {}
        arguments = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
        gathered = (a for a in (node.args.vararg, node.args.kwarg) if a is not None)
        unknown = {a.arg for a in (*arguments, *gathered) if a.arg not in parameter_classes}
        parts = list(_own_nodes(node))
        unknown |= {name for part in parts for name in _names_bound_otherwise(part)}
        bound = [target for part in parts for target in _targets(part)]
        for name in (n for target in bound for n in _names_in(target)):
            self._variables.setdefault(name, frozenset())
        self._variables.update(dict.fromkeys(unknown))
        self._run_to_fixpoint(node, parts)

    def _run_to_fixpoint(self, node: ast.FunctionDef, parts: list[ast.AST]) -> None:
        calls = {id(n.func) for n in parts if isinstance(n, ast.Call)}
        inside = {id(n) for n in ast.walk(node)} - {id(n) for n in parts}
        if any(_may_add(n) for n in ast.walk(node) if id(n) in inside and n is not node):
            self._added = None
        while True:
            before = dict(self._variables), self._added
            for part in parts:
                self._assign(part)
                self._add(part, is_called=id(part) in calls)
            if (self._variables, self._added) == before:
                return

    # --- what is assigned, and added to containers ----------------------------------------

    def _assign(self, part: ast.AST) -> None:
        match part:
            case ast.Assign(targets, value):
                for target in targets:
                    self._bind(target, self.of(value))
            case ast.AnnAssign(target, _, ast.expr() as value) | ast.NamedExpr(target, value):
                self._bind(target, self.of(value))
            case ast.AugAssign(ast.Name(name) as target, op, value):
                read = ast.copy_location(ast.Name(name, ast.Load()), target)
                self._bind(target, self.of(ast.copy_location(ast.BinOp(read, op, value), value)))
            case ast.For(target, over) | ast.comprehension(target, over):
                self._bind(target, self._items(over))

    def _bind(self, target: ast.expr, classes: Classes | None) -> None:
        match target:
            case ast.Name(name):
                self._variables[name] = either(self._variables[name], classes)
            case ast.Tuple(targets) | ast.List(targets):
                if any(isinstance(t, ast.Starred) for t in targets):
                    parts: list[Classes | None] = [None] * len(targets)
                else:
                    parts = unpack(classes, len(targets), self._added)
                for inner, part in zip(targets, parts, strict=True):
                    self._bind(inner, part)
            case ast.Starred(inner):
                self._bind(inner, None)

    def _add(self, node: ast.AST, *, is_called: bool) -> None:
        """Note what a node may add to some container. A call that is not known may add anything."""
        match node:
            case ast.Call(ast.Attribute(owner, name), args, []) if (
                len(args) == _ADDING.get(name, -2) + 1
            ):
                self._added = either(self._added, self.of(args[-1]), self._nothing_of(owner))
            case ast.Call(ast.Attribute(owner, name), [items], []) if name in _MERGING:
                self._added = either(self._added, self._items(items), self._nothing_of(owner))
            case ast.Call() if self.of(node) is None:
                self._added = None
            case ast.Attribute(_, name) if name in _CHANGING and not is_called:
                self._added = None
            case ast.Attribute(_, name) if name.startswith("__"):
                self._added = None
            case ast.Assign(targets, value) if any(map(_writes_item, targets)):
                self._added = either(self._added, self.of(value), self._items_or_none(value))
            case ast.AugAssign(target, _, value) if not isinstance(target, ast.Name):
                self._added = None
            case ast.AugAssign(ast.Name(name), _, value) if holds(self._variables[name]):
                self._added = either(self._added, self._items(value))
            case ast.For(target) | ast.comprehension(target) if _writes_item(target):
                self._added = None
            case ast.withitem(optional_vars=ast.expr() as target) if _writes_item(target):
                self._added = None

    def _nothing_of(self, owner: ast.expr) -> Classes | None:
        """Return no classes; None if the object may be of a class that changes what it is given."""
        return None if self.of(owner) is None else frozenset()

    def _items(self, node: ast.expr) -> Classes | None:
        """Return the classes of what is iterated over."""
        if type(constant := self._object(node)) is dict:
            return of_pairs(constant)["keys"] and items_of(of_pairs(constant)["keys"], frozenset())
        return items_of(self.of(node), self._added)

    def _items_or_none(self, node: ast.expr) -> Classes | None:
        """Return the classes of the items of a container, and none of another value."""
        return self._items(node) if holds(self.of(node)) else frozenset()

    # --- expressions ----------------------------------------------------------------------

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
                return either(self.of(then), self.of(otherwise))
            case ast.BoolOp(_, values):
                return either(*map(self.of, values))
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
        return self._of_container(node)

    def _of_container(self, node: ast.expr) -> Classes | None:
        match node:
            case ast.Tuple(parts):
                places = [self.of(part) for part in parts]
                return hold(either(*places), places)
            case ast.List(parts) | ast.Set(parts):
                return hold(either(*map(self.of, parts)))
            case ast.ListComp(part) | ast.SetComp(part) | ast.GeneratorExp(part):
                return hold(self.of(part))
        return None

    def _of_constant(self, name: str) -> Classes | None:
        return of_constant(self._object(ast.Name(name, ast.Load())))

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
                    if isinstance(module, ModuleType) and module.__name__ in (*MODULES, "re"):
                        return member_of(module, name)
        except DeclineSignal:
            pass
        return _UNKNOWN

    def _of_comparison(self, node: ast.Compare) -> Classes | None:
        if all(isinstance(o, ast.Is | ast.IsNot | ast.In | ast.NotIn) for o in node.ops):
            return frozenset((bool,))
        classes = either(*map(self.of, (node.left, *node.comparators)))
        return frozenset((bool,)) if are_compared(classes) else None

    def _of_operation(self, op: ast.operator, left: ast.expr, right: ast.expr) -> Classes | None:
        if isinstance(op, ast.Pow):
            is_integer = isinstance(right, ast.Constant) and type(right.value) is int
            return by_class(partial(_power, right), self.of(left)) if is_integer else None
        a, b = self.of(left), self.of(right)
        if a is None or b is None or not (a | b) <= COMPARED:
            return None
        results = [
            _operation_class(op, x, y)
            for x, y in product(a, b)
            if isinstance(x, type) and isinstance(y, type)
        ]
        return None if object in results else frozenset(f for f in results if f is not None)

    # --- calls and items ------------------------------------------------------------------

    def _of_call(self, node: ast.Call) -> Classes | None:
        target = self._object(node.func)
        for function, result in _FUNCTIONS:
            if target is function:
                return frozenset((result,))
        if any(isinstance(a, ast.Starred) for a in node.args):
            return None
        if not node.keywords and target is not _UNKNOWN:
            if _is_one(target, *_ROUNDING):
                return self._of_rounding(target, node)
            if _is_one(target, builtins.min, builtins.max) and len(node.args) > 1:
                return either(*map(self.of, node.args))
        if _is_one(target, *(getattr(re, name) for name in _MATCHING)):
            return frozenset((re.Match, NONE_CLASS))
        if _is_one(target, re.sub):
            return frozenset((str,))
        if isinstance(target, FunctionType):
            return self._of_function(target, node)
        if isinstance(node.func, ast.Attribute):
            return self._of_method(node.func.value, node.func.attr, node)
        if {k.arg for k in node.keywords} <= _HARMLESS_KEYWORDS:
            return call_on_items(target, [self._given(a) for a in node.args], self._added)
        return None

    def _given(self, node: ast.expr) -> Classes | None:
        """Return the classes of an argument; of a constant dict those of the list of its keys."""
        return hold(self._items(node)) if type(self._object(node)) is dict else self.of(node)

    def _of_rounding(self, target: object, node: ast.Call) -> Classes | None:
        if len(node.args) == 1:
            sizes = {bool: int, int: int, float: float if target is builtins.abs else int}
            return _by_class(sizes, self.of(node.args[0]))
        if target is builtins.round and len(node.args) == 2:
            number, digits = map(self.of, node.args)
            are_ints = digits is not None and digits <= {bool, int}
            return _by_class({bool: int, int: int, float: float}, number) if are_ints else None
        return None

    def _of_function(self, function: FunctionType, node: ast.Call) -> Classes | None:
        """Return the classes of the results of a function of the program, which is given nothing
        that it could change.
        """
        given = [self.of(a) for a in node.args]
        if self._depth == _MOST_INLINED or node.keywords or any(map(holds, given)):
            return None
        try:
            source = function_source(function)
        except DeclineSignal:
            return None
        parameters = source.node.args.args
        if len(parameters) != len(given) or source.node.decorator_list:
            return None
        key = (function, *given)
        if key not in self._results:
            classes = {p.arg: c for p, c in zip(parameters, given, strict=True)}
            names = names_of(function, self._names.zone)
            self._results[key] = _classes_of_function(source.node, classes, names, self._depth + 1)
        return self._results[key]

    def _of_method(self, owner: ast.expr, name: str, node: ast.Call) -> Classes | None:
        of = self._object(owner)
        if name.startswith("__"):
            return None  # None also has some of these methods
        if _is_one(of, dt.date, dt.datetime):
            assert isinstance(of, type)
            result = _OF_CLASSES.get((of, name))
            return None if result is None else frozenset((result,))
        if type(of) is dict and name == "get" and 1 <= len(node.args) <= 2:
            default = self.of(node.args[1]) if len(node.args) == 2 else frozenset((NONE_CLASS,))
            return either(_value_classes(of), default)
        if type(of) is dict:
            return of_pairs(of).get(name)
        if type(of) is re.Pattern and name in _MATCHING:
            return frozenset((re.Match, NONE_CLASS))
        if type(of) is re.Pattern:
            return frozenset((str,)) if name == "sub" else None
        classes = self.of(owner)
        if classes is not None and classes <= {str, NONE_CLASS} and name in LISTS:
            return LISTS[name]
        if classes is not None and classes <= {re.Match, NONE_CLASS} and name == "group":
            return frozenset((str, NONE_CLASS)) if len(node.args) <= 1 else None
        results = {cls: methods.get(name, object) for cls, methods in _METHODS.items()}
        return _by_class(results, classes)

    def _of_item(self, owner: ast.expr, where: ast.expr) -> Classes | None:
        target = self._object(owner)
        if type(target) is dict:
            return _value_classes(target)
        classes = self.of(owner)
        if not holds(classes):
            return _by_class({str: str}, classes)
        if isinstance(where, ast.Slice):
            return hold(items_of(classes, self._added))
        if isinstance(where, ast.Constant) and type(where.value) is int:
            return item_at(classes, where.value, self._added)
        return items_of(classes, self._added)


def _targets(part: ast.AST) -> Iterator[ast.expr]:
    """Yield the targets whose classes are known by what is assigned to them."""
    match part:
        case ast.Assign(targets):
            yield from targets
        case ast.AnnAssign(target, _, ast.expr()) | ast.NamedExpr(target):
            yield target
        case ast.AugAssign(target) | ast.For(target) | ast.comprehension(target):
            yield target


def _names_in(target: ast.expr) -> Iterator[str]:
    """Yield the variables that a target binds."""
    match target:
        case ast.Name(name):
            yield name
        case ast.Tuple(targets) | ast.List(targets):
            for inner in targets:
                yield from _names_in(inner)
        case ast.Starred(inner):
            yield from _names_in(inner)


def _names_bound_otherwise(part: ast.AST) -> Iterator[str]:
    """Yield the variables that something else than an assignment or a loop binds."""
    match part:
        case ast.AsyncFor(target) | ast.withitem(optional_vars=ast.expr() as target):
            yield from _names_in(target)
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Import(aliases) | ast.ImportFrom(_, aliases):
            yield from (a.asname or a.name.partition(".")[0] for a in aliases)
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
            yield name
        case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
            yield name


def _writes_item(target: ast.expr) -> bool:
    """Return whether an assignment to this target changes a container or an object."""
    return any(isinstance(n, ast.Subscript | ast.Attribute) for n in ast.walk(target))


def _may_add(node: ast.AST) -> bool:
    """Return whether a node of a function inside may add something to a container."""
    if isinstance(node, ast.Subscript | ast.Attribute):
        return not isinstance(node.ctx, ast.Load)
    return isinstance(node, ast.Call | ast.AugAssign)


def _is_one(value: object, *candidates: object) -> bool:
    """Return whether the value is one of these objects, without calling ``==``."""
    return any(value is k for k in candidates)


def _by_class(results: Mapping[type, type], classes: Classes | None) -> Classes | None:
    """Look up the results by class; None has no operators, methods and items, and raises."""
    return by_class(lambda c: results.get(c, None if c is NONE_CLASS else object), classes)


def _value_classes(constants: Mapping[object, object]) -> Classes | None:
    classes = frozenset(map(type, constants.values()))
    return classes if classes <= COMPARED else None


def _power(exponent: ast.expr, base: type) -> type | None:
    assert isinstance(exponent, ast.Constant)
    if base is float:
        return float
    small = isinstance(exponent.value, int) and exponent.value >= 0
    return {bool: int, int: int, NONE_CLASS: None}.get(base, object) if small else object


def _operation_class(op: ast.operator, a: type, b: type) -> type | None:
    """Return the class of the result; None if the operator raises, ``object`` if unknown."""
    if a is str and isinstance(op, ast.Mod):
        return str  # whatever the right side is
    if NONE_CLASS in (a, b):
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
    own = CLASS_IN_UDFS.get(sort_of(column.type))
    return classes is not None and own is not None and classes <= {own, NONE_CLASS}
