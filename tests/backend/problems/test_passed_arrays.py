"""Arrays, maps and structs that functions of batches and of groups pass on, row by row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.support.batches import small_batches
from tests.support.running import rewritten, same_rows, untouched

from presieve.driver.optimize import optimize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SCHEMA = (
    "id int, k string, v double, words array<string>, rates array<double>, "
    "props map<string, string>, place struct<street: string, height: double>, numbers array<int>"
)
ROWS: list[tuple[Any, ...]] = [
    (0, "a", 1.0, ["x", None], [1.0, None, float("nan")], {"p": None}, ("s", 1.0), [1, None]),
    (1, "b", None, None, None, None, None, None),
    (2, "A", -0.0, [], [], {}, (None, float("nan")), []),
    (3, None, float("nan"), ["\U0001f600"], [-0.0], {"q": "r", "": "z"}, ("", None), [2**31 - 1]),
]


@pytest.fixture(scope="module", params=["spark", "pyarrow"])
def table(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> DataFrame:
    path = str(tmp_path_factory.mktemp("arrays") / "table.parquet")
    written = spark.createDataFrame(ROWS, SCHEMA)
    if request.param == "spark":
        written.coalesce(1).write.parquet(path)
    else:
        place = pa.struct([("street", pa.string()), ("height", pa.float64())])
        types = (
            *(pa.int32(), pa.string(), pa.float64(), pa.list_(pa.string())),
            *(pa.list_(pa.float64()), pa.map_(pa.string(), pa.string()), place),
            pa.list_(pa.int32()),
        )
        columns = [list(c) for c in zip(*ROWS, strict=True)]
        columns[5] = [None if m is None else list(m.items()) for m in columns[5]]
        columns[6] = [None if s is None else {"street": s[0], "height": s[1]} for s in columns[6]]
        arrays = [pa.array(c, t) for c, t in zip(columns, types, strict=True)]
        pq.write_table(pa.table(arrays, names=written.columns), path, row_group_size=2)
    return spark.read.parquet(path)


@pytest.fixture(scope="module", autouse=True)
def batches_of_two_rows(spark: SparkSession) -> Iterator[None]:
    with small_batches(spark):
        yield


def lowered(batches: Iterator[Any]) -> Iterator[Any]:
    for pdf in batches:
        pdf["k"] = pdf["k"].fillna("").str.lower()
        yield pdf


def lowered_group(pdf: Any) -> Any:
    pdf["k"] = pdf["k"].fillna("").str.lower()
    return pdf


def changed(batches: Iterator[Any]) -> Iterator[Any]:
    for pdf in batches:
        pdf["k"] = pdf["k"].fillna("").str.lower()
        pdf["words"] = pdf["words"].map(len)
        yield pdf


@pytest.mark.parametrize("where", ["k = 'a'", "v IS NULL", "k = 'a' AND id > 0"])
def test_parts_of_texts_and_doubles_come_back_one_by_one(table: DataFrame, where: str) -> None:
    texts = table.drop("numbers")
    df = texts.mapInPandas(lowered, texts.schema).filter(where)
    assert "k IN ('A', 'a')" in rewritten(df).prefilter or where == "v IS NULL"
    groups = texts.groupBy("id").applyInPandas(lowered_group, texts.schema).filter(where)
    rewritten(groups)


def test_integers_beside_a_null_are_doubles_in_the_whole_batch(table: DataFrame) -> None:
    df = table.select("id", "k", "numbers")
    df = df.mapInPandas(lowered, df.schema).filter("k = 'a'")
    same_rows(df, optimize(df, cost="always"))
    untouched(df)


def test_arrays_that_are_changed(table: DataFrame) -> None:
    df = table.select("id", "k", "words").filter("words IS NOT NULL")
    df = df.mapInPandas(changed, "id int, k string, words int").filter("k = 'a'")
    same_rows(df, optimize(df, cost="always"))
