# SPDX-License-Identifier: Apache-2.0
"""Trusted. Functions of NumPy and pandas, of whole columns and of single values."""

from __future__ import annotations

from presieve.ir.ops import negate
from presieve.ir.sorts import BOOL, FLOAT, INT, STRING, strip
from presieve.ir.terms import TRUE, Lit, Term
from presieve.lift.execution.aliasing import fresh
from presieve.lift.execution.state import ModelCall
from presieve.lift.models.builtins import mathematics
from presieve.lift.models.builtins.comparisons import boolean
from presieve.lift.models.pandas import column_arithmetic, elementwise, reductions, series
from presieve.lift.models.pandas.tables_of_columns import column_of_values
from presieve.lift.models.registry import function
from presieve.lift.values.symbolic import NoneV, RowListV, Scalar, Value, describe
from presieve.lift.values.whole_columns import AccessV, FrameV, NullableV, PartV, VectorV
from presieve.records import replace
from presieve.semantics.smart_constructors import is_missing, is_none


@function("numpy.isnan", arguments=1, fresh=True)
def numpy_isnan(call: ModelCall) -> Value:
    """``numpy.isnan`` of a column of doubles, or of a number."""
    v = series.vector(call.m, call.args[0])
    if v is not None and strip(v.term.sort) == FLOAT and not v.loose:
        return series.test_missing(call.m, v, present=False)
    return mathematics.is_nan(call)


@function("numpy.floor", "numpy.ceil", "numpy.trunc", arguments=1, fresh=True)
def round_to_whole(call: ModelCall) -> VectorV | None:
    """``numpy.floor``, ``ceil`` and ``trunc`` of a column of doubles."""
    v = series.vector(call.m, call.args[0])
    if v is None or strip(v.term.sort) != FLOAT or v.loose:
        return None
    series.check_no_nan(call.m, v)
    return series.like(column_arithmetic.of_doubles(mathematics.whole_double(call.name), v.term), v)


@function("numpy.abs", "numpy.absolute", arguments=1, fresh=True)
def numpy_abs(call: ModelCall) -> Value:
    """``numpy.abs`` of a column of numbers, as its method ``abs``."""
    v = series.vector(call.m, call.args[0])
    if v is None or v.array:
        raise call.decline("unknown-call", f"numpy.abs of {describe(call.args[0])}")
    return elementwise.absolute(call.m, v)


@function("pandas.Series", arguments=1, keywords=("index", "name"))
def make_series(call: ModelCall) -> Value:
    """``pandas.Series(array)`` of an array of the whole group; ``pandas.Series(constant,
    index=column.index)``; of a list with an item for each row, where each row is by itself.
    """
    named = call.named
    of = _find_indexed(call, named.get("index"))
    if "index" in named and of is None:
        raise call.decline("unknown-call", "pandas.Series with this index")
    listed = call.flow.dereference(call.args[0])
    if isinstance(listed, RowListV):
        if listed.rows != TRUE or (of is not None and (of.rows != TRUE or not of.ordered)):
            raise call.decline("unknown-call", "pandas.Series of a list of some rows")
        return fresh(call.m, column_of_values(call.m, listed.item))
    v = series.vector(call.m, call.args[0])
    if v is None:
        return _repeat(call, of)
    # Without an index, that of the new Series is the whole group's, so the array must cover it.
    rows = TRUE if of is None else of.rows
    if v.rows != rows or not v.ordered:
        raise call.decline("unknown-call", f"pandas.Series of {describe(call.args[0])}")
    return replace(v, array=False)


def _find_indexed(call: ModelCall, index: Value | None) -> VectorV | PartV | None:
    """Return the column or table that has this index."""
    match index:
        case AccessV(of, "index"):
            return series.vector(call.m, of)
        case FrameV() | PartV():
            return series.part(index)
    return None


def _repeat(call: ModelCall, of: VectorV | PartV | None) -> Value:
    """Return a column that holds a constant in each of the rows."""
    constant = call.args[0]
    if of is None or not isinstance(constant, Scalar) or not isinstance(constant.term, Lit):
        raise call.decline("unknown-call", f"pandas.Series of {describe(constant)}")
    fits = constant.base != INT or call.m.ranges.fits(constant.term, "bigint")
    if constant.base not in (INT, FLOAT, BOOL, STRING) or not fits:
        raise call.decline("unknown-call", f"pandas.Series of {describe(constant)}")
    column = VectorV(constant.term, of.rows, None, False, of.ordered, by=of.by)
    return fresh(call.m, column)


@function("pandas.isna", "pandas.isnull", "pandas.notna", "pandas.notnull", arguments=1, fresh=True)
def test_values(call: ModelCall) -> Value:
    """``pandas.isna`` and ``pandas.notna`` of a column, or of a value: None, NaN or NaT."""
    present = call.name.startswith("not")
    v = series.vector(call.m, call.args[0])
    if v is not None:
        return series.test_missing(call.m, v, present=present)
    missing = _missing_test(call)
    return boolean(call.flow.decide(negate(missing) if present else missing))


def _missing_test(call: ModelCall) -> Term:
    value = call.m.force(call.args[0], call.flow)
    if isinstance(value, NoneV):
        return TRUE
    if isinstance(value, NullableV | Scalar):
        call.m.columns.ask(value.term)
    if isinstance(value, NullableV):
        return is_none(value.term)
    if not isinstance(value, Scalar):
        raise call.decline("unsupported-operation", f"isna of {describe(value)}")
    return is_missing(value.term)


@function(*(f"numpy.{n}" for n in ("max", "min", "sum", "mean", "any", "all")), arguments=1)
def reduce_by_method(call: ModelCall) -> Value:
    """``numpy.max`` and the like of a column, which call the column's own method."""
    v = series.vector(call.m, call.args[0])
    reduction = None if v is None else reductions.reduce_column(call, v)
    if reduction is None:
        raise call.decline("unknown-call", f"numpy.{call.name} of {describe(call.args[0])}")
    return reduction
