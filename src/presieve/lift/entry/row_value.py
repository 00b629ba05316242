# SPDX-License-Identifier: Apache-2.0
"""Trusted. How Spark converts the values that scalar UDFs return.

Sources, Spark 4.3.0: without Arrow, ``EvaluatePython.makeFromJava`` turns a value of another class
than the declared type's into NULL, and an integer beyond 64 bits as well (it cuts smaller types to
their bits, which is declined). With Arrow, ``worker.py`` calls ``pyarrow.array(values, type)`` on a
whole batch, which raises for an integer beyond 64 bits, takes small integers for doubles, and may
treat all values of the batch differently because of one of another class (declined). NaN stays NaN
both ways. Dates are ``datetime.date`` both ways (``DateType.toInternal``), timestamps without time
zone come as naive ``datetime``, decimals as ``Decimal``.
"""

from __future__ import annotations

from presieve.errors import DeclineSignal
from presieve.ir.ops import app, negate
from presieve.ir.sorts import BOOL, DATE, FLOAT, INT, STRING, TIMESTAMP_NTZ, Decimal, Sort
from presieve.ir.terms import Op, Term, int_lit, none_lit
from presieve.lift.execution.state import Flow, SymbolicMachine
from presieve.lift.forms import LiftRequest, RowFunction
from presieve.lift.values.join_values import can_promote, promote
from presieve.lift.values.symbolic import NoneV, Scalar, Value, describe
from presieve.semantics.smart_constructors import and_, get, is_none, ite, or_, some
from presieve.semantics.types import SchemaColumn, display_result_type, display_type, sort_of
from presieve.semantics.values import INT_RANGES

_GIVEN: tuple[Sort, ...] = (BOOL, INT, FLOAT, STRING, DATE)
"""Sorts whose values a scalar UDF returns unchanged."""
_SENT: tuple[Sort, ...] = (*_GIVEN, TIMESTAMP_NTZ)
"""Sorts whose values a scalar UDF gets unchanged, besides decimals. Instants are not among them:
without Arrow, their local time is that of the worker's machine.
"""


def check_row_columns(form: RowFunction, request: LiftRequest) -> None:
    """Decline ``column-type`` unless all columns that are passed have types of these sorts."""
    types = {c.name: c.type for c in request.schema}
    for name in form.columns:
        sort = sort_of(types[name])
        if sort not in _SENT and not isinstance(sort, Decimal):
            reason = f"column {name} of a scalar UDF is of type {display_type(types[name])}"
            raise DeclineSignal("column-type", reason)


def row_value(
    m: SymbolicMachine, flow: Flow, value: Value, column: SchemaColumn, form: RowFunction
) -> Term:
    """Return the output for a value that is returned on a path. Declines ``return-type``."""
    base = sort_of(column.type)
    if base not in _GIVEN or base is None or not column.nullable:
        raise DeclineSignal("return-type", f"the UDF returns {display_result_type(column.type)}")
    if isinstance(value, NoneV):
        return none_lit(base)
    reason = f"the UDF is declared to return {column.type}, {describe(value)} is returned"
    if not isinstance(value, Scalar) or value.traits.numpy:
        raise DeclineSignal("return-type", reason)
    if form.arrow and can_promote(value.base, value.traits, base):
        value = promote(value)
    if value.base != base or (value.traits.maybe_int and not form.arrow):
        raise DeclineSignal("return-type", reason)
    fits = base != INT or m.ranges.fits(value.term, column.type)
    recorded = m.columns.recorded
    recorded.converted = recorded.converted or value.traits.maybe_int or not fits
    if fits:
        return some(value.term)
    if column.type != "bigint":
        reason = f"the UDF is declared to return {column.type}, which may be too small: use bigint"
        raise DeclineSignal("return-type", reason)
    low, high = INT_RANGES["bigint"]
    number, absent = get(value.term), is_none(value.term)
    misfit = or_(app(Op.PY_LT, number, int_lit(low)), app(Op.PY_GT, number, int_lit(high)))
    if form.arrow:
        m.fail(flow, and_(negate(absent), misfit))
        return some(value.term)
    return ite(absent, none_lit(INT), ite(misfit, none_lit(INT), some(number)))
