# SPDX-License-Identifier: Apache-2.0
"""Trusted. Arrays and tables of pyarrow: elements and masks.

Source: pyarrow's documentation of its compute functions, and the results of release 26. Null stays
null, NaN stays NaN, and integers stay integers. Elements of an array are scalars of pyarrow. Only
``.as_py()`` and ``.is_valid`` are supported for them: they have no order, and equal no value of
Python's. Reductions skip nulls, and return null if no element remains; minima and maxima of doubles
skip NaN, too, and return NaN if no other element remains. Doubles are added pairwise, so their sum
is not a fold; a sum of integers wraps around at 64 bits.
"""

from __future__ import annotations

from presieve.errors import DeclineSignal
from presieve.ir.ops import app, negate
from presieve.ir.sorts import (
    BINARY,
    BOOL,
    DATE,
    FLOAT,
    INT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    Option,
    Sort,
    strip,
)
from presieve.ir.terms import FALSE, TRUE, Op, Scope, Term, float_lit, none_lit
from presieve.ir.walk import variables
from presieve.lift.execution.count_fields import rows_of
from presieve.lift.execution.state import Flow, ModelCall, SymbolicMachine
from presieve.lift.models.registry import FUNCTIONS, function, method
from presieve.lift.values.arrow_values import ArrayV, ArrowColumnV, ArrowKeyV, BatchV, CellV
from presieve.lift.values.symbolic import Scalar, Traits, Value, constant_of, describe
from presieve.records import replace
from presieve.semantics.smart_constructors import and_, get, is_none, ite, or_, some
from presieve.semantics.types import sort_of
from presieve.semantics.values import EXACT_INT_BOUND

TYPES: dict[Sort, str] = {
    BOOL: "boolean",
    INT: "bigint",
    FLOAT: "double",
    STRING: "string",
    BINARY: "binary",
    DATE: "date",
}
"""Sorts whose values ``.as_py()`` returns as Python's own, with the types that pyarrow infers for
these, by their names in Spark.
"""


def array(m: SymbolicMachine, value: Value, *, computed: bool = True) -> ArrayV | None:
    """Return a column, or a value computed from one, as an array; None for other values. Not
    ``computed``: its elements are passed on, or tested for null. Declines types that are not known.
    """
    match value:
        case ArrayV():
            a = value
        case ArrowColumnV(name):
            type_ = m.columns.type_of(name)
            a = ArrayV(m.columns.element(name), TRUE, type_, value.chunked)
        case _:
            return None
    if strip(a.term.sort) not in TYPES and (computed or strip(a.term.sort) not in _PASSED):
        named = f"column {value.name}" if isinstance(value, ArrowColumnV) else "elements"
        reason = f"{named} of type {a.type} as an array of pyarrow"
        raise m.decline("column-type", reason, m.source.node)
    return a


_PASSED: tuple[Sort, ...] = (TIMESTAMP, TIMESTAMP_NTZ)
"""Sorts of which elements are passed on, and tested for null, but not computed with."""


def loop_variable(m: SymbolicMachine, value: Value) -> Value | None:
    """Return the loop variable of a loop over an array; None for other values."""
    a = array(m, value)
    if a is None:
        return None
    _check_whole(a)
    return CellV(a.term, a.type)


def python_element(m: SymbolicMachine, value: Value) -> Value:
    """Return the loop variable of a loop over ``array.to_pylist()``."""
    a = array_of(m, value)
    _check_whole(a)
    return python_value(a.term)


def _check_whole(a: ArrayV) -> None:
    if a.rows != TRUE:
        reason = "a loop over chosen elements: loop over all, and choose with if"
        raise DeclineSignal("unknown-loop", reason)


def check_columns(m: SymbolicMachine, columns: tuple[str, ...]) -> None:
    """Decline unless the rows of a table, as dicts, consist of Python's own values."""
    for name in columns:
        type_ = m.columns.type_of(name)
        if sort_of(type_) not in TYPES:
            reason = f"column {name} of type {type_} in the rows of to_pylist(): select columns"
            raise DeclineSignal("column-type", reason)


def python_value(term: Term) -> Scalar:
    """Evaluate ``scalar.as_py()``."""
    return Scalar(term, Traits(maybe_nan=strip(term.sort) == FLOAT))


# --- attributes, items, methods -------------------------------------------------------------------


def attribute_of(m: SymbolicMachine, flow: Flow, value: Value, name: str) -> Value | None:
    """Evaluate ``value.name``; None if it is not supported here."""
    match value:
        case CellV(term, _) if name == "is_valid":
            return Scalar(negate(is_none(term)))
        case BatchV(rows=rows) if name == "num_rows":
            return rows_of(m, flow, rows)
        case ArrayV() | ArrowColumnV() if name == "null_count":
            a = array_of(m, value, computed=False)
            return rows_of(m, flow, and_(a.rows, is_none(a.term)))
    return None


def item_of(m: SymbolicMachine, value: Value, key: Value) -> Value | None:
    """Evaluate ``value[key]``; None if it is not supported here."""
    match value:
        case BatchV():
            return _column(m, value, key)
        case ArrowKeyV(names):
            at = constant_of(key)
            if type(at) is int and -len(names) <= at < len(names):
                key_value = m.columns.key(names[at])
                if key_value.base in TYPES:
                    return CellV(key_value.term, m.columns.type_of(names[at]))
    return None


def _column(m: SymbolicMachine, table: BatchV, key: Value) -> Value | None:
    name = column_name(table, key)
    if name is None:
        return None
    column = table.column(name)
    if table.rows == TRUE:
        return column
    return replace(array_of(m, column, computed=False), rows=table.rows)


def column_name(table: BatchV, key: Value) -> str | None:
    """Return the name of the column with this name or number; None if there is none."""
    at = constant_of(key)
    if type(at) is int:
        return table.columns[at] if 0 <= at < len(table.columns) else None
    return at if isinstance(at, str) and at in table.columns else None


@method(CellV, "as_py", arguments=0)
def as_py(_: ModelCall, cell: CellV) -> Scalar:
    """``scalar.as_py()``."""
    return python_value(cell.term)


@method(BatchV, "column", arguments=1)
def column(call: ModelCall, table: BatchV) -> Value | None:
    """``table.column(key)`` by name or position."""
    return _column(call.m, table, call.args[0])


@method(BatchV, "filter", arguments=1)
def filter_table(call: ModelCall, table: BatchV) -> Value | None:
    """``table.filter(mask)``."""
    mask = array(call.m, call.args[0])
    return None if mask is None else replace(table, rows=_select_rows(call, table.rows, mask))


@method(ArrayV | ArrowColumnV, "filter", "cast", "fill_null", arguments=1)
@method(ArrayV | ArrowColumnV, "drop_null", "is_null", "is_valid", arguments=0)
def as_function(call: ModelCall, owner: Value) -> Value | None:
    """``array.filter(mask)``, ``cast(type)``, ``fill_null(constant)``, ``drop_null()``,
    ``is_null()`` and ``is_valid()``, as the functions of ``pyarrow.compute``.
    """
    model = FUNCTIONS[f"pyarrow.compute.{call.name}"].model
    return model(call._replace(args=(owner, *call.args)))


# --- elements -------------------------------------------------------------------------------------


def array_of(m: SymbolicMachine, value: Value, *, computed: bool = True) -> ArrayV:
    """Return an array, as :func:`array` does. Declines other values."""
    elements = array(m, value, computed=computed)
    if elements is None:
        reason = f"a function of pyarrow.compute on {describe(value)}"
        raise DeclineSignal("unsupported-operation", reason)
    return elements


def _select_rows(call: ModelCall, rows: Term, mask: ArrayV) -> Term:
    """Return the rows that a mask selects: where it is true, neither false nor null."""
    if mask.rows != rows or strip(mask.term.sort) != BOOL:
        reason = "a mask of other rows, or no mask: make it from the table that it chooses from"
        raise call.decline("unsupported-operation", reason)
    return and_(rows, negate(is_none(mask.term)), get(mask.term))


@function("pyarrow.compute.filter", arguments=2)
def filter_array(call: ModelCall) -> ArrayV:
    """``filter(array, mask)``."""
    a, mask = array_of(call.m, call.args[0], computed=False), array_of(call.m, call.args[1])
    return replace(a, rows=_select_rows(call, a.rows, mask))


@function("pyarrow.compute.drop_null", arguments=1)
def drop_null(call: ModelCall) -> ArrayV:
    """``drop_null(array)``."""
    a = array_of(call.m, call.args[0], computed=False)
    return replace(a, rows=and_(a.rows, negate(is_none(a.term))))


@function("pyarrow.compute.is_null", "pyarrow.compute.is_valid", arguments=1)
def is_missing(call: ModelCall) -> ArrayV:
    """``is_null(array)`` and ``is_valid(array)``."""
    a = array_of(call.m, call.args[0], computed=False)
    absent = is_none(a.term)
    return a.computed(negate(absent) if call.name == "is_valid" else absent, "boolean")


def operands(m: SymbolicMachine, left: Value, right: Value) -> tuple[ArrayV, ArrayV]:
    """Return two arrays of the same rows, of which one may be a constant. Declines two constants,
    arrays of other rows, and constants of another sort, except doubles.
    """
    a, b = array(m, left), array(m, right)
    if a is None and b is None:
        raise DeclineSignal("unsupported-operation", f"an array beside {describe(right)}")
    if a is None:
        assert b is not None
        return _constant_array(left, b), b
    if b is None:
        return a, _constant_array(right, a)
    if b.rows != a.rows:
        raise DeclineSignal("unsupported-operation", "two arrays of different rows")
    return a, b


def _constant_array(value: Value, beside: ArrayV) -> ArrayV:
    """Return an array of a constant, as pyarrow converts it: integers have 64 bits."""
    base = strip(beside.term.sort)
    if isinstance(value, Scalar) and any(v.scope is Scope.ACC for v in variables(value.term)):
        reason = "every row is compared with a value of the whole group, which takes two passes"
        raise DeclineSignal("two-passes", reason)
    if isinstance(value, Scalar) and not isinstance(value.term.sort, Option):
        number = constant_of(value)
        if base == FLOAT and type(number) is int and abs(number) <= EXACT_INT_BOUND:
            return ArrayV(float_lit(float(number)), beside.rows, "double")
        fits = value.base != INT or (type(number) is int and -(2**63) <= number < 2**63)
        if value.base in (base, FLOAT) and value.base in TYPES and fits:
            return ArrayV(value.term, beside.rows, TYPES[value.base])
    reason = f"an array of {beside.type} beside {describe(value)}"
    raise DeclineSignal("unsupported-operation", reason)


def _same_sort(a: ArrayV, b: ArrayV) -> None:
    """Decline arrays whose elements pyarrow converts before it compares them."""
    if strip(a.term.sort) != strip(b.term.sort):
        raise DeclineSignal("unsupported-operation", f"an array of {a.type} beside one of {b.type}")


def either_null(a: Term, b: Term, term: Term) -> Term:
    """Return ``term``, or none where an operand is none."""
    absent = or_(is_none(a), is_none(b))
    return term if absent == FALSE else ite(absent, none_lit(term.sort), some(term))


_COMPARISONS = {
    "greater": Op.PY_GT,
    "greater_equal": Op.PY_GE,
    "less": Op.PY_LT,
    "less_equal": Op.PY_LE,
    "equal": Op.PY_EQ,
    "not_equal": Op.PY_EQ,
}


@function(*(f"pyarrow.compute.{n}" for n in _COMPARISONS), arguments=2)
def compare(call: ModelCall) -> ArrayV:
    """``greater(array, other)`` and the like, with an array of the same rows and type, or a
    constant.
    """
    m, name, (left, right) = call.m, call.name, call.args
    op = _COMPARISONS[name]
    a, b = operands(m, left, right)
    _same_sort(a, b)
    if strip(a.term.sort) == BOOL and op is not Op.PY_EQ:
        raise call.decline("unsupported-operation", "the order of booleans")
    comparison = app(op, get(a.term), get(b.term))
    term = either_null(a.term, b.term, negate(comparison) if name == "not_equal" else comparison)
    return a.computed(term, "boolean", b)


@function(
    *(f"pyarrow.compute.{n}" for n in ("and_", "or_", "and_kleene", "or_kleene")), arguments=2
)
def combine(call: ModelCall) -> ArrayV:
    """``and_(a, b)`` and ``or_(a, b)``, null where an operand is; ``and_kleene(a, b)`` and
    ``or_kleene(a, b)``, which one operand may decide.
    """
    m, name, (left, right) = call.m, call.name, call.args
    a, b = operands(m, left, right)
    x, y = a.term, b.term
    if {strip(x.sort), strip(y.sort)} != {BOOL}:
        raise call.decline("unsupported-operation", "and and or take arrays of conditions")
    conjunction = name.startswith("and")
    condition = either_null(x, y, (and_ if conjunction else or_)(get(x), get(y)))
    if name.endswith("_kleene") and condition.sort != BOOL:
        decisive = FALSE if conjunction else TRUE
        settled = or_(*(and_(negate(is_none(t)), _is(t, decisive)) for t in (x, y)))
        condition = ite(settled, some(decisive), condition)
    return a.computed(condition, "boolean", b)


def _is(term: Term, value: Term) -> Term:
    return get(term) if value == TRUE else negate(get(term))


@function("pyarrow.compute.invert", arguments=1)
def invert(call: ModelCall) -> ArrayV:
    """``invert(array)`` of conditions."""
    a = array_of(call.m, call.args[0])
    if strip(a.term.sort) != BOOL:
        raise call.decline("unsupported-operation", "invert takes an array of conditions")
    return a.computed(either_null(a.term, a.term, negate(get(a.term))), "boolean")


def is_arrow(value: Value) -> bool:
    """Return whether this is an array, a table or a scalar of pyarrow, or a key of such scalars."""
    return isinstance(value, ArrowColumnV | ArrayV | BatchV | CellV | ArrowKeyV)
