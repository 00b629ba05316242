# SPDX-License-Identifier: Apache-2.0
"""An archive of the classes that Spark loads: from it a JVM of the tests starts in half the time.

    python scripts/spark_archive.py FILE

The JVM writes it when a small session ends. A JVM of another version or class path leaves it alone.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator

import pandas as pd

JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def main(target: str) -> None:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_SUBMIT_OPTS"] = f"{JVM} -XX:ArchiveClassesAtExit={target} -Xlog:cds=off"
    from pyspark.sql import SparkSession
    from pyspark.sql.functions import col, max_by, udf
    from pyspark.sql.window import Window

    def largest(pdf: pd.DataFrame) -> pd.DataFrame:
        return pd.DataFrame({"k": [pdf.k.iloc[0]], "m": [pdf.id.max()]})

    def same(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        yield from batches

    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    with tempfile.TemporaryDirectory() as folder:
        for form in ("parquet", "json"):
            path = f"{folder}/{form}"
            spark.range(9).selectExpr("id", "id % 3 AS k", "'a' AS t").write.save(path, form)
            table = spark.read.schema("id bigint, k bigint, t string").load(path, form)
            table.createOrReplaceTempView("t")
            groups = table.groupBy("k").applyInPandas(largest, "k bigint, m bigint")
            for df in (
                groups.filter("m > 3"),
                groups.join(table, "k").filter("m > 3 AND t = 'a'"),
                table.mapInPandas(same, table.schema).filter("id > 1"),
                table.withColumn("u", udf(str.upper)("t")).filter("u = 'A'"),
                table.withColumn("r", max_by("id", "t").over(Window.partitionBy("k"))),
                table.groupBy("k").count().filter(col("count") > 2).orderBy("k").limit(3),
                spark.sql(
                    "SELECT k, max(id) m FROM t GROUP BY k HAVING m > 1 UNION SELECT id, k FROM t"
                ),
            ):
                df.collect()
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
