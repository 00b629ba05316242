# SPDX-License-Identifier: Apache-2.0
"""Trusted. Dicts that return a default for a missing key: ``collections.defaultdict``,
``collections.Counter``, and ``setdefault`` of any dict.

Sources: CPython 3.11 ``Modules/_collectionsmodule.c`` (``defdict_missing`` stores the value that it
creates) and ``Lib/collections/__init__.py`` (``Counter.__missing__`` returns 0 and stores nothing;
``update`` adds one for each item, or the counts of a mapping). ``get`` and ``in`` are those of a
dict.
"""

from __future__ import annotations

import ast
import collections

from presieve.errors import DeclineSignal
from presieve.ir.ops import app, negate
from presieve.ir.sorts import BOOL, INT, STRING, Sort, strip
from presieve.ir.terms import FALSE, TRUE, Lit, Op, Term, string_lit
from presieve.lift.execution import dynamic_keys, heap, outer_containers
from presieve.lift.execution.count_fields import rows_of
from presieve.lift.execution.heap import Item
from presieve.lift.execution.state import Flow, ModelCall, Operation, SymbolicMachine
from presieve.lift.models.builtins import sets
from presieve.lift.models.builtins.arithmetic import binary
from presieve.lift.models.pandas import series
from presieve.lift.models.registry import function, method, reference
from presieve.lift.python.names import is_function, scalar_constant
from presieve.lift.values.join_values import as_map, merge
from presieve.lift.values.symbolic import (
    LITERAL,
    NONE,
    OTHER,
    CountsV,
    DictV,
    Known,
    ListV,
    MapV,
    MissingKeyValue,
    NoneV,
    RefV,
    Scalar,
    SetV,
    TupleV,
    Value,
    describe,
)
from presieve.semantics.smart_constructors import and_, get, is_none

_COUNTED: tuple[Sort, ...] = (STRING, INT, BOOL)
_CONTAINERS = (ListV, DictV, MapV, SetV)


@function("collections.defaultdict", unevaluated=True)
def make_default_dict(call: ModelCall) -> Value:
    """``defaultdict(factory, {...})`` of a type, or of a lambda that returns a constant."""
    m, flow, node = call.m, call.flow, call.node
    if node.keywords or not 1 <= len(node.args) <= 2:
        reason = "defaultdict is supported with a factory, and a dict to start with"
        raise call.decline("unknown-call", reason)
    missing = MissingKeyValue(collections.defaultdict, _factory_value(m, flow, node.args[0]), True)
    if len(node.args) == 1:
        return MapV((), (), (), missing)
    start = flow.dereference(m.evaluate(node.args[1], flow))
    if not isinstance(start, DictV):
        raise call.decline("unknown-call", f"a defaultdict of {describe(start)}")
    return MapV(start.names, start.items, (TRUE,) * len(start.names), missing)


def _factory_value(m: SymbolicMachine, flow: Flow, node: ast.expr) -> Value:
    """Return the value that a factory creates: the same each time, and of no variables."""
    if isinstance(node, ast.Lambda):
        body, params = node.body, node.args
        local = [n.id for n in ast.walk(body) if isinstance(n, ast.Name) and n.id in flow.env]
        empty = not (params.args or params.kwonlyargs or params.vararg or params.kwarg)
        if local or not empty or params.posonlyargs:
            raise m.decline("unknown-call", "a factory that is not always the same", node)
        body_value = flow.dereference(m.evaluate(body, flow))
        if _is_constant(body_value):
            return body_value
    else:
        factory = m.evaluate(node, flow)
        for path, value in _FACTORIES.items():
            if isinstance(factory, Known) and is_function(factory, f"builtins.{path}"):
                constant = value if not isinstance(value, type) else None
                return constant if constant is not None else _zero(m, value)
    reason = "what a defaultdict creates for a new key is not a constant, list, dict or set"
    raise m.decline("unknown-call", reason, node)


_FACTORIES: dict[str, Value | type] = {
    "int": int,
    "float": float,
    "str": str,
    "bool": bool,
    "list": ListV(()),
    "dict": DictV((), ()),
    "set": sets.EMPTY,
}


def _zero(m: SymbolicMachine, cls: object) -> Value:
    assert isinstance(cls, type)
    zero = scalar_constant(cls(), m.columns.zone)
    assert zero is not None
    return zero


def _is_constant(value: Value) -> bool:
    match value:
        case Scalar(Lit(), _) | NoneV():
            return True
        case TupleV(items) | ListV(items) | DictV(_, items) | MapV(_, items, _, _):
            return all(_is_constant(i) for i in items)
        case SetV(_, present, others):
            return others == FALSE and all(p in (TRUE, FALSE) for p in present)
    return False


# --- items --------------------------------------------------------------------------------------


def item(m: SymbolicMachine, flow: Flow, owner: Value, key: Value) -> Value | None:
    """Evaluate ``owner[key]`` of a dict with a default for missing keys; None for other owners."""
    mapping = flow.dereference(owner)
    if not isinstance(mapping, MapV) or mapping.missing is None:
        return None
    missing = mapping.missing
    if missing.keeps:
        return set_default(m, flow, Item(owner, key, missing.value))
    return m.force(heap.dict_get(m, mapping, key, missing.value), flow)


def set_default(m: SymbolicMachine, flow: Flow, access: Item) -> Value:
    """Evaluate ``owner.setdefault(key, default)``."""
    owner, key, default = access
    mapping = flow.dereference(owner)
    if not isinstance(mapping, DictV | MapV) or not isinstance(owner, RefV):
        raise DeclineSignal("mutation", f"{describe(mapping)} is changed in an expression")
    if isinstance(flow.dereference(default), _CONTAINERS):
        return _object(m, flow, access)
    value = heap.dict_get(m, mapping, key, default)
    heap.store(m, flow, access._replace(value=value))
    return m.force(value, flow)


def _object(m: SymbolicMachine, flow: Flow, access: Item) -> Value:
    """Return the object under a key; create it where the key is missing."""
    owner, key, default = access
    mapping, contents = flow.dereference(owner), flow.dereference(default)
    assert isinstance(mapping, DictV | MapV)
    name, entries = dynamic_keys.name_of(m, key), as_map(mapping)
    if name is None:
        raise heap.signal_open_key(m, key)
    if name == OTHER:
        reason = "lists or dicts under keys that are not constant: keep tuples instead"
        raise DeclineSignal("mutation", reason)
    if name not in entries.names:
        new_object = heap.box_contents(m, flow, contents)
        heap.store(m, flow, access._replace(value=new_object))
        return new_object
    at = entries.names.index(name)
    stored, presence = entries.items[at], flow.decide(entries.present[at])
    if presence == TRUE:
        return stored
    if not isinstance(stored, RefV) or heap.uses(flow, stored) != 1:
        reason = "it depends on the row which object a dict holds here: ask with `in` first"
        raise DeclineSignal("mutation", reason)
    # Where the key is missing, nothing else refers to the object stored in its place.
    flow.heap[stored.number] = merge(presence, flow.heap[stored.number], contents)
    heap.store(m, flow, access._replace(value=stored))
    return stored


# --- methods ------------------------------------------------------------------------------------


@method(DictV | MapV, "get", arguments=range(1, 3))
def look_up(call: ModelCall, mapping: DictV | MapV) -> Value:
    """``d.get(key, default)`` of a constant key, or of a string that is compared with the keys."""
    m, (key, *defaults) = call.m, call.args
    return heap.dict_get(m, mapping, key, defaults[0] if defaults else NONE)


@method(Known, "get", arguments=range(1, 3))
def look_up_captured(call: ModelCall, owner: Value) -> Value | None:
    """``d.get(key, default)`` of a dict from outside the function."""
    m, flow, (key, *defaults) = call.m, call.flow, call.args
    if not outer_containers.is_dict(owner):
        return None
    return outer_containers.get(m, owner, flow.dereference(key), defaults[0] if defaults else NONE)


@method(DictV | MapV, "setdefault", arguments=range(1, 3), owner=reference)
def set_default_item(call: ModelCall, owner: RefV) -> Value:
    """``d.setdefault(key, default)``, also with an empty list, dict or set."""
    key, default = call.args if len(call.args) == 2 else (*call.args, NONE)
    return set_default(call.m, call.flow, Item(owner, key, default))


# --- counters -----------------------------------------------------------------------------------


def _empty_counter() -> MapV:
    zero = Scalar(Lit(INT, 0), LITERAL)
    return MapV((), (), (), MissingKeyValue(collections.Counter, zero, False))


@function("collections.Counter")
def make_counter(call: ModelCall) -> Value:
    """``Counter()`` of nothing, of a list or dict that is written out, or of a column of strings,
    integers or booleans.
    """
    m, flow, args = call.m, call.flow, call.args
    if len(args) > 1:
        raise call.decline("unknown-call", "Counter is supported with one argument")
    if not args:
        return _empty_counter()
    v = series.vector(m, args[0])
    if v is not None:
        if strip(v.term.sort) not in _COUNTED:
            reason = "a Counter of such a column: numbers that may be NaN are counted by identity"
            raise call.decline("unsupported-operation", reason)
        return CountsV(v)
    counter = heap.box_contents(m, flow, _empty_counter())
    _update(m, flow, counter, flow.dereference(args[0]))
    return counter


@method(DictV | MapV, "update", arguments=1, statement=True, owner=reference)
def update(call: ModelCall, owner: RefV) -> Value | None:
    """``d.update({...})`` of a dict that is written out; ``counter.update`` also of a list."""
    m, flow, (of,) = call.m, call.flow, call.args
    contents, missing = flow.dereference(of), getattr(flow.dereference(owner), "missing", None)
    if missing is not None and missing.cls is collections.Counter:
        _update(m, flow, owner, contents)
        return NONE
    if not isinstance(contents, DictV):
        return None
    for name, new_item in zip(contents.names, contents.items, strict=True):
        heap.store(m, flow, Item(owner, Scalar(string_lit(name)), new_item))
    return NONE


def _update(m: SymbolicMachine, flow: Flow, owner: Value, of: Value) -> None:
    pairs: list[tuple[Value, Value]]
    count_of_one = scalar_constant(1, m.columns.zone)
    assert count_of_one is not None
    match of:
        case TupleV(items) | ListV(items):
            pairs = [(i, count_of_one) for i in items]
        case DictV(names, items):
            keys = (scalar_constant(n, m.columns.zone) for n in names)
            pairs = [(k, i) for k, i in zip(keys, items, strict=True) if k is not None]
        case _:
            reason = f"a Counter of {describe(of)}: give it a list of items"
            raise DeclineSignal("unknown-call", reason)
    for key, increment in pairs:
        old = item(m, flow, owner, key)
        assert old is not None
        number = m.scalar(flow, increment)
        if number.base != INT or number.traits.numpy:
            raise DeclineSignal("unsupported-operation", f"a count of {describe(number)}")
        total = binary(Operation(m, flow, ast.Add(), old, number))
        heap.store(m, flow, Item(owner, key, total))


def count_of(m: SymbolicMachine, flow: Flow, counts: CountsV, key: Value) -> Value:
    """Evaluate ``Counter(column)[key]`` for a constant key: 0 if it does not occur."""
    v = counts.of
    base = strip(v.term.sort)
    if not isinstance(key, Scalar) or not isinstance(key.term, Lit) or key.base != base:
        reason = "a Counter of a column is asked for constants of the column's type only"
        raise DeclineSignal("unsupported-operation", reason)
    hit: Term = app(Op.PY_EQ, get(v.term), key.term)
    return rows_of(m, flow, and_(v.rows, negate(is_none(v.term)), hit))


@method(CountsV, "get", arguments=range(1, 3))
def get_count(call: ModelCall, counts: CountsV) -> Value:
    """``Counter(column).get(key, default)`` of a constant."""
    m, flow, (key, *defaults) = call.m, call.flow, call.args
    number = m.scalar(flow, count_of(m, flow, counts, key))
    none = app(Op.PY_EQ, number.term, Lit(INT, 0))
    return merge(none, defaults[0] if defaults else NONE, number)
