# SPDX-License-Identifier: Apache-2.0
"""Trusted. Computes the constant that an expression of a module's source gives in any process.

No code of the user's is run: the operators are Python's own, on values of Python's own types, and
so are the calls (:mod:`presieve.lift.python.constant_calls`). Nothing is computed that shows the
order of a set, which differs between processes.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from presieve.lift.python.constant_calls import (
    ITERATED,
    Unordered,
    call_function,
    call_method,
    check_printed,
    decline_undecided,
    is_orderless,
)
from presieve.lift.python.constants import LIBRARY_CONSTANTS, NUMBER_TYPES, PLAIN_TYPES, SET_TYPES

Look = Callable[[str], object]
"""Looks up what a global name of the module means, or a dotted name through modules and classes: a
constant of the program, or an object of a library. A name that nothing binds is a builtin.
"""

_MOST = 2**128
_LONGEST = 10_000
_MOST_STEPS = 100_000
_COMPARED: Mapping[type[ast.cmpop], Callable[..., object]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}
_ON_SETS: Mapping[type[ast.operator], Callable[..., object]] = {
    ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
    ast.Sub: operator.sub,
    ast.BitXor: operator.xor,
}
_ON_NUMBERS: Mapping[type[ast.operator], Callable[..., object]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_MERGED = ((dict, dict), (re.RegexFlag, re.RegexFlag))
_REPEATED = ((str, int), (list, int), (tuple, int))


def compute_constant(node: ast.expr, look: Look) -> object:
    """Compute the constant. Raises :class:`UndecidedSignal` if the source does not determine it."""
    failures = (ValueError, TypeError, ArithmeticError, LookupError, RecursionError, re.error)
    try:
        value = _Evaluation(look).value(node)
    except failures as error:
        raise decline_undecided(node) from error
    if isinstance(value, Unordered):
        raise decline_undecided(node)
    return value


class _Evaluation:
    """Evaluates expressions. ``_variables`` are those of the comprehensions around them."""

    def __init__(self, look: Look) -> None:
        self._look = look
        self._variables: dict[str, object] = {}
        self._steps = 0

    def value(self, node: ast.expr) -> object:
        match node:
            case ast.Constant(value):
                return value
            case ast.Name(name):
                return self._variables[name] if name in self._variables else self._look(name)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Tuple(nodes) | ast.List(nodes) | ast.Set(nodes):
                return _DISPLAYS[type(node)](self._elements(nodes))
            case ast.Dict():
                return self._dict(node)
            case ast.JoinedStr():
                return "".join(map(self._part_of_text, node.values))
            case ast.UnaryOp() | ast.BinOp() | ast.BoolOp() | ast.Compare():
                return self._operator(node)
            case ast.IfExp(test, body, orelse):
                return self.value(body if self._plain(test) else orelse)
            case ast.Subscript():
                return self._item(node)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self._comprehension(node)
            case ast.Call():
                return self._call(node)
        raise decline_undecided(node)

    def _plain(self, node: ast.expr) -> object:
        """Evaluate an operand, whose type must be one of Python's own."""
        value = self.value(node)
        if type(value) not in PLAIN_TYPES:
            raise decline_undecided(node)
        return value

    # --- names and displays ---------------------------------------------------------------

    def _attribute(self, node: ast.Attribute) -> object:
        """The constant of a library's module, or what the program has under a dotted name."""
        path = ast.unparse(node)
        head = path.partition(".")[0]
        if head in self._variables or not all(part.isidentifier() for part in path.split(".")):
            raise decline_undecided(node)
        owner = self._look(path.rpartition(".")[0])
        constants = LIBRARY_CONSTANTS.get(getattr(owner, "__name__", ""), {})
        return constants[node.attr] if node.attr in constants else self._look(path)

    def _elements(self, nodes: Sequence[ast.expr]) -> list[object]:
        """Evaluate the elements of a display, or arguments; ``*x`` gives several."""
        values: list[object] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                values += self._ordered_items(node.value)
            else:
                values.append(self.value(node))
        return values

    def _dict(self, node: ast.Dict) -> object:
        entries: dict[object, object] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if key is not None:
                entries[self.value(key)] = self.value(value)
                continue
            merged = self._plain(value)
            if not isinstance(merged, dict):
                raise decline_undecided(node)
            entries.update(merged)
        return entries

    def _part_of_text(self, node: ast.expr) -> str:
        """A part of an f-string."""
        if not isinstance(node, ast.FormattedValue):
            return str(self.value(node))
        form = "" if node.format_spec is None else str(self.value(node.format_spec))
        value = self._plain(node.value)
        if node.conversion != -1:
            raise decline_undecided(node)
        check_printed(node, value, form)
        return format(value, form)

    # --- operators ------------------------------------------------------------------------

    def _operator(self, node: ast.UnaryOp | ast.BinOp | ast.BoolOp | ast.Compare) -> object:
        match node:
            case ast.UnaryOp(op, operand):
                return _apply_unary(node, op, self._plain(operand))
            case ast.BinOp(left, op, right):
                return _apply_binary(node, op, self._plain(left), self._plain(right))
            case ast.BoolOp(op, operands):
                value: object = None
                for operand in operands:
                    value = self._plain(operand)
                    if bool(value) == isinstance(op, ast.Or):
                        break
                return value
        assert isinstance(node, ast.Compare)
        a = self._plain(node.left)
        for sign, operand in zip(node.ops, node.comparators, strict=True):
            b = self._plain(operand)
            if type(sign) not in _COMPARED:
                raise decline_undecided(node)
            if not _COMPARED[type(sign)](a, b):
                return False
            a = b
        return True

    def _item(self, node: ast.Subscript) -> object:
        container = self._plain(node.value)
        if not isinstance(node.slice, ast.Slice):
            return container[self._plain(node.slice)]  # type: ignore[index]
        bounds = (node.slice.lower, node.slice.upper, node.slice.step)
        place = slice(*(None if b is None else self._plain(b) for b in bounds))
        return container[place]  # type: ignore[index]

    # --- what is iterated over ------------------------------------------------------------

    def _items(self, node: ast.expr) -> Sequence[object] | Unordered:
        """Return the items of what an expression gives."""
        value = self.value(node)
        if isinstance(value, Unordered):
            return value
        if type(value) not in ITERATED or (type(value) is range and len(value) > _MOST_STEPS):
            raise decline_undecided(node)
        items: tuple[object, ...] = tuple(value)  # type: ignore[arg-type]
        self._steps += len(items)
        if self._steps > _MOST_STEPS:
            raise decline_undecided(node)
        return Unordered(items) if type(value) in SET_TYPES and len(items) > 1 else items

    def _ordered_items(self, node: ast.expr) -> Sequence[object]:
        """Return the items, if their order is the same in any process."""
        items = self._items(node)
        if isinstance(items, Unordered):
            raise decline_undecided(node)
        return items

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
    ) -> object:
        is_ordered = [True]
        rounds = self._rounds(node.generators, is_ordered)
        if isinstance(node, ast.DictComp):
            entries = {self.value(node.key): self.value(node.value) for _ in rounds}
            if not is_ordered[0]:
                raise decline_undecided(node)
            return entries
        items = [self.value(node.elt) for _ in rounds]
        if not is_ordered[0] and not is_orderless(items):
            raise decline_undecided(node)
        if isinstance(node, ast.SetComp):
            return set(items)
        return items if is_ordered[0] else Unordered(tuple(items))

    def _rounds(
        self, generators: Sequence[ast.comprehension], is_ordered: list[bool]
    ) -> Iterator[None]:
        """Bind the variables of a comprehension, one round after the other."""
        if not generators:
            yield
            return
        first, *others = generators
        items = self._items(first.iter)
        if isinstance(items, Unordered):
            is_ordered[0], items = False, items.items
        before = dict(self._variables)
        for item in items:
            self._bind(first.target, item)
            if all(self._plain(condition) for condition in first.ifs):
                yield from self._rounds(others, is_ordered)
        self._variables = before

    def _bind(self, target: ast.expr, value: object) -> None:
        match target:
            case ast.Name(name):
                self._variables[name] = value
            case ast.Tuple(targets) if isinstance(value, tuple | list):
                for inner, part in zip(targets, value, strict=True):
                    self._bind(inner, part)
            case _:
                raise decline_undecided(target)

    # --- calls ----------------------------------------------------------------------------

    def _call(self, node: ast.Call) -> object:
        named = {k.arg: self._plain(k.value) for k in node.keywords if k.arg is not None}
        if len(named) != len(node.keywords):
            raise decline_undecided(node)
        method = node.func
        owner = self.value(method.value) if isinstance(method, ast.Attribute) else None
        if isinstance(method, ast.Attribute) and type(owner) in PLAIN_TYPES:
            if method.attr == "join" and type(owner) is str and len(node.args) == 1:
                return owner.join(self._ordered_items(node.args[0]))  # type: ignore[arg-type]
            return call_method(node, owner, self._elements(node.args), named)
        values = self._elements(node.args)
        if isinstance(method, ast.Attribute) and isinstance(owner, type):
            return call_method(node, owner, values, named)
        return call_function(node, self.value(node.func), values, named)


_DISPLAYS: Mapping[type[ast.expr], Callable[[list[object]], object]] = {
    ast.Tuple: tuple,
    ast.List: list,
    ast.Set: set,
}


def _apply_unary(node: ast.expr, op: ast.unaryop, value: object) -> object:
    if isinstance(op, ast.Not):
        return not value
    if type(value) in NUMBER_TYPES and isinstance(value, bool | int | float):
        match op:
            case ast.USub():
                return -value
            case ast.UAdd():
                return +value
    raise decline_undecided(node)


def _apply_binary(node: ast.expr, op: ast.operator, a: object, b: object) -> object:
    kinds = type(a), type(b)
    if kinds in ((str, str), (tuple, tuple), (list, list)) and isinstance(op, ast.Add):
        return a + b  # type: ignore[operator]
    if kinds in _REPEATED and isinstance(op, ast.Mult) and len(a) * b <= _LONGEST:  # type: ignore[operator, arg-type]
        return a * b  # type: ignore[operator]
    if kinds[0] in SET_TYPES and kinds[1] in SET_TYPES and type(op) in _ON_SETS:
        return _ON_SETS[type(op)](a, b)
    if kinds in _MERGED and isinstance(op, ast.BitOr):
        return _ON_SETS[type(op)](a, b)
    if kinds[0] in NUMBER_TYPES and kinds[1] in NUMBER_TYPES and type(op) in _ON_NUMBERS:
        assert isinstance(a, int | float)
        assert isinstance(b, int | float)
        is_small = -_MOST < a < _MOST and -_MOST < b < _MOST  # nor NaN
        if is_small and (abs(b) <= 64 or not isinstance(op, ast.Pow)):
            return _ON_NUMBERS[type(op)](a, b)
    raise decline_undecided(node)
