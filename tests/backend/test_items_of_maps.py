"""Functions that get an item of a map, or a field, as their argument."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import functions as F
from tests.support.running import counted, same_rows

from presieve.driver.optimize import explain, optimize

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

pytestmark = [
    pytest.mark.spark,
    pytest.mark.classic("arguments are taken apart in plans of a classic session"),
]


def grade(tier: Any) -> Any:
    if tier is None:
        return "none"
    return "high" if tier >= "m" else "low"


@pytest.fixture(params=["Spark", "pyarrow"])
def people(spark: SparkSession, tmp_path: Path, request: pytest.FixtureRequest) -> DataFrame:
    maps: list[Any] = [[("tier", "gold")], [("tier", "silver"), ("x", "z")], [("x", "z")], [], None]
    maps += [[("tier", None)], [("tier", "")], [("tier", "m")]]
    columns = {"n": range(8), "attrs": pa.array(maps, pa.map_(pa.string(), pa.string()))}
    path = str(tmp_path / "people.parquet")
    pq.write_table(pa.table(columns), path, row_group_size=2)
    if request.param == "Spark":
        spark.read.parquet(path).write.parquet(f"{path}.spark")
        path = f"{path}.spark"
    return spark.read.parquet(path)


@pytest.mark.parametrize("key", ["attrs['tier']", "attrs.tier"])
def test_filters_are_on_the_item(people: DataFrame, key: str) -> None:
    of_item = F.udf(grade, "string")(F.expr(key)).alias("r")
    df = people.select("n", of_item).where("r = 'high'")
    same_rows(df, optimize(df, cost="always"))
    (boundary,) = explain(df, cost="always").boundaries
    assert boundary.prefilter in ("`attrs[tier]` >= 'm'", "`attrs[tier]` IS NOT NULL")
    low = people.select("n", of_item).where("r <> 'high'")
    same_rows(low, optimize(low, cost="always"))
    twin = people.where("attrs['tier'] > 'm'").select("n", of_item).where("r = 'high'")
    assert counted(twin) != counted(df)
