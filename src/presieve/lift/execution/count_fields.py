# SPDX-License-Identifier: Apache-2.0
"""Trusted. Fields of the fold for reductions: the number of rows of a kind, and whether there is
any.
"""

from __future__ import annotations

from collections.abc import Callable

from presieve.errors import DeclineSignal
from presieve.ir.fold import Field
from presieve.ir.ops import app
from presieve.ir.terms import FALSE, TRUE, Op, Scope, Term, Var, int_lit
from presieve.lift.execution.stage import Stage
from presieve.lift.execution.state import Flow, SymbolicMachine
from presieve.lift.values.symbolic import Scalar, SizeV, Traits, Value
from presieve.lift.values.whole_columns import VectorV
from presieve.semantics.assumptions import SUM_WITHIN
from presieve.semantics.smart_constructors import get, is_none, ite, or_

NUMPY = Traits(numpy=True, wide=True)
NARROW = Traits(numpy=True)


def field_with(m: SymbolicMachine, name: str, init: Term, step: Term) -> Var:
    """Return the field with this step, in which ``name`` stands for the field itself."""
    if m.state.stage is not Stage.AFTER:
        reason = "a column is reduced before or in a loop over the rows, which takes two passes"
        raise DeclineSignal("two-passes", reason)
    m.add_field(Field(name, init.sort, init, step))
    return Var(Scope.ACC, name, init.sort)


def field(m: SymbolicMachine, name: str, init: Term, step: Callable[[Var], Term]) -> Var:
    """Return a field of this name; ``step`` gives its value after a row for the one before."""
    return field_with(m, name, init, step(Var(Scope.ACC, name, init.sort)))


def field_name(m: SymbolicMachine, reduction: str, v: VectorV) -> str:
    """Return a name for a field: the same for the same reduction of the same elements and rows."""
    return m.reduction_name(f"{reduction}({v.name or ''})", (reduction, v.term, v.rows))


def rows_of(m: SymbolicMachine, flow: Flow, rows: Term, *, numpy: bool = False) -> Value:
    """Return the number of these rows; as a NumPy integer if ``numpy``."""
    traits = NUMPY if numpy else Traits()
    if rows == TRUE:
        size = m.force(SizeV(), flow)
        return Scalar(size.term, traits) if isinstance(size, Scalar) else size
    if rows == FALSE:
        return Scalar(int_lit(0), traits)
    name = m.reduction_name("count()", ("count", rows, rows))
    return Scalar(sum_of(m, name, int_lit(1), rows), traits)


def count_of(m: SymbolicMachine, flow: Flow, rows: Term) -> Term:
    """Return the number of these rows, where it is known."""
    count = rows_of(m, flow, rows)
    if not isinstance(count, Scalar):
        raise DeclineSignal("group-size", "the number of rows is not known here")
    return count.term


def any_row(m: SymbolicMachine, rows: Term) -> Term:
    """Return whether there is such a row: of single rows, whether this is one."""
    if rows in (TRUE, FALSE) or m.columns.single:
        return rows
    name = m.reduction_name("any()", ("any", rows, rows))
    return field(m, name, FALSE, lambda acc: or_(acc, rows))


def sum_of(m: SymbolicMachine, name: str, element: Term, rows: Term) -> Var:
    """Return the sum of integers of these rows."""
    return field(m, name, int_lit(0), lambda acc: ite(rows, app(Op.INT_ADD, acc, element), acc))


def assume_within(m: SymbolicMachine, flow: Flow, total: Term, limit: int, what: str) -> None:
    """Assume that the magnitude of a sum stays below a limit, unless this is known."""
    bound = m.ranges.magnitude(total)
    if bound is None or bound >= limit:
        low, high = int_lit(-limit), int_lit(limit)
        m.fail(flow, or_(app(Op.PY_LT, total, low), app(Op.PY_GE, total, high)))
        m.columns.add_assumptions([SUM_WITHIN[limit].of(what=what)])


def beats(op: Op, element: Term, best: Term) -> Term:
    """Return whether an element is better than the best one so far, which is an option."""
    return or_(is_none(best), app(op, element, get(best)))
