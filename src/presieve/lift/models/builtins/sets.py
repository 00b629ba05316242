"""Trusted. Sets, by which constants they hold.

A set is known by the constants that are asked for, or are the only ones that can be added; whether
it holds anything else is one further fact. Its size is known only where it can hold nothing else.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace

from presieve.errors import PresieveError, Span
from presieve.ir.ops import app, negate
from presieve.ir.terms import FALSE, TRUE, App, Lit, Op, Term, float_lit, int_lit, literal_value
from presieve.lift.execution.state import Call, Flow, Machine
from presieve.lift.models.builtins.comparisons import boolean, equal
from presieve.lift.models.registry import method, reference
from presieve.lift.python.names import constant
from presieve.lift.values.merge import members_of
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
from presieve.semantics.build import and_, as_int, or_

EMPTY = SetV((), (), FALSE)


class UntrackedSignal(PresieveError):
    """A constant is asked for that the sets so far do not tell from others: lift once more."""

    def __init__(self, constant: Lit, span: Span) -> None:
        super().__init__("a constant that is not tracked")
        self.constant, self.span = constant, span


def display(m: Machine, flow: Flow, items: Iterable[Value], node: ast.AST) -> SetV:
    """``{a, b}``."""
    found = EMPTY
    for value in items:
        found = added(m, flow, found, value, node)
    return found


def of_constants(m: Machine, value: Value, node: ast.AST) -> Value:
    """A set of constants from outside of the function, as the set that it is."""
    if isinstance(value, Known) and type(value.target) in (set, frozenset):
        assert isinstance(value.target, set | frozenset)
        members = [constant(x, value.name, m.columns.zone) for x in value.target]
        ordered = sorted(members, key=repr)  # the same text is wanted in every process
        found = display(m, Flow({}), ordered, node)
        return replace(found, fixed=isinstance(value.target, frozenset))
    return value


def written_out(m: Machine, flow: Flow, value: Value, node: ast.AST) -> Value:
    """What a set is made of or compared with, as a set where its members are written out."""
    if isinstance(value, ListV | TupleV):
        return display(m, flow, value.items, node)
    return of_constants(m, value, node)


def added(m: Machine, flow: Flow, found: SetV, value: Value, node: ast.AST) -> SetV:
    """The set with a value added."""
    value = m.force(value, flow)
    if isinstance(value, Scalar) and isinstance(value.term, Lit):
        member = _member(m, value.term, node)
        members = _of_one_sort(m, (*found.members, member), node)
        _tells(m, found, members, node)
        present = members_of(found, members)
        new = tuple(TRUE if x == member else p for x, p in zip(members, present, strict=True))
        return SetV(members, new, found.others, found.fixed)
    if not isinstance(value, Scalar | NoneV):
        raise m.decline("unsupported-operation", f"a set of {describe(value)}", node)
    choices = _choices(flow, value)
    wanted = (*found.members, *min(choices, key=repr, default=()), *_tracked(m, value))
    members = _of_one_sort(m, wanted, node)
    if isinstance(value, Scalar) and any(x.sort != value.base for x in members):
        raise m.decline("unsupported-operation", "a set of values of different types", node)
    _tells(m, found, members, node)
    present = members_of(found, members)
    hits = [equal(m, value, Scalar(x), node) for x in members]
    # A value that the path knows to be one of these is nothing else.
    closed = any(set(c) <= set(members) for c in choices)
    others = found.others if closed else or_(found.others, negate(or_(*hits)))
    new = tuple(or_(p, h) for p, h in zip(present, hits, strict=True))
    return SetV(members, new, others, found.fixed)


def _member(m: Machine, constant: Lit, node: ast.AST) -> Lit:
    """The constant; zero for the other zero, which is equal to it. Declines for NaN."""
    value = literal_value(constant)
    if isinstance(value, float):
        if value != value:
            raise m.decline("unsupported-operation", "NaN in a set compares by identity", node)
        return float_lit(value + 0.0)
    return constant


def _of_one_sort(m: Machine, members: Iterable[Lit], node: ast.AST) -> tuple[Lit, ...]:
    """The constants, each once. Equal ones of different sorts, as 1 and True, would be one."""
    found = tuple(dict.fromkeys(members))
    if len({x.sort for x in found}) > 1:
        raise m.decline("unsupported-operation", "a set of values of different types", node)
    return found


def _tells(m: Machine, found: SetV, members: Iterable[Lit], node: ast.AST) -> None:
    """A set that may hold other values must tell these constants from them."""
    for member in members:
        if found.others != FALSE and member not in found.members:
            raise UntrackedSignal(member, m.source.span(node))


def _tracked(m: Machine, value: Value) -> tuple[Lit, ...]:
    """The constants that sets of such values must tell from others."""
    base = value.base if isinstance(value, Scalar) else None
    return tuple(x for x in m.columns.tracked if x.sort == base)


def _choices(flow: Flow, value: Value) -> list[tuple[Lit, ...]]:
    """Constants one of which the value is, for each such fact that the path knows."""
    if not isinstance(value, Scalar):
        return []
    found: list[tuple[Lit, ...]] = []
    for fact in flow.facts:
        parts = fact.args if isinstance(fact, App) and fact.op is Op.OR else (fact,)
        constants = [_equated(p, value.term) for p in parts]
        if all(x is not None and x.sort == value.base for x in constants):
            found.append(tuple(x for x in constants if x is not None))
    return found


def _equated(fact: Term, term: Term) -> Lit | None:
    """The constant that a term equals by a fact."""
    match fact:
        case App(Op.PY_EQ, (same, Lit() as constant)) if same == term:
            return constant
    return None


def discarded(m: Machine, flow: Flow, found: SetV, value: Value, node: ast.AST) -> SetV:
    """The set without a value. Declines for one that may be among the others."""
    value = m.force(value, flow)
    if found.others != FALSE and not (isinstance(value, Scalar) and isinstance(value.term, Lit)):
        raise m.decline("mutation", "a value that is not constant leaves a set", node)
    if isinstance(value, Scalar) and isinstance(value.term, Lit):
        _tells(m, found, [_member(m, value.term, node)], node)
    hits = [_same(m, value, x, node) for x in found.members]
    present = (and_(p, negate(h)) for p, h in zip(found.present, hits, strict=True))
    return SetV(found.members, tuple(present), found.others, found.fixed)


def _same(m: Machine, value: Value, member: Lit, node: ast.AST) -> Term:
    """Whether a value is a member."""
    if isinstance(value, Scalar) and isinstance(value.term, Lit) and value.term.sort == member.sort:
        return TRUE if _member(m, value.term, node) == member else FALSE
    return equal(m, value, Scalar(member), node)


def united(m: Machine, a: SetV, other: Value, node: ast.AST) -> SetV:
    """The members of both."""
    if not isinstance(other, SetV):
        raise m.decline("unsupported-operation", f"a set and {describe(other)}", node)
    members = _together(m, a, other, node)
    pairs = zip(members_of(a, members), members_of(other, members), strict=True)
    present = tuple(or_(p, q) for p, q in pairs)
    return SetV(members, present, or_(a.others, other.others), a.fixed)


def _together(m: Machine, a: SetV, b: SetV, node: ast.AST) -> tuple[Lit, ...]:
    members = _of_one_sort(m, (*a.members, *b.members), node)
    _tells(m, a, members, node)
    _tells(m, b, members, node)
    return members


# --- questions ----------------------------------------------------------------------------------


def holds(m: Machine, found: SetV, value: Value, node: ast.AST) -> Term:
    """``value in found``."""
    if isinstance(value, Scalar) and isinstance(value.term, Lit):
        _tells(m, found, [_member(m, value.term, node)], node)
    elif found.others != FALSE:
        reason = "whether a value that is not constant is in a set of such values"
        raise m.decline("unsupported-operation", reason, node)
    pairs = zip(found.members, found.present, strict=True)
    return or_(*(and_(p, _same(m, value, x, node)) for x, p in pairs))


def compared(m: Machine, op: ast.cmpop, left: Value, right: Value, node: ast.AST) -> Term:
    """``left op right`` where one of them is a set."""
    a, b = of_constants(m, left, node), of_constants(m, right, node)
    if isinstance(op, ast.In | ast.NotIn) and isinstance(b, SetV):
        found = holds(m, b, a, node)
        return found if isinstance(op, ast.In) else negate(found)
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


def _covers(m: Machine, a: SetV, b: SetV, node: ast.AST) -> Term:
    """Whether ``a`` holds all that ``b`` does."""
    if b.others != FALSE and a.others != FALSE:
        reason = "comparing sets of values that are not all constants"
        raise m.decline("unsupported-operation", reason, node)
    members = _together(m, a, b, node)
    pairs = zip(members_of(a, members), members_of(b, members), strict=True)
    return and_(negate(b.others), *(or_(p, negate(q)) for p, q in pairs))


def nonempty(found: SetV) -> Term:
    """``bool(found)``."""
    return or_(*found.present, found.others)


def size(m: Machine, found: SetV, node: ast.AST) -> Scalar:
    """``len(found)``. Declines where it may hold values that are no constants."""
    if found.others != FALSE:
        reason = (
            "the size of a set of values that are not all constants: "
            "add a value only if it is one of a few"
        )
        raise m.decline("unsupported-operation", reason, node)
    total: Term = int_lit(0)
    for number, there in enumerate(found.present):
        one = as_int(there)
        total = one if number == 0 else app(Op.INT_ADD, total, one)
    return Scalar(total, Traits())


# --- methods ------------------------------------------------------------------------------------


@method(SetV, "union", "issuperset", "issubset", arguments=1)
def set_method(call: Call, found: SetV) -> Value:
    """``s.union(other)``, ``s.issuperset(other)`` and ``s.issubset(other)`` with a set or list."""
    m, flow, name, (other,), _, node = call
    among = written_out(m, flow, flow.opened(other), node)
    if name == "union":
        return united(m, found, among, node)
    op = ast.GtE() if name == "issuperset" else ast.LtE()
    return boolean(compared(m, op, found, among, node))


@method(SetV, "add", "discard", "update", arguments=1, statement=True, owner=reference)
def change_set(call: Call, owner: RefV) -> Value:
    """``s.add(value)``, ``s.discard(value)`` and ``s.update(other)``."""
    m, flow, name, (value,), _, node = call
    found = flow.opened(owner)
    assert isinstance(found, SetV)
    if name == "update":
        found = united(m, found, written_out(m, flow, flow.opened(value), node), node)
    else:
        found = (added if name == "add" else discarded)(m, flow, found, value, node)
    flow.heap[owner.number] = found
    return NONE
