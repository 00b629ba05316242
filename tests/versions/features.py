"""What presieve does on the version of Spark that runs: a pipeline for each feature.

``python -m tests.versions.features FILE`` writes the answers as JSON.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeAlias

from tests.support.running import counted
from tests.versions import udfs

from presieve.driver.optimize import explain, optimize
from presieve.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from presieve.driver.options import Compile

SCHEMA = "team string, score double, v bigint, level string"
BEST = "team string, m double"
ROWS = [("a", 95.0, 3, "info"), ("a", 40.0, 7, None), ("b", 55.0, 12, "error"), ("c", 93.0, 5, "")]

WORKS = "works"
MISSING = "not in PySpark"
Answer: TypeAlias = str
"""``works``, ``not in PySpark``, or the code with which it is declined."""

Build: TypeAlias = "Callable[[DataFrame], DataFrame]"

COMPILED = ", compiled"
"""How the names of features end whose functions are to run as expressions of Spark."""


def _functions() -> Any:
    from pyspark.sql import functions

    return functions


def _column(make: Callable[[Any], Any]) -> Build:
    """A filter on the result of a scalar UDF."""
    return lambda df: df.withColumn("g", make(_functions())).filter("g = 'high'")


def _broadcast(df: DataFrame) -> DataFrame:
    limit = df.sparkSession.sparkContext.broadcast(90.0)
    call = _functions().udf(udfs.graded(limit), "string", useArrow=False)
    return df.withColumn("g", call("score")).filter("g = 'high'")


def _aggregate(column: str) -> Any:
    functions = _functions()
    kind = functions.PandasUDFType.GROUPED_AGG
    return functions.pandas_udf(udfs.best, "double", kind)(column)


def _arrow_aggregate(df: DataFrame) -> DataFrame:
    from pyspark.sql.pandas.functions import arrow_udf
    from pyspark.util import PythonEvalType

    make: Any = arrow_udf
    kind = PythonEvalType.SQL_GROUPED_AGG_ARROW_UDF
    call = make(udfs.best_of_array, "double", functionType=kind)
    return df.groupBy("team").agg(call("score").alias("m")).filter("m > 90")


def _aggregate_of_batches(df: DataFrame) -> DataFrame:
    from pyspark.util import PythonEvalType

    kind = PythonEvalType.SQL_GROUPED_AGG_PANDAS_ITER_UDF
    call = _functions().pandas_udf(udfs.best_of_batches, "double", kind)
    return df.groupBy("team").agg(call("score").alias("m")).filter("m > 90")


def _class(df: DataFrame) -> DataFrame:
    from presieve.spark import group_fold

    call = group_fold(udfs.Best, "double")
    return df.groupBy("team").agg(call("score").alias("m")).filter("m > 90")


def _table_function(df: DataFrame) -> DataFrame:
    call = _functions().udtf(udfs.BestRow, returnType="m double", useArrow=True)
    partitioned: Any = df
    found: DataFrame = call.asDeterministic()(partitioned.asTable().partitionBy("team"))
    return found.filter("m > 90")


def _grouped(df: DataFrame, call: Any) -> DataFrame:
    return df.groupBy("team").agg(call.alias("m")).filter("m > 90")


def _definition(df: DataFrame) -> DataFrame:
    df.createOrReplaceTempView("scores")
    return df.sparkSession.sql(
        "WITH best AS (SELECT team, max(score) AS m FROM scores GROUP BY team) "
        "SELECT a.team FROM best a JOIN best b ON a.team = b.team WHERE a.m > 90 AND b.m > 90"
    )


FEATURES: Mapping[str, Build] = {
    "`applyInPandas`, one row for a group": lambda df: (
        df.groupBy("team")
        .applyInPandas(udfs.best_of_table, "team string, m double")
        .filter("m > 90")
    ),
    "`applyInPandas`, the group's rows": lambda df: (
        df.groupBy("team").applyInPandas(udfs.doubled, SCHEMA).filter("score > 180")
    ),
    "`applyInPandas`, only columns read": lambda df: df.groupBy("team").applyInPandas(
        udfs.median, "team string, m double"
    ),
    "`applyInArrow`": lambda df: (
        df.groupBy("team").applyInArrow(udfs.best_of_arrow, "m double").filter("m > 90")
    ),
    "grouped-aggregate `pandas_udf`": lambda df: _grouped(
        df,
        _functions().pandas_udf(udfs.best, "double", _functions().PandasUDFType.GROUPED_AGG)(
            "score"
        ),
    ),
    "grouped-aggregate `pandas_udf` of batches": _aggregate_of_batches,
    "grouped-aggregate `arrow_udf`": _arrow_aggregate,
    "class with `zero`, `reduce`, `finish`": _class,
    "scalar UDF": _column(lambda f: f.udf(udfs.grade, "string", useArrow=False)("score")),
    "scalar UDF with Arrow": _column(lambda f: f.udf(udfs.grade, "string", useArrow=True)("score")),
    "scalar UDF in a filter": lambda df: df.filter(
        _functions().udf(udfs.grade, "string", useArrow=False)("score") == "high"
    ),
    "scalar UDF, understood in part": lambda df: df.withColumn(
        "g", _functions().udf(udfs.cleaned, "string", useArrow=False)("level")
    ).filter("g = 'Info'"),
    "scalar UDF with a broadcast variable": _broadcast,
    "scalar `pandas_udf`": lambda df: df.withColumn(
        "g",
        _functions().pandas_udf(udfs.scaled, "double", _functions().PandasUDFType.SCALAR)("score"),
    ).filter("g > 180"),
    "`mapInPandas`": lambda df: df.mapInPandas(udfs.of_batches, SCHEMA).filter("score > 180"),
    "`mapInArrow`": lambda df: df.mapInArrow(udfs.of_arrow_batches, SCHEMA).filter("score > 90"),
    "`cogroup`, filter on the key": lambda df: (
        df.groupBy("team")
        .cogroup(df.selectExpr("team AS club", "v AS w").groupBy("club"))
        .applyInPandas(udfs.of_both, "team string, w bigint")
        .filter("team > 'a'")
    ),
    "table function with `PARTITION BY`": _table_function,
    "Spark's own aggregates": lambda df: _grouped(df, _functions().max("score")),
    "sums of integers": lambda df: (
        df.groupBy("team").agg(_functions().sum("v").alias("m")).filter("m > 8 AND team > 'a'")
    ),
    "folds of `collect_list`": lambda df: _grouped(
        df, _functions().expr("aggregate(collect_list(score), 0D, (a, x) -> greatest(a, x))")
    ),
    "definitions (`WITH`)": _definition,
    f"scalar UDF{COMPILED}": lambda df: df.withColumn(
        "g", _functions().udf(udfs.grade, "string", useArrow=False)("score")
    ),
    f"`mapInPandas`{COMPILED}": lambda df: df.select("score").mapInPandas(
        udfs.of_batches, "score double"
    ),
    f"grouped-aggregate `pandas_udf`{COMPILED}": lambda df: df.groupBy("team").agg(
        _functions()
        .pandas_udf(udfs.sized, "bigint", _functions().PandasUDFType.GROUPED_AGG)("score")
        .alias("m")
    ),
}


def answer(table: DataFrame, name: str, build: Build) -> Answer:
    """What becomes of it. Rows of what is rewritten are compared with those as written."""
    compile: Compile = "always" if name.endswith(COMPILED) else "never"
    try:
        df = build(table)
    except (ImportError, AttributeError, UsageError):
        return MISSING
    better = optimize(df, cost="always", policy="assume", compile=compile)
    if better is not df:
        assert counted(better) == counted(df)
        return WORKS
    report = explain(df, cost="always", policy="assume", compile=compile)
    found = [d for b in report.boundaries for d in b.declined]
    found += [f.declined[0] for f in report.functions if f.declined]
    kept = [n.text for f in report.functions for n in f.notes if n.subject == "compiling"]
    codes = [d.code for d in found] + re.findall(r"\[([a-z-]+)\]", "".join(kept))
    return f"`{codes[0]}`" if codes else "no boundary"


def answers(spark: SparkSession, folder: Path) -> dict[str, Answer]:
    """Those for all features."""
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(udfs)  # type: ignore[no-untyped-call]
    path = str(folder / "scores")
    spark.createDataFrame(ROWS, SCHEMA).coalesce(1).write.parquet(path)
    table = spark.read.parquet(path)
    key = "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning"
    before = spark.conf.get(key)
    spark.conf.set(key, "true")
    found = {name: answer(table, name, build) for name, build in FEATURES.items()}
    spark.conf.set(key, str(before))
    return found


def main(out: Path) -> None:
    """In a session of its own."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.sql.session.timeZone", "UTC").getOrCreate()
    with TemporaryDirectory() as folder:
        found = answers(spark, Path(folder))
    java = str(spark._jvm.System.getProperty("java.version"))  # type: ignore[union-attr]
    python = ".".join(map(str, sys.version_info[:3]))
    answered = {"spark": spark.version, "java": java, "python": python, "features": found}
    out.write_text(json.dumps(answered, indent=1) + "\n", encoding="utf-8")
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
