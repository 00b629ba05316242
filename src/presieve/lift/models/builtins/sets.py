# SPDX-License-Identifier: Apache-2.0
"""Trusted. Sets, represented by which constants they hold.

A set tracks the constants that the function tests for, or that are the only values that it can add.
One further fact says whether it holds any other value. Its size is known only if it can hold no
other value.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from presieve.errors import DeclineSignal, PresieveError, Span
from presieve.ir.ops import app, negate
from presieve.ir.terms import FALSE, TRUE, App, Lit, Op, Term, float_lit, int_lit, literal_value
from presieve.lift.execution.state import Flow, ModelCall, SymbolicMachine
from presieve.lift.models.builtins.comparisons import boolean, equal
from presieve.lift.models.registry import method, reference
from presieve.lift.python.names import as_constant
from presieve.lift.values.join_values import members_of
from presieve.lift.values.symbolic import (
    NONE,
    Known,
    ListV,
    NoneV,
    RefV,
    Scalar,
    SetV,
    Traits,
    TupleV,
    Value,
    describe,
)
from presieve.records import replace
from presieve.semantics.smart_constructors import and_, as_int, or_

EMPTY = SetV((), (), FALSE)


class UntrackedSignal(PresieveError):
    """A test uses a constant that the sets do not track yet: lift again and track it."""

    def __init__(self, constant: Lit, span: Span) -> None:
        super().__init__("a constant that is not tracked")
        self.constant, self.span = constant, span


def display(m: SymbolicMachine, flow: Flow, items: Iterable[Value]) -> SetV:
    """Evaluate ``{a, b}``."""
    set_so_far = EMPTY
    for value in items:
        set_so_far = add_to_set(m, flow, set_so_far, value)
    return set_so_far


def of_constants(m: SymbolicMachine, value: Value) -> Value:
    """Convert a captured set of constants to a symbolic set; return other values unchanged."""
    if isinstance(value, Known) and type(value.target) in (set, frozenset):
        assert isinstance(value.target, set | frozenset)
        members = [as_constant(x, value.name, m.columns.zone) for x in value.target]
        ordered = sorted(members, key=repr)  # the terms must be the same in every process
        set_value = display(m, Flow({}), ordered)
        return replace(set_value, fixed=isinstance(value.target, frozenset))
    return value


def written_out(m: SymbolicMachine, flow: Flow, value: Value) -> Value:
    """Convert the operand of a set operation to a set if its members are written out."""
    if isinstance(value, ListV | TupleV):
        return display(m, flow, value.items)
    return of_constants(m, value)


def add_to_set(m: SymbolicMachine, flow: Flow, set_value: SetV, value: Value) -> SetV:
    """Return the set with a value added."""
    value = m.force(value, flow)
    if isinstance(value, Scalar) and isinstance(value.term, Lit):
        member = _member(value.term)
        members = _remove_duplicates((*set_value.members, member))
        _check_tells_apart(m, set_value, members)
        present = members_of(set_value, members)
        new = tuple(TRUE if x == member else p for x, p in zip(members, present, strict=True))
        return SetV(members, new, set_value.others, set_value.fixed)
    if not isinstance(value, Scalar | NoneV):
        raise DeclineSignal("unsupported-operation", f"a set of {describe(value)}")
    choices = _choices(flow, value)
    wanted = (
        *set_value.members,
        *min(choices, key=repr, default=()),
        *_tracked_constants(m, value),
    )
    members = _remove_duplicates(wanted)
    if isinstance(value, Scalar) and any(x.sort != value.base for x in members):
        raise DeclineSignal("unsupported-operation", "a set of values of different types")
    _check_tells_apart(m, set_value, members)
    present = members_of(set_value, members)
    hits = [equal(m, value, Scalar(x)) for x in members]
    # If the path's facts say that the value is one of these constants, it is no other value.
    closed = any(set(c) <= set(members) for c in choices)
    others = set_value.others if closed else or_(set_value.others, negate(or_(*hits)))
    new = tuple(or_(p, h) for p, h in zip(present, hits, strict=True))
    return SetV(members, new, others, set_value.fixed)


def _member(constant: Lit) -> Lit:
    """Return the constant, with 0.0 for -0.0, which is equal. Declines NaN."""
    value = literal_value(constant)
    if isinstance(value, float):
        if value != value:
            raise DeclineSignal("unsupported-operation", "NaN in a set compares by identity")
        return float_lit(value + 0.0)
    return constant


def _remove_duplicates(members: Iterable[Lit]) -> tuple[Lit, ...]:
    """Remove duplicates. Declines constants of different sorts: 1 and True would be one member."""
    distinct_members = tuple(dict.fromkeys(members))
    if len({x.sort for x in distinct_members}) > 1:
        raise DeclineSignal("unsupported-operation", "a set of values of different types")
    return distinct_members


def _check_tells_apart(m: SymbolicMachine, set_value: SetV, members: Iterable[Lit]) -> None:
    """Raise :class:`UntrackedSignal` for one of these that the set may hold but does not track."""
    for member in members:
        if set_value.others != FALSE and member not in set_value.members:
            raise UntrackedSignal(member, m.span)


def _tracked_constants(m: SymbolicMachine, value: Value) -> tuple[Lit, ...]:
    """Return the tracked constants of the value's sort."""
    base = value.base if isinstance(value, Scalar) else None
    return tuple(x for x in m.columns.tracked if x.sort == base)


def _choices(flow: Flow, value: Value) -> list[tuple[Lit, ...]]:
    """Return the sets of constants to which facts of the path restrict the value."""
    if not isinstance(value, Scalar):
        return []
    choices: list[tuple[Lit, ...]] = []
    for fact in flow.facts:
        parts = fact.args if isinstance(fact, App) and fact.op is Op.OR else (fact,)
        constants = [_equal_constant(p, value.term) for p in parts]
        if all(x is not None and x.sort == value.base for x in constants):
            choices.append(tuple(x for x in constants if x is not None))
    return choices


def _equal_constant(fact: Term, term: Term) -> Lit | None:
    """Return the constant that a fact says the term equals, or None."""
    match fact:
        case App(Op.PY_EQ, (same, Lit() as constant)) if same == term:
            return constant
    return None


def discard_from_set(m: SymbolicMachine, flow: Flow, set_value: SetV, value: Value) -> SetV:
    """Return the set without a value. Declines a value that may be an untracked member."""
    value = m.force(value, flow)
    if set_value.others != FALSE and not (
        isinstance(value, Scalar) and isinstance(value.term, Lit)
    ):
        raise DeclineSignal("mutation", "a value that is not constant leaves a set")
    if isinstance(value, Scalar) and isinstance(value.term, Lit):
        _check_tells_apart(m, set_value, [_member(value.term)])
    hits = [_same(m, value, x) for x in set_value.members]
    present = (and_(p, negate(h)) for p, h in zip(set_value.present, hits, strict=True))
    return SetV(set_value.members, tuple(present), set_value.others, set_value.fixed)


def _same(m: SymbolicMachine, value: Value, member: Lit) -> Term:
    """Return whether a value equals a member."""
    if isinstance(value, Scalar) and isinstance(value.term, Lit) and value.term.sort == member.sort:
        return TRUE if _member(value.term) == member else FALSE
    return equal(m, value, Scalar(member))


def unite_sets(m: SymbolicMachine, a: SetV, b: Value) -> SetV:
    """Return the union."""
    if not isinstance(b, SetV):
        raise DeclineSignal("unsupported-operation", f"a set and {describe(b)}")
    members = _together(m, a, b)
    pairs = zip(members_of(a, members), members_of(b, members), strict=True)
    present = tuple(or_(p, q) for p, q in pairs)
    return SetV(members, present, or_(a.others, b.others), a.fixed)


def _together(m: SymbolicMachine, a: SetV, b: SetV) -> tuple[Lit, ...]:
    members = _remove_duplicates((*a.members, *b.members))
    _check_tells_apart(m, a, members)
    _check_tells_apart(m, b, members)
    return members


# --- questions ----------------------------------------------------------------------------------


def holds(m: SymbolicMachine, set_value: SetV, value: Value) -> Term:
    """Evaluate ``value in set_value``."""
    if isinstance(value, Scalar) and isinstance(value.term, Lit):
        _check_tells_apart(m, set_value, [_member(value.term)])
    elif set_value.others != FALSE:
        reason = "whether a value that is not constant is in a set of such values"
        raise DeclineSignal("unsupported-operation", reason)
    pairs = zip(set_value.members, set_value.present, strict=True)
    return or_(*(and_(p, _same(m, value, x)) for x, p in pairs))


def compare_sets(m: SymbolicMachine, op: ast.cmpop, left: Value, right: Value) -> Term:
    """Evaluate ``left op right`` where one of the two is a set."""
    a, b = of_constants(m, left), of_constants(m, right)
    if isinstance(op, ast.In) and isinstance(b, SetV):
        return holds(m, b, a)
    if isinstance(op, ast.Is) and NoneV() in (a, b):
        return FALSE
    if not isinstance(a, SetV) or not isinstance(b, SetV):
        raise DeclineSignal("unsupported-operation", f"comparing {describe(a)} with {describe(b)}")
    match op:
        case ast.GtE():
            return _covers(m, a, b)
        case ast.LtE():
            return _covers(m, b, a)
        case ast.Gt():
            return and_(_covers(m, a, b), negate(_covers(m, b, a)))
        case ast.Lt():
            return and_(_covers(m, b, a), negate(_covers(m, a, b)))
        case ast.Eq():
            return and_(_covers(m, a, b), _covers(m, b, a))
    raise DeclineSignal("unsupported-operation", "this comparison of sets")


def _covers(m: SymbolicMachine, a: SetV, b: SetV) -> Term:
    """Return whether ``a`` is a superset of ``b``."""
    if b.others != FALSE and a.others != FALSE:
        reason = "comparing sets of values that are not all constants"
        raise DeclineSignal("unsupported-operation", reason)
    members = _together(m, a, b)
    pairs = zip(members_of(a, members), members_of(b, members), strict=True)
    return and_(negate(b.others), *(or_(p, negate(q)) for p, q in pairs))


def nonempty(set_value: SetV) -> Term:
    """Evaluate ``bool(set_value)``."""
    return or_(*set_value.present, set_value.others)


def size(set_value: SetV) -> Scalar:
    """Evaluate ``len(set_value)``. Declines a set that may hold untracked values."""
    if set_value.others != FALSE:
        reason = (
            "the size of a set of values that are not all constants: "
            "add a value only if it is one of a few"
        )
        raise DeclineSignal("unsupported-operation", reason)
    total: Term = int_lit(0)
    for number, presence in enumerate(set_value.present):
        unit = as_int(presence)
        total = unit if number == 0 else app(Op.INT_ADD, total, unit)
    return Scalar(total, Traits())


# --- methods ------------------------------------------------------------------------------------


@method(SetV, "union", "issuperset", "issubset", arguments=1)
def set_method(call: ModelCall, set_value: SetV) -> Value:
    """``s.union(other)``, ``s.issuperset(other)`` and ``s.issubset(other)`` with a set or list."""
    m, flow, name, (operand,), _, _ = call
    among = written_out(m, flow, flow.dereference(operand))
    if name == "union":
        return unite_sets(m, set_value, among)
    op = ast.GtE() if name == "issuperset" else ast.LtE()
    return boolean(compare_sets(m, op, set_value, among))


@method(SetV, "add", "discard", "update", arguments=1, statement=True, owner=reference)
def change_set(call: ModelCall, owner: RefV) -> Value:
    """``s.add(value)``, ``s.discard(value)`` and ``s.update(other)``."""
    m, flow, name, (value,), _, _ = call
    set_value = flow.dereference(owner)
    assert isinstance(set_value, SetV)
    if name == "update":
        set_value = unite_sets(m, set_value, written_out(m, flow, flow.dereference(value)))
    else:
        set_value = (add_to_set if name == "add" else discard_from_set)(m, flow, set_value, value)
    flow.heap[owner.number] = set_value
    return NONE
