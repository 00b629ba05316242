"""Trusted. Lists, dicts and sets, which are changed in place.

A variable holds the number of an object, and each path its contents, so that two names of one
object see the same changes. From row to row only contents are kept: an object that is held twice
there is declined. What is changed must be a statement of its own.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import NamedTuple

from presieve.errors import DeclineSignal
from presieve.ir.ops import negate
from presieve.ir.sorts import INT, STRING
from presieve.ir.terms import FALSE, TRUE, Term, string_lit
from presieve.lift.execution import growing_lists
from presieve.lift.execution.dynamic_keys import (
    NO_CONSTANT,
    OpenKeySignal,
    check_tracked,
    name_of,
)
from presieve.lift.execution.state import Flow, Machine
from presieve.lift.models.builtins.comparisons import equal
from presieve.lift.values.merge import as_map, merge, without_length
from presieve.lift.values.symbolic import (
    NONE,
    OTHER,
    DictV,
    GrowingV,
    LengthV,
    ListV,
    MapV,
    OptTupleV,
    RefV,
    Scalar,
    SetV,
    TagV,
    TupleV,
    Value,
    constant_of,
    describe,
)
from presieve.semantics.build import and_, or_

# --- objects and contents -----------------------------------------------------------------------


def boxed(m: Machine, flow: Flow, value: Value) -> Value:
    """The value with objects of their own for the contents in it."""
    match value:
        case TupleV((TagV(_, _, False), *_) as items):
            contents: Value = TupleV(_all_boxed(m, flow, tuple(items)))
        case TupleV(items):
            return TupleV(_all_boxed(m, flow, items))
        case OptTupleV(_, (TagV(_, _, False), *_)):
            raise m.decline("mutation", f"{describe(value)} may be None here", m.source.node)
        case OptTupleV(present, items):
            return OptTupleV(present, _all_boxed(m, flow, items))
        case ListV(items):
            contents = ListV(_all_boxed(m, flow, items))
        case GrowingV():
            contents = value
        case DictV(names, items):
            contents = DictV(names, _all_boxed(m, flow, items))
        case MapV(_, items, _):
            contents = replace(value, items=_all_boxed(m, flow, items))
        case SetV(_, _, _, False):
            contents = value
        case _:
            return value
    return new(m, flow, contents)


def new(m: Machine, flow: Flow, contents: Value) -> RefV:
    """A new object of this path."""
    number = m.new_object()
    flow.heap[number] = contents
    return RefV(number)


def _all_boxed(m: Machine, flow: Flow, items: tuple[Value, ...]) -> tuple[Value, ...]:
    return tuple(boxed(m, flow, i) for i in items)


def boxed_variables(m: Machine, flow: Flow) -> None:
    """Objects for the contents that variables hold."""
    for name, value in flow.env.items():
        flow.env[name] = boxed(m, flow, value)


def frozen(m: Machine, flow: Flow, value: Value, node: ast.AST, seen: set[int]) -> Value:
    """The value with contents for its objects. Declines ``mutation`` for one that is ``seen``."""

    def inner(items: tuple[Value, ...]) -> tuple[Value, ...]:
        return tuple(frozen(m, flow, i, node, seen) for i in items)

    match value:
        case RefV(number):
            if number in seen:
                reason = "a list, dict or set has two names here: a change is one to both"
                raise m.decline("mutation", reason, node)
            seen.add(number)
            return frozen(m, flow, flow.heap[number], node, seen)
        case LengthV():
            return without_length(value)
        case TupleV(items):
            return TupleV(inner(items))
        case OptTupleV(present, items):
            return OptTupleV(present, inner(items))
        case ListV(items):
            return ListV(inner(items))
        case DictV(names, items):
            return DictV(names, inner(items))
        case MapV(_, items, _):
            return replace(value, items=inner(items))
    return value


def contents(m: Machine, node: ast.expr, flow: Flow) -> Value:
    """The value of an expression, with contents for its objects."""
    return frozen(m, flow, m.evaluate(node, flow), node, set())


def frozen_variables(m: Machine, flow: Flow, node: ast.AST) -> dict[str, Value]:
    """The variables of a path, with contents for objects."""
    seen: set[int] = set()
    return {n: frozen(m, flow, v, node, seen) for n, v in flow.env.items()}


def numbers_in(value: Value) -> set[int]:
    """The objects that a value refers to itself."""
    if isinstance(value, RefV):
        return {value.number}
    return {n for i in parts(value) for n in numbers_in(i)}


def parts(value: Value) -> tuple[Value, ...]:
    """What a tuple, or the contents of an object, is made of."""
    match value:
        case TupleV(items) | OptTupleV(_, items) | ListV(items):
            return items
        case DictV(_, items) | MapV(_, items, _):
            return items
        case GrowingV(items, _, pending):
            return (*items, *pending)
    return ()


def uses(flow: Flow, of: RefV) -> int:
    """How often variables and objects refer to an object."""

    def count(value: Value) -> int:
        match value:
            case RefV(number):
                return int(number == of.number)
        return sum(count(v) for v in parts(value))

    return sum(count(v) for v in (*flow.env.values(), *flow.heap.values()))


def unite(m: Machine, then: Flow, other: Flow) -> None:
    """Before two paths become one: where a variable leads to different objects, which nothing else
    leads to, these become one. What callers and loops go on with is not seen here: not inside of
    these.
    """
    if m.depth or m.frame.loops:
        return
    for name, a in then.env.items():
        b = other.env.get(name)
        if not (isinstance(a, RefV) and isinstance(b, RefV)) or a == b:
            continue
        if uses(then, a) == 1 and uses(other, b) == 1:
            number = m.new_object()
            then.heap[number], other.heap[number] = then.heap[a.number], other.heap[b.number]
            then.env[name] = other.env[name] = RefV(number)


# --- items --------------------------------------------------------------------------------------


def position(m: Machine, key: Value, size: int, node: ast.AST) -> int:
    """The item at a constant position, from 0. Declines ``always-raises`` beyond the end."""
    number = whole_number(m, key, node)
    if not -size <= number < size:
        raise m.decline("always-raises", f"there is no item {number}", node)
    return number % size


def whole_number(m: Machine, key: Value, node: ast.AST) -> int:
    """The constant position that a key is."""
    number = constant_of(key)
    if type(number) is not int:
        reason = "an item is read at a position that is not constant"
        raise m.decline("unsupported-expression", reason, node)
    return number


def _hits(m: Machine, found: MapV, key: Value, node: ast.AST) -> list[Term]:
    """Whether a key is each of those that a dict may have."""
    name = name_of(m, key, node)
    if OTHER in (name, *found.names):
        check_tracked(m, (*found.names, *(() if name is None else (name,))), node)
        if name is None:
            raise asked(m, key, node)
    if name is not None or constant_of(key, INT, STRING) is not None:
        return [TRUE if n == name else FALSE for n in found.names]
    return [equal(m, key, Scalar(string_lit(n)), node) for n in found.names]


def asked(m: Machine, key: Value, node: ast.AST) -> DeclineSignal:
    """What to raise where a dict meets a key that may be any text."""
    if isinstance(key, Scalar) and key.base == STRING:
        return OpenKeySignal(key, node, m.source.span(node))
    return m.decline("mutation", NO_CONSTANT, node)


def contains(m: Machine, found: DictV | MapV, key: Value, node: ast.AST) -> Term:
    """``key in found``."""
    whole = as_map(found)
    hits = _hits(m, whole, key, node)
    return or_(*(and_(h, p) for h, p in zip(hits, whole.present, strict=True)))


def item(m: Machine, flow: Flow, found: DictV | MapV, key: Value, node: ast.AST) -> Value:
    """``found[key]``: KeyError where the dict has no such key."""
    whole = as_map(found)
    m.fail(flow, negate(flow.decided(contains(m, found, key, node))), KeyError)
    hits = zip(_hits(m, whole, key, node), whole.items, strict=True)
    possible = [(h, i) for h, i in hits if h != FALSE]
    if not possible and m.state.keys:  # on this path only
        return NONE
    if not possible:
        raise m.decline("always-raises", "the dict has no such key", node)
    value = possible[-1][1]
    for hit, kept in reversed(possible[:-1]):
        value = merge(hit, kept, value)
    return value


def dict_get(m: Machine, found: DictV | MapV, key: Value, default: Value, node: ast.AST) -> Value:
    """``found.get(key, default)``."""
    whole = as_map(found)
    value = default
    hits = _hits(m, whole, key, node)
    for hit, there, kept in zip(hits, whole.present, whole.items, strict=True):
        value = merge(and_(hit, there), kept, value)
    return value


class Item(NamedTuple):
    """A key of an object, and a value for it."""

    owner: Value
    key: Value
    value: Value


def store(m: Machine, flow: Flow, new: Item, node: ast.AST) -> None:
    """``owner[key] = value``, for a list at a constant position and for a dict."""
    owner, key, value = new
    match owner, flow.opened(owner):
        case RefV(number), ListV(items):
            at = position(m, key, len(items), node)
            flow.heap[number] = ListV((*items[:at], value, *items[at + 1 :]))
        case RefV(number), GrowingV() as found:
            at = whole_number(m, key, node)
            flow.heap[number] = growing_lists.stored(m, flow, found, (at, value), node)
        case RefV(number), (DictV() | MapV()) as found:
            flow.heap[number] = _stored(m, flow, found, new, node)
        case _:
            raise m.decline("mutation", f"{ast.unparse(node)} is changed in place", node)


def _stored(m: Machine, flow: Flow, old: DictV | MapV, new: Item, node: ast.AST) -> DictV | MapV:
    _, key, value = new
    name, found = name_of(m, key, node), as_map(old)
    if name is not None and name not in found.names:
        names, items = (*found.names, name), (*found.items, value)
        if OTHER in names:
            check_tracked(m, names, node)
        elif isinstance(old, DictV):
            return DictV(names, items)
        return MapV(names, items, (*found.present, TRUE), found.missing)
    hits = _hits(m, found, key, node)
    if flow.decided(or_(*hits)) != TRUE:
        raise asked(m, key, node)
    items = tuple(merge(h, value, i) for h, i in zip(hits, found.items, strict=True))
    if isinstance(old, DictV):
        return DictV(found.names, items)
    present = tuple(or_(p, h) for p, h in zip(found.present, hits, strict=True))
    return MapV(found.names, items, present, found.missing)
