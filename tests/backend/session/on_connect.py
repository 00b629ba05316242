"""An enabled session of Spark Connect, in a process of its own: one process has one mode."""

from __future__ import annotations

import os
import sys

import presieve


def main() -> None:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    spark = (
        SparkSession.builder.remote("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    df = spark.range(1000).selectExpr("id % 10 AS k", "id").groupBy("k").agg({"id": "max"})
    df = df.filter("`max(id)` > 993")
    owner = type(df)
    before = dict(vars(owner))
    assert owner.__module__ == "pyspark.sql.connect.dataframe"
    expected = sorted(df.collect())
    with presieve.enabled(spark):
        assert vars(owner)["collect"] is not before["collect"]
        assert sorted(df.collect()) == expected
        assert df.count() == len(expected) == 6
        assert len(df.toPandas()) == len(df.take(10)) == 6
        df.write.format("noop").mode("overwrite").save()
        df.explain()
    assert all(vars(owner)[name] is before[name] for name in before)
    assert sorted(df.collect()) == expected
    print("equal")
    spark.stop()


if __name__ == "__main__":
    main()
