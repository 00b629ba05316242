"""A pipeline as written and as optimized must give the same rows, whether that pays or not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from typing import TYPE_CHECKING

from tests.support.amount import is_thorough
from tests.support.scans import reads_no_more, run
from tests.support.statements import check, check_reported

from presieve.driver.optimize import explain, optimize, optimize_and_report, read_settings
from presieve.driver.options import Cost, Options, collect_given, of_session
from presieve.driver.solve import Policy
from presieve.report.report import Report
from presieve.report.report_data import BoundaryReport

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession


SORTED = ("Window", "GlobalLimit")
"""Operators that boundaries may stand on or below."""


def optimized_with_report(
    df: DataFrame, *, cost: Cost = "always", policy: Policy = "default"
) -> tuple[DataFrame, Report]:
    """What :func:`optimize` gives and :func:`explain` tells. Each is called with ``--thorough``;
    else one call that gives both takes half the time.
    """
    if is_thorough():
        return optimize(df, cost=cost, policy=policy), explain(df, cost=cost, policy=policy)
    settings = read_settings(df.sparkSession)
    options = Options.of(collect_given(cost=cost, policy=policy), of_session(settings))
    better, data = optimize_and_report(df, options, for_report=True, settings=settings)
    check(df, better, data)
    return better, Report(data)


def rewritten(df: DataFrame, *, policy: Policy = "default") -> BoundaryReport:
    """The report of the one boundary, after the rewritten pipeline gave the same rows. Where its
    pre-filter meets a window further below is not of interest.
    """
    better, report = optimized_with_report(df, policy=policy)
    assert better is not df, report
    same_rows(df, better)
    (boundary,) = [b for b in report.boundaries if b.operator not in SORTED]
    assert boundary.kind != "none"
    return boundary


def rewritings(df: DataFrame) -> tuple[BoundaryReport, BoundaryReport]:
    """The reports by default, and where what is not known is assumed. The rows are the same."""
    return rewritten(df), rewritten(df, policy="assume")


def untouched(df: DataFrame, *, policy: Policy = "default") -> BoundaryReport:
    """The report of the one boundary, past which nothing moved: the very same DataFrame came back,
    or one whose functions of tables are handed fewer columns.
    """
    better, report = optimized_with_report(df, policy=policy)
    if any(f.pruned for f in report.functions):
        same_rows(df, better)
    else:
        _compare_compiled(df)
        assert better is df
    (boundary,) = report.boundaries
    assert boundary.kind == "none"
    return boundary


def code(df: DataFrame) -> str:
    """Why the one boundary of a DataFrame is left as it is."""
    return untouched(df).declined[0].code


def plan_text(df: DataFrame) -> str:
    """What Spark says of a plan, before and after it is optimized, and of how it is run."""
    said = StringIO()
    with redirect_stdout(said):
        df.explain(extended=True)
    return said.getvalue()


def is_connect(df: DataFrame) -> bool:
    """Whether the DataFrame is one of Spark Connect."""
    return type(df).__module__.startswith("pyspark.sql.connect.")


def by_footers(df: DataFrame, kind: str) -> str:
    """The kind of a pushdown that removes the filter only because of what footers of files show.
    On Spark Connect they are not read, and the filter stays above.
    """
    return "partial" if is_connect(df) else kind


@contextmanager
def handing_filters(spark: SparkSession) -> Iterator[None]:
    """Python data sources are handed filters, as they are not by default."""
    key = "spark.sql.python.filterPushdown.enabled"
    before = spark.conf.get(key)
    spark.conf.set(key, "true")
    try:
        yield
    finally:
        spark.conf.set(key, before or "false")


@contextmanager
def named(df: DataFrame, name: str) -> Iterator[None]:
    """The rows under a name for queries in SQL text: a view. On Spark Connect a table, since of a
    view's source the client is not told.
    """
    if not is_connect(df):
        df.createOrReplaceTempView(name)
        yield
        return
    df.write.saveAsTable(name, format="parquet", mode="overwrite")
    try:
        yield
    finally:
        df.sparkSession.sql(f"DROP TABLE {name}")


def settled(better: DataFrame, *, cost: Cost = "auto", policy: Policy = "default") -> None:
    """What is optimized already stays the very same DataFrame. On Spark Connect it may get a filter
    that is used up, and stays as true, or one that is there already: Spark drops them.
    """
    again = optimize(better, cost=cost, policy=policy)
    if again is not better:
        assert is_connect(better)
        assert optimized_plan(again) == optimized_plan(better)
        same_rows(better, again)


def optimized_plan(df: DataFrame) -> str:
    """Spark's optimized plan, without the numbers of columns."""
    _, _, rest = plan_text(df).partition("== Optimized Logical Plan ==")
    plan, found, _ = rest.partition("== Physical Plan ==")
    assert found
    return re.sub(r"#\d+", "", plan)


def safe(df: DataFrame, *, policy: Policy = "default") -> DataFrame:
    """Rewritten or not, the rows are the same."""
    better = optimize(df, cost="always", policy=policy)
    if better is not df:
        same_rows(df, better)
    else:
        _compare_compiled(df)
    return better


def same_rows(df: DataFrame, *others: DataFrame) -> int:
    """The same schema, and the same rows in some order; zeros are equal, whatever their signs. Nor
    do the others read more rows of a source. How many rows there are.
    """
    written = run(df)
    expected = _counted(written.rows)
    for other in (*others, *([compiled(df)] if _compiled else [])):
        assert other.schema == df.schema
        check_reported(other)
        if other is not df:
            optimized = run(other)
            assert _counted(optimized.rows) == expected
            reads_no_more(written, optimized)
    return len(written.rows)


_compiled = False


def compare_compiled(asked: bool) -> None:
    """Called once: whether the rows of every pipeline are compared with those of its functions as
    expressions and aggregates of Spark.
    """
    global _compiled
    _compiled = asked


def _compare_compiled(df: DataFrame) -> None:
    """Nothing else changes it, and it may raise as it is."""
    if not _compiled:
        return
    from pyspark.errors import PySparkException

    try:
        df.collect()
    except PySparkException:
        return
    same_rows(df)


def compiled(df: DataFrame) -> DataFrame:
    """With functions as expressions and aggregates of Spark, and filters pushed."""
    return optimize(df, cost="always", compile="always")


def safe_each(df: DataFrame, filters: Sequence[str]) -> None:
    """:func:`safe` with each filter by itself. As written, all of them are computed in one job."""
    rows = df.selectExpr("*", *(f"({where}) <=> true" for where in filters)).collect()
    for place, where in enumerate(filters, len(df.columns)):
        filtered = df.filter(where)
        better = optimize(filtered, cost="always")
        if better is not filtered:
            assert better.schema == df.schema
            kept = Counter(tuple(map(_text, row[: len(df.columns)])) for row in rows if row[place])
            assert counted(better) == kept, where


def counted(df: DataFrame) -> Counter[tuple[str, ...]]:
    """The rows with their multiplicities."""
    return _counted(df.collect())


def _counted(rows: Iterable[Row]) -> Counter[tuple[str, ...]]:
    return Counter(tuple(map(_text, row)) for row in rows)


def _text(value: object) -> str:
    match value:
        case float():
            return repr(value + 0.0)  # -0.0 + 0.0 is 0.0
        case list() | tuple():
            return repr([_text(v) for v in value])
        case dict():
            return repr(sorted((_text(k), _text(v)) for k, v in value.items()))
    return repr(value)
