"""Trusted. Sets, represented by which constants they hold.

A set tracks the constants that the function tests for, or that are the only values that it can add.
One further fact says whether it holds any other value. Its size is known only if it can hold no
other value.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace

from presieve.errors import PresieveError, Span
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
from presieve.semantics.smart_constructors import and_, as_int, or_

EMPTY = SetV((), (), FALSE)


class UntrackedSignal(PresieveError):
    """A test uses a constant that the sets do not track yet: lift again and track it."""

    def __init__(self, constant: Lit, span: Span) -> None:
        super().__init__("a constant that is not tracked")
        self.constant, self.span = constant, span


def display(m: SymbolicMachine, flow: Flow, items: Iterable[Value], node: ast.AST) -> SetV:
    """Evaluate ``{a, b}``."""
    set_so_far = EMPTY
    for value in items:
        set_so_far = add_to_set(m, flow, set_so_far, value, node)
    return set_so_far


def of_constants(m: SymbolicMachine, value: Value, node: ast.AST) -> Value:
    """Convert a captured set of constants to a symbolic set; return other values unchanged."""
    if isinstance(value, Known) and type(value.target) in (set, frozenset):
        assert isinstance(value.target, set | frozenset)
        members = [as_constant(x, value.name, m.columns.zone) for x in value.target]
        ordered = sorted(members, key=repr)  # the terms must be the same in every process
        set_value = display(m, Flow({}), ordered, node)
        return replace(set_value, fixed=isinstance(value.target, frozenset))
    return value


def written_out(m: SymbolicMachine, flow: Flow, value: Value, node: ast.AST) -> Value:
    """Convert the operand of a set operation to a set if its members are written out."""
    if isinstance(value, ListV | TupleV):
        return display(m, flow, value.items, node)
    return of_constants(m, value, node)


def add_to_set(
    m: SymbolicMachine, flow: Flow, set_value: SetV, value: Value, node: ast.AST
) -> SetV:
    """Return the set with a value added."""
    value = m.force(value, flow)
    if isinstance(value, Scalar) and isinstance(value.term, Lit):
        member = _member(m, value.term, node)
        members = _of_one_sort(m, (*set_value.members, member), node)
        _check_tells_apart(m, set_value, members, node)
        present = members_of(set_value, members)
        new = tuple(TRUE if x == member else p for x, p in zip(members, present, strict=True))
        return SetV(members, new, set_value.others, set_value.fixed)
    if not isinstance(value, Scalar | NoneV):
        raise m.decline("unsupported-operation", f"a set of {describe(value)}", node)
    choices = _choices(flow, value)
    wanted = (
        *set_value.members,
        *min(choices, key=repr, default=()),
        *_tracked_constants(m, value),
    )
    members = _of_one_sort(m, wanted, node)
    if isinstance(value, Scalar) and any(x.sort != value.base for x in members):
        raise m.decline("unsupported-operation", "a set of values of different types", node)
    _check_tells_apart(m, set_value, members, node)
    present = members_of(set_value, members)
    hits = [equal(m, value, Scalar(x), node) for x in members]
    # If the path's facts say that the value is one of these constants, it is no other value.
    closed = any(set(c) <= set(members) for c in choices)
    others = set_value.others if closed else or_(set_value.others, negate(or_(*hits)))
    new = tuple(or_(p, h) for p, h in zip(present, hits, strict=True))
    return SetV(members, new, others, set_value.fixed)


def _member(m: SymbolicMachine, constant: Lit, node: ast.AST) -> Lit:
    """Return the constant, with 0.0 for -0.0, which is equal. Declines NaN."""
    value = literal_value(constant)
    if isinstance(value, float):
        if value != value:
            raise m.decline("unsupported-operation", "NaN in a set compares by identity", node)
        return float_lit(value + 0.0)
    return constant


def _of_one_sort(m: SymbolicMachine, members: Iterable[Lit], node: ast.AST) -> tuple[Lit, ...]:
    """Remove duplicates. Declines constants of different sorts: 1 and True would be one member."""
    distinct_members = tuple(dict.fromkeys(members))
    if len({x.sort for x in distinct_members}) > 1:
        raise m.decline("unsupported-operation", "a set of values of different types", node)
    return distinct_members


def _check_tells_apart(
    m: SymbolicMachine, set_value: SetV, members: Iterable[Lit], node: ast.AST
) -> None:
    """Raise :class:`UntrackedSignal` if the set may hold other values and one of these constants is
    not tracked.
    """
    for member in members:
        if set_value.others != FALSE and member not in set_value.members:
            raise UntrackedSignal(member, m.source.span(node))


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


def discard_from_set(
    m: SymbolicMachine, flow: Flow, set_value: SetV, value: Value, node: ast.AST
) -> SetV:
    """Return the set without a value. Declines a value that may be an untracked member."""
    value = m.force(value, flow)
    if set_value.others != FALSE and not (
        isinstance(value, Scalar) and isinstance(value.term, Lit)
    ):
        raise m.decline("mutation", "a value that is not constant leaves a set", node)
    if isinstance(value, Scalar) and isinstance(value.term, Lit):
        _check_tells_apart(m, set_value, [_member(m, value.term, node)], node)
    hits = [_same(m, value, x, node) for x in set_value.members]
    present = (and_(p, negate(h)) for p, h in zip(set_value.present, hits, strict=True))
    return SetV(set_value.members, tuple(present), set_value.others, set_value.fixed)


def _same(m: SymbolicMachine, value: Value, member: Lit, node: ast.AST) -> Term:
    """Return whether a value equals a member."""
    if isinstance(value, Scalar) and isinstance(value.term, Lit) and value.term.sort == member.sort:
        return TRUE if _member(m, value.term, node) == member else FALSE
    return equal(m, value, Scalar(member), node)


def unite_sets(m: SymbolicMachine, a: SetV, b: Value, node: ast.AST) -> SetV:
    """Return the union."""
    if not isinstance(b, SetV):
        raise m.decline("unsupported-operation", f"a set and {describe(b)}", node)
    members = _together(m, a, b, node)
    pairs = zip(members_of(a, members), members_of(b, members), strict=True)
    present = tuple(or_(p, q) for p, q in pairs)
    return SetV(members, present, or_(a.others, b.others), a.fixed)


def _together(m: SymbolicMachine, a: SetV, b: SetV, node: ast.AST) -> tuple[Lit, ...]:
    members = _of_one_sort(m, (*a.members, *b.members), node)
    _check_tells_apart(m, a, members, node)
    _check_tells_apart(m, b, members, node)
    return members


# --- questions ----------------------------------------------------------------------------------


def holds(m: SymbolicMachine, set_value: SetV, value: Value, node: ast.AST) -> Term:
    """Evaluate ``value in set_value``."""
    if isinstance(value, Scalar) and isinstance(value.term, Lit):
        _check_tells_apart(m, set_value, [_member(m, value.term, node)], node)
    elif set_value.others != FALSE:
        reason = "whether a value that is not constant is in a set of such values"
        raise m.decline("unsupported-operation", reason, node)
    pairs = zip(set_value.members, set_value.present, strict=True)
    return or_(*(and_(p, _same(m, value, x, node)) for x, p in pairs))


def compare_sets(
    m: SymbolicMachine, op: ast.cmpop, left: Value, right: Value, node: ast.AST
) -> Term:
    """Evaluate ``left op right`` where one of the two is a set."""
    a, b = of_constants(m, left, node), of_constants(m, right, node)
    if isinstance(op, ast.In | ast.NotIn) and isinstance(b, SetV):
        is_member = holds(m, b, a, node)
        return is_member if isinstance(op, ast.In) else negate(is_member)
    if isinstance(op, ast.Is | ast.IsNot) and NoneV() in (a, b):
        return FALSE if isinstance(op, ast.Is) else TRUE
    if not isinstance(a, SetV) or not isinstance(b, SetV):
        reason = f"comparing {describe(a)} with {describe(b)}"
        raise m.decline("unsupported-operation", reason, node)
    match op:
        case ast.GtE():
            return _covers(m, a, b, node)
        case ast.LtE():
            return _covers(m, b, a, node)
        case ast.Gt():
            return and_(_covers(m, a, b, node), negate(_covers(m, b, a, node)))
        case ast.Lt():
            return and_(_covers(m, b, a, node), negate(_covers(m, a, b, node)))
        case ast.Eq():
            return and_(_covers(m, a, b, node), _covers(m, b, a, node))
        case ast.NotEq():
            return negate(and_(_covers(m, a, b, node), _covers(m, b, a, node)))
    raise m.decline("unsupported-operation", "this comparison of sets", node)


def _covers(m: SymbolicMachine, a: SetV, b: SetV, node: ast.AST) -> Term:
    """Return whether ``a`` is a superset of ``b``."""
    if b.others != FALSE and a.others != FALSE:
        reason = "comparing sets of values that are not all constants"
        raise m.decline("unsupported-operation", reason, node)
    members = _together(m, a, b, node)
    pairs = zip(members_of(a, members), members_of(b, members), strict=True)
    return and_(negate(b.others), *(or_(p, negate(q)) for p, q in pairs))


def nonempty(set_value: SetV) -> Term:
    """Evaluate ``bool(set_value)``."""
    return or_(*set_value.present, set_value.others)


def size(m: SymbolicMachine, set_value: SetV, node: ast.AST) -> Scalar:
    """Evaluate ``len(set_value)``. Declines a set that may hold untracked values."""
    if set_value.others != FALSE:
        reason = (
            "the size of a set of values that are not all constants: "
            "add a value only if it is one of a few"
        )
        raise m.decline("unsupported-operation", reason, node)
    total: Term = int_lit(0)
    for number, presence in enumerate(set_value.present):
        unit = as_int(presence)
        total = unit if number == 0 else app(Op.INT_ADD, total, unit)
    return Scalar(total, Traits())


# --- methods ------------------------------------------------------------------------------------


@method(SetV, "union", "issuperset", "issubset", arguments=1)
def set_method(call: ModelCall, set_value: SetV) -> Value:
    """``s.union(other)``, ``s.issuperset(other)`` and ``s.issubset(other)`` with a set or list."""
    m, flow, name, (operand,), _, node = call
    among = written_out(m, flow, flow.opened(operand), node)
    if name == "union":
        return unite_sets(m, set_value, among, node)
    op = ast.GtE() if name == "issuperset" else ast.LtE()
    return boolean(compare_sets(m, op, set_value, among, node))


@method(SetV, "add", "discard", "update", arguments=1, statement=True, owner=reference)
def change_set(call: ModelCall, owner: RefV) -> Value:
    """``s.add(value)``, ``s.discard(value)`` and ``s.update(other)``."""
    m, flow, name, (value,), _, node = call
    set_value = flow.opened(owner)
    assert isinstance(set_value, SetV)
    if name == "update":
        set_value = unite_sets(m, set_value, written_out(m, flow, flow.opened(value), node), node)
    else:
        set_value = (add_to_set if name == "add" else discard_from_set)(
            m, flow, set_value, value, node
        )
    flow.heap[owner.number] = set_value
    return NONE
