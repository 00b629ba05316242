"""What PySpark 4.2 and later do in ``sql/conversion.py``, for older versions, whose serializers do
it inside of a worker: near enough to find out which tables a function takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema


class ArrowBatchTransformer:
    """Tables as columns of pandas."""

    @staticmethod
    def to_pandas(table: pa.Table, timezone: str) -> list[Any]:
        assert timezone == "UTC"
        return [_series(table.column(name)).rename(name) for name in table.column_names]


def _series(column: Any) -> Any:
    found = column.to_pandas(date_as_object=True)
    return found.dt.tz_localize(None) if getattr(column.type, "tz", None) else found


class PandasToArrowConversion:
    """And back."""

    @staticmethod
    def convert(data: Any, schema: Any, **_: Any) -> pa.RecordBatch:
        """Columns of a table by name, Series by position."""
        wanted = to_arrow_schema(schema)
        series: Sequence[Any] = data
        columns = series if isinstance(data, list) else [data[name] for name in wanted.names]
        arrays = [_array(s, t) for s, t in zip(columns, wanted.types, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, wanted.names)


def _array(series: Any, type_: Any) -> Any:
    if getattr(type_, "tz", None) and getattr(series.dtype, "tz", None) is None:
        series = series.astype("datetime64[us]").dt.tz_localize("UTC")
    return pa.Array.from_pandas(series).cast(type_)
