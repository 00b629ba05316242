# SPDX-License-Identifier: Apache-2.0
"""Trusted. Lists, dicts and sets, which are changed in place.

A variable holds the number of an object, and each path its contents, so that two names of one
object see the same changes. Only contents are passed from row to row: an object with two references
there is declined. A change must be a statement of its own.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from presieve.errors import DeclineSignal
from presieve.ir.ops import negate
from presieve.ir.sorts import INT, STRING
from presieve.ir.terms import FALSE, TRUE, Term, string_lit
from presieve.lift.execution import growing_lists
from presieve.lift.execution.dynamic_keys import NO_CONSTANT, OpenKeySignal, check_tracked, name_of
from presieve.lift.execution.state import Flow, SymbolicMachine, join_flows, merge_choices
from presieve.lift.models.builtins.comparisons import equal
from presieve.lift.values.join_values import as_map, merge, without_length
from presieve.lift.values.symbolic import (
    NONE,
    OTHER,
    ColumnV,
    DictV,
    ElementsV,
    GrowingV,
    InnerFunctionV,
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
from presieve.records import replace
from presieve.semantics.smart_constructors import and_, or_

# --- objects and contents -----------------------------------------------------------------------


def box_contents(m: SymbolicMachine, flow: Flow, value: Value) -> Value:
    """Return the value with new objects for the contents in it."""
    match value:
        case TupleV((TagV(_, _, False), *_) as items):
            contents: Value = TupleV(_all_boxed(m, flow, tuple(items)))
        case OptTupleV(_, (TagV(_, _, False), *_)):
            raise m.decline("mutation", f"{describe(value)} may be None here", m.source.node)
        case TupleV(items) | OptTupleV(_, items):
            return replace(value, items=_all_boxed(m, flow, items))
        case ListV(items) | DictV(_, items) | MapV(_, items):
            contents = replace(value, items=_all_boxed(m, flow, items))
        case GrowingV() | SetV(_, _, _, False):
            contents = value
        case _:
            return value
    return new(m, flow, contents)


def new(m: SymbolicMachine, flow: Flow, contents: Value) -> RefV:
    """Add a new object to this path."""
    number = m.new_object()
    flow.heap[number] = contents
    return RefV(number)


def _all_boxed(m: SymbolicMachine, flow: Flow, items: tuple[Value, ...]) -> tuple[Value, ...]:
    return tuple(box_contents(m, flow, i) for i in items)


def boxed_variables(m: SymbolicMachine, flow: Flow) -> None:
    """Replace the contents that variables hold by objects."""
    for name, value in flow.env.items():
        flow.env[name] = box_contents(m, flow, value)


def freeze_contents(flow: Flow, value: Value, used: set[int]) -> Value:
    """Return contents in place of objects. Declines ``mutation`` for a number in ``used``."""
    match value:
        case RefV(number):
            if number in used:
                reason = "a list, dict or set has two names here: a change is one to both"
                raise DeclineSignal("mutation", reason)
            used.add(number)
            return freeze_contents(flow, flow.heap[number], used)
        case LengthV():
            return without_length(value)
        case TupleV(items) | OptTupleV(_, items) | ListV(items) | DictV(_, items) | MapV(_, items):
            frozen_items = tuple(freeze_contents(flow, i, used) for i in items)
            return replace(value, items=frozen_items)
    return value


def contents(m: SymbolicMachine, node: ast.expr, flow: Flow) -> Value:
    """Return the value of an expression, with contents in place of its objects."""
    with m.at(node):
        return freeze_contents(flow, m.evaluate(node, flow), set())


def frozen_variables(m: SymbolicMachine, flow: Flow, node: ast.AST) -> dict[str, Value]:
    """Return the variables of a path after a node, with contents in place of objects."""
    used: set[int] = set()
    with m.at(node):
        return {n: freeze_contents(flow, v, used) for n, v in flow.env.items()}


def numbers_in(value: Value) -> set[int]:
    """Return the numbers of the objects to which a value itself refers."""
    if isinstance(value, RefV):
        return {value.number}
    return {n for i in parts(value) for n in numbers_in(i)}


def parts(value: Value) -> tuple[Value, ...]:
    """Return the parts of a tuple, of the contents of an object, or what a function captures."""
    match value:
        case TupleV(items) | OptTupleV(_, items) | ListV(items) | DictV(_, items) | MapV(_, items):
            return items
        case GrowingV(items, _, pending):
            return (*items, *pending)
        case InnerFunctionV(captured=captured):
            return tuple(v for _, v in captured)
    return ()


def uses(flow: Flow, of: RefV) -> int:
    """Count how often variables and objects refer to an object."""

    def count(value: Value) -> int:
        match value:
            case RefV(number):
                return int(number == of.number)
        return sum(count(v) for v in parts(value))

    return sum(count(v) for v in (*flow.env.values(), *flow.heap.values()))


def join_branches(
    m: SymbolicMachine, flow: Flow, condition: Term, then: Flow, otherwise: Flow, *, exits: int
) -> None:
    """Continue ``flow`` after two branches; the first is taken where the condition holds.
    ``exits``: the number of exits before them.
    """
    conds = flow.conds
    if not (then.ended or otherwise.ended):
        _unite(m, then, otherwise)
        _read_replaced_columns(m, then, otherwise)
    join_flows(flow, condition, then, otherwise)
    if len(m.frame.exits) == exits and then.ended != otherwise.ended:
        # The other branch can only have raised, and conditions already presuppose that nothing has.
        flow.conds = conds


def _read_replaced_columns(m: SymbolicMachine, then: Flow, otherwise: Flow) -> None:
    """Read columns that one of two paths has replaced: ``if s is None: s = ""``, or ``s = []``."""
    for name in then.env.keys() & otherwise.env.keys():
        values = then.env[name], otherwise.env[name]
        if values[0] == values[1] or not any(isinstance(v, _OF_COLUMNS) for v in values):
            continue
        a, b = (_empty_contents(m, p, v) for p, v in zip((then, otherwise), values, strict=True))
        if isinstance(a, _REPLACED) and isinstance(b, _REPLACED):
            then.env[name], otherwise.env[name] = m.force(a, then), m.force(b, otherwise)


_OF_COLUMNS = (ColumnV, Scalar, ElementsV)
_REPLACED = (*_OF_COLUMNS, ListV, DictV)


def _empty_contents(m: SymbolicMachine, flow: Flow, value: Value) -> Value:
    """Return the contents of an empty list or dict to which nothing else refers; every other value
    as it is. The variables of callers are not visible inside calls and loops.
    """
    if not isinstance(value, RefV) or m.depth or m.frame.loops or uses(flow, value) != 1:
        return value
    held = flow.heap[value.number]
    return held if held in (ListV(()), DictV((), ())) else value


def _unite(m: SymbolicMachine, then: Flow, orelse: Flow) -> None:
    """Before two paths are joined, unite two different objects of one variable if nothing else
    refers to them. Inside calls and loops it does nothing, because the variables of callers are not
    visible there.
    """
    if m.depth or m.frame.loops:
        return
    for name, a in then.env.items():
        b = orelse.env.get(name)
        if not (isinstance(a, RefV) and isinstance(b, RefV)) or a == b:
            continue
        if uses(then, a) == 1 and uses(orelse, b) == 1:
            number = m.new_object()
            then.heap[number], orelse.heap[number] = then.heap[a.number], orelse.heap[b.number]
            then.env[name] = orelse.env[name] = RefV(number)


# --- items --------------------------------------------------------------------------------------


def position(key: Value, size: int) -> int:
    """Return the index, from 0, of a constant position. Declines ``always-raises`` if beyond."""
    number = read_position(key)
    if not -size <= number < size:
        raise DeclineSignal("always-raises", f"there is no item {number}")
    return number % size


def read_position(key: Value) -> int:
    """Return the constant position that a key is."""
    number = constant_of(key)
    if type(number) is not int:
        reason = "an item is read at a position that is not constant"
        raise DeclineSignal("unsupported-expression", reason)
    return number


def _hits(m: SymbolicMachine, mapping: MapV, key: Value) -> list[Term]:
    """Return, for each key that a dict may have, the condition under which it is this key."""
    name = name_of(m, key)
    if OTHER in (name, *mapping.names):
        check_tracked(m, (*mapping.names, *(() if name is None else (name,))))
        if name is None:
            raise signal_open_key(m, key)
    if name is not None or constant_of(key, INT, STRING) is not None:
        return [TRUE if n == name else FALSE for n in mapping.names]
    return [equal(m, key, Scalar(string_lit(n))) for n in mapping.names]


def signal_open_key(m: SymbolicMachine, key: Value) -> DeclineSignal:
    """Return the signal for a dict that meets a key which may be any text."""
    if isinstance(key, Scalar) and key.base == STRING:
        return OpenKeySignal(key, m.node, m.span)
    return DeclineSignal("mutation", NO_CONSTANT)


def contains(m: SymbolicMachine, mapping: DictV | MapV, key: Value) -> Term:
    """Return the condition for ``key in mapping``."""
    partial_map = as_map(mapping)
    hits = _hits(m, partial_map, key)
    return or_(*(and_(h, p) for h, p in zip(hits, partial_map.present, strict=True)))


def item(m: SymbolicMachine, flow: Flow, mapping: DictV | MapV, key: Value) -> Value:
    """Return ``mapping[key]``: KeyError if the dict has no such key."""
    partial_map = as_map(mapping)
    m.fail(flow, negate(flow.decide(contains(m, mapping, key))), KeyError)
    hits = zip(_hits(m, partial_map, key), partial_map.items, strict=True)
    possible = [(h, i) for h, i in hits if h != FALSE]
    if not possible and m.state.keys:  # on this path only
        return NONE
    if not possible:
        raise DeclineSignal("always-raises", "the dict has no such key")
    return merge_choices([h for h, _ in possible[:-1]], [i for _, i in possible], merge)


def dict_get(m: SymbolicMachine, mapping: DictV | MapV, key: Value, default: Value) -> Value:
    """Return ``mapping.get(key, default)``."""
    partial_map = as_map(mapping)
    value = default
    hits = _hits(m, partial_map, key)
    for hit, present, item_value in zip(hits, partial_map.present, partial_map.items, strict=True):
        value = merge(and_(hit, present), item_value, value)
    return value


class Item(NamedTuple):
    """A key of an object, and a value for it."""

    owner: Value
    key: Value
    value: Value


def store(m: SymbolicMachine, flow: Flow, new: Item) -> None:
    """Execute ``owner[key] = value``, for a list at a constant position and for a dict."""
    owner, key, value = new
    match owner, flow.dereference(owner):
        case RefV(number), ListV(items):
            at = position(key, len(items))
            flow.heap[number] = ListV((*items[:at], value, *items[at + 1 :]))
        case RefV(number), GrowingV() as old_contents:
            at = read_position(key)
            flow.heap[number] = growing_lists.store_item(m, flow, old_contents, (at, value))
        case RefV(number), (DictV() | MapV()) as old_contents:
            flow.heap[number] = _store_in_dict(m, flow, old_contents, new)
        case _:
            raise DeclineSignal("mutation", f"{ast.unparse(m.node)} is changed in place")


def _store_in_dict(m: SymbolicMachine, flow: Flow, old: DictV | MapV, new: Item) -> DictV | MapV:
    _, key, value = new
    name, mapping = name_of(m, key), as_map(old)
    if name is not None and name not in mapping.names:
        names, items = (*mapping.names, name), (*mapping.items, value)
        if OTHER in names:
            check_tracked(m, names)
        elif isinstance(old, DictV):
            return DictV(names, items)
        return MapV(names, items, (*mapping.present, TRUE), mapping.missing)
    hits = _hits(m, mapping, key)
    if flow.decide(or_(*hits)) != TRUE:
        raise signal_open_key(m, key)
    items = tuple(merge(h, value, i) for h, i in zip(hits, mapping.items, strict=True))
    if isinstance(old, DictV):
        return DictV(mapping.names, items)
    present = tuple(or_(p, h) for p, h in zip(mapping.present, hits, strict=True))
    return MapV(mapping.names, items, present, mapping.missing)
