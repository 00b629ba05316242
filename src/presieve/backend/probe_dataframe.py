# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Build a DataFrame that calls one function on no rows, to see what becomes of it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from presieve.errors import UsageError
from presieve.lift.evaluation_types import Role, evaluation_type

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

VALUE = "value"
"""The name of the column that a function computes."""


class OneCall(Struct, frozen=True):
    """A function and its input. ``function`` is a UDF, a plain function, or the ``aggregate`` that
    :func:`presieve.spark.group_fold` makes from a class. ``returns`` is the type of a plain
    function's result, or the columns of the result if the function takes the table of a group.
    There are groups if there are ``keys``.
    """

    function: Any
    schema: str
    returns: str | None = None
    keys: tuple[str, ...] = ()
    aggregate: Callable[..., Column] | None = None


def one_call(spark: SparkSession, call: OneCall) -> DataFrame:
    """Build the DataFrame. Raises :class:`UsageError`."""
    df = spark.createDataFrame([], call.schema)
    if missing := [k for k in call.keys if k not in df.columns]:
        raise UsageError(f"{', '.join(missing)}: no columns of the schema")
    type_ = evaluation_type(getattr(call.function, "evalType", None))
    aggregates = call.aggregate is not None or (type_ is not None and type_.role is Role.AGGREGATE)
    if not aggregates:
        return _of_tables(df, call) if call.keys else _of_rows(df, call)
    if not call.keys:
        raise UsageError("an aggregate has groups: pass --keys with the grouping columns")
    inputs = [c for c in df.columns if c not in call.keys]
    names = inputs if call.aggregate else _arguments(call.function.func, inputs)
    function = call.aggregate or call.function
    return df.groupBy(*call.keys).agg(function(*names).alias(VALUE))


def _of_rows(df: DataFrame, call: OneCall) -> DataFrame:
    """Call the function (a plain one as an Arrow UDF) for the only output column."""
    from pyspark.sql.functions import udf

    function = call.function
    plain = getattr(function, "func", function)
    if plain is function:
        if call.returns is None:
            raise UsageError("what the function returns is unknown: pass --returns with its type")
        function = udf(function, call.returns, useArrow=True)
    names = _arguments(plain, df.columns)
    return df.select(function(*(df[f"`{n.replace('`', '``')}`"] for n in names)).alias(VALUE))


def _of_tables(df: DataFrame, call: OneCall) -> DataFrame:
    """Call the function on the table of each group."""
    if call.returns is None:
        raise UsageError("what the function returns is unknown: pass --returns with its columns")
    return df.groupBy(*call.keys).applyInPandas(call.function, call.returns)


def _arguments(function: Any, columns: Sequence[str]) -> list[str]:
    """Return the columns that parameters name; if some do not, all columns in order."""
    try:
        names = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        raise UsageError("a function is compiled, and this is none") from None
    if len(names) != len(columns) and not set(names) <= set(columns):
        raise UsageError(
            f"the parameters {', '.join(names)} are neither columns of the schema nor as many"
        )
    return names if set(names) <= set(columns) else list(columns)
