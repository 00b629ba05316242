# SPDX-License-Identifier: Apache-2.0
"""Trusted. Functions of tables that treat each row by itself: ``mapInPandas``, ``mapInArrow``,
functions of ``applyInPandas`` that return the group's rows, changed one by one, or some of them,
and scalar pandas UDFs, which return a Series with as many elements as those that they take.

Lemma: let ``f(D)`` be the rows ``out(r)`` of those rows r of D for which ``keep(r)`` holds, however
D is cut into groups or batches. A filter c keeps the ``out(r)`` with ``keep(r)`` and ``c(out(r))``,
so a pre-filter P and a residual that give the same as ``keep and c`` for every single row give the
same for all. Each row is lifted as a group of one row, whose key it is.

``out`` is a function of the row only if none of its values depends on the other rows of a batch:
the code must not reduce anything, and the types that pandas chooses for a whole batch must not
matter. Integers with a NULL among them become doubles, so a nullable ``bigint`` is assumed to be
exact as a double; columns of arrays, maps and structs in which the same may happen are declined.
The batches of ``mapInPandas`` are structs, which pyspark converts as a whole: if one of their
fields is a string or a decimal, integers with a NULL among them become pandas' extension types
(``Int64``). These are exact, but a comparison with ``pandas.NA`` is neither true nor false, so such
columns may only be passed on, and tested for missing values. Before Spark 4.2 each field is
converted by itself (``ArrowStreamPandasUDFSerializer.arrow_to_pandas``).

A scalar pandas UDF gives its elements to the rows by position, whatever their labels, so they must
be those of all rows in the order of the batch. Each of its columns is converted by itself, and a
struct like a batch (:mod:`presieve.lift.entry.struct_tables`).

Sources, pyspark 4.3.0: ``worker.py``, ``SQL_MAP_PANDAS_ITER_UDF``, ``SQL_GROUPED_MAP_PANDAS_UDF``
and its iterator form, ``SQL_SCALAR_PANDAS_UDF`` and its iterator form: None and NaN both become
NULL; ``SQL_MAP_ARROW_ITER_UDF``: batches come back as they are.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from types import FunctionType

from presieve.errors import DeclineSignal
from presieve.ir.fold import Fold, Output
from presieve.ir.sorts import BOOL, FLOAT, INT, Decimal, Option, strip
from presieve.ir.terms import TRUE, Scope, Term
from presieve.ir.walk import variables
from presieve.lift.entry.attempt import LiftAttempt, collect_lifted
from presieve.lift.entry.struct_tables import SpreadArguments, spread_structs
from presieve.lift.entry.yielded_tables import result_of_yield, table_of
from presieve.lift.execution.stage import Stage
from presieve.lift.execution.state import Flow, SymbolicMachine
from presieve.lift.execution.statements import execute, machine
from presieve.lift.forms import ColumnsFunction, Lifted, LiftRequest, RowsFunction
from presieve.lift.models.pandas import series
from presieve.lift.models.pandas.column_arithmetic import make_exact
from presieve.lift.models.pyarrow.arrays import array_of
from presieve.lift.python.names import own_names, parameters
from presieve.lift.python.shipped import function_source
from presieve.lift.values.arrow_values import ArrowColumnV, BatchV
from presieve.lift.values.columns import BesideNull
from presieve.lift.values.symbolic import Clash, KeyV, TupleV, Unbound, Value, describe
from presieve.lift.values.whole_columns import TABLE, FrameV, PartV, VectorV
from presieve.records import replace
from presieve.semantics.assumptions import RESULT_FITS
from presieve.semantics.smart_constructors import (
    nan_to_null,
    some,
)
from presieve.semantics.types import (
    UNSUPPORTED,
    SchemaColumn,
    display_result_type,
    parts_of,
    sort_of,
)

AS_NUMPY = {
    *("boolean", "tinyint", "smallint", "int", "bigint", UNSUPPORTED + "float", "double"),
    *("binary", "date", "timestamp", "timestamp_ntz"),
}
"""Types of struct fields that ``_prefer_convert_numpy`` names in ``sql/conversion.py``, as far as
they are known here: if a struct has only these, integers beside NULL become doubles.
"""


def converted_by(types: Sequence[str], selected: Collection[int]) -> frozenset[int]:
    """Return the numbers of the columns that a batch must have besides the ``selected`` ones, so
    that its columns are converted as in the full batch.
    """
    others = [i for i, t in enumerate(types) if t not in AS_NUMPY]
    legacy = [i for i in others if types[i] == "string" or types[i].startswith("decimal(")]
    if not legacy:
        return frozenset(others)
    return frozenset() if any(i in selected for i in legacy) else frozenset(legacy[:1])


def _beside_null(form: RowsFunction, request: LiftRequest) -> BesideNull:
    by_itself = not form.batches or form.arrow or form.by_column
    return "doubles" if by_itself else _beside_null_in(request.schema)


def _beside_null_in(fields: Sequence[SchemaColumn]) -> BesideNull:
    """Return what integers beside a NULL become in a struct with these fields."""
    types = [c.type for c in fields]
    if AS_NUMPY.issuperset(types):
        return "doubles"
    is_legacy = any(t == "string" or t.startswith("decimal(") for t in types)
    return "extension" if is_legacy else "unknown"


def _beside_null_of_arguments(form: ColumnsFunction, given: SpreadArguments) -> BesideNull:
    """Return what integers beside a NULL become in the arguments: columns are converted by
    themselves, structs as a whole.
    """
    if form.by_column:
        return "doubles"
    kinds = {_beside_null_in(table) for table in given.tables}
    if len(given.arguments) > len(given.tables):
        kinds.add("doubles")
    return kinds.pop() if len(kinds) == 1 else "unknown"


_PASSED = ("float", "double", "string")
"""Types, also of parts of arrays, maps and structs, whose values come back one by one, whatever
stands beside them in a batch.
"""


def _is_passed(type_: str) -> bool:
    """Return whether values of a type that is unknown here come back one by one."""
    name, parts = type_.removeprefix(UNSUPPORTED), parts_of(type_)
    return name in _PASSED if parts is None else all(map(_is_passed, parts[1].values()))


def lift_rows(attempt: LiftAttempt) -> Lifted:
    """Return the fold of one row, with ``kept``. The request's keys are all input columns."""
    function, form, request = attempt.obj, attempt.form, attempt.request
    assert isinstance(form, RowsFunction)
    function = _plain_function(function)
    source = function_source(function, generator=form.batches)
    beside_null = _beside_null(form, request)
    columns = attempt.tables(pandas=not form.arrow, beside_null=beside_null)
    m = machine(function, source, columns)
    m.begin(Stage.AFTER)
    names = tuple(c.name for c in request.schema)
    table: Value = FrameV(names, TABLE)
    if form.arrow:
        table = BatchV(names, TRUE, table=not form.batches)
    key: Value = KeyV(form.key) if form.key else Clash("this key of a group is not followed here")
    flow = Flow(_bind_parameters(m, function, (key, table) if form.takes_key else (table,)))
    result, place = (result_of_yield if form.batches else _result_of_return)(m, flow, table)
    if isinstance(result, BatchV) and result.table == form.batches:
        expected = "RecordBatch: yield from table.to_batches()" if form.batches else "Table"
        raise m.decline("return-shape", f"Spark expects a pyarrow.{expected}", place)
    cells, is_kept = _cells(m, result, request, place)
    outputs = tuple(
        Output(c.name, term.sort, c.type, term)
        for c in request.returns
        if (term := cells.get(c.name)) is not None
    )
    return replace(_make_row_fold(m, outputs, place, is_kept), kept=is_kept)


def lift_columns(attempt: LiftAttempt, names: tuple[str, ...]) -> Lifted:
    """Return the fold of one row of a scalar pandas UDF of the columns with these ``names``."""
    form, request = attempt.form, attempt.request
    assert isinstance(form, ColumnsFunction)
    function = _plain_function(attempt.obj)
    source = function_source(function, generator=form.batches)
    given = spread_structs(request, names)
    beside_null = _beside_null_of_arguments(form, given)
    inner = replace(attempt, request=given.request)
    m = machine(function, source, inner.tables(pandas=True, beside_null=beside_null))
    m.begin(Stage.AFTER)
    arguments = given.arguments
    batch = arguments[0] if len(arguments) == 1 else TupleV(arguments)
    flow = Flow(_bind_parameters(m, function, (batch,) if form.batches else arguments))
    result, place = (result_of_yield if form.batches else _result_of_return)(m, flow, batch)
    (column,) = request.returns
    vector = series.stored(m, result)
    if vector is None or vector.rows != TRUE or not vector.ordered or vector.by is not None:
        reason = f"{describe(result)} is given, but a value for each row in their order is expected"
        raise m.decline("return-shape", reason, place)
    with m.at(place):
        term = _pandas_value(m, vector, column)
    output = Output(column.name, term.sort, column.type, term)
    return given.restore(_make_row_fold(m, (output,), place), request)


def _plain_function(function: object) -> FunctionType:
    if not isinstance(function, FunctionType):
        raise DeclineSignal("not-a-function", "a function written with def is expected")
    return function


def _make_row_fold(
    m: SymbolicMachine, outputs: tuple[Output, ...], place: ast.stmt, is_kept: Term = TRUE
) -> Lifted:
    """Return the fold of the outputs for one row."""
    raises, source = m.join_raise_conditions(), m.source
    roots = (is_kept, raises, *(o.term for o in outputs))
    if any(v.scope is not Scope.KEY for v in variables(*roots)):
        reason = "rows are compared with a value of the whole table, which is not one row's"
        raise m.decline("two-passes", reason, place)
    fold = Fold(
        name=source.node.name,
        columns=(),
        keys=m.columns.keys(),
        fields=(),
        outputs=outputs,
        finish_raises=raises,
        span=source.span(source.node),
    )
    return collect_lifted(m.columns, fold, source.text)


def _bind_parameters(
    m: SymbolicMachine, function: FunctionType, values: tuple[Value, ...]
) -> dict[str, Value]:
    """Return the variables of a function that is called with these values by position."""
    declared = parameters(function)
    if len(declared) != len(values) or any(p.kind is not p.POSITIONAL_OR_KEYWORD for p in declared):
        raise m.decline("unknown-columns", "the function has further parameters", m.source.node)
    env: dict[str, Value] = {n: Unbound() for n in own_names(function)}
    return env | {p.name: value for p, value in zip(declared, values, strict=True)}


def _result_of_return(m: SymbolicMachine, flow: Flow, _table: Value) -> tuple[Value, ast.stmt]:
    """Return the result of ``def f(pdf): ...; return table``, or of such a function of columns."""
    *before, last = m.source.node.body
    execute(m, before, flow)
    if m.frame.exits or flow.ended or not isinstance(last, ast.Return) or last.value is None:
        reason = "one return at the end is expected of a function that keeps the table's rows"
        raise m.decline("return-shape", reason, last)
    return table_of(m, last.value, flow), last


# --- the values that Spark stores -----------------------------------------------------------------


def _cells(
    m: SymbolicMachine, result: Value, request: LiftRequest, place: ast.stmt
) -> tuple[dict[str, Term], Term]:
    """Return the outputs by name, except columns of unknown types, and the condition for rows."""
    names = tuple(c.name for c in request.returns)
    table = series.part(result) or result
    if not isinstance(table, PartV | BatchV):
        reason = f"{describe(result)} is returned, but the table's own rows are expected"
        raise m.decline("return-shape", reason, place)
    actual, by_place = table.columns, isinstance(table, BatchV)
    if (actual != names) if by_place else (sorted(actual) != sorted(names)):
        reason = (
            f"the columns {', '.join(actual)} are returned, but {', '.join(names)} are declared"
        )
        raise m.decline("return-shape", reason, place)
    with m.at(place):
        cells = {
            c.name: _arrow_cell(m, table, c)
            if isinstance(table, BatchV)
            else _pandas_cell(m, table, c)
            for c in request.returns
        }
    return {n: t for n, t in cells.items() if t is not None}, table.rows


def _pandas_cell(m: SymbolicMachine, table: PartV, column: SchemaColumn) -> Term | None:
    own = column.name not in dict(table.made)
    is_unknown = sort_of(column.type) is None and _is_passed(column.type)
    if own and is_unknown and m.columns.type_of(column.name) == column.type:
        return None
    return _pandas_value(m, series.stored_column_of(m, table, column.name), column)


def _pandas_value(m: SymbolicMachine, v: VectorV, column: SchemaColumn) -> Term:
    """Return the value that Spark stores for a Series as this column. Declines ``return-type``."""
    base = sort_of(column.type)
    actual = strip(v.term.sort)
    if v.array:
        reason = f"output column {column.name} is an array of NumPy, which Spark refuses"
        raise DeclineSignal("return-type", f"{reason}: return pd.Series(...) of it")
    if base is None or actual != base or not column.nullable:
        type_ = display_result_type(column.type)
        reason = f"output column {column.name} is {type_}, which it is not here"
        raise DeclineSignal("return-type", reason)
    if isinstance(base, Decimal) and (v.name is None or m.columns.type_of(v.name) != column.type):
        raise DeclineSignal("return-type", f"output column {column.name} of decimals is computed")
    if v.gaps and base not in (INT, FLOAT, BOOL):
        m.columns.recorded.gaps |= {column.name}
    if base == INT:
        if isinstance(v.term.sort, Option):
            if v.name is None:
                make_exact(m, v.term)
            else:
                m.columns.assume_sent(v.name)
        if not m.ranges.fits(v.term, column.type):
            m.columns.add_assumptions([RESULT_FITS.of(name=column.name, type=column.type)])
    if base == FLOAT:
        return nan_to_null(v.term)
    return some(v.term)


def _arrow_cell(m: SymbolicMachine, table: BatchV, column: SchemaColumn) -> Term | None:
    element = table.column(column.name)
    own = isinstance(element, ArrowColumnV) and element.name == column.name
    actual = m.columns.type_of(element.name) if isinstance(element, ArrowColumnV) else element.type
    if not column.nullable or actual != column.type:
        type_ = display_result_type(column.type)
        reason = f"output column {column.name} is declared {type_}, which it is not"
        raise DeclineSignal("return-type", reason)
    if sort_of(column.type) is None and own:
        return None  # it comes back as it was sent
    return some(array_of(m, element, computed=False).term)
