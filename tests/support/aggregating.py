"""Running functions of groups as written and as aggregates of Spark's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from tests.support.group_functions import udaf

from presieve.driver.optimize import optimize_and_report
from presieve.driver.options import Options

if TYPE_CHECKING:
    import pytest
    from pyspark.sql import DataFrame, SparkSession

RAISES = "raises"


class Saved:
    """Tables as Parquet, of one file each."""

    def __init__(self, spark: SparkSession, directories: pytest.TempPathFactory) -> None:
        self.spark, self.directories = spark, directories

    def __call__(self, given: Sequence[tuple[Any, ...]], schema: str) -> DataFrame:
        path = str(self.directories.mktemp("rows") / "t")
        self.spark.createDataFrame(given, schema).coalesce(1).write.parquet(path)
        return self.spark.read.parquet(path)


def grouped(df: DataFrame, of: Callable[..., Any], type_: str, column: str) -> DataFrame:
    """A grouped-aggregate pandas UDF of a column."""
    return df.groupBy("k").agg(udaf(of, type_)(column).alias("m"))


def better(df: DataFrame, **options: Any) -> DataFrame:
    """As in an enabled session, where what is optimized is what runs."""
    chosen: dict[str, Any] = {"compile": "always", "cost": "always", **options}
    return optimize_and_report(df, Options(**chosen), at_once=True)[0]


def python_left(df: DataFrame) -> bool:
    """Whether Python functions are in the plan that Spark runs."""
    plan = str(df._jdf.queryExecution().sparkPlan())
    return any(word in plan for word in ("Python", "Pandas", "InArrow"))


def rows(df: DataFrame) -> list[str] | str:
    """What comes out, sorted."""
    try:
        return sorted(map(repr, df.collect()))
    except (PySparkException, Py4JJavaError):
        return RAISES


def check(out: DataFrame, **options: Any) -> DataFrame:
    """The same rows and schema without Python."""
    made = better(out, **options)
    assert python_left(out)
    assert not python_left(made), made._jdf.queryExecution().sparkPlan()
    assert made.schema == out.schema
    assert made.columns == out.columns
    assert rows(made) == rows(out) != RAISES
    return made
