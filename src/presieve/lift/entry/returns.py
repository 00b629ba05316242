# SPDX-License-Identifier: Apache-2.0
"""Trusted. From the value that Python returns to the value that Spark stores in the declared output
columns.

Source, pyspark 4.3.0: ``worker.py`` puts a grouped aggregate's result through
``pandas.Series([result])``, and ``PandasToArrowConversion.convert`` (``sql/conversion.py``) masks
``Series.isnull()``, so that None and NaN both become NULL; a column of a returned table goes the
same way. With ``spark.sql.execution.pandas.convertToArrowArraySafely`` off, as it is by default, an
integer that does not fit its type wraps around; with it on, the query fails. Tables are matched by
name where their columns have names (``verify_pandas_result``).

=============== ============================ =============================== =====================
returned        declared as an integer       double                          any other type
=============== ============================ =============================== =====================
None            NULL                         NULL                            NULL
the same kind   itself, known or assumed to  itself, NaN is NULL with pandas itself
                fit
integer literal itself                       the same float                  declined
naive constant  declined                     declined                        as a timestamp: the
                                                                             instant; declined
numpy integer   itself, as above             the same float                  declined
decimal         declined                     declined                        itself, if it is known
                                                                             to fit
anything else   declined                     declined                        declined
=============== ============================ =============================== =====================
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from msgspec import Struct

from presieve.errors import DeclineSignal
from presieve.ir.fold import Assumption, Output
from presieve.ir.ops import app, negate
from presieve.ir.sorts import DATE, FLOAT, INT, TEXTS, Decimal, Option, Sort
from presieve.ir.terms import FALSE, TRUE, Op, Term, int_lit, none_lit
from presieve.lift.entry.row_value import row_field, row_value
from presieve.lift.execution.state import (
    Exit,
    SymbolicMachine,
    merge_choices,
    path_conditions,
)
from presieve.lift.forms import RowFunction
from presieve.lift.models.pyarrow.arrow_results import arrow_value
from presieve.lift.values.arrow_values import CellV
from presieve.lift.values.join_values import as_number, can_promote, promote
from presieve.lift.values.symbolic import (
    NONE,
    ArrowTableV,
    BitsV,
    DictV,
    ListV,
    MapV,
    NoneV,
    Scalar,
    TableV,
    TagV,
    Traits,
    TupleV,
    Value,
    describe,
    is_tagged,
    without_tag,
)
from presieve.lift.values.whole_columns import NullableV, TopV
from presieve.records import replace
from presieve.semantics.assumptions import RESULT_FITS
from presieve.semantics.smart_constructors import (
    and_,
    any_value,
    as_float,
    get,
    is_none,
    ite,
    nan_to_null,
    or_,
    some,
    widen_decimal,
)
from presieve.semantics.types import SchemaColumn, decimal_type, display_result_type, sort_of
from presieve.semantics.values import EXACT_INT_BOUND, INT_RANGES


class Returns(Struct, frozen=True):
    """The declared output columns, and in which of three ways a row of them is returned.

    ``table``: a one-row table; else one scalar, or with ``rows`` also a tuple, list or dict.
    ``row``: it is the value of a scalar UDF (:mod:`presieve.lift.entry.row_value`). ``arrow``:
    pyarrow's value goes to Spark (:mod:`presieve.lift.models.pyarrow.arrow_results`).
    """

    columns: tuple[SchemaColumn, ...]
    table: bool
    rows: bool
    pandas: bool
    row: RowFunction | None = None
    arrow: bool = False

    @property
    def checked(self) -> bool:
        """Whether an integer that does not fit its type is reported, or becomes NULL, in every
        setting: pandas wraps it around in some.
        """
        return self.arrow or self.row is not None

    def sort_of(self, column: SchemaColumn) -> Option:
        """Return the sort of the output as nullable. Declines ``return-type``."""
        base = sort_of(column.type)
        if base is None:
            reason = f"output column {column.name} is of type {display_result_type(column.type)}"
            raise DeclineSignal("return-type", reason)
        return Option(base)


def outputs(
    m: SymbolicMachine, exits: list[Exit], returns: Returns
) -> tuple[tuple[Output, ...], tuple[Assumption, ...]]:
    """Return the output columns over all paths. Errors of coercion go to the machine."""
    assumptions: dict[str, Assumption] = {}
    rows: list[tuple[Term, ...]] = []
    for e in exits:
        with m.at(e.node):
            rows.append(_row(m, e, returns, assumptions))
    taken = path_conditions([e.flow for e in exits])
    columns = zip(returns.columns, zip(*rows, strict=True), strict=True)
    return (
        tuple(
            Output(c.name, terms[0].sort, c.type, merge_choices(taken, terms, ite), returns.checked)
            for c, terms in columns
        ),
        tuple(assumptions.values()),
    )


def _row(
    m: SymbolicMachine, e: Exit, returns: Returns, assumptions: dict[str, Assumption]
) -> tuple[Term, ...]:
    """Return the values of the columns where this path is taken: any, if it returns no row."""
    value, absent = e.value, _has_no_row(e)
    if absent and _are_doubles_unfit(value, returns):
        m.fail(e.flow, TRUE)
    unnamed = isinstance(value, TableV) and not value.names
    cells = () if absent and unnamed else _cells(m, value, returns, e.node)
    if absent:
        return tuple(any_value(_sort_of(returns, c)) for c in returns.columns)
    return tuple(
        _coerce(m, OutputCell(e, cell, column), returns, assumptions)
        for cell, column in zip(cells, returns.columns, strict=True)
    )


def _sort_of(returns: Returns, column: SchemaColumn) -> Sort:
    sort = returns.sort_of(column)
    return sort if column.nullable else sort.of


_TAKE_DOUBLES = frozenset(("boolean", "tinyint", "smallint", "int", "bigint", "double"))
"""The types of columns, besides decimals, to which Arrow converts doubles if there are none."""


def _are_doubles_unfit(value: Value, returns: Returns) -> bool:
    """Whether Arrow fails on a table without rows because its columns are of doubles."""
    if not isinstance(value, TableV) or not value.doubles:
        return False
    types = (c.type for c in returns.columns)
    return not all(t in _TAKE_DOUBLES or decimal_type(t) is not None for t in types)


def split_by_rows(e: Exit) -> tuple[Exit, ...]:
    """Split a path that returns a table of one row or none into one of each."""
    table = e.value
    if not isinstance(table, TableV) or table.present in (TRUE, FALSE):
        return (e,)
    with_row = Exit(e.kind, e.flow.branch(table.present), replace(table, present=TRUE), e.node)
    without = e.flow.branch(negate(table.present))
    return with_row, Exit(e.kind, without, replace(table, present=FALSE), e.node)


def row_condition(exits: list[Exit]) -> Term:
    """Return the condition under which a row is returned, if the function does not raise."""
    taken = path_conditions([e.flow for e in exits])
    has_row: list[Term] = [FALSE if _has_no_row(e) else TRUE for e in exits]
    return merge_choices(taken, has_row, ite)


def _has_no_row(e: Exit) -> bool:
    return isinstance(e.value, TableV) and e.value.present == FALSE


def _cells(m: SymbolicMachine, value: Value, returns: Returns, node: ast.AST) -> tuple[Value, ...]:
    """Return the returned value for each declared column."""
    names = tuple(c.name for c in returns.columns)
    value = _fields_of_row(m, without_tag(value), names, node)
    match value:
        case returned if is_tagged(returned):
            pass
        case ArrowTableV(returned, items) if returns.table and returns.arrow:
            return _by_name(m, returned, items, names, node)
        case CellV() if returns.arrow and not returns.table:
            return (value,)
        case TableV(returned, items) if returns.table and not returns.arrow:
            return _by_name(m, returned, items, names, node)
        case DictV(returned, items) if returns.rows:
            return _by_name(m, returned, items, names, node)
        case MapV(returned, items, present) if returns.rows and all(p == TRUE for p in present):
            return _by_name(m, returned, items, names, node)
        case TupleV(items) | ListV(items) if returns.rows and len(names) > 1:
            return _by_name(m, None, items, names, node)
        case NoneV() if returns.row is not None and len(names) > 1:
            return (NONE,) * len(names)
        case TupleV(items) if returns.row is not None and len(names) > 1:
            return _by_name(m, None, items, names, node)
        case DictV(returned, items) if returns.row is not None and len(names) > 1:
            by_name = dict(zip(returned, items, strict=True))
            return tuple(by_name.get(n, NONE) for n in names)
        case Scalar() | BitsV() | NullableV() | NoneV() if not returns.table and len(names) == 1:
            return (value,)
    if len(names) == 1 and not returns.table:
        returns.sort_of(returns.columns[0])
    if isinstance(value, TopV):
        reason = (
            "several rows of a group are returned, and values are followed for one: take them by"
            " row_number() OVER (PARTITION BY ... ORDER BY ...); filters on the column of its order"
            " move below it"
        )
        raise m.decline("return-shape", reason, node)
    wanted = "a table of one row" if returns.table else f"{len(names)} value(s)"
    raise m.decline("return-shape", f"{describe(value)} is returned, {wanted} is declared", node)


def _fields_of_row(
    m: SymbolicMachine, value: Value, names: tuple[str, ...], node: ast.AST
) -> Value:
    """Return a ``Row`` as a tuple; other values as they are. It must have the declared fields in
    their order: Spark takes it as a tuple with Arrow, and its fields by their names without.
    """
    match value:
        case TupleV((TagV(cls, fields, _), *items)) if issubclass(cls, tuple):
            if fields != names:
                reason = (
                    f"a Row of {', '.join(fields)} is returned, {', '.join(names)} are declared"
                )
                raise m.decline("return-shape", reason, node)
            return TupleV(tuple(items))
    return value


def _by_name(
    m: SymbolicMachine,
    returned: tuple[str, ...] | None,
    items: tuple[Value, ...],
    names: tuple[str, ...],
    node: ast.AST,
) -> tuple[Value, ...]:
    if returned is None:
        if len(items) != len(names):
            reason = f"{len(items)} columns are returned, {len(names)} are declared"
            raise m.decline("return-shape", reason, node)
        return items
    if set(returned) != set(names) or len(returned) != len(names):
        reason = f"the columns {', '.join(returned)} are returned, {', '.join(names)} are declared"
        raise m.decline("return-shape", reason, node)
    by_name = dict(zip(returned, items, strict=True))
    return tuple(by_name[n] for n in names)


class OutputCell(NamedTuple):
    """The value that a path returns for an output column."""

    exit: Exit
    value: Value
    column: SchemaColumn


def _coerce(
    m: SymbolicMachine, cell: OutputCell, returns: Returns, assumptions: dict[str, Assumption]
) -> Term:
    e, value, column = cell
    sort = returns.sort_of(column)
    value = m.force(value, e.flow)
    if isinstance(value, BitsV):
        value = as_number(value)
    if returns.row is not None:
        with m.at(e.node):
            of = row_value if len(returns.columns) == 1 else row_field
            return of(m, e.flow, value, column, returns.row)
    if returns.arrow:
        with m.at(e.node):
            return arrow_value(m, e.flow, value, column, cast=not returns.table)
    if isinstance(value, NullableV):
        if value.base in (*TEXTS, DATE):  # NaN is a float, which Arrow does not turn into a string
            m.fail(e.flow, is_none(value.term))
        value = Scalar(value.term, Traits(numpy=True))
    nan_is_null = False
    if isinstance(value, NoneV):
        term: Term = none_lit(sort.of)
    elif isinstance(value, Scalar):
        if can_promote(value.base, value.traits, sort.of):
            value = promote(value)
        if value.base == INT and sort.of == FLOAT and _is_exact(m, value):
            value = Scalar(as_float(value.term))
        if isinstance(sort.of, Decimal):
            value = _decimal(m, e, value, sort.of, column)
        if value.base != sort.of:
            reason = f"output column {column.name} is {column.type}, {describe(value)} is returned"
            raise m.decline("return-type", reason, e.node)
        if sort.of == INT and not m.ranges.fits(value.term, column.type):
            m.fail(e.flow, _misfit(value.term, column.type))
            assumptions[column.name] = RESULT_FITS.of(name=column.name, type=column.type)
        term = value.term
        nan_is_null = returns.pandas and sort.of == FLOAT and value.traits.maybe_nan
        if nan_is_null:
            term = nan_to_null(term)
    else:
        reason = f"output column {column.name} gets {describe(value)}"
        raise m.decline("return-type", reason, e.node)
    if column.nullable:
        return some(term)
    if isinstance(term.sort, Option):
        raise m.decline("return-null", _null_reason(column, nan_is_null), e.node)
    return term


def _null_reason(column: SchemaColumn, nan_is_null: bool) -> str:
    reason = f"output column {column.name} is declared NOT NULL and may be None"
    if not nan_is_null:
        return reason
    return f"{reason}, as pandas gives for NaN: declare it without NOT NULL"


def _decimal(
    m: SymbolicMachine, e: Exit, value: Scalar, sort: Decimal, column: SchemaColumn
) -> Scalar:
    """Return the decimal with the declared number of digits: Arrow adds zeros, and raises if there
    are more digits than the type has, before or after the point.
    """
    base = value.base
    if isinstance(base, Decimal) and base.scale <= sort.scale:
        value = Scalar(widen_decimal(value.term, sort.scale), value.traits)
        if m.ranges.fits(value.term, column.type):
            return value
    reason = f"{describe(value)} may not fit output column {column.name} of type {column.type}"
    raise m.decline("return-type", reason, e.node)


def _is_exact(m: SymbolicMachine, value: Scalar) -> bool:
    """Return whether a NumPy integer is the same number as a double."""
    if not value.traits.numpy:
        return False
    bound = m.ranges.magnitude(value.term)
    return bound is not None and bound <= EXACT_INT_BOUND


def _misfit(term: Term, type_: str) -> Term:
    low, high = INT_RANGES[type_]
    inner = get(term)
    outside = or_(app(Op.PY_LT, inner, int_lit(low)), app(Op.PY_GT, inner, int_lit(high)))
    return and_(negate(is_none(term)), outside)
