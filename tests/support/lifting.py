"""Running a lifted fold and the real thing side by side, with Spark's own transport of values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from types import FunctionType
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark.errors import PySparkRuntimeError
from pyspark.sql import Row
from pyspark.sql.types import StructType, _parse_datatype_json_string

from presieve.errors import Declined
from presieve.ir.sorts import Sort
from presieve.lift import Form, Lifted, LiftRequest, lift
from presieve.semantics.interpret import Raised, key_env, run_fold
from presieve.semantics.types import SchemaColumn, decimal_type, sort_of
from presieve.semantics.values import Value, from_python, to_python

try:
    from pyspark.sql.conversion import ArrowBatchTransformer, PandasToArrowConversion
except ImportError:
    from tests.support.older_transport import (  # type: ignore[assignment]
        ArrowBatchTransformer,
        PandasToArrowConversion,
    )

PYTHON_ERRORS = (
    TypeError,
    ValueError,
    ArithmeticError,
    AssertionError,
    LookupError,
    AttributeError,
    pa.ArrowException,
)
"""What the folds under test raise; pyspark's conversion errors are ValueErrors or TypeErrors."""

_ARROW: dict[str, pa.DataType] = {
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "double": pa.float64(),
    "string": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "timestamp_ntz": pa.timestamp("us"),
}


def arrow_type(type_: str) -> pa.DataType:
    """The type of arrays of Spark's values of a type."""
    digits = decimal_type(type_)
    return pa.decimal128(*digits) if digits else _ARROW[type_]


def _sort(column: SchemaColumn) -> Sort:
    sort = sort_of(column.type)
    assert sort is not None
    return sort


_JSON = {"tinyint": "byte", "smallint": "short", "int": "integer", "bigint": "long"}


def columns(ddl: str) -> tuple[SchemaColumn, ...]:
    """``"team string, score double NOT NULL"`` as columns."""
    found = []
    for part in re.split(r",\s*(?![^(]*\))", ddl):
        match = re.fullmatch(r"\s*(\S+)\s+(\S+?)(\s+NOT NULL)?\s*", part)
        assert match, part
        found.append(SchemaColumn(match[1], match[2], match[3] is None))
    return tuple(found)


def request(schema: str, returns: str, keys: str = "", timezone: str = "UTC") -> LiftRequest:
    """What lifting is told."""
    names = tuple(k for k in keys.split(",") if k)
    return LiftRequest(columns(schema), names, columns(returns), timezone)


def lifted(obj: object, asked: LiftRequest, form: Form | None = None) -> Lifted:
    """The lifted fold; the test fails where it is declined."""
    found = lift(obj, form, asked)
    assert isinstance(found, Lifted), str(found)
    return found


def declined(obj: object, asked: LiftRequest, form: Form | None = None) -> Declined:
    """Why lifting is declined; the test fails where it is not."""
    found = lift(obj, form, asked)
    assert isinstance(found, Declined), "it was lifted"
    return found


def interpreted(
    found: Lifted, rows: Sequence[dict[str, Value]], keys: dict[str, Value]
) -> tuple[Value, ...] | Raised:
    """The fold by the reference interpreter."""
    names = {c.name for c in found.fold.columns}
    return run_fold(found.fold, [{n: r[n] for n in names} for r in rows], keys)


def assumed(found: Lifted, row: dict[str, Value], keys: dict[str, Value]) -> bool:
    """Whether the row satisfies every assumption that the fold's meaning rests on.

    That there is no NaN only makes proofs easier: the fold is right with it, too.
    """
    from presieve.ir.terms import Scope
    from presieve.semantics.interpret import evaluate

    env = {**key_env(keys), **{(Scope.ROW, n): v for n, v in row.items()}}
    return all(evaluate(a.term, env) is True for a in found.assumptions if a.code != "no-nan")


# --- the real thing -----------------------------------------------------------------------------


def _python(row: dict[str, Value], schema: Sequence[SchemaColumn]) -> dict[str, Any]:
    return {c.name: to_python(row[c.name], _sort(c)) for c in schema if c.name in row}


def run_class(obj: Any, asked: LiftRequest, rows: Sequence[dict[str, Value]]) -> object:
    """``finish(reduce(... zero() ...))`` on Spark's rows; the outputs as values."""
    instance = obj() if isinstance(obj, type) else obj
    try:
        acc = instance.zero()
        for row in rows:
            acc = instance.reduce(acc, Row(**_python(row, asked.schema)))
        result = instance.finish(acc) if hasattr(instance, "finish") else acc
    except PYTHON_ERRORS:
        return Raised()
    if isinstance(result, dict):
        result = tuple(result[c.name] for c in asked.returns)
    cells = result if len(asked.returns) > 1 else (result,)
    return tuple(_value(x, c) for x, c in zip(cells, asked.returns, strict=True))


def series_of(asked: LiftRequest, rows: Sequence[dict[str, Value]]) -> list[Any]:
    """The columns of a group as a pandas UDF gets them."""
    found: list[Any] = ArrowBatchTransformer.to_pandas(arrays_of(asked, rows), timezone="UTC")
    return found


def run_series(
    function: FunctionType,
    asked: LiftRequest,
    chosen: Sequence[str],
    rows: Sequence[dict[str, Value]],
) -> object:
    """The function under a grouped-aggregate pandas UDF, with its result as Spark stores it."""
    by_name = dict(zip((c.name for c in asked.schema), series_of(asked, rows), strict=True))
    try:
        result = function(*(by_name[n] for n in chosen))
        return _stored([pd.Series([result])], asked)
    except PYTHON_ERRORS:
        return Raised()


def run_frame(
    function: FunctionType, asked: LiftRequest, takes_key: bool, rows: Sequence[dict[str, Value]]
) -> object:
    """The function of ``applyInPandas``, with its result as Spark stores it."""
    series = series_of(asked, rows)
    by_name = dict(zip((c.name for c in asked.schema), series, strict=True))
    pdf = pd.concat(series, axis=1)
    try:
        key = tuple(by_name[k].iloc[0] for k in asked.keys)
        result = function(key, pdf) if takes_key else function(pdf)
        return _stored(result, asked)
    except PYTHON_ERRORS:
        return Raised()


def arrays_of(asked: LiftRequest, rows: Sequence[dict[str, Value]]) -> pa.Table:
    """A group as an Arrow UDF gets it."""
    plain = [_python(r, asked.schema) for r in rows]
    arrays = {
        c.name: pa.array([r[c.name] for r in plain], arrow_type(c.type)) for c in asked.schema
    }
    return pa.table(arrays)


def run_array(
    function: FunctionType,
    asked: LiftRequest,
    chosen: Sequence[str],
    rows: Sequence[dict[str, Value]],
) -> object:
    """The function under a grouped-aggregate Arrow UDF, with its result as Spark stores it."""
    batch = arrays_of(asked, rows).combine_chunks().to_batches()[0]
    try:
        result = function(*(batch.column(n) for n in chosen))
        made = pa.RecordBatch.from_arrays([pa.array([result])], ["_0"])
        return _cells_of(made, asked, cast=True)
    except (*PYTHON_ERRORS, PySparkRuntimeError):
        return Raised()


def run_array_batches(
    function: FunctionType,
    asked: LiftRequest,
    chosen: Sequence[str],
    batches: Sequence[Sequence[dict[str, Value]]],
) -> object:
    """The same of the iterator form: several columns come as a tuple."""
    tables = [arrays_of(asked, rows).combine_chunks().to_batches()[0] for rows in batches]
    columns = [tuple(t.column(n) for n in chosen) for t in tables]
    try:
        result = function(iter(c[0] if len(c) == 1 else c for c in columns))
        made = pa.RecordBatch.from_arrays([pa.array([result])], ["_0"])
        return _cells_of(made, asked, cast=True)
    except (*PYTHON_ERRORS, PySparkRuntimeError):
        return Raised()


def run_series_batches(
    function: FunctionType,
    asked: LiftRequest,
    chosen: Sequence[str],
    batches: Sequence[Sequence[dict[str, Value]]],
) -> object:
    """The iterator form of a grouped-aggregate pandas UDF."""
    names = [c.name for c in asked.schema]
    found = [dict(zip(names, series_of(asked, rows), strict=True)) for rows in batches]
    columns = [tuple(f[n] for n in chosen) for f in found]
    try:
        result = function(iter(c[0] if len(c) == 1 else c for c in columns))
        return _stored([pd.Series([result])], asked)
    except PYTHON_ERRORS:
        return Raised()


def run_table(
    function: FunctionType, asked: LiftRequest, takes_key: bool, rows: Sequence[dict[str, Value]]
) -> object:
    """The function of ``applyInArrow``, with its result as Spark stores it."""
    table = arrays_of(asked, rows)
    try:
        key = tuple(table.column(k)[0] for k in asked.keys)
        result = function(key, table) if takes_key else function(table)
        return _cells_of(result, asked, cast=False)
    except (*PYTHON_ERRORS, PySparkRuntimeError):
        return Raised()


def _cells_of(made: Any, asked: LiftRequest, *, cast: bool) -> object:
    names = ["_0"] if cast else [c.name for c in asked.returns]
    schema = pa.schema([(n, arrow_type(c.type)) for n, c in zip(names, asked.returns, strict=True)])
    stored = ArrowBatchTransformer.enforce_schema(made, schema, arrow_cast=cast)
    cells = [stored.column(i)[0].as_py() for i in range(stored.num_columns)]
    return tuple(_value(x, c) for x, c in zip(cells, asked.returns, strict=True))


def _stored(data: Any, asked: LiftRequest) -> object:
    fields = [
        {"name": c.name, "type": _JSON.get(c.type, c.type), "nullable": True, "metadata": {}}
        for c in asked.returns
    ]
    schema = _parse_datatype_json_string(
        str({"type": "struct", "fields": fields}).replace("'", '"').replace("True", "true")
    )
    assert isinstance(schema, StructType)
    batch = PandasToArrowConversion.convert(
        data,
        schema,
        timezone="UTC",
        safecheck=True,
        arrow_cast=True,
        assign_cols_by_name=True,
    )
    assert batch.num_rows <= 1
    if batch.num_rows == 0:
        return ()
    cells = [batch.column(i)[0].as_py() for i in range(batch.num_columns)]
    return tuple(_value(x, c) for x, c in zip(cells, asked.returns, strict=True))


def _value(cell: Any, column: SchemaColumn) -> Value:
    return None if cell is None else from_python(cell, _sort(column))
