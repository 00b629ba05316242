"""Orders of good customers: three functions one after another, one beside them, a join, a view."""

import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("orders").getOrCreate()


@F.udf("string")
def clean(code: str | None) -> str | None:
    return None if code is None else code.strip().capitalize()


@F.udf("double")
def with_tax(amount: float | None) -> float | None:
    return None if amount is None else amount * 1.19


@F.udf("string")
def level(gross: float | None, code: str | None) -> str:
    if gross is None or code is None:
        return "none"
    if gross > 100.0 and code.startswith("A"):
        return "high"
    return "low"


@F.udf("boolean")
def rewarded(name: str | None, gross: float | None) -> bool:
    return gross is not None and name == "high" and gross >= 293.0


@F.udf("string")
def initials(name: str | None) -> str | None:
    return None if name is None else name[:2].title()


def main(folder: str) -> None:
    orders = [
        (i, f"c{i % 7}", [" a1", "A2 ", "b1", None][i % 4], None if i % 11 == 0 else i * 3.0)
        for i in range(400)
    ]
    customers = [(f"c{i}", f"Name {i}", "DE" if i % 2 else "FR") for i in range(7)]
    spark.createDataFrame(
        orders, "id bigint, customer string, code string, amount double"
    ).write.parquet(f"{folder}/orders")
    spark.createDataFrame(customers, "customer string, name string, country string").write.parquet(
        f"{folder}/customers"
    )
    graded = (
        spark.read.parquet(f"{folder}/orders")
        .withColumn("code", clean("code"))
        .withColumn("gross", with_tax("amount"))
        .withColumn("level", level("gross", "code"))
        .withColumn("rewarded", rewarded("level", "gross"))
    )
    people = spark.read.parquet(f"{folder}/customers").withColumn("sign", initials("name"))
    graded.join(people, "customer").createOrReplaceTempView("graded")
    best = spark.sql(
        "SELECT id, customer, sign, level, gross FROM graded WHERE rewarded AND country = 'DE'"
    )
    best.write.parquet(f"{folder}/best")
    print(spark.read.parquet(f"{folder}/best").filter("gross > 400").count())
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
