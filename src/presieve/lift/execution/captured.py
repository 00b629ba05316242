"""Trusted. Lists and dicts from outside of the function: constants, because all that would change
them is declined.
"""

from __future__ import annotations

import ast

from presieve.ir.ops import negate
from presieve.ir.terms import FALSE, TRUE, Term
from presieve.lift.execution.state import Flow, Machine
from presieve.lift.models.builtins.comparisons import equal
from presieve.lift.python.names import constant
from presieve.lift.values.merge import merge
from presieve.lift.values.symbolic import Known, ListV, Scalar, SetV, Value, describe
from presieve.semantics.build import or_

_MOST = 200
"""Keys of a dict that a row is compared with."""


def is_list(value: Value) -> bool:
    """Whether this is a list from outside."""
    return isinstance(value, Known) and type(value.target) is list


def is_dict(value: Value) -> bool:
    """Whether this is a dict from outside, and nothing but a dict."""
    return isinstance(value, Known) and type(value.target) is dict


def is_container(value: Value) -> bool:
    """Whether this is a list, dict or set from outside."""
    return isinstance(value, Known) and type(value.target) in (list, dict, set, frozenset)


def length(value: Value) -> int | None:
    """How many items it holds; None for what is no such container."""
    if not is_container(value):
        return None
    assert isinstance(value, Known)
    assert isinstance(value.target, list | dict | set | frozenset)
    return len(value.target)


def items_of(m: Machine, value: Value) -> ListV | None:
    """A list from outside, with its items; None for everything else."""
    if not is_list(value):
        return None
    assert isinstance(value, Known)
    assert isinstance(value.target, list)
    return ListV(tuple(constant(x, f"{value.name}[...]", m.columns.zone) for x in value.target))


def pairs(m: Machine, value: Value) -> list[tuple[Value, Value]] | None:
    """Keys and items of a dict from outside, in its order; None for everything else."""
    if not is_dict(value):
        return None
    assert isinstance(value, Known)
    assert isinstance(value.target, dict)
    zone, name = m.columns.zone, f"{value.name}[...]"
    return [(constant(k, name, zone), constant(v, name, zone)) for k, v in value.target.items()]


def _hits(m: Machine, value: Value, key: Value, node: ast.AST) -> list[tuple[Term, Value]]:
    """For each key of a dict whether it is the one that is asked for, and its item. NaN is asked
    for by identity, so that a key that may be NaN meets none that is.
    """
    known = pairs(m, value)
    assert known is not None
    if len(known) > _MOST:
        raise m.decline("too-large", f"a dict of {len(known)} keys", node)
    for possible, _ in known:
        if not equal_as_keys(key, possible):
            reason = f"{describe(key)} as a key of {describe(value)}"
            raise m.decline("unsupported-operation", reason, node)
    found = ((equal(m, key, k, node), v) for k, v in known)
    return [(hit, v) for hit, v in found if hit != FALSE]


def equal_as_keys(key: Value, other: Value) -> bool:
    """Whether a dict finds a key exactly where ``==`` says so."""
    if isinstance(key, SetV | ListV):
        return False
    nan = [isinstance(v, Scalar) and v.traits.maybe_nan for v in (key, other)]
    return not all(nan)


def contains(m: Machine, value: Value, key: Value, node: ast.AST) -> Term:
    """``key in value`` for a dict from outside."""
    return or_(*(hit for hit, _ in _hits(m, value, key, node)))


def item(m: Machine, flow: Flow, value: Value, key: Value, node: ast.AST) -> Value:
    """``value[key]`` for a dict from outside: KeyError where there is no such key."""
    found = _hits(m, value, key, node)
    m.fail(flow, negate(flow.decided(or_(*(hit for hit, _ in found)))), KeyError)
    if not found:
        raise m.decline("always-raises", "the dict has no such key", node)
    return _chosen(found[:-1], found[-1][1])


def get(m: Machine, value: Value, key: Value, default: Value, node: ast.AST) -> Value:
    """``value.get(key, default)`` for a dict from outside."""
    return _chosen(_hits(m, value, key, node), default)


def _chosen(found: list[tuple[Term, Value]], last: Value) -> Value:
    for hit, value in reversed(found):
        last = value if hit == TRUE else merge(hit, value, last)
    return last
