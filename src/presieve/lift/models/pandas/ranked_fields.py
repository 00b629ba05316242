# SPDX-License-Identifier: Apache-2.0
"""Trusted. The places of the first few rows of a group after sorting, as fields of the fold.

Each place is one field, with the best element first. A row that is better than the one in a place
takes the place and moves that one and all that follow down by one.
"""

from __future__ import annotations

from msgspec import Struct

from presieve.errors import DeclineSignal
from presieve.ir.ops import app, negate
from presieve.ir.sorts import BOOL, FLOAT, Option, strip
from presieve.ir.terms import FALSE, TRUE, Op, Scope, Term, Var, int_lit, none_lit
from presieve.lift.execution.count_fields import any_row, count_of, field_with
from presieve.lift.execution.state import Flow, SymbolicMachine
from presieve.lift.models.pandas.series import present_rows, small, there
from presieve.lift.models.pandas.sign_of_zero import assume_no_negative_zero, either_zero
from presieve.lift.values.whole_columns import TopV, VectorV
from presieve.records import replace
from presieve.semantics.smart_constructors import (
    and_,
    any_value,
    get,
    is_missing,
    is_none,
    ite,
    or_,
    some,
)


class Places(Struct, frozen=True):
    """The element in each place, an option: none if it is missing or the place has no row.

    ``full``: whether each place has a row; not known unless the caller requests it.
    """

    values: tuple[Term, ...]
    full: tuple[Term, ...]

    def list_presence(self) -> tuple[Term, ...]:
        """Return for each place whether it holds an element that is not missing."""
        return tuple(there(v) for v in self.values)


def places_of(m: SymbolicMachine, flow: Flow, top: TopV, *, full: bool = False) -> Places:
    """Return the places of a column; ``full``: also determine whether each place has a row."""
    of = top.of
    assert isinstance(of, VectorV)
    small(m, of)
    small(m, top.by.key)
    zeros = strip(top.by.key.term.sort) == FLOAT and not top.by.stable
    if of.term == top.by.key.term:
        places = _of_keys(m, flow, of, top, full=full)
        if not zeros:
            return places
        rows = present_rows(of)
        either = (either_zero(m, v, of.term, rows) for v in places.values)
        return replace(places, values=tuple(either))
    if zeros:
        assume_no_negative_zero(m, top.by.key.term)
    if not top.among:
        reason = "the order of rows that tie is not known: sort with kind='stable'"
        raise DeclineSignal("row-order", reason)
    return _beside_keys(m, of, top)


def _of_keys(m: SymbolicMachine, flow: Flow, v: VectorV, top: TopV, *, full: bool) -> Places:
    """Return the places of the column by which the rows are sorted."""
    rows, x = present_rows(v), get(v.term)
    op = Op.PY_LT if top.by.upwards else Op.PY_GT
    word = "least" if top.by.upwards else "greatest"
    values: list[Term] = []
    beaten: Term = TRUE
    for i in range(top.most):
        name = m.reduction_name(f"{word}({v.name or ''}).{i}", (word, i, v.term, v.rows))
        acc = Var(Scope.ACC, name, Option(x.sort))
        beats = or_(is_none(acc), app(op, x, get(acc)))
        # If the row is better than the place above, the element there moves down to this place.
        moved = some(x) if i == 0 else ite(beaten, values[-1], some(x))
        field_with(m, name, none_lit(x.sort), ite(and_(rows, beats), moved, acc))
        values.append(acc)
        beaten = beats
    taken = tuple(negate(is_none(t)) for t in values)
    if not full:
        return Places(tuple(values), ())
    gaps = any_row(m, and_(v.rows, is_missing(v.term)))
    if gaps == FALSE:
        return Places(tuple(values), taken)
    count = count_of(m, flow, v.rows)
    enough = (app(Op.PY_GT, count, int_lit(i)) for i in range(top.most))
    return Places(
        tuple(values), tuple(or_(t, and_(gaps, e)) for t, e in zip(taken, enough, strict=True))
    )


def _beside_keys(m: SymbolicMachine, of: VectorV, top: TopV) -> Places:
    """Return the places of a column other than the one by which the rows are sorted."""
    key = top.by.key
    absent, x = is_missing(key.term), get(key.term)
    op = Op.PY_LT if top.by.upwards else Op.PY_GT
    word = "least" if top.by.upwards else "greatest"
    values: list[Term] = []
    occupied: list[Term] = []
    own_key = ite(absent, none_lit(x.sort), some(x))
    above: tuple[Term, Term, Term] | None = None
    for i in range(top.most):
        about = (word, i, key.term, of.rows)
        base = f"{word}({key.name or ''} of rows).{i}"
        full = Var(Scope.ACC, m.reduction_name(f"{base}:there", (*about, "full")), BOOL)
        best = Var(Scope.ACC, m.reduction_name(base, (*about, "key")), Option(x.sort))
        name = m.reduction_name(f"{base}:{of.name or ''}", (*about, of.term))
        value = Var(Scope.ACC, name, of.term.sort)
        beats = or_(negate(full), and_(negate(absent), or_(is_none(best), app(op, x, get(best)))))
        new = (own_key, of.term)
        if above is not None:
            new = ite(above[0], above[1], own_key), ite(above[0], above[2], of.term)
        takes = and_(of.rows, beats)
        field_with(
            m, full.name, FALSE, or_(full, of.rows if i == 0 else and_(of.rows, occupied[-1]))
        )
        field_with(m, best.name, none_lit(x.sort), ite(takes, new[0], best))
        field_with(m, name, any_value(of.term.sort), ite(takes, new[1], value))
        occupied.append(full)
        values.append(value)
        above = beats, best, value
    optional = (
        ite(s, v if isinstance(v.sort, Option) else some(v), none_lit(strip(v.sort)))
        for s, v in zip(occupied, values, strict=True)
    )
    return Places(tuple(optional), tuple(occupied))
