# SPDX-License-Identifier: Apache-2.0
"""Trusted. Lists whose length depends on the rows: their items, and how they change.

Item i is an optional value: None where the list is shorter. If an item exists, so do all before it.
Sources: the Python language reference; ``Modules/_collectionsmodule.c`` for deques.
"""

from __future__ import annotations

import ast

from presieve.errors import DeclineSignal
from presieve.ir.ops import negate
from presieve.ir.sorts import INT, Option
from presieve.ir.terms import FALSE, TRUE, Lit, Term
from presieve.lift.execution.state import Flow, SymbolicMachine
from presieve.lift.values.join_values import (
    Items,
    Lists,
    absence_of,
    as_growing,
    check_item,
    merge,
    push_item,
    settle_items,
    there,
)
from presieve.lift.values.symbolic import (
    NONE,
    GrowingV,
    LengthV,
    ListV,
    OptTupleV,
    PerhapsV,
    RefV,
    Scalar,
    TupleV,
    Value,
    describe,
)
from presieve.records import replace
from presieve.semantics.smart_constructors import and_, get


def as_solid_item(item: Value) -> Value:
    """Return the item as one that exists."""
    match item:
        case Scalar(term, traits) if isinstance(term.sort, Option):
            return Scalar(get(term), traits)
        case OptTupleV(_, items):
            return TupleV(items)
    return item


def append_item(growing: GrowingV, x: Value) -> GrowingV:
    """Append an item: ``growing.append(x)``."""
    x = check_item(x)
    if growing.kind == "heap":
        raise DeclineSignal("mutation", "a heap is changed by functions other than heapq's")
    if growing.kind == "deque":
        return replace(
            growing, items=_shift_deque(growing.items, x, growing.most), orders=frozenset()
        )
    return replace(growing, pending=(*growing.pending, x))


def _shift_deque(items: Items, x: Value, most: int | None) -> Items:
    """Append one more item to a deque, which drops its first one if it is full."""
    if most is None or len(items) < most:
        return push_item(items, x)
    if most == 0:
        return ()
    full = there(items[-1])
    moved, plain = (*items[1:], x), push_item(items, x)
    return tuple(merge(full, a, b) for a, b in zip(moved, plain, strict=False))


# --- items --------------------------------------------------------------------------------------


def length(growing: GrowingV) -> LengthV:
    """Return the number of items."""
    return LengthV(tuple(there(i) for i in settle_items(growing).items))


FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt,
    ast.Gt: ast.Lt,
    ast.LtE: ast.GtE,
    ast.GtE: ast.LtE,
}
"""Each comparison with its sides exchanged."""


def compare_length(op: ast.cmpop, left: Value, right: Value) -> Term | None:
    """Compare the length of a list with a constant; None for everything else."""
    kind = type(op)
    if isinstance(right, LengthV):
        left, right, kind = right, left, FLIPPED.get(kind, kind)
    if not isinstance(left, LengthV) or not isinstance(right, Scalar):
        return None
    if not isinstance(right.term, Lit) or right.base != INT:
        return None
    number = int(right.term.value or 0)
    at_least, above = _at_least(left, number), _at_least(left, number + 1)
    answers: dict[type[ast.cmpop], Term] = {
        ast.GtE: at_least,
        ast.Gt: above,
        ast.Lt: negate(at_least),
        ast.LtE: negate(above),
        ast.Eq: and_(at_least, negate(above)),
    }
    return answers.get(kind)


def _at_least(of: LengthV, number: int) -> Term:
    if number <= 0:
        return TRUE
    return of.there[number - 1] if number <= len(of.there) else FALSE


def cut(flow: Flow) -> None:
    """Shorten lists that are known to be shorter on this path."""
    for number, contents in flow.heap.items():
        if isinstance(contents, GrowingV) and not contents.pending:
            is_absent = [flow.decide(absence_of(i)) == TRUE for i in contents.items]
            if True in is_absent:
                flow.heap[number] = replace(contents, items=contents.items[: is_absent.index(True)])


def certain(flow: Flow, items: Items, at: int) -> Term:
    """Return whether there is such an item, as far as is known on this path."""
    if any(flow.decide(there(i)) == TRUE for i in items[at:]):
        return TRUE
    return flow.decide(there(items[at]))


def nonempty(growing: GrowingV) -> Term:
    """Return whether there is any item."""
    growing = settle_items(growing)
    return there(growing.items[0]) if growing.items else FALSE


def rounds(growing: GrowingV) -> list[Value]:
    """Return the items for the rounds of a loop over the list."""
    if growing.kind == "heap":
        raise DeclineSignal("not-a-fold", "the order of a heap's items is not specified: sort it")
    items = settle_items(growing).items
    return [i if absence_of(i) == FALSE else PerhapsV(there(i), as_solid_item(i)) for i in items]


def item(m: SymbolicMachine, flow: Flow, growing: GrowingV, at: int) -> Value:
    """Return ``growing[at]``: IndexError if there is no such item."""
    if growing.kind == "heap" and at != 0:
        raise DeclineSignal("not-a-fold", "only the first item of a heap is known: sort it")
    items = settle_items(growing).items
    at = -1 if growing.kind == "heap" else at  # a heap's items stand with the greatest first
    needed = at if at >= 0 else -at - 1
    if needed >= len(items):
        m.fail(flow, TRUE)
        return NONE
    m.fail(flow, negate(certain(flow, items, needed)))
    if at >= 0:
        return as_solid_item(m.force(items[at], flow))
    return last(m, flow, items, needed)


def last(m: SymbolicMachine, flow: Flow, items: Items, before: int = 0) -> Value:
    """Return the last existing item, or the one ``before`` places ahead of it."""
    value = items[0]
    for i in range(1, len(items) - before):
        value = merge(certain(flow, items, i + before), items[i], value)
    return as_solid_item(m.force(value, flow))


def store_item(
    m: SymbolicMachine, flow: Flow, growing: GrowingV, item: tuple[int, Value]
) -> GrowingV:
    """Return the list after ``growing[at] = value``: IndexError if there is no such item."""
    at, value = item
    growing = settle_items(growing)
    if growing.kind == "heap" or at < 0:
        raise DeclineSignal("mutation", "an item of a list that grows is replaced from its end")
    if at >= len(growing.items):
        m.fail(flow, TRUE)
        return growing
    m.fail(flow, negate(certain(flow, growing.items, at)))
    items = (*growing.items[:at], check_item(m.force(value, flow)), *growing.items[at + 1 :])
    return replace(growing, items=items, orders=None if len(items) < 2 else frozenset())


def part(growing: GrowingV, low: int, high: int | None) -> GrowingV:
    """Return ``growing[low:high]``, or ``growing[-low:]``, of a list."""
    if growing.kind != "list":
        raise DeclineSignal("unsupported-expression", "a slice of a heap or deque")
    growing = settle_items(growing)
    items = growing.items
    if low >= 0 and (high is None or high >= 0):
        return replace(growing, items=items[low:high])
    if low >= 0 and high is not None:
        return replace(growing, items=_without_last(items, -high)[low:])
    if high is not None:
        raise DeclineSignal("unsupported-expression", "this slice of a list")
    last_items: list[Value] = []
    for i in range(min(-low, len(items))):
        value = items[i]
        for dropped in range(1, len(items) + low + 1):
            value = merge(there(items[dropped - low - 1]), items[dropped + i], value)
        last_items.append(value)
    return replace(growing, items=tuple(last_items))


def _without_last(items: Items, count: int) -> Items:
    """Return the items except the last ``count``."""
    size = max(len(items) - count, 0)
    return tuple(merge(there(items[i + count]), items[i], NONE) for i in range(size))


def pop_item(m: SymbolicMachine, flow: Flow, growing: GrowingV, at: int) -> tuple[Value, GrowingV]:
    """Return what ``growing.pop(at)`` gives and what it leaves, for the first and last item."""
    if growing.kind == "heap" or at not in (0, -1):
        raise DeclineSignal("mutation", ".pop() of an item other than the first or last")
    growing = settle_items(growing)
    value = item(m, flow, growing, at)
    items = growing.items[1:] if at == 0 else shorten_to(flow, growing.items, growing.items[1:])
    return value, replace(growing, items=items)


def shorten_to(flow: Flow, items: Items, by: Items) -> Items:
    """Return as many of the items as there are in ``by``."""
    exists = (certain(flow, by, i) for i in range(len(by)))
    return tuple(merge(e, x, NONE) for e, x in zip(exists, items, strict=False))


def concatenate_lists(a: Lists, b: Lists) -> Lists:
    """Return ``a + b``."""
    if isinstance(a, ListV) and isinstance(b, ListV):
        return ListV((*a.items, *b.items))
    first, second = as_growing(a), settle_items(as_growing(b))
    if first.kind != "list" or second.kind != "list":
        raise DeclineSignal("unsupported-operation", "the sum of a list and a heap or deque")
    return replace(first, pending=(*first.pending, *second.items))


def is_list(value: Value) -> bool:
    """Return whether this is the contents of a list."""
    return isinstance(value, ListV | GrowingV)


def store_contents(m: SymbolicMachine, flow: Flow, owner: Value, new: GrowingV) -> None:
    """Store the new contents of the list."""
    if not isinstance(owner, RefV):
        raise DeclineSignal("mutation", f"{describe(owner)} is changed in place")
    flow.heap[owner.number] = replace(new, place=m.span)
