# SPDX-License-Identifier: Apache-2.0
"""Trusted. One row of a group: the first or last one, in the group's order or after a stable sort.

Source: pandas 2.3 ``core/sorting.py`` (``nargsort``): missing elements come last in both
directions, and in a stable sort rows that tie keep their order. A table of one such row keeps the
types of its columns, so it can be modelled element by element.
"""

from __future__ import annotations

from functools import partial

from presieve.errors import DeclineSignal
from presieve.ir.ops import app, negate
from presieve.ir.sorts import BOOL, FLOAT, Option, strip
from presieve.ir.terms import FALSE, TRUE, Op, Scope, Term, Var, none_lit
from presieve.lift.execution.count_fields import any_row, field
from presieve.lift.execution.state import Flow, SymbolicMachine
from presieve.lift.models.pandas.reductions import at_end, element_value
from presieve.lift.models.pandas.series import column_of, small
from presieve.lift.values.symbolic import TableV, Value
from presieve.lift.values.whole_columns import PartV, VectorV
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


def row_table(m: SymbolicMachine, flow: Flow, frame: PartV, *, last: bool) -> TableV:
    """Evaluate ``table.head(1)`` or ``table.tail(1)``, which has no row if the table has none."""
    present = flow.decide(any_row(m, frame.rows))
    there = flow.branch(present)
    columns = (column_of(m, frame, c) for c in frame.columns)
    return TableV(frame.columns, tuple(end_of(m, there, v, last=last) for v in columns), present)


def end_of(m: SymbolicMachine, flow: Flow, v: VectorV, *, last: bool) -> Value:
    """Evaluate ``column.iloc[0]`` or ``iloc[-1]``, also after a stable sort."""
    if v.ordered or v.by is None or not v.by.settles(v.term):
        return at_end(m, flow, v, last=last)
    has_row, better = _better(m, v, last)
    name = m.reduction_name(f"end({v.name or ''})", ("end", better, v.term))
    end_element = field(m, name, any_value(v.term.sort), lambda acc: ite(better, v.term, acc))
    if flow.decide(any_row(m, v.rows)) != TRUE:
        m.fail(flow, negate(has_row))
    return element_value(m, v, end_element)


def _better(m: SymbolicMachine, v: VectorV, last: bool) -> tuple[Term, Term]:
    """Return whether there has been a row, and whether this row replaces the current one."""
    by = v.by
    assert by is not None
    # Where the first key ties, the others do not matter to it.
    alone = v.term == by.key.term and strip(v.term.sort) != FLOAT
    keys = by.keys[:1] if alone else by.keys
    terms = tuple(key.term for key, _ in keys)
    flag = m.reduction_name("seen", ("seen by", v.rows, *terms))
    has_row = field(m, flag, FALSE, lambda seen: or_(seen, v.rows))
    order = (v.rows, last, *((key.term, upwards) for key, upwards in keys))
    bests = [_key_field(m, key, order) for key, _ in keys]
    wins: Term = TRUE if last else FALSE  # where all of them tie
    for (key, upwards), best in reversed(list(zip(keys, bests, strict=True))):
        wins = (_comes_later if last else _comes_earlier)(key.term, best, upwards, wins)
    better = and_(v.rows, or_(negate(has_row), wins))
    for (key, _), best in zip(keys, bests, strict=True):
        base = strip(key.term.sort)
        new_key = ite(is_missing(key.term), none_lit(base), some(get(key.term)))
        field(m, best.name, none_lit(base), partial(ite, better, new_key))
    return has_row, better


def _key_field(m: SymbolicMachine, key: VectorV, of: tuple[object, ...]) -> Var:
    """Return the field that holds the key of the row that is first or last so far."""
    small(m, key)
    base = strip(key.term.sort)
    if base == BOOL:
        raise DeclineSignal("unsupported-operation", "sorting by booleans")
    name = m.reduction_name(f"key({key.name or ''})", ("key", key.term, *of))
    return Var(Scope.ACC, name, Option(base))


def _comes_later(key: Term, best: Var, upwards: bool, on_tie: Term) -> Term:
    """Return whether a row comes after the one with the ``best`` key, or ties, and ``on_tie``."""
    absent = is_missing(key)
    present = (negate(absent), negate(is_none(best)))
    element, so_far = get(key), get(best)
    if on_tie == TRUE:
        order = app(Op.PY_GE if upwards else Op.PY_LE, element, so_far)
        return or_(absent, and_(*present, order))
    after = app(Op.PY_GT if upwards else Op.PY_LT, element, so_far)
    same = app(Op.PY_EQ, element, so_far)
    missing = and_(absent, or_(negate(is_none(best)), on_tie))
    return or_(missing, and_(*present, or_(after, and_(same, on_tie))))


def _comes_earlier(key: Term, best: Var, upwards: bool, on_tie: Term) -> Term:
    """Return whether a row comes before the one with the ``best`` key, or ties, and ``on_tie``."""
    absent, first = is_missing(key), is_none(best)
    element, so_far = get(key), get(best)
    before = app(Op.PY_LT if upwards else Op.PY_GT, element, so_far)
    if on_tie == FALSE:
        return and_(negate(absent), or_(first, before))
    same = app(Op.PY_EQ, element, so_far)
    missing = and_(absent, first, on_tie)
    present = and_(negate(absent), negate(first), or_(before, and_(same, on_tie)))
    return or_(missing, and_(negate(absent), first), present)
