# SPDX-License-Identifier: Apache-2.0
"""What `optimize` takes on plans of about 200 operators without anything to gain, in milliseconds.

    JAVA_HOME="$(scripts/java-home.sh)" .venv/bin/python scripts/large_plans.py [RUNS]

Classic session, warm: the plan is built and analyzed, and looked at 30 times before the RUNS that
count. Wall clock; the medians say something on a machine that does nothing else.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Iterable, Iterator
from functools import reduce
from pathlib import Path
from tempfile import TemporaryDirectory

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

import presieve

WARM = 30


def chain(df: DataFrame, operators: int) -> DataFrame:
    """By turns a column and a filter."""
    for i in range(operators // 2):
        df = df.withColumn("v", sf.col("v") + 1).filter(f"v > {i}")
    return df


def wide(df: DataFrame, operators: int) -> DataFrame:
    """The same with new columns, so that each operator is wider than the one below."""
    for i in range(operators // 2):
        df = df.withColumn(f"c{i}", sf.col("v") + i).filter(f"c{i} > {i}")
    return df


def columns(df: DataFrame, operators: int) -> DataFrame:
    """New columns only."""
    return reduce(lambda d, i: d.withColumn(f"c{i}", sf.col("v") + i), range(operators), df)


def of_files(spark: SparkSession, directory: Path) -> Iterator[tuple[str, DataFrame]]:
    """The same of Parquet, where filters compute something."""
    path = str(directory / "large_plans.parquet")
    spark.range(1000).selectExpr("id AS v", "id % 10 AS w").write.parquet(path)
    t = spark.read.parquet(path)
    two = (f"abs(v + {i + 3} * w) > {i - 10}" for i in range(199))
    yield "filters on two columns of files", reduce(DataFrame.filter, two, t)
    yield "195 columns above files", columns(t, 195).filter("c3 > -3")
    yield "wide, above files", wide(t.filter("v >= 0"), 196).filter("w >= 0")


def plans(spark: SparkSession) -> Iterator[tuple[str, DataFrame]]:
    """What it is, and a DataFrame that `optimize` gives back as it is."""
    rows = [("a", 1.0, 1), ("b", 95.0, 2), (None, None, 3)]
    t = spark.createDataFrame(rows, "team string, score double, v bigint")
    mean = t.groupBy("team").agg(sf.avg("score").alias("m"))
    best = t.groupBy("team").agg(sf.max("v").alias("v"))
    middle = sf.pandas_udf(lambda s: s.skew(), "double", sf.PandasUDFType.GROUPED_AGG)
    typical = t.groupBy("team").agg(middle("score").alias("m"), sf.first("v").alias("v"))
    double = sf.udf(lambda x: x * 2, "double")

    def joined(other: DataFrame, times: int) -> DataFrame:
        step = (other.withColumnRenamed(other.columns[1], f"m{i}") for i in range(times))
        return reduce(lambda d, o: d.join(o, "team").filter("v > 1"), step, t)

    yield "columns and filters", chain(t, 200)
    yield (
        "a filter on a mean above them",
        chain(t, 198).groupBy("team").avg("v").filter("`avg(v)` > 3"),
    )
    yield (
        "above a mean and a filter on it",
        chain(mean.filter("m > 1").withColumn("v", sf.lit(1)), 196),
    )
    yield "above a count", chain(t.groupBy("team").agg(sf.count("*").alias("v")), 198)
    yield "above a maximum", chain(best, 198)
    yield "above a sum", chain(t.groupBy("team").agg(sf.sum("v").alias("v")), 198)
    yield "above a Python skewness", chain(typical, 198)
    yield (
        "below a Python skewness and a filter",
        chain(t, 197).groupBy("team").agg(middle("score").alias("m")).filter("m > 3"),
    )
    yield (
        "40 means in a union",
        reduce(lambda d, i: d.union(mean.filter(f"m > {i}")), range(40), mean).filter("team = 'x'"),
    )
    yield "33 joins with means", joined(mean, 33)
    yield "33 joins with counts", joined(t.groupBy("team").count(), 33)
    yield "wide, above a maximum", wide(best, 198)
    yield "wide, above a Python skewness", wide(typical, 198)
    yield (
        "195 columns above a Python function",
        columns(t.withColumn("d", double("score")), 195).filter("c3 > 3"),
    )


def taken(df: DataFrame, runs: int) -> list[float]:
    """Milliseconds of each run."""
    found = []
    for number in range(WARM + runs):
        started = time.perf_counter()
        assert presieve.optimize(df) is df
        if number >= WARM:
            found.append(1000 * (time.perf_counter() - started))
    return found


def main() -> None:
    """Print them all."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.log.level", "ERROR").getOrCreate()
    with TemporaryDirectory() as directory:
        measure((*plans(spark), *of_files(spark, Path(directory))), runs)


def measure(found: Iterable[tuple[str, DataFrame]], runs: int) -> None:
    """A line for each plan."""
    for name, df in found:
        df._jdf.queryExecution().optimizedPlan()  # a DataFrame keeps it, and needs it to run
        operators = len(json.loads(df._jdf.queryExecution().analyzed().toJSON()))
        times = taken(df, runs)
        middle, least = statistics.median(times), min(times)
        print(
            f"{middle:6.1f} ms, at least {least:6.1f}: {name} ({operators} operators)", flush=True
        )


if __name__ == "__main__":
    main()
