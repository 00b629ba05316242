"""Statements of reports are compared with plans, and the comparison finds those that are false."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pandas as pd
import pytest
from tests.support.statements import false_statements

from presieve.backend.rewrite import OTHER_INPUTS, PARTNERS
from presieve.driver.optimize import optimize_and_report
from presieve.driver.options import Options
from presieve.records import replace
from presieve.report.remarks import CompiledFunction

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from presieve.report.report_data import ReportData

pytestmark = pytest.mark.classic("plans are those of the JVM")


def top_two(pdf):  # type: ignore[no-untyped-def]
    first = second = None
    for row in pdf.itertuples():
        if first is None or row.score > first:
            first, second = row.score, first
        elif second is None or row.score > second:
            second = row.score
    return pd.DataFrame({"team": [pdf.team.iloc[0]], "first": [first], "second": [second]})


def highest(pdf):  # type: ignore[no-untyped-def]
    return pd.DataFrame({"team": [pdf.team.iloc[0]], "best": [pdf.score.max()]})


@pytest.fixture(scope="module")
def scores(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    path: Path = tmp_path_factory.mktemp("statements") / "scores"
    rows = [("a", 95.0, 1), ("a", 91.0, 2), ("a", 20.0, 3), ("b", 99.0, 1), (None, -0.0, None)]
    table = spark.createDataFrame(rows, "team string, score double, day int")
    table.write.parquet(str(path))
    return spark.read.parquet(str(path))


def split(scores: DataFrame) -> DataFrame:
    two = scores.groupBy("team").applyInPandas(top_two, "team string, first double, second double")
    return two.filter("first >= 90 AND second >= 90")


def exact(scores: DataFrame) -> DataFrame:
    best = scores.groupBy("team").applyInPandas(highest, "team string, best double")
    return best.filter("best >= 90")


def answer(df: DataFrame) -> tuple[DataFrame, ReportData]:
    return optimize_and_report(df, Options(cost="always", compile="never"), for_report=True)


def changed(**fields: object) -> Callable[[ReportData], ReportData]:
    """A report that says something else of its boundary."""
    return lambda data: replace(data, boundaries=(replace(data.boundaries[0], **fields),))


def told(**fields: object) -> Callable[[ReportData], ReportData]:
    """A report that says something else of its function."""
    return lambda data: replace(data, functions=(replace(data.functions[0], **fields),))


COMPILED = CompiledFunction("aggregates", "max(score)")
FALSE: dict[str, tuple[Callable[[DataFrame], DataFrame], Callable[[ReportData], ReportData]]] = {
    "another bound": (split, changed(prefilter="score >= 91.0D")),
    "one more conjunct": (split, changed(prefilter="score >= 90.0D AND day > 0")),
    "a column that is not there": (split, changed(prefilter="points >= 90.0D")),
    "another residual": (split, changed(residual="first IS NOT NULL")),
    "nothing is left above": (exact, changed(kind="split", residual="best >= 90.0D")),
    "other columns": (split, told(read=("team", "day"), columns=(2, 3))),
    "runs without Python": (split, told(compiled=COMPILED)),
    "the plan is unchanged": (split, lambda data: replace(data, changed=False)),
}
"""A pipeline, and what is planted in its report."""


def beside(scores: DataFrame, how: str) -> DataFrame:
    """The highest scores, beside a table of teams."""
    teams = scores.sparkSession.range(3).selectExpr("chr(97 + id) AS team", "id AS boss")
    best = scores.groupBy("team").applyInPandas(highest, "team string, best double")
    return teams.join(best, "team", how)


def both(scores: DataFrame) -> DataFrame:
    best = scores.groupBy("team").applyInPandas(highest, "team string, best double")
    return best.union(scores.select("team", "score"))


COPIED: dict[str, tuple[Callable[[DataFrame], DataFrame], str]] = {
    "left join": (lambda s: beside(s, "left").filter("best >= 90"), "partial"),
    "full join": (lambda s: beside(s, "full").filter("best >= 90"), "partial"),
    "inner join": (lambda s: beside(s, "inner").filter("best >= 90"), "exact"),
    "union": (lambda s: both(s).filter("best >= 90"), "partial"),
    "below and above": (
        lambda s: beside(s.filter("day > 0"), "left").filter("best >= 90 AND boss < 2"),
        "partial",
    ),
}
"""Filters that also stay where they are, and what is said of them."""


@pytest.mark.parametrize("name", COPIED)
def test_a_filter_that_also_stays_is_not_said_to_go(scores: DataFrame, name: str) -> None:
    pipeline, kind = COPIED[name]
    df = pipeline(scores)
    better, data = answer(df)
    assert list(false_statements(df, better, data)) == []
    (report,) = data.boundaries
    assert (report.kind, report.residual) == (kind, "true" if kind == "exact" else "best >= 90.0D")
    (outcome,) = (c for c in report.conjuncts if c.text.startswith("best"))
    assert outcome.fate == ("below" if kind == "exact" else "stays")
    if kind == "partial":
        assert outcome.note == (OTHER_INPUTS if name == "union" else PARTNERS)


@pytest.mark.parametrize("name", FALSE)
def test_false_statements_are_found(scores: DataFrame, name: str) -> None:
    pipeline, plant = FALSE[name]
    df = pipeline(scores)
    better, data = answer(df)
    assert list(false_statements(df, better, data)) == []
    assert len(list(false_statements(df, better, plant(data)))) == 1


def test_a_filter_that_is_left_is_found(scores: DataFrame) -> None:
    """The report says that nothing is left to check, or that all is; the plan says otherwise."""
    df = exact(scores)
    better, data = answer(df)
    assert data.boundaries[0].kind == "exact"
    partial = changed(kind="partial", residual="best >= 90.0D")(data)
    (why,) = false_statements(df, better, partial)
    assert why.endswith("remains above")
    as_written = list(false_statements(df, df.select("*"), data))
    assert any("nothing is left to check above" in why for why in as_written)
    assert any("pre-filter" in why for why in as_written)
