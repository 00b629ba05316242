"""TPC-H without the optimizer's pushdown: what is recorded, the page of it, and three queries."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from benchmarks.tpch import document
from benchmarks.tpch.outcome import (
    FORMS,
    RECORDED,
    AtScans,
    Line,
    Query,
    outcome,
    read,
    write,
)
from benchmarks.tpch.pushdown import SCALE, Experiment, check_rules, stripped
from benchmarks.tpch.scans import normalized
from benchmarks.tpch.standard import QUERIES
from benchmarks.tpch.tables import generated

from presieve.records import replace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parent.parent.parent
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")

CLASSIC = pytest.mark.classic("plans of the JVM are read")


def line(spark: tuple[str, ...], presieve: tuple[str, ...]) -> Line:
    """A line with these filters at its scans."""
    at = {form: AtScans(spark, 10) for form in FORMS}
    at["presieve"] = AtScans(presieve, 20)
    return Line(Query("Q0", 1, True, (), ()), "orders", 1, 30, 0, at)


# --- what is recorded ---------------------------------------------------------------------------


def test_all_queries_are_recorded() -> None:
    assert list(dict.fromkeys(r.query.name for r in read())) == list(QUERIES)
    assert list(QUERIES) == [f"Q{i}" for i in range(1, 23)]


def test_rows_are_the_same_in_all_forms() -> None:
    assert all(r.query.equal for r in read())


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    write(read(), tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_text() == RECORDED.read_text()


def test_places_are_those_of_what_is_left() -> None:
    for each in read():
        assert len(each.places) == len(each.left("presieve"))
        assert len(each.function_places) == len(each.left("functions"))


@pytest.mark.parametrize(
    ("spark", "presieve", "expected"),
    [
        (("a > 1", "b < 2"), ("a > 1", "b < 2"), "same"),
        (("a > 1", "b < 2"), ("a > 1",), "fewer"),
        (("a > 1",), ("a > 1", "b < 2"), "more"),
        (("a > 1", "a > 1"), ("a > 1",), "fewer"),  # of two scans, one
        (("a > 1",), ("b < 2",), "other"),
        ((), (), "same"),
    ],
)
def test_outcomes(spark: tuple[str, ...], presieve: tuple[str, ...], expected: str) -> None:
    one = line(spark, presieve)
    assert outcome([one], "presieve") == expected
    assert outcome([one], "both") == "same"
    assert outcome([line(("c = 3",), ("c = 3",)), one], "presieve") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(l_quantity#12 < 24.00)", "l_quantity < 24.00"),
        ("(o_orderkey#28L = l_orderkey#8L)", "o_orderkey = l_orderkey"),
        ("((a#1 = 1) OR (b#2 = 2))", "(a = 1) OR (b = 2)"),
        ("(a#1 = 1) OR (b#2 = 2)", "(a = 1) OR (b = 2)"),
        ("(array_contains(array((a#1 < 2)), true) >= true)", "a < 2"),
        ("(a#1 > scalar-subquery#7 [k#2 && (k#2 = k#3)])", "a > scalar-subquery"),
        ("isnotnull(a#1)", "isnotnull(a)"),
    ],
)
def test_conjuncts_without_numbers(text: str, expected: str) -> None:
    assert normalized(text) == expected


# --- the page -----------------------------------------------------------------------------------


def test_the_page_is_what_is_recorded() -> None:
    text = document.PAGE.read_text(encoding="utf-8")
    assert text == document.page(text, read())
    assert document.RECORD.read_text(encoding="utf-8") == document.record(read())


def test_the_page_names_tests_that_are_there() -> None:
    named = NAMED.findall(document.PAGE.read_text(encoding="utf-8"))
    assert named
    for file, name in named:
        assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8"), (file, name)


def test_the_page_follows_the_record() -> None:
    text = document.PAGE.read_text(encoding="utf-8")
    first, *rest = read()
    changed = replace(first, query=replace(first.query, equal=False))
    wrong = replace(first, at={**first.at, "both": AtScans(("x = 1",), 1)})
    assert document.page(text, [changed, *rest]) != text
    assert document.page(text, [wrong, *rest]) != text
    fewer = replace(first, at={**first.at, "presieve": AtScans(first.at["presieve"].conjuncts, 1)})
    assert document.record([fewer, *rest]) != document.record([first, *rest])


# --- on Spark -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def experiment(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Experiment:
    return Experiment(spark, generated(SCALE, tmp_path_factory.mktemp("tables"), whole=True))


@CLASSIC
@pytest.mark.slow
def test_rules_are_excluded_and_back(spark: SparkSession) -> None:
    check_rules(spark)
    conf = "spark.sql.optimizer.excludedRules"
    with stripped(spark):
        assert "PushDownPredicates" in str(spark.conf.get(conf))
    assert spark.conf.get(conf, None) is None


@CLASSIC
@pytest.mark.slow
@pytest.mark.parametrize("name", ["Q3", "Q12", "Q22"])
def test_what_is_measured_is_what_is_recorded(name: str, experiment: Experiment) -> None:
    assert experiment.measured(name) == [r for r in read() if r.query.name == name]
