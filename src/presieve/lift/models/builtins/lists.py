"""Trusted. Lists and deques as they are written: what makes one, methods, slices and ``del``."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import TypeAlias, TypeVar

from presieve.ir.sorts import BOOL, INT
from presieve.lift.execution import growing_lists
from presieve.lift.execution.growing_lists import changed, is_list
from presieve.lift.execution.state import Call, Flow, Machine
from presieve.lift.models.builtins import heapq_sorted
from presieve.lift.models.builtins.heapq_sorted import Sorter, key_of
from presieve.lift.models.registry import function, itself, method
from presieve.lift.values.containers import GrowingV
from presieve.lift.values.merge import Items, as_growing, checked, reversed_items, settled
from presieve.lift.values.symbolic import (
    NONE,
    ListV,
    NoneV,
    RefV,
    TupleV,
    Value,
    constant_of,
    describe,
    is_tagged,
)

Changed: TypeAlias = tuple[Value, GrowingV]
"""The result of a method, and the list as it leaves it."""
ListModel = TypeVar("ListModel", bound=Callable[[Call, GrowingV], Changed | None])


@function("builtins.sorted", unevaluated=True)
def make_sorted(call: Call) -> Value | None:
    """``sorted(items, key=..., reverse=...)`` of a list, by a lambda or function of one item."""
    m, flow, _, _, _, node = call
    if len(node.args) != 1:
        return None
    sorter = _sorter(call)
    return sorter.ordered(_list_of(call, m.evaluate(node.args[0], flow)))


@function("builtins.list")
def make_list(call: Call) -> Value:
    """``list()`` of nothing, or of a list, tuple or deque."""
    if not call.args:
        return ListV(())
    if len(call.args) > 1:
        raise call.decline("unknown-call", "supported with 0 argument(s) only")
    found = call.flow.opened(call.args[0])
    if isinstance(found, TupleV) and not is_tagged(found):
        return ListV(found.items)
    return found if isinstance(found, ListV) else _list_of(call, found)


@function("heapq.nlargest", "heapq.nsmallest", unevaluated=True)
def select(call: Call) -> Value | None:
    """``heapq.nlargest(k, items, key=...)`` and ``nsmallest`` of a list, with a constant ``k``."""
    m, flow, _, _, _, node = call
    if len(node.args) != 2:
        return None
    named = {k.arg or "**": k.value for k in node.keywords}
    count = _count(m, m.evaluate(node.args[0], flow), node)
    text, key = key_of(m, flow, named.pop("key", None))
    if named:
        raise call.decline("unknown-call", f"{call.written} with these arguments")
    of = _list_of(call, m.evaluate(node.args[1], flow))
    direction = ">" if call.name == "nlargest" else "<"
    found = Sorter(m, flow, (direction, text), key, node).ordered(of)
    return growing_lists.part(m, found, 0, max(count, 0), node)


@function("_heapq.heappush", "_heapq.heappop", "_heapq.heappushpop", "_heapq.heapreplace")
def change_heap(call: Call) -> Value:
    """``heapq.heappush``, ``heappop``, ``heappushpop`` and ``heapreplace``, of a list that is a
    heap.
    """
    m, flow, _, args, _, node = call
    if not args:
        raise call.decline("unknown-call", f"{call.written} with these arguments")
    contents = flow.opened(args[0])
    if not isinstance(contents, ListV | GrowingV):
        raise call.decline("unsupported-operation", f"a heap of {describe(contents)}")
    value, left = heapq_sorted.on_heap(call, heapq_sorted.heap_of(m, contents, node))
    changed(m, flow, args[0], left, node)
    return value


def _list_of(call: Call, value: Value) -> GrowingV:
    """A new list of the items of a list, tuple, heap or deque."""
    found = call.flow.opened(value)
    match found:
        case GrowingV(kind="deque"):
            return replace(found, kind="list", most=None)
        case GrowingV():
            return found
        case ListV():
            return as_growing(found)
        case TupleV(items) if not is_tagged(found):
            return as_growing(ListV(items))
    raise call.decline("unknown-call", f"a new list of {describe(found)}")


def _sorter(call: Call) -> Sorter:
    """The order that ``key=`` and ``reverse=`` say."""
    m, flow = call.m, call.flow
    named = {k.arg or "**": k.value for k in call.node.keywords}
    if not set(named) <= {"key", "reverse"}:
        raise call.decline("unknown-call", "sorting with these arguments")
    text, key = key_of(m, flow, named.get("key"))
    down = False
    if "reverse" in named:
        value = constant_of(m.evaluate(named["reverse"], flow), BOOL)
        if value is None:
            raise call.decline("unsupported-expression", "reverse= is no constant")
        down = bool(value)
    return Sorter(m, flow, (">" if down else "<", text), key, call.node)


@function("collections.deque", keywords=("maxlen",))
def make_deque(call: Call) -> Value:
    """``deque(items, maxlen=k)`` of nothing or a list, with a constant length."""
    m, flow, _, args, named, node = call
    if len(args) + len(named) > 2 or (named and len(args) == 2):
        raise call.decline("unknown-call", "a deque with these arguments")
    found = flow.opened(args[0]) if args else ListV(())
    limit = args[1] if len(args) == 2 else named.get("maxlen", NONE)
    if not is_list(found) or (isinstance(found, GrowingV) and found.kind == "heap"):
        raise call.decline("unknown-call", f"a deque of {describe(found)}")
    assert isinstance(found, ListV | GrowingV)
    count = None if isinstance(limit, NoneV) else _count(m, limit, node)
    start = settled(as_growing(found))
    if count is not None and len(start.items) > count:
        start = growing_lists.part(m, replace(start, kind="list"), -count, None, node)
    return replace(start, kind="deque", most=count)


def _count(m: Machine, value: Value, node: ast.AST) -> int:
    """A number that is known when lifting."""
    found = constant_of(value, INT)
    if found is not None and abs(int(found)) <= sys.maxsize:
        return int(found)
    raise m.decline("unsupported-expression", "a number of items that is no constant", node)


# --- methods ------------------------------------------------------------------------------------


@method(ListV | GrowingV, "sort", unevaluated=True, owner=itself)
def sort(call: Call, owner: Value) -> Value | None:
    """``list.sort(key=..., reverse=...)``, as ``sorted``."""
    m, flow, _, _, _, node = call
    if node.args or not isinstance(owner, RefV):
        return None
    sorter = _sorter(call)
    found = _contents(call, owner)
    if found.kind != "list":
        raise call.decline("mutation", ".sort() of a heap or deque")
    changed(m, flow, owner, sorter.ordered(found), node)
    return NONE


def _contents(call: Call, owner: Value) -> GrowingV:
    """What a list holds, which its arguments may have changed."""
    found = call.flow.opened(owner)
    assert isinstance(found, ListV | GrowingV)
    return as_growing(found)


def list_method(*names: str, arguments: int | range) -> Callable[[ListModel], ListModel]:
    """Register the model of methods of lists and deques that are objects, which gets the contents
    and returns the result, and what it leaves.
    """

    def register(model: ListModel) -> ListModel:
        @method(ListV | GrowingV, *names, arguments=arguments, owner=itself)
        @wraps(model)
        def of_list(call: Call, owner: Value) -> Value | None:
            if not isinstance(owner, RefV):
                return None
            done = model(call, _contents(call, owner))
            if done is None:
                return None
            value, left = done
            changed(call.m, call.flow, owner, left, call.node)
            return value

        return model

    return register


@list_method("append", arguments=1)
def append(call: Call, found: GrowingV) -> Changed:
    """``list.append(x)``."""
    return NONE, growing_lists.appended(found, call.args[0])


@list_method("extend", arguments=1)
def extend(call: Call, found: GrowingV) -> Changed:
    """``list.extend(items)`` of items that are written out."""
    for x in _written_out(call, call.args[0]):
        found = growing_lists.appended(found, x)
    return NONE, found


@list_method("insert", arguments=2)
def insert(call: Call, found: GrowingV) -> Changed | None:
    """``list.insert(0, x)``."""
    at, x = call.args
    if found.kind == "deque" or _count(call.m, at, call.node) != 0:
        return None
    return NONE, _rearranged(call, found, lambda items: (checked(x), *items))


@list_method("pop", "popleft", arguments=range(2))
def pop(call: Call, found: GrowingV) -> Changed | None:
    """``list.pop()`` and ``list.pop(0)``; ``deque.pop()`` and ``deque.popleft()``."""
    m, flow, name, args, _, node = call
    if name == "popleft" and args:
        return None
    where = -1 if not args else _count(m, args[0], node)
    if (name == "popleft" or args) and (name == "popleft") != (found.kind == "deque"):
        return None
    return growing_lists.popped(m, flow, found, 0 if name == "popleft" else where, node)


@method(ListV | GrowingV, "clear", arguments=0, owner=itself)
def clear(call: Call, owner: Value) -> Value | None:
    """``list.clear()``."""
    if not isinstance(owner, RefV):
        return None
    match call.flow.opened(owner):
        case GrowingV(kind=kind, most=most):
            empty = GrowingV((), None, kind="deque" if kind == "deque" else "list", most=most)
        case _:
            empty = GrowingV((), None)
    changed(call.m, call.flow, owner, empty, call.node)
    return NONE


@list_method("reverse", arguments=0)
def reverse(call: Call, found: GrowingV) -> Changed:
    """``list.reverse()``."""
    return NONE, _rearranged(call, found, reversed_items)


def _rearranged(call: Call, found: GrowingV, how: Callable[[Items], Items]) -> GrowingV:
    found = settled(found)
    if found.kind == "heap":
        raise call.decline("mutation", "a heap is changed by other functions")
    items = how(found.items)
    return replace(found, items=items, orders=None if len(items) < 2 else frozenset())


@method(ListV | GrowingV, "copy", arguments=0, owner=itself)
def copy(call: Call, owner: Value) -> Value | None:
    """``list.copy()``."""
    contents = call.flow.opened(owner)
    deque = isinstance(contents, GrowingV) and contents.kind == "deque"
    return contents if isinstance(owner, RefV) and not deque else None


def _written_out(call: Call, value: Value) -> tuple[Value, ...]:
    match call.flow.opened(value):
        case ListV(items):
            return items
        case TupleV(items) as found if not is_tagged(found):
            return items
    raise call.decline("mutation", "a list gets more items than are written out")


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
