"""Untrusted. A DataFrame without rows that calls one function, to see what becomes of the call."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from presieve.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def one_call(spark: SparkSession, function: Any, schema: str, returns: str | None) -> DataFrame:
    """The function of its columns, as the only column. One that is no UDF becomes one of Arrow's;
    ``returns`` is its type then. Raises :class:`UsageError`.
    """
    from pyspark.sql.functions import udf

    df = spark.createDataFrame([], schema)
    plain = getattr(function, "func", function)
    if plain is function:
        if returns is None:
            raise UsageError("what the function returns is unknown: pass --returns with its type")
        function = udf(function, returns, useArrow=True)
    names = _arguments(plain, df.columns)
    return df.select(function(*(df[f"`{n.replace('`', '``')}`"] for n in names)).alias("value"))


def _arguments(function: Any, columns: Sequence[str]) -> list[str]:
    """The columns of the parameters' names; where there are others, all columns in order."""
    try:
        names = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        raise UsageError("a function is compiled, and this is none") from None
    if len(names) != len(columns) and not set(names) <= set(columns):
        raise UsageError(
            f"the parameters {', '.join(names)} are neither columns of the schema nor as many"
        )
    return names if set(names) <= set(columns) else list(columns)
