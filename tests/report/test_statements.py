"""What a report states about the rows of functions, against the plans that Spark makes."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import functions as F
from tests.report.pages import outline

import presieve
from presieve.ir.inner_names import CLASS
from presieve.report.drawing.names_in_plans import inner_names
from presieve.report.drawing.picture import Pictures, pictures
from presieve.report.statements import Statement, statements

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from presieve.report.report import Report

pytestmark = pytest.mark.classic("a client of Spark Connect sees no plans of its session")

TWO = "team string, first double, second double"
AT_LEAST = "first >= 90 AND second >= 90"


def top_two(pdf: Any) -> pd.DataFrame:
    """Needs the list of a group's rows in Spark."""
    first = second = None
    for row in pdf.itertuples(index=False):
        if first is None or row.score > first:
            first, second = row.score, first
        elif second is None or row.score > second:
            second = row.score
    return pd.DataFrame({"team": [pdf["team"].iloc[0]], "first": [first], "second": [second]})


def best(pdf: Any) -> pd.DataFrame:
    """Is an aggregate of Spark's."""
    top = None
    for row in pdf.itertuples(index=False):
        if top is None or row.score > top:
            top = row.score
    return pd.DataFrame({"team": [pdf["team"].iloc[0]], "best": [top]})


def count_high(pdf: Any) -> pd.DataFrame:
    """Has no pre-filter below an upper bound."""
    n = 0
    for row in pdf.itertuples(index=False):
        if row.score > 50:
            n += 1
    return pd.DataFrame({"team": [pdf["team"].iloc[0]], "n": [n]})


def overdue(pdf: Any) -> pd.DataFrame:
    """Is refused."""
    late = 0
    for row in pdf.itertuples(index=False):
        if row.score < time.time():
            late += 1
    return pd.DataFrame({"team": [pdf["team"].iloc[0]], "late": [late]})


class Tables:
    """Scores without NULL or NaN, the same with some, and teams."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        size = 6000
        scores = [float(i * 7919 % 1000) / 10 for i in range(size)]
        broken = [None, float("nan"), -0.0, float("inf"), *scores[4:]]
        teams = [f"t{i % 40}" for i in range(size)]
        for name, values in {"scores": sorted(scores), "broken": broken}.items():
            columns = {"team": teams, "score": values, "game": range(size), "note": teams}
            pq.write_table(pa.table(columns), folder / f"{name}.parquet", row_group_size=500)
        self.scores = spark.read.parquet(str(folder / "scores.parquet"))
        self.broken = spark.read.parquet(str(folder / "broken.parquet"))

    def pairs(self, table: DataFrame) -> DataFrame:
        return table.groupBy("team").applyInPandas(top_two, TWO)

    def bests(self) -> DataFrame:
        return self.scores.groupBy("team").applyInPandas(best, "team string, best double")

    def counts(self) -> DataFrame:
        return self.scores.groupBy("team").applyInPandas(count_high, "team string, n bigint")

    def overdue(self) -> DataFrame:
        return self.scores.groupBy("team").applyInPandas(overdue, "team string, late bigint")


@pytest.fixture(scope="module")
def tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Tables:
    return Tables(spark, tmp_path_factory.mktemp("statements"))


NEVER: dict[str, Any] = {"compile": "never"}
AUTO: dict[str, Any] = {"compile": "auto"}
States = dict[str, tuple[Callable[[Tables], "DataFrame"], dict[str, Any]]]
STATES: States = {
    "filter": (lambda t: t.pairs(t.scores).filter(AT_LEAST), NEVER),
    "filter, function": (lambda t: t.pairs(t.scores).filter(AT_LEAST), AUTO),
    "exact filter, function": (lambda t: t.bests().filter("best >= 99"), AUTO),
    "function without a filter": (lambda t: t.pairs(t.scores), AUTO),
    "function below a filter that stays": (lambda t: t.counts().filter("n < 5"), AUTO),
    "nothing": (lambda t: t.overdue().filter("late > 5"), NEVER),
    "no pre-filter": (lambda t: t.counts().filter("n < 5"), NEVER),
    "never true": (lambda t: t.pairs(t.scores).filter("first < 10 AND second > 20"), AUTO),
    "guarded": (lambda t: t.pairs(t.broken).filter(AT_LEAST), {**NEVER, "cost": "always"}),
    "assumed": (lambda t: t.pairs(t.broken).filter(AT_LEAST), {**AUTO, "policy": "assume"}),
    "declared": (
        lambda t: t.pairs(t.scores).filter(AT_LEAST),
        {**NEVER, "declare": "NOT isnan(score) AND score IS NOT NULL"},
    ),
    "several": (
        lambda t: (
            t.pairs(t.scores)
            .filter(AT_LEAST)
            .join(t.bests().filter("best >= 99"), "team")
            .join(t.overdue().filter("late > 5"), "team")
        ),
        AUTO,
    ),
    "two calls of one function": (
        lambda t: (
            t.pairs(t.scores)
            .filter(AT_LEAST)
            .join(t.pairs(t.broken).toDF("team", "f", "s"), "team")
        ),
        NEVER,
    ),
    "one of two calls": (
        lambda t: (
            t.pairs(t.broken)
            .filter(AT_LEAST)
            .join(t.pairs(t.scores).toDF("team", "f", "s"), "team")
        ),
        {**AUTO, "cost": "always"},
    ),
    "Spark's aggregate": (
        lambda t: t.scores.groupBy("team").agg(F.max("score").alias("m")).filter("m > 99"),
        NEVER,
    ),
}


@pytest.fixture(scope="module")
def report_of(tables: Tables) -> Callable[[str], Report]:
    """Reports by state, each made once."""
    reports: dict[str, Report] = {}

    def report(state: str) -> Report:
        if state not in reports:
            build, options = STATES[state]
            reports[state] = presieve.explain(build(tables), **options)
        return reports[state]

    return report


def calls(plan: str, function: str) -> list[list[str]]:
    """The lines of each call of a function by Python or of an aggregate: of the operator, and of
    everything below it.
    """
    lines = plan.splitlines()
    found = []
    for number, line in enumerate(lines):
        if re.search(rf"(Pandas|Python|Aggregate) \[.*\b{function}\(", line):
            column = len(line) - len(line.lstrip(" :+-"))
            below = []
            for other in lines[number + 1 :]:
                if len(other) - len(other.lstrip(" :+-")) <= column:
                    break
                below.append(other)
            found.append([line, *below])
    return found


def arguments(line: str, function: str) -> int:
    """The number of columns that a call sends."""
    return len(line.partition(f"{function}(")[2].partition(")")[0].split(", "))


CLAIMS = {
    "only": re.compile(r"only rows with (?P<filter>.*) reach (?P<function>\w+)[.,]", re.I),
    "no row": re.compile(r"no row reaches (?P<function>\w+) in Python", re.I),
    "nothing": re.compile(r"nothing is pushed below (?P<function>\w+):", re.I),
    "never": re.compile(r"the filter above (?P<function>\w+) is never true", re.I),
    "one call": re.compile(r"Spark computes a call of (?P<function>\w+) itself. Other"),
    "columns": re.compile(r"(?P<function>\w+) gets (?P<read>\d+) of (?P<all>\d+) columns"),
}


def claim_of(statement: Statement) -> tuple[str, re.Match[str]]:
    """The kind of a statement: each is of exactly one."""
    matches = {kind: form.search(str(statement)) for kind, form in CLAIMS.items()}
    ((kind, match),) = ((kind, match) for kind, match in matches.items() if match)
    return kind, match


def told(report: Report) -> list[str]:
    return [claim_of(statement)[0] for statement in statements(report.data)]


@pytest.mark.parametrize("state", STATES)
def test_statements_about_rows_are_true_of_the_plan_that_runs(
    report_of: Callable[[str], Report], state: str
) -> None:
    data = report_of(state).data
    for statement in statements(data):
        if re.fullmatch(r"\d+ more below\.", str(statement)):
            continue
        kind, match = claim_of(statement)
        before = calls(data.plan_before, match["function"])
        after = calls(data.plan_after, match["function"])
        if kind in ("no row", "never"):
            assert before
            assert not after
        elif kind == "one call":
            assert 0 < len(after) < len(before)
        elif kind == "only":
            bound = match["filter"].partition(" OR ")[0].partition("D")[0]  # as Spark prints it
            column, number = re.split(" >=? ", bound)
            printed = re.compile(rf"\({column}#\d+ >=? {number}\)")
            filtered = [any(printed.search(line) for line in call[1:]) for call in after]
            is_about_one = str(statement).startswith("At the filter ")
            assert filtered
            assert any(filtered) if is_about_one else all(filtered)
            all_pass = [call for call in after if not any("Filter" in line for line in call[1:])]
            assert is_about_one or not all_pass
        elif kind == "nothing":
            filters = [sum("Filter" in line for line in call) for call in before]
            assert filters == [sum("Filter" in line for line in call) for call in after]
        else:
            assert int(match["all"]) in [arguments(call[0], match["function"]) for call in before]
            assert int(match["read"]) in [arguments(call[0], match["function"]) for call in after]


EXPECTED = {
    "filter": ["only", "columns"],
    "filter, function": ["no row"],
    "exact filter, function": ["no row"],
    "function without a filter": ["no row"],
    "function below a filter that stays": ["no row"],
    "nothing": ["nothing", "columns"],
    "no pre-filter": ["nothing", "columns"],
    "never true": ["never"],
    "guarded": ["only", "columns"],
    "assumed": ["no row"],
    "declared": ["only", "columns"],
    "two calls of one function": ["only", "columns", "columns"],
    "one of two calls": ["only", "columns", "one call"],
    "Spark's aggregate": ["only"],
}


@pytest.mark.parametrize("state", EXPECTED)
def test_what_is_stated_in_each_state(report_of: Callable[[str], Report], state: str) -> None:
    assert told(report_of(state)) == EXPECTED[state]


@pytest.mark.parametrize("state", STATES)
def test_text_page_and_notebook_state_the_same(
    report_of: Callable[[str], Report], state: str
) -> None:
    report = report_of(state)
    shown = (str(report), "".join(outline(report._repr_html_()).text))
    for statement in statements(report.data):
        for text in shown:
            claim = "".join(piece for piece, _ in statement.claim)
            assert " ".join(claim.split()) in " ".join(text.split())
            assert " ".join(statement.basis.split()) in " ".join(text.split())


@pytest.mark.parametrize("state", STATES)
def test_no_name_of_presieve_is_shown_without_words(
    report_of: Callable[[str], Report], state: str
) -> None:
    report = report_of(state)
    for text in (str(report), " ".join(outline(report._repr_html_()).text)):
        names = inner_names(text)
        explained = {
            name
            for name in names
            if re.search(rf"\bname\s+`?\s*{name}\s*`?\s*:\s+[\w`]", text)
            or (name == CLASS and "a number for the keys of a group" in text)
        }
        assert explained == set(names)
    drawn = pictures(report.data)
    assert not inner_names(" ".join(_texts(drawn) if drawn else ()))


def _texts(drawn: Pictures) -> list[str]:
    boxes = [box for picture in drawn.sides for box in picture.boxes]
    return [box.title for box in boxes] + [part.text for box in boxes for part in box.parts]


@pytest.mark.parametrize(
    ("state", "filtered", "replaced"),
    [
        ("filter", ["runs"], []),
        ("filter, function", ["filtered", "runs"], ["runs"]),
        ("exact filter, function", ["filtered", "runs"], ["runs"]),
        ("function without a filter", [], ["runs"]),
        ("function below a filter that stays", [], ["runs"]),
        ("several", ["filtered", "runs"], ["runs"]),
    ],
)
def test_the_states_of_a_plan(
    report_of: Callable[[str], Report], state: str, filtered: list[str], replaced: list[str]
) -> None:
    """As written, with the filter, and as it runs."""
    drawn = pictures(report_of(state).data)
    assert drawn is not None
    roles = {p.side: {box.role for box in p.boxes} for p in drawn.sides}
    assert set(roles) == {"written", *filtered, "runs"}
    assert [side for side, of_side in roles.items() if "prefilter" in of_side] == filtered
    assert [side for side, of_side in roles.items() if "replacement" in of_side] == replaced
    assert "function" in roles["written"]
