"""Trusted. Fields of the fold for reductions: the number of rows of a kind, and whether there is
any.
"""

from __future__ import annotations

from presieve.errors import DeclineSignal
from presieve.ir.fold import Field
from presieve.ir.ops import app
from presieve.ir.sorts import BOOL, INT
from presieve.ir.terms import FALSE, TRUE, Op, Scope, Term, Var, int_lit
from presieve.lift.execution.stage import Stage
from presieve.lift.execution.state import Flow, SymbolicMachine
from presieve.lift.values.symbolic import Scalar, SizeV, Traits, Value
from presieve.lift.values.whole_columns import VectorV
from presieve.semantics.smart_constructors import ite, or_

NUMPY = Traits(numpy=True, wide=True)
NARROW = Traits(numpy=True)


def field(m: SymbolicMachine, name: str, init: Term, step: Term) -> Var:
    """Return the field with this step, in which ``name`` stands for the field itself."""
    if m.state.stage is not Stage.AFTER:
        reason = "a column is reduced before or in a loop over the rows, which takes two passes"
        raise DeclineSignal("two-passes", reason)
    m.add_field(Field(name, init.sort, init, step))
    return Var(Scope.ACC, name, init.sort)


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
    acc = Var(Scope.ACC, name, INT)
    step = ite(rows, app(Op.INT_ADD, acc, int_lit(1)), acc)
    return Scalar(field(m, name, int_lit(0), step), traits)


def any_row(m: SymbolicMachine, rows: Term) -> Term:
    """Return whether there is such a row."""
    if rows in (TRUE, FALSE):
        return rows
    name = m.reduction_name("any()", ("any", rows, rows))
    acc = Var(Scope.ACC, name, BOOL)
    return field(m, name, FALSE, or_(acc, rows))
