# SPDX-License-Identifier: Apache-2.0
"""Trusted. How Spark converts the values that scalar UDFs return.

Sources, Spark 4.3.0: without Arrow, ``EvaluatePython.makeFromJava`` turns a value of another class
than the declared type's into NULL, and an integer beyond 64 bits as well; one that is beyond a
smaller type it cuts to the type's bits. With Arrow, ``worker.py`` calls ``pyarrow.array(values,
type)`` on a whole batch, which raises for an integer beyond 64 bits, takes small integers for
doubles, and may treat all values of the batch differently because of one of another class
(declined). If an integer is beyond a smaller type, it casts all integers of the batch to the type:
this raises if casts are safe, and otherwise cuts each to the type's bits. NaN stays NaN both ways.
Dates are ``datetime.date`` both ways (``DateType.toInternal``), timestamps without time zone come
as naive ``datetime``, decimals as ``Decimal``.

A struct is returned as a tuple, whose values are the fields in order, or as a dict, whose missing
keys are NULL (``StructType.toInternal``; ``_create_converter_from_pandas`` of ``pandas/types.py``).
"""

from __future__ import annotations

from presieve.errors import DeclineSignal
from presieve.ir.ops import app, negate
from presieve.ir.sorts import (
    BOOL,
    COMPOSITES,
    DATE,
    FLOAT,
    INT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    Decimal,
    Sort,
)
from presieve.ir.terms import FALSE, TRUE, Op, Term, int_lit, none_lit
from presieve.lift.execution.state import Flow, SymbolicMachine
from presieve.lift.forms import LiftRequest, RowFunction
from presieve.lift.values.join_values import can_promote, promote
from presieve.lift.values.ranges import Interval
from presieve.lift.values.symbolic import NoneV, Scalar, Value, describe
from presieve.semantics.smart_constructors import and_, get, is_none, ite, or_, some
from presieve.semantics.types import (
    SchemaColumn,
    display_result_type,
    display_type,
    row_sort_of,
    sort_of,
)
from presieve.semantics.values import INT_RANGES

_GIVEN: tuple[Sort, ...] = (BOOL, INT, FLOAT, STRING, DATE)
"""Sorts whose values a scalar UDF returns unchanged."""
_SENT: tuple[Sort, ...] = (*_GIVEN, TIMESTAMP_NTZ, TIMESTAMP)
"""Sorts whose values a scalar UDF gets, besides decimals and composites. Instants come as the time
that the clock of the worker's machine shows (``TimestampType.fromInternal`` and, with Arrow,
``datetime.astimezone``), whose zone is not known here.
"""


def check_row_columns(form: RowFunction, request: LiftRequest) -> None:
    """Decline ``column-type`` unless all columns that are passed have types of these sorts."""
    types = {c.name: c.type for c in request.schema}
    for name in form.columns:
        sort = row_sort_of(types[name])
        if sort not in _SENT and not isinstance(sort, (Decimal, *COMPOSITES)):
            reason = f"column {name} of a scalar UDF is of type {display_type(types[name])}"
            raise DeclineSignal("column-type", reason)


def row_field(
    m: SymbolicMachine, flow: Flow, value: Value, column: SchemaColumn, form: RowFunction
) -> Term:
    """Return the output for a value of a field of a struct that is returned. With Arrow, an integer
    must fit its type; before Spark 4.1, where NaN of a field becomes NULL, such functions are not
    read. Declines ``return-type``.
    """
    if form.arrow and isinstance(value, Scalar) and value.base == INT:
        if not m.ranges.fits(value.term, column.type):
            reason = f"field {column.name} may be too large for {column.type}"
            raise DeclineSignal("return-type", reason)
    return row_value(m, flow, value, column, form)


def row_value(
    m: SymbolicMachine, flow: Flow, value: Value, column: SchemaColumn, form: RowFunction
) -> Term:
    """Return the output for a value that is returned on a path. Declines ``return-type``."""
    base = sort_of(column.type)
    is_null = isinstance(value, NoneV)
    if base is None or not (is_null or base in _GIVEN) or not column.nullable:
        raise DeclineSignal("return-type", f"the UDF returns {display_result_type(column.type)}")
    if is_null:
        return none_lit(base)
    reason = f"the UDF is declared to return {column.type}, {describe(value)} is returned"
    if not isinstance(value, Scalar) or value.traits.numpy:
        raise DeclineSignal("return-type", reason)
    if form.arrow and can_promote(value.base, value.traits, base):
        value = promote(value)
    when_null = FALSE if form.arrow else _when_of_another_class(value, base)
    if when_null is None or (value.base != base and when_null != TRUE):
        raise DeclineSignal("return-type", reason)
    recorded = m.columns.recorded
    recorded.converted = recorded.converted or value.traits.maybe_int or when_null == TRUE
    if when_null == TRUE:
        return none_lit(base)
    fits = base != INT or m.ranges.fits(value.term, column.type)
    recorded.converted = recorded.converted or not fits
    given = some(value.term) if fits else _as_integer(m, flow, value.term, column.type, form)
    return ite(when_null, none_lit(base), given)


_UNCONVERTED = (BOOL, INT, FLOAT)
"""Sorts of types for which Spark takes values of one Python class only, and NULL for others."""


def _when_of_another_class(value: Scalar, base: Sort) -> Term | None:
    """Return when a value without Arrow is of another class than Spark takes for the type, so that
    it stores NULL; None if this is not known.
    """
    if value.base == base:
        whole = value.traits.whole
        return FALSE if whole is None else whole.when
    if base == INT and value.traits.maybe_int:
        return None
    return TRUE if base in _UNCONVERTED and value.base in (*_UNCONVERTED, STRING) else None


def _as_integer(m: SymbolicMachine, flow: Flow, term: Term, type_: str, form: RowFunction) -> Term:
    """Return the integer that Spark stores for one that may be too large for the type."""
    number, absent = get(term), is_none(term)
    bits = m.ranges.interval(number)
    if form.arrow:
        limit = type_ if form.safe else "bigint"
        m.fail(flow, and_(negate(absent), _beyond(number, limit)))
        return some(term) if form.safe else _optional(absent, _cut(number, bits, type_))
    stored = _optional(absent, _cut(number, bits, type_))
    return ite(and_(negate(absent), _beyond(number, "bigint")), none_lit(INT), stored)


def _optional(absent: Term, number: Term) -> Term:
    return ite(absent, none_lit(INT), some(number))


def _beyond(number: Term, type_: str) -> Term:
    low, high = INT_RANGES[type_]
    return or_(app(Op.PY_LT, number, int_lit(low)), app(Op.PY_GT, number, int_lit(high)))


def _cut(number: Term, interval: Interval | None, type_: str) -> Term:
    """Return the integer that the last bits of a number are, as many as the type has."""
    low, high = INT_RANGES[type_]
    if type_ == "bigint":
        return number
    turn = high - low + 1
    if interval is None or interval[0] < low - turn or interval[1] > high + turn:
        shifted = app(Op.INT_MOD, app(Op.INT_SUB, number, int_lit(low)), int_lit(turn))
        return app(Op.INT_ADD, shifted, int_lit(low))
    below, above = app(Op.PY_LT, number, int_lit(low)), app(Op.PY_GT, number, int_lit(high))
    if interval[0] < low:
        inside = ite(below, app(Op.INT_ADD, number, int_lit(turn)), number)
    else:
        inside = number
    if interval[1] <= high:
        return inside
    return ite(above, app(Op.INT_SUB, number, int_lit(turn)), inside)
