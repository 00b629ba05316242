# SPDX-License-Identifier: Apache-2.0
"""Trusted. One row of a group: the first or last one, in the group's order or after a stable sort.

Source: pandas 2.3 ``core/sorting.py`` (``nargsort``): missing elements come last in both
directions, and in a stable sort rows that tie keep their order. A table of one such row keeps the
types of its columns, so it can be modelled element by element.
"""

from __future__ import annotations

from presieve.errors import DeclineSignal
from presieve.ir.ops import app, negate
from presieve.ir.sorts import BOOL, Option, strip
from presieve.ir.terms import FALSE, TRUE, Op, Scope, Term, Var, none_lit
from presieve.lift.execution.count_fields import field
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
    """Evaluate ``table.head(1)`` or ``table.tail(1)``. Declines a table that may have no row."""
    if frame.rows != TRUE:
        reason = "if no row is left, the table has none: exactly one row is supported"
        raise DeclineSignal("row-count", reason)
    columns = (column_of(m, frame, c) for c in frame.columns)
    return TableV(frame.columns, tuple(end_of(m, flow, v, last=last) for v in columns))


def end_of(m: SymbolicMachine, flow: Flow, v: VectorV, *, last: bool) -> Value:
    """Evaluate ``column.iloc[0]`` or ``iloc[-1]``, also after a stable sort."""
    if v.ordered or v.by is None or not v.by.settles(v.term):
        return at_end(m, flow, v, last=last)
    has_row, better = _better(m, v, last)
    name = m.reduction_name(f"end({v.name or ''})", ("end", better, v.term))
    end_element = field(m, name, any_value(v.term.sort), lambda acc: ite(better, v.term, acc))
    if v.rows != TRUE:
        m.fail(flow, negate(has_row))
    return element_value(m, v, end_element)


def _better(m: SymbolicMachine, v: VectorV, last: bool) -> tuple[Term, Term]:
    """Return whether there has been a row, and whether this row replaces the current one."""
    assert v.by is not None
    key, ascending = v.by.key, v.by.upwards
    small(m, key)
    base = strip(key.term.sort)
    if base == BOOL:
        raise DeclineSignal("unsupported-operation", "sorting by booleans")
    flag = m.reduction_name("seen", ("seen by", v.rows, key.term))
    has_row = field(m, flag, FALSE, lambda seen: or_(seen, v.rows))
    name = m.reduction_name(f"key({key.name or ''})", ("key", key.term, v.rows, last, ascending))
    best = Var(Scope.ACC, name, Option(base))
    absent = is_missing(key.term)
    element, so_far = get(key.term), get(best)
    op = {(True, False): Op.PY_LT, (False, False): Op.PY_GT, (True, True): Op.PY_GE}.get(
        (ascending, last), Op.PY_LE
    )
    order = app(op, element, so_far)
    if last:
        wins = or_(absent, and_(negate(absent), negate(is_none(best)), order))
    else:
        wins = and_(negate(absent), or_(is_none(best), order))
    better = and_(v.rows, or_(negate(has_row), wins))
    new_key = ite(absent, none_lit(base), some(element))
    field(m, name, none_lit(base), lambda best: ite(better, new_key, best))
    return has_row, better
