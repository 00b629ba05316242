"""Batches as pyspark gives them to functions of pandas, and columns as Spark stores them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark.sql.conversion import ArrowBatchTransformer
from tests.support.lifting import arrow_type


def arrow_columns(rows: Sequence[Mapping[str, Any]], types: Mapping[str, str]) -> list[Any]:
    """The columns of these rows as arrays of Spark's types."""
    return [pa.array([r[name] for r in rows], arrow_type(t)) for name, t in types.items()]


def as_struct(arrays: Sequence[Any], names: Sequence[str]) -> pd.DataFrame:
    """The table that mapInPandas sends: beside a text, integers and truth values beside a NULL are
    of pandas' own types.
    """
    one = pa.StructArray.from_arrays(list(arrays), list(names))
    batch = pa.RecordBatch.from_arrays([one], ["_0"])
    (table,) = ArrowBatchTransformer.to_pandas(batch, timezone="UTC", df_for_struct=True)
    assert isinstance(table, pd.DataFrame)
    return table


def as_columns(arrays: Sequence[Any], names: Sequence[str]) -> list[Any]:
    """The Series that a pandas UDF of columns gets."""
    table = pa.table(list(arrays), list(names))
    return list(ArrowBatchTransformer.to_pandas(table, timezone="UTC"))


def stored(values: pd.Series, type_: str) -> list[Any]:
    """The values that Spark stores of a column that is returned. Raises what pyarrow raises."""
    mask = None if hasattr(values.array, "__arrow_array__") else values.isnull()
    try:
        array = pa.Array.from_pandas(values, mask=mask, type=arrow_type(type_), safe=True)
    except TypeError:
        array = pa.Array.from_pandas(values, mask=mask).cast(arrow_type(type_), safe=True)
    return list(array.to_pylist())
