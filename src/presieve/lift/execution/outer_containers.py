# SPDX-License-Identifier: Apache-2.0
"""Trusted. Lists and dicts from outside of the function. They are constants, because every change
of them is declined.
"""

from __future__ import annotations

import ast

from presieve.errors import DeclineSignal
from presieve.ir.ops import negate
from presieve.ir.sorts import STRING
from presieve.ir.terms import FALSE, Term
from presieve.lift.execution.state import Flow, SymbolicMachine, merge_choices
from presieve.lift.models.builtins.comparisons import equal
from presieve.lift.python.bindings import UndecidedSignal
from presieve.lift.python.constant_expressions import compute_constant
from presieve.lift.python.names import as_constant, scalar_constant
from presieve.lift.python.outer_members import is_of_program, member_of_program
from presieve.lift.python.record_classes import fields_of
from presieve.lift.values.join_values import merge
from presieve.lift.values.symbolic import (
    DictV,
    Known,
    ListV,
    Scalar,
    SetV,
    TagV,
    TupleV,
    Value,
    constant_of,
    describe,
)
from presieve.semantics.smart_constructors import or_

_MOST = 200
"""Maximum number of keys of a dict that a row is compared with."""


_CONTAINERS = (list, tuple, dict, set, frozenset)


def compute(m: SymbolicMachine, node: ast.expr, flow: Flow) -> Value | None:
    """Return what an expression of containers from outside gives, such as ``LIMITS[1:]`` or
    ``dict(enumerate(NAMES))``; None for other expressions.
    """
    names = _names_in(node)
    read = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    if not names or not read.isdisjoint(flow.env):
        return None

    def look(name: str) -> object:
        value = m.names.lookup(name.partition(".")[0])
        for member in name.split(".")[1:]:
            value = member_of_program(value, member) if is_of_program(value) else None
        if value is None:
            raise UndecidedSignal(f"{name} is no constant")
        return value

    try:
        if not any(type(look(name)) in _CONTAINERS for name in names):
            return None
        constant = compute_constant(node, look)
    except (DeclineSignal, UndecidedSignal):
        return None
    is_plain = type(constant) in _CONTAINERS or scalar_constant(constant, m.columns.zone)
    return as_constant(constant, ast.unparse(node), m.columns.zone) if is_plain else None


def _names_in(node: ast.expr) -> frozenset[str]:
    """Return the names, dotted ones included, of a slice, or of a call whose arguments are names;
    nothing for other expressions.
    """
    match node:
        case ast.Subscript(owner, ast.Slice()):
            return _path_of(owner)
        case ast.Call(ast.Name(), args, []):
            return frozenset().union(*(_names_in(a) or _path_of(a) for a in args))
        case ast.Call(ast.Attribute(owner, "items" | "keys" | "values" | "copy"), [], []):
            return _path_of(owner)
    return frozenset()


def _path_of(node: ast.expr) -> frozenset[str]:
    """Return the name that an expression is; nothing if it is none."""
    path = ast.unparse(node)
    is_path = all(part.isidentifier() for part in path.split("."))
    return frozenset([path]) if is_path else frozenset()


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
    values = write_out_choices(m, [v for _, v in hits])
    return merge_choices([hit for hit, _ in hits[:-1]], values, merge)


def get(m: SymbolicMachine, value: Value, key: Value, default: Value) -> Value:
    """Return ``value.get(key, default)`` for a dict from outside."""
    hits = _hits(m, value, key)
    values = write_out_choices(m, [*(v for _, v in hits), default])
    return merge_choices([hit for hit, _ in hits], values, merge)


def write_out_choices(m: SymbolicMachine, values: list[Value]) -> list[Value]:
    """Write out dicts, lists and records that are items of a dict, if there are several."""
    return [_written_out(m, v) for v in values] if len(values) > 1 else values


def _record(m: SymbolicMachine, value: Value) -> TupleV | None:
    """Return a named tuple or a dataclass with its fields; None for other values."""
    fields = fields_of(value.target) if isinstance(value, Known) else None
    if fields is None or not isinstance(value, Known):
        return None
    zone, cls = m.columns.zone, type(value.target)
    items = (as_constant(v, f"{value.name}.{n}", zone) for n, v in fields.items())
    return TupleV((TagV(cls, tuple(fields), fixed=True), *items))


def _written_out(m: SymbolicMachine, value: Value) -> Value:
    entries = pairs(m, value)
    if entries is None:
        return items_of(m, value) or _record(m, value) or value
    names = [constant_of(k, STRING) for k, _ in entries]
    if None in names or len(entries) > _MOST:
        return value
    return DictV(tuple(map(str, names)), tuple(v for _, v in entries))
