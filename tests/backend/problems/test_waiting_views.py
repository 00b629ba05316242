"""Columns that wait, evaluated, while something writes where they are stored."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from tests.support.running import safe

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

SCHEMA = "y bigint, x double, s string"


@pytest.fixture(scope="module")
def table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    path: Path = tmp_path_factory.mktemp("waiting") / "t"
    rows = [(i, float(i), f"s{i}") for i in range(8)]
    spark.createDataFrame(rows, SCHEMA).coalesce(1).write.parquet(str(path))
    return spark.read.parquet(str(path))


def clear(pdf: Any) -> int:
    pdf.loc[pdf.y > 3, ["y", "x"]] = 0
    return 0


def first(a: Any, b: Any) -> Any:
    return a


def _in_turn(pdf: Any) -> Any:
    pdf.loc[pdf.y > 3, "y"], s = 0, pdf.y
    pdf["y"] = s
    return pdf


def _texts_in_turn(pdf: Any) -> Any:
    pdf.loc[pdf.y > 3, "s"], s = "gone", pdf.s
    pdf["s"] = s
    return pdf


def _two_targets(pdf: Any) -> Any:
    s = pdf.x
    pdf.loc[pdf.y > 3, "x"] = t = s
    pdf.loc[pdf.y > 3, "x"] = u = 0.0
    pdf["x"] = t + u
    return pdf


def _argument(pdf: Any) -> Any:
    pdf["y"] = first(pdf.y, clear(pdf))
    return pdf


def _item(pdf: Any) -> Any:
    pair = [pdf.y, clear(pdf)]
    pdf["y"] = pair[0]
    return pdf


def _keyword(pdf: Any) -> Any:
    return pdf.assign(y=pdf.y, x=clear(pdf) * 1.0)


def _of_a_comprehension(pdf: Any) -> Any:
    kept = [(clear(pdf), c)[1] for c in (pdf.x, pdf.y)]
    pdf["y"] = kept[1]
    return pdf


def _in_rounds(pdf: Any) -> Any:
    for c in (pdf.y, pdf.y):
        pdf["z"] = c
        pdf.loc[pdf.x > 3, "y"] = 0
    pdf["y"] = pdf.z
    return pdf[["y", "x", "s"]]


def _augmented(pdf: Any) -> Any:
    pdf.y += clear(pdf)
    return pdf


def _returned(pdf: Any) -> Any:
    def column() -> Any:
        try:
            return pdf.y
        finally:
            clear(pdf)

    pdf["y"] = column()
    return pdf


WAITING = (
    *(_in_turn, _texts_in_turn, _two_targets, _argument, _item, _keyword, _of_a_comprehension),
    *(_in_rounds, _augmented, _returned),
)


def mapped(table: DataFrame, function: Callable[[Any], Any]) -> DataFrame:
    def batches(parts: Iterator[Any]) -> Iterator[Any]:
        for pdf in parts:
            yield function(pdf)

    return table.mapInPandas(batches, SCHEMA)


@pytest.mark.parametrize("where", ["y > 4", "y = 0", "s = 's6'", "x > 4"])
@pytest.mark.parametrize("function", WAITING, ids=lambda f: f.__name__)
def test_rows_stay(table: DataFrame, function: Callable[[Any], Any], where: str) -> None:
    safe(mapped(table, function).filter(where))


@pytest.mark.parametrize("function", [_in_turn, _argument, _item], ids=lambda f: f.__name__)
def test_what_waits_is_written(function: Callable[[Any], Any]) -> None:
    """The functions are what they are said to be."""
    pdf = pd.DataFrame({"y": range(8), "x": [float(i) for i in range(8)], "s": list("abcdefgh")})
    assert list(function(pdf).y) == [0, 1, 2, 3, 0, 0, 0, 0]


def _key_in_turn(pdf: Any) -> Any:
    pdf.loc[pdf.x > 3, "k"], s = "z", pdf.k
    pdf["k"] = s
    return pdf


def _key_as_argument(pdf: Any) -> Any:
    def write(part: Any) -> int:
        part.loc[part.x > 3, "k"] = "z"
        return 0

    pdf["k"] = first(pdf.k, write(pdf))
    return pdf


@pytest.mark.parametrize("where", ["k = 'k1'", "k = 'z'"])
@pytest.mark.parametrize("function", [_key_in_turn, _key_as_argument], ids=lambda f: f.__name__)
def test_keys_stay(table: DataFrame, function: Callable[[Any], Any], where: str) -> None:
    groups = table.selectExpr("'k' || (y % 2) AS k", "x").groupBy("k")
    safe(groups.applyInPandas(function, "k string, x double").filter(where))
