"""End-of-day report on the tape: block trades, spikes, and stale quotes.

Usage: market.py TAPE_DIR REPORT_DIR [MIN_BLOCK]
TAPE_DIR is filled with a synthetic tape when it does not exist.
"""

import math
import os
import random
import sys
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pandas as pd
from pyspark.sql import SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.functions import col, lit, pandas_udf, row_number, udf
from pyspark.sql.types import (
    DoubleType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
)

TICK = StructType(
    [
        StructField("symbol", StringType()),
        StructField("venue", StringType()),
        StructField("ts", TimestampNTZType()),
        StructField("price", DoubleType()),
        StructField("qty", LongType()),
        StructField("side", StringType()),
    ]
)


class Block:
    """The biggest single print of a symbol on a venue, in money."""

    schema = "symbol string, venue string, notional double, side string"

    @staticmethod
    def find(pdf):
        size = 0.0
        side = None
        for notional, s in zip(pdf["notional"], pdf["side"]):
            if notional > size:
                size = notional
                side = s
        return pd.DataFrame(
            {
                "symbol": [pdf["symbol"].iloc[0]],
                "venue": [pdf["venue"].iloc[0]],
                "notional": [size],
                "side": [side],
            }
        )


@pandas_udf(DoubleType())
def high(price: pd.Series) -> float:
    top = 0.0
    for p in price:
        if p > top:
            top = p
    return top


@udf(StringType())
def bucket(qty):
    if qty is None:
        return "unknown"
    if qty >= 10_000:
        return "block"
    if qty >= 500:
        return "round"
    return "odd"


@dataclass
class Report:
    spark: SparkSession
    tape_dir: str
    out_dir: str
    min_block: int = 100_000
    written: list = field(default_factory=list)

    def tape(self):
        if not os.path.isdir(self.tape_dir):
            self._make_tape()
        return self.spark.read.parquet(self.tape_dir)

    def run(self):
        self.save("blocks", self.blocks())
        self.save("spikes", self.spikes())
        self.save("by_bucket", self.by_bucket())
        self.save("busy", self.busy())
        self.save("last_prints", self.last_prints())
        return self

    def blocks(self):
        priced = self.tape().withColumn("notional", col("price") * col("qty"))
        grouped = priced.groupBy("symbol", "venue")
        found = grouped.applyInPandas(Block.find, schema=Block.schema)
        return found.filter(col("notional") >= self.min_block).withColumn("flag", lit("BLOCK"))

    def spikes(self):
        highs = self.tape().groupBy("symbol").agg(high("price").alias("high"))
        return highs.filter((col("high") > 180.0) & col("symbol").isNotNull())

    def by_bucket(self):
        sized = self.tape().withColumn("bucket", bucket("qty"))
        return sized.filter(col("bucket") == "block").select("symbol", "ts", "qty", "bucket")

    def busy(self):
        return (
            self.tape()
            .groupBy("venue", "symbol")
            .agg(F.max("qty").alias("most"))
            .filter("most > 9000 AND venue <> 'DARK'")
        )

    def last_prints(self):
        """Nothing in it that anybody could improve."""
        order = Window.partitionBy("symbol").orderBy(col("ts").desc(), col("venue"))
        ranked = self.tape().withColumn("n", row_number().over(order))
        return ranked.filter("n <= 2").drop("n")

    def save(self, name, df):
        path = os.path.join(self.out_dir, name)
        df.write.mode("overwrite").parquet(path)
        self.written.append((name, self.spark.read.parquet(path).count()))

    def _make_tape(self, seed=5):
        rng = random.Random(seed)
        open_ = datetime(2026, 3, 2, 9, 30)
        rows = []
        for symbol in ["AAA", "BBB", "CCC", "DDD", "EEE", "FFF", None]:
            price = rng.uniform(50, 150)
            for i in range(250):
                price = abs(price + rng.gauss(0, 3.0))
                rows.append(
                    (
                        symbol,
                        rng.choice(["XNYS", "XNAS", "DARK", None]),
                        open_ + timedelta(seconds=17 * i + rng.randrange(9)),
                        rng.choice([price, price, price, math.nan, None]),
                        rng.choice([None, rng.randrange(1, 900), int(rng.paretovariate(0.9) * 40)]),
                        rng.choice("BS"),
                    )
                )
        ticks = self.spark.createDataFrame(rows, TICK)
        ticks.repartition(2, "symbol").write.parquet(self.tape_dir)


def main(argv):
    if len(argv) not in (3, 4):
        print(__doc__, file=sys.stderr)
        return 64
    spark = SparkSession.builder.appName("eod-report").getOrCreate()
    options = {"min_block": int(argv[3])} if len(argv) == 4 else {}
    report = Report(spark, argv[1], argv[2], **options).run()
    for name, rows in report.written:
        print(f"{name:<12} {rows:>6}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
