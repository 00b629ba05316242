# SPDX-License-Identifier: Apache-2.0
"""Trusted. Lists and deques: constructors, methods, slices and ``del``."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise

from presieve.errors import DeclineSignal
from presieve.ir.ops import app, negate
from presieve.ir.sorts import BOOL, INT
from presieve.ir.terms import App, Lit, Op, Term, int_lit
from presieve.lift.execution import growing_lists, heap, outer_containers
from presieve.lift.execution.growing_lists import is_list, store_contents
from presieve.lift.execution.state import (
    Comparison,
    Flow,
    ModelCall,
    SymbolicMachine,
    merge_choices,
)
from presieve.lift.models.builtins import sorted_and_heaps
from presieve.lift.models.builtins.comparisons import compare
from presieve.lift.models.builtins.sorted_and_heaps import Sorter, key_of
from presieve.lift.models.registry import function, method, reference
from presieve.lift.values.join_values import (
    Items,
    as_growing,
    check_item,
    merge,
    reversed_items,
    settle_items,
)
from presieve.lift.values.symbolic import (
    LITERAL,
    NONE,
    GrowingV,
    ListV,
    NoneV,
    RefV,
    Scalar,
    TupleV,
    Value,
    constant_of,
    describe,
    is_tagged,
)
from presieve.records import replace
from presieve.semantics.smart_constructors import as_int, ite, or_

_MOST_CHOICES = 200
"""Maximum number of items among which a computed position chooses."""


def item_at(m: SymbolicMachine, flow: Flow, items: Sequence[Value], key: Value) -> Value:
    """Return ``items[key]`` of a list or tuple; a computed position chooses among the items."""
    if constant_of(key) is not None or not isinstance(key, Scalar) or key.traits.numpy:
        return items[heap.position(key, len(items))]
    if key.base not in (INT, BOOL) or not 0 < len(items) <= _MOST_CHOICES:
        return items[heap.position(key, len(items))]
    place, size = as_int(m.scalar(flow, key).term), len(items)
    items = outer_containers.write_out_choices(m, [*items])
    chosen = _choose(place, items)
    if chosen is not None:
        return chosen
    low, high = m.ranges.interval(place) or (-size, size)
    candidates = range(max(low, -size), min(high, size - 1) + 1)
    hits = [app(Op.PY_EQ, place, int_lit(i)) for i in candidates]
    if not hits or low < -size or high >= size:
        m.fail(flow, negate(flow.decide(or_(*hits))), IndexError)
    if not hits:
        raise DeclineSignal("always-raises", f"there are {size} items only")
    return merge_choices(hits[:-1], [items[i] for i in candidates], merge)


def _choose(place: Term, items: Sequence[Value]) -> Value | None:
    """Return the item at a position that is one of several constants; None for others."""
    match place:
        case Lit(_, int() as number) if -len(items) <= number < len(items):
            return items[number]
        case App(Op.ITE, (condition, then, otherwise)):
            a, b = _choose(then, items), _choose(otherwise, items)
            return None if a is None or b is None else merge(condition, a, b)
    return None


@function("_bisect.bisect_right", "_bisect.bisect_left", arguments=2)
def bisect(call: ModelCall) -> Value | None:
    """``bisect.bisect``, ``bisect_right`` and ``bisect_left`` in a sorted list of constants."""
    m, flow = call.m, call.flow
    items = flow.dereference(call.args[0])
    items = outer_containers.items_of(m, items) or items
    if not isinstance(items, ListV | TupleV) or is_tagged(items) or not items.items:
        return None
    constants = [constant_of(x) for x in items.items]
    numbers = all(type(c) in (int, float) and c == c for c in constants)
    if not numbers and not all(type(c) is str for c in constants):
        return None
    if any(a > b for a, b in pairwise(constants)) or len(constants) > _MOST_CHOICES:  # type: ignore[operator]
        raise call.decline("unsupported-operation", f"{call.name}() in a list that is not sorted")
    place: Term = int_lit(len(constants))
    value = m.scalar(flow, call.args[1])
    for number, item in reversed([*enumerate(items.items)]):
        if call.name == "bisect_left":  # the first item that is not less
            stops = negate(compare(Comparison(m, flow, ast.Lt(), item, value)))
        else:
            stops = compare(Comparison(m, flow, ast.Lt(), value, item))
        place = ite(stops, int_lit(number), place)
    return Scalar(place, LITERAL)


@function("builtins.sorted", unevaluated=True)
def make_sorted(call: ModelCall) -> Value | None:
    """``sorted(items, key=..., reverse=...)`` of a list, by a lambda or function of one item."""
    m, flow, node = call.m, call.flow, call.node
    if len(node.args) != 1:
        return None
    sorter = _sorter(call)
    return sorter.sort(_list_of(call, m.evaluate(node.args[0], flow)))


@function("builtins.list")
def make_list(call: ModelCall) -> Value:
    """``list()`` of nothing, or of a list, tuple or deque."""
    if not call.args:
        return ListV(())
    if len(call.args) > 1:
        raise call.decline("unknown-call", "list() is read with 1 argument only")
    contents = call.flow.dereference(call.args[0])
    if isinstance(contents, TupleV) and not is_tagged(contents):
        return ListV(contents.items)
    return contents if isinstance(contents, ListV) else _list_of(call, contents)


@function("builtins.tuple")
def make_tuple(call: ModelCall) -> Value:
    """``tuple()`` of nothing, or of a list or tuple of known length."""
    if not call.args:
        return TupleV(())
    contents = call.flow.dereference(call.args[0])
    if len(call.args) > 1 or not isinstance(contents, ListV | TupleV) or is_tagged(contents):
        raise call.decline("unknown-call", f"a tuple of {describe(contents)}")
    return TupleV(contents.items)


@function("heapq.nlargest", "heapq.nsmallest", unevaluated=True)
def select(call: ModelCall) -> Value | None:
    """``heapq.nlargest(k, items, key=...)`` and ``nsmallest`` of a list, with a constant ``k``."""
    m, flow, node = call.m, call.flow, call.node
    if len(node.args) != 2:
        return None
    named = {k.arg or "**": k.value for k in node.keywords}
    count = _constant_number(m.evaluate(node.args[0], flow))
    text, key = key_of(m, flow, named.pop("key", None))
    if named:
        raise call.decline("unknown-call", f"{call.function_text} with these arguments")
    of = _list_of(call, m.evaluate(node.args[1], flow))
    direction = ">" if call.name == "nlargest" else "<"
    ordered_items = Sorter(m, flow, (direction, text), key).sort(of)
    return growing_lists.part(ordered_items, 0, max(count, 0))


@function("_heapq.heappush", "_heapq.heappop", "_heapq.heappushpop", "_heapq.heapreplace")
def change_heap(call: ModelCall) -> Value:
    """``heapq.heappush``, ``heappop``, ``heappushpop`` and ``heapreplace``, of a list that is a
    heap.
    """
    m, flow, args = call.m, call.flow, call.args
    if not args:
        raise call.decline("unknown-call", f"{call.function_text} with these arguments")
    contents = flow.dereference(args[0])
    if not isinstance(contents, ListV | GrowingV):
        raise call.decline("unsupported-operation", f"a heap of {describe(contents)}")
    value, remaining_heap = sorted_and_heaps.on_heap(call, sorted_and_heaps.heap_of(contents))
    store_contents(m, flow, args[0], remaining_heap)
    return value


def _list_of(call: ModelCall, value: Value) -> GrowingV:
    """Build a new list of the items of a list, tuple, heap or deque."""
    contents = call.flow.dereference(value)
    match contents:
        case GrowingV(kind="deque"):
            return replace(contents, kind="list", most=None)
        case GrowingV():
            return contents
        case ListV():
            return as_growing(contents)
        case TupleV(items) if not is_tagged(contents):
            return as_growing(ListV(items))
    raise call.decline("unknown-call", f"a new list of {describe(contents)}")


def _sorter(call: ModelCall) -> Sorter:
    """Build the order that ``key=`` and ``reverse=`` specify."""
    m, flow = call.m, call.flow
    named = {k.arg or "**": k.value for k in call.node.keywords}
    if not set(named) <= {"key", "reverse"}:
        raise call.decline("unknown-call", "sorting with these arguments")
    text, key = key_of(m, flow, named.get("key"))
    down = False
    if "reverse" in named:
        value = constant_of(m.evaluate(named["reverse"], flow), BOOL)
        if value is None:
            raise call.decline("unsupported-expression", "reverse= is not constant")
        down = bool(value)
    return Sorter(m, flow, (">" if down else "<", text), key)


@function("collections.deque", keywords=("maxlen",))
def make_deque(call: ModelCall) -> Value:
    """``deque(items, maxlen=k)`` of nothing or a list, with a constant length."""
    flow, args, named = call.flow, call.args, call.named
    if len(args) + len(named) > 2 or (named and len(args) == 2):
        raise call.decline("unknown-call", "a deque with these arguments")
    contents = flow.dereference(args[0]) if args else ListV(())
    limit = args[1] if len(args) == 2 else named.get("maxlen", NONE)
    if not is_list(contents) or (isinstance(contents, GrowingV) and contents.kind == "heap"):
        raise call.decline("unknown-call", f"a deque of {describe(contents)}")
    assert isinstance(contents, ListV | GrowingV)
    count = None if isinstance(limit, NoneV) else _constant_number(limit)
    start = settle_items(as_growing(contents))
    if count is not None and len(start.items) > count:
        start = growing_lists.part(replace(start, kind="list"), -count, None)
    return replace(start, kind="deque", most=count)


def _constant_number(value: Value) -> int:
    """Return a number that must be constant when lifting."""
    number = constant_of(value, INT)
    if number is not None and abs(int(number)) <= sys.maxsize:
        return int(number)
    raise DeclineSignal("unsupported-expression", "a number of items that is not constant")


# --- methods ------------------------------------------------------------------------------------


list_method = partial(method, ListV | GrowingV, owner=reference)
"""Register a model of methods of lists and deques."""


def _contents(call: ModelCall, owner: RefV) -> GrowingV:
    """Return the current contents of a list; evaluating the arguments may have changed them."""
    list_value = call.flow.dereference(owner)
    assert isinstance(list_value, ListV | GrowingV)
    return as_growing(list_value)


def _replace_contents(
    call: ModelCall, owner: RefV, contents: GrowingV, result: Value = NONE
) -> Value:
    """Store the new contents of a list and return the method's result."""
    store_contents(call.m, call.flow, owner, contents)
    return result


@list_method("sort", unevaluated=True)
def sort(call: ModelCall, owner: RefV) -> Value | None:
    """``list.sort(key=..., reverse=...)``, as ``sorted``."""
    if call.node.args:
        return None
    sorter, contents = _sorter(call), _contents(call, owner)
    if contents.kind != "list":
        raise call.decline("mutation", ".sort() of a heap or deque")
    return _replace_contents(call, owner, sorter.sort(contents))


@list_method("append", "extend", arguments=1)
def append(call: ModelCall, owner: RefV) -> Value:
    """``list.append(x)``, and ``list.extend(items)`` of items that are written out."""
    contents = _contents(call, owner)
    for x in call.args if call.name == "append" else _written_out(call, call.args[0]):
        contents = growing_lists.append_item(contents, x)
    return _replace_contents(call, owner, contents)


@list_method("insert", arguments=2)
def insert(call: ModelCall, owner: RefV) -> Value | None:
    """``list.insert(0, x)``."""
    at, x = call.args
    contents = _contents(call, owner)
    if contents.kind == "deque" or _constant_number(at) != 0:
        return None
    return _replace_contents(
        call, owner, _rearrange(call, contents, lambda items: (check_item(x), *items))
    )


@list_method("pop", "popleft", arguments=range(2))
def pop(call: ModelCall, owner: RefV) -> Value | None:
    """``list.pop()`` and ``list.pop(0)``; ``deque.pop()`` and ``deque.popleft()``."""
    m, flow, name, args, _, _ = call
    contents, from_left = _contents(call, owner), name == "popleft"
    where = _constant_number(args[0]) if args else 0 if from_left else -1
    if (from_left and args) or ((from_left or args) and from_left != (contents.kind == "deque")):
        return None
    value, remaining = growing_lists.pop_item(m, flow, contents, where)
    return _replace_contents(call, owner, remaining, value)


@list_method("clear", arguments=0)
def clear(call: ModelCall, owner: RefV) -> Value:
    """``list.clear()``."""
    contents = call.flow.dereference(owner)
    most = contents.most if isinstance(contents, GrowingV) else None
    deque = isinstance(contents, GrowingV) and contents.kind == "deque"
    empty = GrowingV((), None, kind="deque" if deque else "list", most=most)
    return _replace_contents(call, owner, empty)


@list_method("reverse", arguments=0)
def reverse(call: ModelCall, owner: RefV) -> Value:
    """``list.reverse()``."""
    return _replace_contents(call, owner, _rearrange(call, _contents(call, owner), reversed_items))


def _rearrange(call: ModelCall, contents: GrowingV, how: Callable[[Items], Items]) -> GrowingV:
    contents = settle_items(contents)
    if contents.kind == "heap":
        raise call.decline("mutation", "a heap is changed by other functions")
    items = how(contents.items)
    return replace(contents, items=items, orders=None if len(items) < 2 else frozenset())


@list_method("copy", arguments=0)
def copy(call: ModelCall, owner: RefV) -> Value | None:
    """``list.copy()``."""
    contents = call.flow.dereference(owner)
    return None if isinstance(contents, GrowingV) and contents.kind == "deque" else contents


def _written_out(call: ModelCall, value: Value) -> tuple[Value, ...]:
    match call.flow.dereference(value):
        case ListV(items):
            return items
        case TupleV(items) as contents if not is_tagged(contents):
            return items
    raise call.decline("mutation", "a list gets more items than are written out")


# --- slices -------------------------------------------------------------------------------------


def part(m: SymbolicMachine, flow: Flow, owner: Value, index: ast.Slice) -> Value | None:
    """Evaluate ``owner[low:high]`` of a list or tuple with constant bounds; else None."""
    with m.at(index):
        contents = flow.dereference(owner)
        is_tuple = isinstance(contents, TupleV) and not is_tagged(contents)
        if not (is_list(contents) or is_tuple):
            return None
        low, high = (
            None if end is None else _end(m.evaluate(end, flow))
            for end in (index.lower, index.upper)
        )
        step = NONE if index.step is None else m.evaluate(index.step, flow)
        if isinstance(contents, ListV | TupleV):
            by = None if isinstance(step, NoneV) else _constant_number(step)
            if by == 0:
                raise DeclineSignal("always-raises", "a slice of step 0")
            items = contents.items[low:high:by]
            return ListV(items) if isinstance(contents, ListV) else TupleV(items)
        assert isinstance(contents, GrowingV)
        if not isinstance(step, NoneV):
            raise DeclineSignal(
                "unsupported-expression", "a slice with a step of a list that grows"
            )
        return growing_lists.part(contents, low or 0, high)


def _end(value: Value) -> int | None:
    return None if isinstance(value, NoneV) else _constant_number(value)


def delete(m: SymbolicMachine, flow: Flow, target: ast.expr) -> bool:
    """Execute ``del owner[k:]``, ``owner[0]`` or ``owner[-1]`` of a list; false for others."""
    if not isinstance(target, ast.Subscript):
        return False
    owner = m.evaluate(target.value, flow)
    contents = flow.dereference(owner)
    if not isinstance(contents, ListV | GrowingV) or not isinstance(owner, RefV):
        return False
    growing = as_growing(contents)
    match target.slice:
        case ast.Slice(ast.expr() as lower, None, None) if growing.kind == "list":
            first = _constant_number(m.evaluate(lower, flow))
            remaining = growing_lists.part(growing, 0, first)
        case ast.Slice():
            return False
        case at:
            where = _constant_number(m.evaluate(at, flow))
            _, remaining = growing_lists.pop_item(m, flow, growing, where)
    store_contents(m, flow, owner, remaining)
    return True
