"""What a report says of the conjuncts above a fold: that all are needed, or why they stay."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F
from tests.support import late
from tests.support.pickling import pickled_by_value
from tests.support.running import same_rows

import presieve
from presieve.driver.optimize import explain, optimize
from presieve.report import sentences
from presieve.report.report_data import BoundaryReport
from presieve.report.report_text import render_boundary
from presieve.spark import group_fold

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [
    pytest.mark.spark,
    pytest.mark.classic("footers of files say what stays where, and a client does not read them"),
]

by_value_too = pickled_by_value(late)

SCHEMA = "k int, note string, v bigint, w bigint, score double"
STRUCT, NUMBER = "t bigint, q bigint", "bigint"
VALID = {"declare": "is_valid_utf8(note)"}


@pytest.fixture(scope="module")
def rows(
    spark: SparkSession, by_value_too: None, tmp_path_factory: pytest.TempPathFactory
) -> DataFrame:
    """Notes and numbers, some of them missing, and one NaN."""
    notes = ["urgent 1", "normal", None, "urgent 2"]
    data = [
        (
            i % 20,
            notes[i % 4],
            None if i % 9 == 0 else i,
            i % 7,
            float("nan") if i == 5 else float(i % 100),
        )
        for i in range(200)
    ]
    path = str(tmp_path_factory.mktemp("needed") / "t")
    spark.createDataFrame(data, SCHEMA).write.parquet(path)
    return spark.read.parquet(path)


def folded(rows: DataFrame, fold: type, returns: str, *columns: str) -> DataFrame:
    return rows.groupBy("k").agg(group_fold(fold, returns)(*columns).alias("m"))


def boundary(df: DataFrame, **options: Any) -> BoundaryReport:
    """The report of the one boundary, after the same rows came out."""
    same_rows(df, optimize(df, cost="always", **options))
    (only,) = explain(df, cost="always", compile="never", **options).boundaries
    return only


NEEDED: dict[str, tuple[type, str, str, tuple[str, ...]]] = {
    "nothing is left": (late.Largest, NUMBER, "m > 90", ()),
    "nothing is left of a count": (late.Many, NUMBER, "m >= 1", ()),
    "an upper bound": (late.Largest, NUMBER, "m < 90", ("m < 90",)),
    "a count": (late.Many, NUMBER, "m >= 3", ("m >= 3",)),
    "both ends": (late.Many, NUMBER, "m >= 3 AND m < 10", ("m >= 3", "m < 10")),
    "one end": (late.Many, NUMBER, "m >= 1 AND m <= 4", ("m <= 4",)),
    "said twice": (late.Largest, NUMBER, "m > 90 AND m > 80", ()),
}
"""A fold of v, its type, a filter, and the conjuncts that stand above."""


@pytest.mark.parametrize("name", NEEDED)
def test_every_conjunct_is_needed(rows: DataFrame, name: str) -> None:
    """Without one of them, some table gives other rows."""
    fold, returns, where, expected = NEEDED[name]
    found = boundary(folded(rows, fold, returns, "v").filter(where))
    left = tuple(p for p in found.residual.split(" AND ") if p != "true")
    assert (left, found.stays) == (expected, "")
    assert found.residual_strength == "needed"
    for part in left:
        rest = " AND ".join(p for p in left if p != part) or "true"
        verdict = presieve.verify(
            fold,
            where,
            schema="v bigint",
            returns=f"m {returns}",
            prefilter=found.prefilter,
            residual=rest,
        )
        assert verdict.status == "refuted"


NOTHING = "nothing is left to check"
STAYS: dict[str, tuple[type, str, tuple[str, ...], str, str, str]] = {
    "a text": (late.MaxLate, NUMBER, ("note", "v"), "m > 90", NOTHING, "UTF-8"),
    "a text, partly": (
        *(late.ManyLate, NUMBER, ("note", "v"), "m >= 1 AND m <= 4"),
        *("m <= 4 would do", "UTF-8"),
    ),
    "a field": (
        late.Last,
        STRUCT,
        ("v", "w"),
        "m.t > 150 AND m.q > 3",
        "`m.q` > 3 would do",
        "struct",
    ),
    "a guard": (late.Highest, "double", ("score",), "m > 90", NOTHING, "guard"),
}
"""A fold, its type and columns, a filter, what would do of it, and a word of why it stays."""


@pytest.mark.parametrize("name", STAYS)
def test_it_says_why_the_filter_stays(rows: DataFrame, name: str) -> None:
    fold, returns, columns, where, less, why = STAYS[name]
    found = boundary(folded(rows, fold, returns, *columns).filter(where))
    assert found.kind == "partial"
    assert found.residual_strength == ""
    assert f"although {less}: " in found.stays
    assert why in found.stays
    text = render_boundary(found)
    assert sentences.RESIDUAL_STRENGTHS["needed"] not in text
    assert found.stays in " ".join(text.split())


def test_following_the_advice(rows: DataFrame) -> None:
    """Then nothing is left above, and nothing is said of it."""
    df = folded(rows, late.MaxLate, NUMBER, "note", "v").filter("m > 90")
    declared = re.search(r"pass declare='(.*)'$", boundary(df).stays)
    assert declared is not None
    followed = boundary(df, declare=declared[1])
    assert (followed.kind, followed.stays) == ("exact", "")


def test_a_function_that_is_understood_for_some_rows(rows: DataFrame) -> None:
    df = rows.withColumn("m", F.udf(late.of_some, "bigint")("v")).filter("m > 20")
    found = boundary(df)
    assert (found.kind, found.residual_strength) == ("partial", "")
    assert found.stays == "the whole filter stays: the function is understood for some rows alone"


def test_copies_that_stand_elsewhere(rows: DataFrame) -> None:
    """The filter of a union stays there: what stands right above the fold is not needed."""
    one = folded(rows, late.Many, NUMBER, "v")
    both = one.unionAll(rows.select("k", "v")).filter("m >= 3")
    assert boundary(both).residual_strength == ""
    above = one.filter("m >= 3")
    assert boundary(above).residual_strength == "needed"
