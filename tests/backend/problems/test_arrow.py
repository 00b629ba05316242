"""Aggregate functions of Arrow arrays and of batches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.support import arrow_udfs
from tests.support.games.tables import Tables
from tests.support.pickling import pickled_by_value
from tests.support.running import rewritten, safe, same_rows, untouched

import presieve
from presieve.driver.optimize import optimize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


by_value_too = pickled_by_value(arrow_udfs)


AGG, AGG_ITER = 252, 254
PANDAS_ITER = 217


def out(df: DataFrame, name: str, returns: str, *columns: str, kind: int = AGG) -> DataFrame:
    """``GROUP BY team`` with a function of the given evaluation type as column ``o``."""
    from pyspark.sql.pandas.functions import arrow_udf, pandas_udf

    make: Any = pandas_udf if kind == PANDAS_ITER else arrow_udf
    function = make(getattr(arrow_udfs, name), returns, functionType=kind)
    return df.groupBy("team").agg(function(*columns).alias("o"))


@pytest.mark.parametrize(
    ("name", "returns", "column", "where", "prefilter"),
    [
        ("highest", "double", "score", "o > 90", "score > 90.0D"),
        ("best_loop", "double", "score", "o > 90", "score > 90.0D"),
        ("count_high", "bigint", "v", "o >= 1", "v > 10"),
        ("errors", "bigint", "level", "o >= 1", "level = 'error'"),
        ("errors", "int", "level", "o >= 1", "level = 'error'"),
        ("missing", "bigint", "score", "o = 2", "score IS NULL"),
    ],
)
def test_arrays(
    tables: Tables, name: str, returns: str, column: str, where: str, prefilter: str
) -> None:
    boundary = rewritten(out(tables.strange, name, returns, column).filter(where))
    assert boundary.function == name
    assert boundary.prefilter in (prefilter, f"{prefilter} AND NOT isnan(score)")
    assert boundary.pushed_to_scan


@pytest.mark.parametrize(
    ("name", "kind", "columns", "where", "prefilter"),
    [
        ("best_of_batches", AGG_ITER, ("score",), "o > 90", "score > 90.0D"),
        ("errors_of_batches", AGG_ITER, ("level", "v"), "o >= 1", "v < 5 AND level = 'error'"),
        ("best_of_series", PANDAS_ITER, ("score",), "o > 90", "score > 90.0D"),
    ],
)
def test_batches(
    tables: Tables, name: str, kind: int, columns: tuple[str, ...], where: str, prefilter: str
) -> None:
    """Batches of one row each, and all rows in one."""
    returns = "bigint" if name == "errors_of_batches" else "double"
    spark = tables.plain.sparkSession
    safe(out(tables.empty, name, returns, *columns, kind=kind).filter(where))
    df = out(tables.strange, name, returns, *columns, kind=kind).filter(where)
    boundary = rewritten(df)
    assert boundary.prefilter in (prefilter, f"{prefilter} AND NOT isnan(score)")
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "1")
    try:
        same_rows(df, optimize(df))
    finally:
        spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")


def test_a_group_without_hits_stays(tables: Tables) -> None:
    """Groups without errors pass the filter, so that no row may go."""
    df = out(tables.strange, "errors", "bigint", "level").filter("o <= 5")
    assert untouched(df).prefilter == "true"


def test_a_wrong_prefilter_is_refuted() -> None:
    """Dropping what is not above 90 loses groups that reach it exactly."""
    verdict = presieve.verify(
        _arrow("highest"),
        "o >= 90",
        schema="score double",
        returns="o double",
        prefilter="score > 90",
    )
    assert verdict.status == "refuted"
    assert verdict.counterexample is not None
    scores: list[Any] = [r["score"] for r in verdict.counterexample.rows]
    kept = [x for x in scores if x is not None and x > 90]
    assert _highest(scores) >= 90
    assert not kept or _highest(kept) != _highest(scores)


def _highest(scores: list[Any]) -> Any:
    import pyarrow as pa

    function: Any = arrow_udfs.highest
    return function(pa.array(scores, pa.float64())).as_py()


def _arrow(name: str) -> Any:
    from pyspark.sql.pandas.functions import arrow_udf
    from pyspark.sql.types import DoubleType

    make: Any = arrow_udf
    return make(getattr(arrow_udfs, name), DoubleType(), functionType=AGG)


@pytest.mark.parametrize(
    ("name", "kind", "code"),
    [("mean", AGG, "not-a-fold"), ("batches_of", AGG_ITER, "")],
)
def test_declined(tables: Tables, name: str, kind: int, code: str) -> None:
    df = out(tables.plain, name, "double", "score", kind=kind).filter("o > 1")
    (why,) = untouched(df).declined
    assert why.code == code or not code
    assert why.reason
