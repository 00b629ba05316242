# SPDX-License-Identifier: Apache-2.0
"""Trusted. Results of functions of pyarrow, and the values that Spark stores for them.

Sources, pyspark 4.3.0: ``worker.py`` converts the result of a grouped-aggregate Arrow UDF with
``pyarrow.array([result])`` and casts it safely to the declared type, so a number that does not fit
raises. The table that a function of ``applyInArrow`` returns must have the declared types
(``ArrowBatchTransformer.enforce_schema`` without a cast): a Python integer has 64 bits; None has no
type, so it raises. Null and NaN stay unchanged in both cases.
"""

from __future__ import annotations

from presieve.errors import DeclineSignal
from presieve.ir.ops import app, negate
from presieve.ir.sorts import FLOAT, INT, Option
from presieve.ir.terms import TRUE, Op, Term, int_lit, none_lit
from presieve.lift.execution.state import Flow, ModelCall, SymbolicMachine
from presieve.lift.models.pyarrow.arrays import TYPES
from presieve.lift.models.pyarrow.tables import table_of_dict
from presieve.lift.models.registry import function
from presieve.lift.values.arrow_values import ArrowTypeV, BatchV, CellV
from presieve.lift.values.symbolic import (
    ArrowTableV,
    DictV,
    ListedArrayV,
    ListV,
    NoneV,
    Scalar,
    Value,
    constant_of,
    describe,
)
from presieve.semantics.smart_constructors import and_, as_float, get, is_none, ite, or_, some
from presieve.semantics.types import SchemaColumn, display_result_type, sort_of
from presieve.semantics.values import EXACT_INT_BOUND, INT_RANGES

_TYPE_FUNCTIONS = {
    "bool_": "boolean",
    "int8": "tinyint",
    "int16": "smallint",
    "int32": "int",
    "int64": "bigint",
    "float64": "double",
    "string": "string",
    "binary": "binary",
    "date32": "date",
}
"""The functions of pyarrow that create types, with the types' names in Spark."""

# --- tables of one row ----------------------------------------------------------------------------


@function(*(f"pyarrow.{n}" for n in _TYPE_FUNCTIONS), arguments=0)
def make_type(call: ModelCall) -> ArrowTypeV:
    """``pyarrow.int64()`` and the like."""
    return ArrowTypeV(_TYPE_FUNCTIONS[call.name])


def named_type(value: Value) -> str | None:
    """Return the type that a value is or names, by its name in Spark; None if it is none."""
    if isinstance(value, ArrowTypeV):
        return value.type
    name = constant_of(value)
    return _TYPE_FUNCTIONS.get(name) if isinstance(name, str) else None


@function("pyarrow.array", keywords=("type",))
def make_array(call: ModelCall) -> ListedArrayV:
    """``pyarrow.array([value], type)`` of one value, or of a list without a type."""
    m, flow, _, args, named, _ = call
    match [flow.dereference(a) for a in (*args, *named.values())]:
        case [ListV(items)]:
            return ListedArrayV(items)
        case [ListV((value,)), ArrowTypeV(type_)]:
            return ListedArrayV((_as_typed_scalar(m, flow, m.force(value, flow), type_),))
    raise call.decline("row-count", "an array of one value, or of a list without a type, is read")


def _as_typed_scalar(m: SymbolicMachine, flow: Flow, value: Value, type_: str) -> Value:
    """Convert the value to a scalar of a type: an integer that does not fit raises."""
    base = sort_of(type_)
    assert base is not None
    match value:
        case NoneV():
            return CellV(none_lit(base), type_)
        case CellV(_, own) if own == type_:
            return value
        case Scalar(term, traits) if not traits.numpy:
            if value.base == INT and base == FLOAT:
                m.fail(flow, out_of_range(term, -EXACT_INT_BOUND, EXACT_INT_BOUND))
                return CellV(_float(term), type_)
            if value.base == base:
                if base == INT and not m.ranges.fits(term, type_):
                    m.fail(flow, out_of_range(term, *INT_RANGES[type_]))
                return CellV(term, type_)
    raise DeclineSignal("unsupported-operation", f"an array of {type_} of {describe(value)}")


@function("pyarrow.table", "pyarrow.Table.from_pydict")
def make_table(call: ModelCall) -> ArrowTableV | BatchV:
    """``pyarrow.table({name: [value]})`` and ``Table.from_pydict``: exactly one row, or arrays
    with an element for each row of the table that the function is given.
    """
    m, flow = call.m, call.flow
    of_arrays = table_of_dict(call, is_table=True)
    if of_arrays is not None:
        return of_arrays
    match [flow.dereference(a) for a in call.args]:
        case [DictV(names, items)] if names:
            columns = [flow.dereference(i) for i in items]
            listed = [c for c in columns if isinstance(c, ListV | ListedArrayV)]
            cells = [c.items[0] for c in listed if len(c.items) == 1]
            if len(cells) == len(columns):
                return ArrowTableV(names, tuple(m.force(c, flow) for c in cells))
    raise call.decline("row-count", "a table of exactly one row, {name: [value]}, is supported")


@function("pyarrow.Table.from_pylist")
def make_table_of_rows(call: ModelCall) -> ArrowTableV:
    """``Table.from_pylist([{name: value}])``: exactly one row."""
    m, flow = call.m, call.flow
    match [flow.dereference(a) for a in call.args]:
        case [ListV((row,))]:
            row_dict = flow.dereference(row)
            if isinstance(row_dict, DictV) and row_dict.names:
                return ArrowTableV(row_dict.names, tuple(m.force(i, flow) for i in row_dict.items))
    raise call.decline("row-count", "a table of exactly one row, [{name: value}], is supported")


# --- results --------------------------------------------------------------------------------------


def arrow_value(
    m: SymbolicMachine, flow: Flow, value: Value, column: SchemaColumn, *, cast: bool
) -> Term:
    """Return the output for a value that the function returns on a path. ``cast``: the function is
    a grouped-aggregate UDF; otherwise it returns a table. Declines ``return-type``.
    """
    base = sort_of(column.type)
    if base is None or base not in TYPES or not column.nullable:
        raise DeclineSignal(
            "return-type", f"the function returns {display_result_type(column.type)}"
        )
    if isinstance(value, NoneV):
        if not cast:
            m.fail(flow, TRUE)
        return none_lit(base)
    reason = f"output column {column.name} is {column.type}, {describe(value)} is returned"
    match value:
        case CellV(term, type_):
            pass
        case Scalar(term, traits) if not traits.numpy and value.base in TYPES:
            type_ = TYPES[value.base]
            if not cast and traits.maybe_int:
                raise DeclineSignal("return-type", f"{reason}, and perhaps an integer")
            term = _as_array(m, flow, value, cast=cast)
        case _:
            raise DeclineSignal("return-type", reason)
    if not cast and type_ != column.type:
        reason = f"output column {column.name} is {column.type}, and {type_} is returned"
        raise DeclineSignal("return-type", f"{reason}, which Spark refuses")
    value_sort = sort_of(type_)
    if value_sort == INT and base == FLOAT:
        m.fail(flow, out_of_range(term, -EXACT_INT_BOUND, EXACT_INT_BOUND))
        term = as_float(get(term)) if not isinstance(term.sort, Option) else _float(term)
    elif value_sort != base:
        raise DeclineSignal("return-type", reason)
    elif base == INT and type_ != column.type and not m.ranges.fits(term, column.type):
        m.fail(flow, out_of_range(term, *INT_RANGES[column.type]))
    return some(term)


def _as_array(m: SymbolicMachine, flow: Flow, value: Scalar, *, cast: bool) -> Term:
    """Convert as ``pyarrow.array([value])``: integers have 64 bits, and None alone no type."""
    if not cast:
        m.fail(flow, is_none(value.term))
    if value.base == INT and not m.ranges.fits(value.term, "bigint"):
        m.fail(flow, out_of_range(value.term, *INT_RANGES["bigint"]))
    return value.term


def out_of_range(term: Term, low: int, high: int) -> Term:
    """Return whether an integer is there, and outside of a range."""
    number = get(term)
    outside = or_(app(Op.PY_LT, number, int_lit(low)), app(Op.PY_GT, number, int_lit(high)))
    return and_(negate(is_none(term)), outside)


def _float(term: Term) -> Term:
    return ite(is_none(term), none_lit(FLOAT), some(as_float(get(term))))
