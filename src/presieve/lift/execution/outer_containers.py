# SPDX-License-Identifier: Apache-2.0
"""Trusted. Lists and dicts from outside of the function. They are constants, because every change
of them is declined.
"""

from __future__ import annotations

from presieve.errors import DeclineSignal
from presieve.ir.ops import negate
from presieve.ir.sorts import STRING
from presieve.ir.terms import FALSE, Term
from presieve.lift.execution.state import Flow, SymbolicMachine, merge_choices
from presieve.lift.models.builtins.comparisons import equal
from presieve.lift.python.names import as_constant
from presieve.lift.values.join_values import merge
from presieve.lift.values.symbolic import (
    DictV,
    Known,
    ListV,
    Scalar,
    SetV,
    Value,
    constant_of,
    describe,
)
from presieve.semantics.smart_constructors import or_

_MOST = 200
"""Maximum number of keys of a dict that a row is compared with."""


def is_dict(value: Value) -> bool:
    """Return whether this is a dict from outside, and not of a subclass."""
    return isinstance(value, Known) and type(value.target) is dict


def is_container(value: Value) -> bool:
    """Return whether this is a list, dict or set from outside."""
    return isinstance(value, Known) and type(value.target) in (list, dict, set, frozenset)


def length(value: Value) -> int | None:
    """Return how many items it holds; None if it is no such container."""
    match value:
        case Known(_, (list() | dict() | set() | frozenset()) as target) if is_container(value):
            return len(target)
    return None


def items_of(m: SymbolicMachine, value: Value) -> ListV | None:
    """Return a list from outside with its items; None for everything else."""
    match value:
        case Known(name, list() as target) if type(target) is list:
            return ListV(tuple(as_constant(x, f"{name}[...]", m.columns.zone) for x in target))
    return None


def pairs(m: SymbolicMachine, value: Value) -> list[tuple[Value, Value]] | None:
    """Return the keys and items of a dict from outside, in its order; None for everything else."""
    match value:
        case Known(owner, dict() as target) if is_dict(value):
            zone, name = m.columns.zone, f"{owner}[...]"
            entries = target.items()
            return [(as_constant(k, name, zone), as_constant(v, name, zone)) for k, v in entries]
    return None


def _hits(m: SymbolicMachine, value: Value, key: Value) -> list[tuple[Term, Value]]:
    """Return, for each key of a dict, the condition under which it is the key in question, and its
    item. A dict compares NaN by identity, so two keys that may both be NaN are declined.
    """
    entries = pairs(m, value)
    assert entries is not None
    if len(entries) > _MOST:
        raise DeclineSignal("too-large", f"a dict of {len(entries)} keys")
    for possible, _ in entries:
        if not equal_as_keys(key, possible):
            reason = f"{describe(key)} as a key of {describe(value)}"
            raise DeclineSignal("unsupported-operation", reason)
    tested_entries = ((equal(m, key, k), v) for k, v in entries)
    return [(hit, v) for hit, v in tested_entries if hit != FALSE]


def equal_as_keys(key: Value, dict_key: Value) -> bool:
    """Return whether a dict finds a key exactly where ``==`` holds."""
    if isinstance(key, SetV | ListV):
        return False
    nan = [isinstance(v, Scalar) and v.traits.maybe_nan for v in (key, dict_key)]
    return not all(nan)


def contains(m: SymbolicMachine, value: Value, key: Value) -> Term:
    """Return ``key in value`` for a dict from outside."""
    return or_(*(hit for hit, _ in _hits(m, value, key)))


def item(m: SymbolicMachine, flow: Flow, value: Value, key: Value) -> Value:
    """Return ``value[key]`` for a dict from outside: KeyError if there is no such key."""
    hits = _hits(m, value, key)
    m.fail(flow, negate(flow.decide(or_(*(hit for hit, _ in hits)))), KeyError)
    if not hits:
        raise DeclineSignal("always-raises", "the dict has no such key")
    values = _choices(m, [v for _, v in hits])
    return merge_choices([hit for hit, _ in hits[:-1]], values, merge)


def get(m: SymbolicMachine, value: Value, key: Value, default: Value) -> Value:
    """Return ``value.get(key, default)`` for a dict from outside."""
    hits = _hits(m, value, key)
    values = _choices(m, [*(v for _, v in hits), default])
    return merge_choices([hit for hit, _ in hits], values, merge)


def _choices(m: SymbolicMachine, values: list[Value]) -> list[Value]:
    """Write out dicts and lists that are items of a dict, if there are several of them."""
    return [_written_out(m, v) for v in values] if len(values) > 1 else values


def _written_out(m: SymbolicMachine, value: Value) -> Value:
    entries = pairs(m, value)
    if entries is None:
        return items_of(m, value) or value
    names = [constant_of(k, STRING) for k, _ in entries]
    if None in names or len(entries) > _MOST:
        return value
    return DictV(tuple(map(str, names)), tuple(v for _, v in entries))
