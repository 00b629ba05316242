"""Trusted. Folds written as classes, as aggregate functions that ``optimize`` reads."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from presieve.driver.merged import keyed_pushdown
from presieve.driver.optimize import switched_off
from presieve.driver.options import UNSET, Options, given, of_session, shows_defaults
from presieve.driver.solve import Policy
from presieve.errors import UsageError
from presieve.lift.entry.group_fold import runner
from presieve.lift.entry.merge import has_merge
from presieve.lift.entry.row_class import is_row_class
from presieve.lift.forms import Request

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

    from presieve.backend.keyed import KeyedFold

__all__ = ["fold_by_key", "group_fold"]

logger = logging.getLogger("presieve")


def group_fold(
    aggregator: object, returns: str | DataType | None = None, *, streamed: bool = False
) -> Callable[..., Column]:
    """An :class:`presieve.Aggregator`, or anything of its shape, as an aggregate function.

    >>> best = group_fold(Best, "double")  # doctest: +SKIP
    >>> df.groupBy("team").agg(best("score").alias("best"))  # doctest: +SKIP

    ``aggregator`` is a class that needs no arguments, or an instance. ``returns`` is the type of
    what ``finish`` gives, as DDL or a ``DataType``; for a struct that is a tuple or a dict.
    Without it, the aggregator's own ``outputType`` counts.

    What comes back takes names of columns, and other columns by keyword, under which the row then
    has them: ``best("score")``, ``best(score=F.col("points"))``. The rows of a group come in the
    order in which Spark has them, with None for NULL and local times for timestamps.

    A group's columns are held in memory by a worker, as Arrow arrays. ``streamed``: only a batch of
    them; but Spark 4.3 then fails where there is another function in the same ``agg``.

    Raises :class:`presieve.PresieveError` for an aggregator without ``zero`` or ``reduce``, and
    where no type is given.
    """
    made = aggregator() if isinstance(aggregator, type) else aggregator
    if not is_row_class(made):
        raise UsageError(f"{type(made).__name__} needs methods zero() and reduce(acc, row)")
    declared = returns if returns is not None else getattr(made, "outputType", None)
    if declared is None:
        raise UsageError(f"{type(made).__name__} has no outputType: give returns, such as 'double'")

    def columns(*names: str, **named: Column | str) -> Column:
        return _column(made, declared, names, named, streamed)

    columns.__name__ = type(made).__name__
    return columns


@shows_defaults
def fold_by_key(
    df: DataFrame,
    aggregator: object,
    *,
    key: str | Sequence[str],
    where: str,
    returns: str,
    partitions: int | None = None,
    budget: float = UNSET,
    policy: Policy = UNSET,
) -> DataFrame:
    """``aggregateByKey`` and a filter on its result, of which what is proved goes below it.

    >>> fold_by_key(  # doctest: +SKIP
    ...     df, Best, key="team", where="best > 90", returns="best double"
    ... )

    gives the columns of ``key`` and ``returns`` (DDL), as does

    >>> rows = df.rdd.map(lambda row: (row.team, row))  # doctest: +SKIP
    >>> merged = rows.aggregateByKey(Best().zero(), Best().reduce, Best().merge)  # doctest: +SKIP
    >>> merged.mapValues(Best().finish)  # and then filter(where)  # doctest: +SKIP

    ``aggregator`` is a class that needs no arguments, or an instance, with ``zero``, ``reduce``,
    ``merge`` and perhaps ``finish``, which gives a value, or a tuple or dict of several. A filter
    on other columns than keys goes below only if ``merge`` is proved to agree with ``reduce``. What
    is done, what it rests on and what was declined go to the logger ``presieve``. ``partitions``
    are those of the shuffle. ``budget``, seconds of search, and ``policy`` are as in ``optimize``.

    What was ``combineByKey(create, add, merge)`` is ``reduce`` with ``create(row)`` where the state
    is None; of ``foldByKey(zero, op)`` both ``reduce`` (on a column) and ``merge`` are ``op``. An
    RDD of rows is a DataFrame by ``rdd.toDF(schema)``.

    Raises :class:`presieve.PresieveError` for what is no classic DataFrame (Spark Connect has no
    RDDs), an aggregator without these methods, and names that are not there or not unique.
    """
    mine = given(budget=budget, policy=policy)
    made = aggregator() if isinstance(aggregator, type) else aggregator
    if not is_row_class(made) or not has_merge(made):
        name = type(made).__name__
        raise UsageError(f"{name} needs methods zero(), reduce(acc, row) and merge(a, b)")
    from presieve.backend.keyed import KeyedFold

    keys = (key,) if isinstance(key, str) else tuple(key)
    fold = KeyedFold.of(df, made, keys, returns)
    options = Options.of(mine, of_session(df.sparkSession))
    prefilter, residual = _filters(fold, where, options, switched_off(df) or fold.unread())
    return fold.run(prefilter, residual, partitions)


def _filters(fold: KeyedFold, where: str, options: Options, unread: str | None) -> tuple[str, str]:
    """What goes below the fold and what stays above it; ``unread`` says why nothing is read."""
    name = type(fold.aggregator).__name__
    if unread is not None:
        logger.info("fold_by_key, %s: left alone: %s", name, unread)
        return "true", where
    pushdown = keyed_pushdown(
        fold.aggregator,
        where,
        Request(fold.schema, fold.keys, fold.returns),
        options.budget,
        options.policy,
    )
    logger.info("fold_by_key, %s: %s", name, pushdown)
    prefilter = fold.scan_prefilter(pushdown.prefilter)
    if prefilter is None:
        logger.info("fold_by_key, %s: left alone: what is read is not known", name)
        return "true", where
    return prefilter, pushdown.residual


def _column(
    aggregator: object,
    returns: str | DataType,
    names: tuple[str, ...],
    named: dict[str, Column | str],
    streamed: bool,
) -> Column:
    from pyspark.sql.pandas.functions import arrow_udf
    from pyspark.sql.types import DataType
    from pyspark.util import PythonEvalType

    if not all(isinstance(n, str) for n in names):
        raise UsageError("columns that are not names are given by keyword: best(score=F.col('s'))")
    fields = (*names, *named)
    if not fields or len(set(fields)) != len(fields):
        raise UsageError(f"a fold needs columns, each once: {', '.join(fields) or 'none is given'}")
    parsed = DataType.fromDDL(returns) if isinstance(returns, str) else returns
    function = runner(aggregator, fields, _types(parsed), streamed)
    function.__name__ = type(aggregator).__name__
    make: Any = arrow_udf
    kind: int = PythonEvalType.SQL_GROUPED_AGG_ARROW_UDF
    if streamed:
        kind = PythonEvalType.SQL_GROUPED_AGG_ARROW_ITER_UDF
    with warnings.catch_warnings():
        # Spark would like annotations instead, in which the number of columns is not free.
        warnings.filterwarnings("ignore", "It is preferred to specify type hints")
        udf = make(function, parsed, kind)
    found: Column = udf(*names, *named.values())
    return found


def _types(returns: DataType) -> tuple[tuple[str, str], ...]:
    """Names and types of a struct's fields, or one type without a name."""
    from pyspark.sql.types import StructType

    if isinstance(returns, StructType):
        return tuple((f.name, f.dataType.simpleString()) for f in returns.fields)
    return (("", returns.simpleString()),)
