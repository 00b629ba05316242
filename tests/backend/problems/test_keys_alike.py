"""Groups whose rows have different keys, which Spark takes for one: zeros of both signs, and texts
that a collation takes for one. The function is handed the key of the first row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.support.running import counted, untouched
from tests.support.spark_version import RUNNING

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession


def with_the_key(key: Any, pdf: Any) -> Any:
    pdf["r"] = np.arctan(pdf["n"])
    pdf["c"] = str(key[0])
    return pdf[["n", "c", "r"]]


def written(spark: SparkSession, path: Path, rows: list[tuple[Any, ...]], schema: str) -> DataFrame:
    spark.createDataFrame(rows, schema).coalesce(1).write.parquet(str(path / "table"))
    return spark.read.parquet(str(path / "table"))


@pytest.mark.parametrize("where", ["n = 2", "n = 2 AND c = '-0.0'"])
def test_zeros_of_both_signs(spark: SparkSession, tmp_path: Path, where: str) -> None:
    table = written(spark, tmp_path, [(0.0, 1), (-0.0, 2), (1.0, 3)], "z double, n int")
    df = table.groupBy("z").applyInPandas(with_the_key, "n int, c string, r double").filter(where)
    untouched(df)
    below = table.filter("n = 2").groupBy("z")
    filtered = below.applyInPandas(with_the_key, "n int, c string, r double").filter(where)
    assert counted(filtered) != counted(df)


@pytest.mark.skipif(RUNNING < (4, 0), reason="Spark has no collations")
@pytest.mark.parametrize("where", ["n > 2", "n = 3 AND c = 'A'"])
def test_texts_that_are_one_to_a_collation(spark: SparkSession, tmp_path: Path, where: str) -> None:
    table = written(spark, tmp_path, [("a", 1), ("A", 3), ("b", 4)], "s string, n int")
    collated = table.selectExpr("s COLLATE UTF8_LCASE AS s", "n")
    result = "n int, c string, r double"
    df = collated.groupBy("s").applyInPandas(with_the_key, result).filter(where)
    untouched(df)
    below = collated.filter("n > 2").groupBy("s").applyInPandas(with_the_key, result)
    assert counted(below.filter(where)) != counted(df)
