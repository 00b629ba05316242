# SPDX-License-Identifier: Apache-2.0
"""Trusted. Turns folds written as classes into aggregate functions that ``optimize`` reads."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from presieve.errors import UsageError
from presieve.lift.entry.group_fold import runner
from presieve.lift.entry.row_class import is_row_class

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import DataType

__all__ = ["group_fold"]


def group_fold(
    aggregator: object, returns: str | DataType | None = None, *, streamed: bool = False
) -> Callable[..., Column]:
    """Make an aggregate function of a class with ``zero``, ``reduce`` and ``finish``.

    The result takes column names, and other columns by keyword: ``best("score")``,
    ``best(score=F.col("points"))``. The rows of a group come in Spark's order, with None for NULL
    and local times for timestamps. A worker holds a group's columns in memory, as Arrow arrays.

    Args:
        aggregator: A class without arguments, or an instance; see :class:`presieve.Aggregator`.
        returns: The type of ``finish``'s result, as DDL or ``DataType``; for a struct, ``finish``
            returns a tuple, a list or a dict. The default is the aggregator's ``outputType``.
        streamed: Hold only one batch of rows in memory. Spark 4.3 then fails if the same ``agg``
            has another function.

    Returns:
        A function from columns to a column for ``agg``.

    Raises:
        presieve.PresieveError: The aggregator lacks ``zero`` or ``reduce``, or no type is given.

    Example:
        >>> best = group_fold(Best, "double")
        >>> df.groupBy("team").agg(best("score").alias("best"))
    """
    instance = aggregator() if isinstance(aggregator, type) else aggregator
    if not is_row_class(instance):
        raise UsageError(f"{type(instance).__name__} needs methods zero() and reduce(acc, row)")
    declared = returns if returns is not None else getattr(instance, "outputType", None)
    if declared is None:
        raise UsageError(
            f"{type(instance).__name__} has no outputType: pass returns, such as 'double'"
        )

    def columns(*names: str, **named: Column | str) -> Column:
        return _column(instance, declared, names, named, streamed)

    columns.__name__ = type(instance).__name__
    return columns


def _column(
    aggregator: object,
    returns: str | DataType,
    names: tuple[str, ...],
    named: dict[str, Column | str],
    streamed: bool,
) -> Column:
    from pyspark import __version__

    try:
        from pyspark.sql.pandas.functions import arrow_udf
        from pyspark.sql.types import DataType
        from pyspark.util import PythonEvalType
    except ImportError:
        text = "group_fold is an Arrow UDF of groups, which PySpark has from 4.1 on, not {}"
        raise UsageError(text.format(__version__)) from None

    if not all(isinstance(n, str) for n in names):
        raise UsageError("pass columns that are not names by keyword: best(score=F.col('s'))")
    fields = (*names, *named)
    if not fields or len(set(fields)) != len(fields):
        raise UsageError(f"a fold needs columns, each once: {', '.join(fields) or 'none is given'}")
    parsed = DataType.fromDDL(returns) if isinstance(returns, str) else returns
    function = runner(aggregator, fields, _types(parsed), streamed)
    function.__name__ = type(aggregator).__name__
    make: Any = arrow_udf
    kind: int = PythonEvalType.SQL_GROUPED_AGG_ARROW_UDF
    if streamed:
        if not hasattr(PythonEvalType, "SQL_GROUPED_AGG_ARROW_ITER_UDF"):
            raise UsageError(f"streamed=True needs PySpark 4.2 or later, not {__version__}")
        kind = PythonEvalType.SQL_GROUPED_AGG_ARROW_ITER_UDF
    with warnings.catch_warnings():
        # Spark prefers annotations, but these fix the number of columns.
        warnings.filterwarnings("ignore", "It is preferred to specify type hints")
        udf = make(function, parsed, kind)
    result_column: Column = udf(*names, *named.values())
    return result_column


def _types(returns: DataType) -> tuple[tuple[str, str], ...]:
    """Return names and types of a struct's fields, or one type without a name."""
    from pyspark.sql.types import StructType

    if isinstance(returns, StructType):
        return tuple((f.name, f.dataType.simpleString()) for f in returns.fields)
    return (("", returns.simpleString()),)
