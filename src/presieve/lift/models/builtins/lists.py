"""Trusted. Lists and deques as they are written: what makes one, methods, slices and ``del``."""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping
from dataclasses import replace

from presieve.ir.sorts import BOOL, INT
from presieve.ir.terms import Lit, literal_value
from presieve.lift.execution import growing_lists
from presieve.lift.execution.growing_lists import changed, is_list
from presieve.lift.execution.state import Flow, Machine
from presieve.lift.models.builtins import heapq_sorted
from presieve.lift.python.names import is_function
from presieve.lift.values.containers import GrowingV
from presieve.lift.values.merge import as_growing, checked, reversed_items, settled
from presieve.lift.values.symbolic import (
    NONE,
    Known,
    ListV,
    NoneV,
    RefV,
    Scalar,
    TupleV,
    Value,
    describe,
    is_tagged,
)

_SELECTED = {"heapq.nlargest": ">", "heapq.nsmallest": "<"}


def construct(m: Machine, flow: Flow, function: Known, node: ast.Call) -> Value | None:
    """``sorted``, ``list`` of a list, ``deque`` and the functions of heapq; None for all others."""
    named = {k.arg or "**": k.value for k in node.keywords}
    if is_function(function, "builtins.sorted") and len(node.args) == 1:
        order, key = _order(m, flow, named, node)
        of = _list_of(m, flow, m.evaluate(node.args[0], flow), node)
        return heapq_sorted.ordered(m, flow, of, order, key, node)
    if is_function(function, "builtins.list") and len(node.args) == 1 and not named:
        found = flow.opened(m.evaluate(node.args[0], flow))
        if isinstance(found, TupleV) and not is_tagged(found):
            return ListV(found.items)
        return found if isinstance(found, ListV) else _list_of(m, flow, found, node)
    if is_function(function, "collections.deque"):
        return _deque(m, flow, node, named)
    for path, direction in _SELECTED.items():
        if is_function(function, path) and len(node.args) == 2:
            count = _count(m, m.evaluate(node.args[0], flow), node)
            text, key = heapq_sorted.key_of(m, flow, named.pop("key", None))
            if named:
                raise m.decline("unknown-call", f"{path} with these arguments", node)
            of = _list_of(m, flow, m.evaluate(node.args[1], flow), node)
            found = heapq_sorted.ordered(m, flow, of, (direction, text), key, node)
            return growing_lists.part(m, found, 0, max(count, 0), node)
    name = heapq_sorted.heap_function(function)
    if name is not None and not named and node.args:
        owner = m.evaluate(node.args[0], flow)
        args = [m.evaluate(a, flow) for a in node.args[1:]]
        contents = flow.opened(owner)
        if not isinstance(contents, ListV | GrowingV):
            raise m.decline("unsupported-operation", f"a heap of {describe(contents)}", node)
        heap = heapq_sorted.heap_of(m, contents, node)
        value, left = heapq_sorted.on_heap(m, flow, name, heap, args, node)
        changed(m, flow, owner, left, node)
        return value
    return None


def _list_of(m: Machine, flow: Flow, value: Value, node: ast.AST) -> GrowingV:
    """A new list of the items of a list, tuple, heap or deque."""
    match flow.opened(value):
        case GrowingV() as found if found.kind == "deque":
            return replace(found, kind="list", most=None)
        case GrowingV() as found:
            return found
        case ListV() as found:
            return as_growing(found)
        case TupleV(items) as found if not is_tagged(found):
            return as_growing(ListV(items))
    reason = f"a new list of {describe(flow.opened(value))}"
    raise m.decline("unknown-call", reason, node)


def _order(
    m: Machine,
    flow: Flow,
    named: Mapping[str, ast.expr],
    node: ast.AST,
) -> tuple[tuple[str, str], heapq_sorted.Key]:
    """The order that ``key=`` and ``reverse=`` say."""
    if not set(named) <= {"key", "reverse"}:
        raise m.decline("unknown-call", "sorting with these arguments", node)
    text, key = heapq_sorted.key_of(m, flow, named.get("key"))
    down = False
    if "reverse" in named:
        value = m.evaluate(named["reverse"], flow)
        if not (isinstance(value, Scalar) and isinstance(value.term, Lit) and value.base == BOOL):
            raise m.decline("unsupported-expression", "reverse= is not constant", node)
        down = bool(literal_value(value.term))
    return (">" if down else "<", text), key


def _deque(m: Machine, flow: Flow, node: ast.Call, named: dict[str, ast.expr]) -> Value:
    args = list(node.args)
    most = args[1] if len(args) == 2 else named.pop("maxlen", None)
    if named or len(args) > 2:
        raise m.decline("unknown-call", "a deque with these arguments", node)
    found: Value = ListV(())
    if args:
        found = flow.opened(m.evaluate(args[0], flow))
    limit = m.evaluate(most, flow) if most is not None else NONE
    if not is_list(found) or (isinstance(found, GrowingV) and found.kind == "heap"):
        raise m.decline("unknown-call", f"a deque of {describe(found)}", node)
    assert isinstance(found, ListV | GrowingV)
    count = None if isinstance(limit, NoneV) else _count(m, limit, node)
    start = settled(as_growing(found))
    if count is not None and len(start.items) > count:
        start = growing_lists.part(m, replace(start, kind="list"), -count, None, node)
    return replace(start, kind="deque", most=count)


def _count(m: Machine, value: Value, node: ast.AST) -> int:
    """A number that is known when lifting."""
    if isinstance(value, Scalar) and isinstance(value.term, Lit) and value.base == INT:
        found = int(value.term.value or 0)
        if abs(found) <= sys.maxsize:
            return found
    raise m.decline("unsupported-expression", "a number of items that is not constant", node)


# --- methods ------------------------------------------------------------------------------------


def method(m: Machine, flow: Flow, owner: Value, name: str, node: ast.Call) -> Value | None:
    """The result of a list's or deque's method, which may change it; None where it is not known."""
    contents = flow.opened(owner)
    if not isinstance(contents, ListV | GrowingV) or not isinstance(owner, RefV):
        return None
    if any(isinstance(a, ast.Starred) for a in node.args):
        return None
    if name == "sort" and not node.args:
        named = {k.arg or "**": k.value for k in node.keywords}
        order, key = _order(m, flow, named, node)
        found = as_growing(contents)
        if found.kind != "list":
            raise m.decline("mutation", ".sort() of a heap or deque", node)
        changed(m, flow, owner, heapq_sorted.ordered(m, flow, found, order, key, node), node)
        return NONE
    if node.keywords:
        return None
    args = [m.force(m.evaluate(a, flow), flow) for a in node.args]
    # The arguments may have changed the list.
    return _changing(m, flow, owner, name, args, node)


def _changing(
    m: Machine, flow: Flow, owner: RefV, name: str, args: list[Value], node: ast.AST
) -> Value | None:
    contents = flow.opened(owner)
    assert isinstance(contents, ListV | GrowingV)
    deque = isinstance(contents, GrowingV) and contents.kind == "deque"
    match name, args:
        case "append", [x]:
            changed(m, flow, owner, growing_lists.appended(as_growing(contents), x), node)
        case "extend", [more]:
            found = as_growing(contents)
            for x in _written_out(m, flow, more, node):
                found = growing_lists.appended(found, x)
            changed(m, flow, owner, found, node)
        case "insert", [at, x] if not deque and _count(m, at, node) == 0:
            found = settled(as_growing(contents))
            if found.kind == "heap":
                raise m.decline("mutation", "a heap is changed by other functions", node)
            items = (checked(x), *found.items)
            orders = None if len(items) < 2 else frozenset[tuple[str, str]]()
            changed(m, flow, owner, replace(found, items=items, orders=orders), node)
        case ("pop", []) | ("popleft", []) | ("pop", [_]):
            last = -1 if not args else _count(m, args[0], node)
            if (name == "popleft" or args) and (name == "popleft") != deque:
                return None
            where = 0 if name == "popleft" else last
            value, left = growing_lists.popped(m, flow, as_growing(contents), where, node)
            changed(m, flow, owner, left, node)
            return value
        case "clear", []:
            most = contents.most if isinstance(contents, GrowingV) else None
            empty = GrowingV((), None, kind="deque" if deque else "list", most=most)
            changed(m, flow, owner, empty, node)
        case "reverse", []:
            found = settled(as_growing(contents))
            if found.kind == "heap":
                raise m.decline("mutation", "a heap is changed by other functions", node)
            items = reversed_items(found.items)
            turned = replace(found, items=items, orders=None if len(items) < 2 else frozenset())
            changed(m, flow, owner, turned, node)
        case "copy", [] if not deque:
            return contents
        case _:
            return None
    return NONE


def _written_out(m: Machine, flow: Flow, value: Value, node: ast.AST) -> tuple[Value, ...]:
    match flow.opened(value):
        case ListV(items):
            return items
        case TupleV(items) as found if not is_tagged(found):
            return items
    raise m.decline("mutation", "a list gets more items than are written out", node)


# --- slices -------------------------------------------------------------------------------------


def part(m: Machine, flow: Flow, owner: Value, index: ast.Slice) -> Value | None:
    """``owner[low:high]`` of a list or tuple, with constants; None for everything else."""
    found = flow.opened(owner)
    is_tuple = isinstance(found, TupleV) and not is_tagged(found)
    if not (is_list(found) or is_tuple):
        return None
    low, high = (
        None if end is None else _end(m, m.evaluate(end, flow), index)
        for end in (index.lower, index.upper)
    )
    step = NONE if index.step is None else m.evaluate(index.step, flow)
    if isinstance(found, ListV | TupleV):
        by = None if isinstance(step, NoneV) else _count(m, step, index)
        if by == 0:
            raise m.decline("always-raises", "a slice of step 0", index)
        items = found.items[low:high:by]
        return ListV(items) if isinstance(found, ListV) else TupleV(items)
    assert isinstance(found, GrowingV)
    if not isinstance(step, NoneV):
        raise m.decline("unsupported-expression", "a slice with a step of a list that grows", index)
    return growing_lists.part(m, found, low or 0, high, index)


def _end(m: Machine, value: Value, node: ast.AST) -> int | None:
    return None if isinstance(value, NoneV) else _count(m, value, node)


def delete(m: Machine, flow: Flow, target: ast.expr) -> bool:
    """``del owner[k:]``, ``del owner[0]`` and ``del owner[-1]``; whether that is what it is."""
    if not isinstance(target, ast.Subscript):
        return False
    owner = m.evaluate(target.value, flow)
    contents = flow.opened(owner)
    if not isinstance(contents, ListV | GrowingV) or not isinstance(owner, RefV):
        return False
    found = as_growing(contents)
    match target.slice:
        case ast.Slice(ast.expr() as lower, None, None) if found.kind == "list":
            first = _count(m, m.evaluate(lower, flow), target)
            left = growing_lists.part(m, found, 0, first, target)
        case ast.Slice():
            return False
        case at:
            where = _count(m, m.evaluate(at, flow), target)
            _, left = growing_lists.popped(m, flow, found, where, target)
    changed(m, flow, owner, left, target)
    return True
