# SPDX-License-Identifier: Apache-2.0
"""Trusted. Sorted lists, and heaps.

Sources, CPython 3.11: ``list.sort`` is stable, with ``reverse=True`` too, and compares by ``<``
alone; ``heapq.nlargest(k, x)`` is ``sorted(x, reverse=True)[:k]``. If the items include NaN, the
result depends on the algorithm, so doubles of columns are assumed not to be NaN.

New items are inserted one by one into a list whose order is known. The items of a heap are stored
from the greatest to the least: it is not known which of two equal items the heap returns first.
Equal items are identical, but for the signs of zeros.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import NamedTuple

from presieve.errors import DeclineSignal
from presieve.ir.sorts import FLOAT
from presieve.ir.terms import TRUE, Term
from presieve.ir.walk import size
from presieve.lift.execution import growing_lists, inlining
from presieve.lift.execution.growing_lists import as_solid_item, item
from presieve.lift.execution.state import Comparison, Flow, ModelCall, SymbolicMachine
from presieve.lift.models.builtins.comparisons import compare
from presieve.lift.models.builtins.sets import UntrackedSignal
from presieve.lift.models.pandas.sign_of_zero import assume_no_negative_zero
from presieve.lift.values.columns import NUMBERS
from presieve.lift.values.join_values import (
    ASCENDING,
    DESCENDING,
    Items,
    absence_of,
    as_growing,
    check_item,
    is_ordered,
    make_heap,
    merge,
    reversed_items,
    settle_items,
    there,
    without_length,
)
from presieve.lift.values.symbolic import (
    NONE,
    GrowingV,
    Known,
    ListV,
    Order,
    Scalar,
    TupleV,
    Value,
    describe,
)
from presieve.records import replace
from presieve.semantics.smart_constructors import and_, or_

_LARGEST = 3000
"""Maximum size of an item's term, in nodes."""

Key = Callable[[Flow, Value], Value]


class Sorter(NamedTuple):
    """An order on a path: items are compared by ``<`` or ``>`` of their keys."""

    m: SymbolicMachine
    flow: Flow
    order: Order
    key: Key

    def sort(self, list_value: GrowingV) -> GrowingV:
        """Sort the list in this order."""
        m, flow, order, key = self
        if list_value.kind == "heap" and order[1] == "":
            turned = reversed_items(list_value.items) if order[0] == "<" else list_value.items
            return GrowingV(turned, frozenset([order]))
        if is_ordered(list_value, order):
            items, unplaced = list_value.items, list_value.pending
        else:
            items, unplaced = (), settle_items(list_value).items
        for x in (*items, *unplaced):
            item_path = flow.branch(there(x))
            key(item_path, as_solid_item(m.force(x, item_path)))  # which may raise
        for x in unplaced:
            items = self.insert_row(items, x)
        terms = [t for i in items for t in _terms(i)]
        if any(size(t) > _LARGEST for t in terms):
            reason = "a list in no known order is sorted: keep it sorted, and sort it for each item"
            raise DeclineSignal("too-large", reason)
        return GrowingV(items, frozenset([order]), place=list_value.place)

    def insert_row(self, items: Items, x: Value) -> Items:
        """Insert an item after all items that do not come after it, if the item is there."""
        goes = [or_(absence_of(y), self._before(x, y)) for y in items]
        shifted = []
        for i, (old, at) in enumerate(zip((*items, NONE), (*goes, TRUE), strict=True)):
            new = merge(at, x, old)
            if i:
                new = merge(goes[i - 1], items[i - 1], new)
            shifted.append(merge(absence_of(x), old, new))
        return tuple(shifted)

    def _before(self, x: Value, y: Value) -> Term:
        """Return whether x comes strictly before y."""
        m = self.m
        both_path = self.flow.branch(and_(there(x), there(y)))
        keys = (self.key(both_path, as_solid_item(m.force(v, both_path))) for v in (x, y))
        a, b = (without_length(v) for v in keys)
        for value in (a, b):
            _check_numbers(m, value)
        if self.order[0] == ">":
            a, b = b, a
        return compare(Comparison(m, both_path, ast.Lt(), a, b))


def _terms(value: Value) -> list[Term]:
    match value:
        case Scalar(term, _):
            return [term]
        case TupleV(items):
            return [t for i in items for t in _terms(i)]
    return []


def _check_numbers(m: SymbolicMachine, value: Value) -> None:
    """Decline keys that may be NaN. At first raise :class:`UntrackedSignal`: lifting starts again
    with the assumption that doubles of columns are numbers.
    """
    match value:
        case Scalar(_, traits):
            if value.base == FLOAT and traits.maybe_nan:
                if NUMBERS not in m.columns.tracked:
                    raise UntrackedSignal(NUMBERS, m.span)
                reason = "a list is sorted that may hold NaN: leave it out, or sort columns as such"
                raise DeclineSignal("unsupported-operation", reason)
        case TupleV(items):
            for i in items:
                _check_numbers(m, i)
        case _:
            raise DeclineSignal("unsupported-operation", f"a list is sorted by {describe(value)}")


def itself(flow: Flow, value: Value) -> Value:
    """Return the item itself, as the key of a sort without ``key=``."""
    return value


def key_of(m: SymbolicMachine, flow: Flow, node: ast.expr | None) -> tuple[str, Key]:
    """Return a key function, with a text that identifies it."""
    match node:
        case None | ast.Constant(None):
            return "", itself
        case ast.Lambda(ast.arguments([], [ast.arg(name)], None, [], [], None, []), body):
            local = [n.id for n in ast.walk(body) if isinstance(n, ast.Name) and n.id in flow.env]
            if set(local) - {name}:
                reason = f"a key that depends on the variable {local[0]}"
                raise m.decline("unsupported-expression", reason, node)

            def by_lambda(path: Flow, value: Value) -> Value:
                inner = Flow({name: value}, path.conds, path.facts, heap=dict(path.heap))
                return m.evaluate(body, inner)

            return ast.dump(node), by_lambda
        case ast.Name(name) if name not in flow.env:
            key_function = m.evaluate(node, flow)
            if isinstance(key_function, Known) and inlining.is_own(key_function.target):
                function = key_function.target
                assert isinstance(function, FunctionType)
                text = f"{function.__module__}.{function.__qualname__}"
                ast_call = ast.copy_location(ast.Call(node, [], []), node)

                def by_function(path: Flow, value: Value) -> Value:
                    return inlining.inline_call(
                        ModelCall(m, path, name, (value,), {}, ast_call), function
                    )

                return text, by_function
    raise m.decline("unknown-call", "this key of a sorted list: use a lambda of one item", node)


# --- heaps --------------------------------------------------------------------------------------


def heap_of(list_value: ListV | GrowingV) -> GrowingV:
    """Return a list as a heap: it must be empty, in ascending order, or made by heapq."""
    heap = settle_items(as_growing(list_value))
    if heap.kind == "heap" or (heap.kind == "list" and is_ordered(heap, ASCENDING)):
        return make_heap(heap)
    raise DeclineSignal("mutation", "a list that may be no heap is used as one")


def on_heap(call: ModelCall, heap: GrowingV) -> tuple[Value, GrowingV]:
    """Return the result of a function of heapq, and the heap after the call."""
    m, flow, name, (_, *args), _, _ = call
    least = heap.items[1:]
    if name == "heappop" and not args:
        value = item(m, flow, heap, 0)
        return value, replace(heap, items=growing_lists.shorten_to(flow, heap.items, least))
    if len(args) != 1:
        raise call.decline("unknown-call", f"heapq.{name} with these arguments")
    x = check_item(m.force(args[0], flow))
    assume_no_negative_zero(m, *_doubles(x))
    value = NONE
    items = heap.items
    if name == "heapreplace":
        value = item(m, flow, heap, 0)
        items = growing_lists.shorten_to(flow, items, least)
    items = Sorter(m, flow, DESCENDING, itself).insert_row(items, x)
    new_heap = GrowingV(items, frozenset([DESCENDING]), kind="heap", place=heap.place)
    if name == "heappushpop":
        value = growing_lists.last(m, flow, items)
        new_heap = replace(new_heap, items=growing_lists.shorten_to(flow, items, heap.items))
    return value, new_heap


def _doubles(value: Value) -> Iterator[Term]:
    match value:
        case Scalar() if value.base == FLOAT:
            yield value.term
        case TupleV(items):
            for i in items:
                yield from _doubles(i)
