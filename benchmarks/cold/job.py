"""Untrusted. One job: ``python -m benchmarks.cold.job PIPELINE FOLDER written|optimized``."""

from __future__ import annotations

import sys

from benchmarks.cold.pipelines import PIPELINES


def main(name: str, folder: str, form: str) -> None:
    """Run a pipeline once, and write its rows nowhere."""
    from pyspark.sql import SparkSession

    builder = SparkSession.Builder().master("local[2]").config("spark.ui.enabled", "false")
    for key in ("spark.sql.shuffle.partitions", "spark.default.parallelism"):
        builder = builder.config(key, "2")
    spark = builder.config("spark.driver.memory", "1g").getOrCreate()
    df = PIPELINES[name](spark, folder)
    if form == "optimized":
        import presieve

        df = presieve.optimize(df)
    df.write.format("noop").mode("overwrite").save()
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
