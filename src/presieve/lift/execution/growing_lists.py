"""Trusted. Lists whose length depends on the rows: what they hold, and how they change.

Item i is an optional value: None where the list is shorter. Where an item is there, all before it
are. Sources: the Python language reference; ``Modules/_collectionsmodule.c`` for deques.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from presieve.errors import DeclineSignal
from presieve.ir.ops import negate
from presieve.ir.sorts import INT, Option
from presieve.ir.terms import FALSE, TRUE, Lit, Term
from presieve.lift.values.containers import GrowingV, LengthV, ListV, PerhapsV
from presieve.lift.values.merge import (
    Items,
    Lists,
    absent,
    as_growing,
    checked,
    merge,
    pushed,
    settled,
    there,
)
from presieve.lift.values.symbolic import (
    NONE,
    OptTupleV,
    RefV,
    Scalar,
    TupleV,
    Value,
    describe,
)
from presieve.semantics.build import and_, get

if TYPE_CHECKING:
    from presieve.lift.execution.state import Flow, Machine


def solid(item: Value) -> Value:
    """The item where it is there."""
    match item:
        case Scalar(term, traits) if isinstance(term.sort, Option):
            return Scalar(get(term), traits)
        case OptTupleV(_, items):
            return TupleV(items)
    return item


def appended(found: GrowingV, x: Value) -> GrowingV:
    """``found.append(x)``."""
    x = checked(x)
    if found.kind == "heap":
        raise DeclineSignal("mutation", "a heap is changed by functions other than heapq's")
    if found.kind == "deque":
        return replace(found, items=_shifted(found.items, x, found.most), orders=frozenset())
    return replace(found, pending=(*found.pending, x))


def _shifted(items: Items, x: Value, most: int | None) -> Items:
    """One more item at the end of a deque, which drops its first one where it is full."""
    if most is None or len(items) < most:
        return pushed(items, x)
    if most == 0:
        return ()
    full = there(items[-1])
    moved, plain = (*items[1:], x), pushed(items, x)
    return tuple(merge(full, a, b) for a, b in zip(moved, plain, strict=False))


# --- items --------------------------------------------------------------------------------------


def length(found: GrowingV) -> LengthV:
    """How many items there are."""
    return LengthV(tuple(there(i) for i in settled(found).items))


FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt,
    ast.Gt: ast.Lt,
    ast.LtE: ast.GtE,
    ast.GtE: ast.LtE,
}
"""What an order is from the other side."""


def compared(op: ast.cmpop, left: Value, right: Value) -> Term | None:
    """The length of a list compared with a constant; None for everything else."""
    kind = type(op)
    if isinstance(right, LengthV):
        left, right, kind = right, left, FLIPPED.get(kind, kind)
    if not isinstance(left, LengthV) or not isinstance(right, Scalar):
        return None
    if not isinstance(right.term, Lit) or right.base != INT:
        return None
    number = int(right.term.value or 0)
    enough, more = _at_least(left, number), _at_least(left, number + 1)
    answers: dict[type[ast.cmpop], Term] = {
        ast.GtE: enough,
        ast.Gt: more,
        ast.Lt: negate(enough),
        ast.LtE: negate(more),
        ast.Eq: and_(enough, negate(more)),
        ast.NotEq: negate(and_(enough, negate(more))),
    }
    return answers.get(kind)


def _at_least(of: LengthV, number: int) -> Term:
    if number <= 0:
        return TRUE
    return of.there[number - 1] if number <= len(of.there) else FALSE


def cut(flow: Flow) -> None:
    """On a path where lists are known to be shorter than they may be, they are."""
    for number, found in flow.heap.items():
        if isinstance(found, GrowingV) and not found.pending:
            known = [flow.decided(absent(i)) == TRUE for i in found.items]
            if True in known:
                flow.heap[number] = replace(found, items=found.items[: known.index(True)])


def certain(flow: Flow, items: Items, at: int) -> Term:
    """Whether there is such an item, as far as is known on this path."""
    if any(flow.decided(there(i)) == TRUE for i in items[at:]):
        return TRUE
    return flow.decided(there(items[at]))


def nonempty(found: GrowingV) -> Term:
    """Whether there is any item."""
    found = settled(found)
    return there(found.items[0]) if found.items else FALSE


def rounds(found: GrowingV, node: ast.AST) -> list[Value]:
    """What a loop over the list goes over."""
    if found.kind == "heap":
        raise DeclineSignal("not-a-fold", "the order of a heap's items is not specified: sort it")
    items = settled(found).items
    return [i if absent(i) == FALSE else PerhapsV(there(i), solid(i)) for i in items]


def item(m: Machine, flow: Flow, found: GrowingV, at: int, node: ast.AST) -> Value:
    """``found[at]``: IndexError where there is no such item."""
    if found.kind == "heap" and at != 0:
        raise m.decline("not-a-fold", "only the first item of a heap is known: sort it", node)
    items = settled(found).items
    at = -1 if found.kind == "heap" else at  # of these the greatest is the first
    needed = at if at >= 0 else -at - 1
    if needed >= len(items):
        m.fail(flow, TRUE)
        return NONE
    m.fail(flow, negate(certain(flow, items, needed)))
    if at >= 0:
        return solid(m.force(items[at], flow))
    return last(m, flow, items, needed)


def last(m: Machine, flow: Flow, items: Items, before: int = 0) -> Value:
    """The last of the items that there are, or one so far before it."""
    value = items[0]
    for i in range(1, len(items) - before):
        value = merge(certain(flow, items, i + before), items[i], value)
    return solid(m.force(value, flow))


def stored(
    m: Machine, flow: Flow, found: GrowingV, item: tuple[int, Value], node: ast.AST
) -> GrowingV:
    """The list after ``found[at] = value``: IndexError where there is no such item."""
    at, value = item
    found = settled(found)
    if found.kind == "heap" or at < 0:
        raise m.decline("mutation", "an item of a list that grows is replaced from its end", node)
    if at >= len(found.items):
        m.fail(flow, TRUE)
        return found
    m.fail(flow, negate(certain(flow, found.items, at)))
    items = (*found.items[:at], checked(m.force(value, flow)), *found.items[at + 1 :])
    return replace(found, items=items, orders=None if len(items) < 2 else frozenset())


def part(m: Machine, found: GrowingV, low: int, high: int | None, node: ast.AST) -> GrowingV:
    """``found[low:high]``, and ``found[-low:]``, of a list."""
    if found.kind != "list":
        raise m.decline("unsupported-expression", "a slice of a heap or deque", node)
    found = settled(found)
    items = found.items
    if low >= 0 and (high is None or high >= 0):
        return replace(found, items=items[low:high])
    if low >= 0 and high is not None:
        return replace(found, items=_without_last(items, -high)[low:])
    if high is not None:
        raise m.decline("unsupported-expression", "this slice of a list", node)
    kept: list[Value] = []
    for i in range(min(-low, len(items))):
        value = items[i]
        for gone in range(1, len(items) + low + 1):
            value = merge(there(items[gone - low - 1]), items[gone + i], value)
        kept.append(value)
    return replace(found, items=tuple(kept))


def _without_last(items: Items, count: int) -> Items:
    """The items but for so many at the end."""
    kept = max(len(items) - count, 0)
    return tuple(merge(there(items[i + count]), items[i], NONE) for i in range(kept))


def popped(
    m: Machine, flow: Flow, found: GrowingV, at: int, node: ast.AST
) -> tuple[Value, GrowingV]:
    """What ``found.pop(at)`` gives and leaves, for the first and the last item."""
    if found.kind == "heap" or at not in (0, -1):
        raise m.decline("mutation", ".pop() of an item other than the first or last", node)
    found = settled(found)
    value = item(m, flow, found, at, node)
    items = found.items[1:] if at == 0 else shortened(flow, found.items, found.items[1:])
    return value, replace(found, items=items)


def shortened(flow: Flow, items: Items, by: Items) -> Items:
    """So many of the items as there are others."""
    exists = (certain(flow, by, i) for i in range(len(by)))
    return tuple(merge(e, x, NONE) for e, x in zip(exists, items, strict=False))


def concatenated(a: Lists, b: Lists) -> Lists:
    """``a + b``."""
    if isinstance(a, ListV) and isinstance(b, ListV):
        return ListV((*a.items, *b.items))
    found, more = as_growing(a), settled(as_growing(b))
    if found.kind != "list" or more.kind != "list":
        raise DeclineSignal("unsupported-operation", "the sum of a list and a heap or deque")
    return replace(found, pending=(*found.pending, *more.items))


def is_list(value: Value) -> bool:
    """Whether this is the contents of a list."""
    return isinstance(value, ListV | GrowingV)


def changed(m: Machine, flow: Flow, owner: Value, new: GrowingV, node: ast.AST) -> None:
    """The list holds something else from here on."""
    if not isinstance(owner, RefV):
        raise m.decline("mutation", f"{describe(owner)} is changed in place", node)
    flow.heap[owner.number] = replace(new, place=m.source.span(node))
