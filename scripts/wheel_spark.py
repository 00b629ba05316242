# SPDX-License-Identifier: Apache-2.0
"""What ``scripts/wheel.sh`` runs on Spark, in an environment of its own: a tiny job."""

import sys

import pandas as pd
from pyspark.sql import SparkSession

import presieve


def best(pdf):
    top = None
    for row in pdf.itertuples(index=False):
        if top is None or row.score > top:
            top = row.score
    return pd.DataFrame({"team": [pdf["team"].iloc[0]], "best": [top]})


def main():
    spark = (
        SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    )
    rows = [("a", 95.0), ("a", 12.0), ("b", 50.0), ("c", 99.0)]
    scores = spark.createDataFrame(rows, "team string, score double")
    df = scores.groupBy("team").applyInPandas(best, "team string, best double")
    df = df.filter("best >= 90")
    if sys.argv[1:] == ["--direct"]:
        fast = presieve.optimize(df, budget=120.0)
        same = sorted(df.collect()) == sorted(fast.collect())
        print("equal," if same else "DIFFERENT,", "pushed" if fast is not df else "left alone")
    else:
        print(df.count())
    spark.stop()


if __name__ == "__main__":
    main()
