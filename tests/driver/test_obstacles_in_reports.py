"""Reports name the obstacles behind the first one, in text, pages and JSON."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import pandas as pd
import pytest
from pyspark.sql import SparkSession
from tests.lift import following

import presieve
from presieve.report import html

pytestmark = pytest.mark.spark

Version = Callable[[pd.DataFrame], pd.DataFrame]


def report_on(spark: SparkSession, function: Version, where: str) -> presieve.Report:
    rows = spark.createDataFrame(
        [("a", 1.0, 2.0), ("b", 3.0, 4.0)], "k string, x double, gamma double"
    )
    results = rows.groupBy("k").applyInPandas(function, "k string, a double, b double")
    return presieve.explain(results.filter(where))


def lines_of(report: presieve.Report) -> list[int]:
    """The lines of the first reason and of what comes behind it."""
    (boundary,) = report.to_json()["boundaries"]
    first = boundary["declined"][0]
    return [first["line"], *(behind["line"] for behind in first.get("behind", []))]


def test_reports_get_shorter_as_they_announce(spark: SparkSession) -> None:
    versions: list[Version] = [following.scored_0, following.scored_1, following.scored_2]
    reports = [report_on(spark, version, "a > 4") for version in versions]
    lines = [lines_of(report) for report in reports]
    assert [len(each) for each in lines] == [3, 2, 1]
    text = " ".join(str(reports[0]).split())
    for line, code in zip(lines[0][1:], ("unknown-name", "impure-io"), strict=True):
        assert f"; and then line {line}: [{code}]" in text
        assert f"; and then line {line}: [{code}]" in html.notebook_fragment(reports[0].data)
        assert f"presieve why {code}" in text or f", presieve why {code}" in text
    assert "and then" not in str(reports[2])
    marked = {
        line.number
        for listing in reports[0].boundaries[0].listings
        for line in listing.lines
        if line.note
    }
    assert marked == set(lines[0])


def test_what_follows_from_an_obstacle_is_not_announced(spark: SparkSession) -> None:
    report = report_on(spark, following.dead_branch, "a > 4")
    assert len(lines_of(report)) == 1
    assert "and then" not in str(report)


def test_a_filter_on_the_key_has_the_effects_of_the_function_in_its_way(
    spark: SparkSession,
) -> None:
    report = report_on(spark, following.stored, "k = 'a' AND a > 4")
    reasons = [
        why for c in report.boundaries[0].conjuncts if c.text == "(k = 'a')" for why in c.why
    ]
    lines = [d.span.line for why in reasons for d in (why, *why.behind()) if d.span is not None]
    source = inspect.getsource(following).splitlines()
    assert [source[line - 1].strip() for line in lines] == [
        'os.remove("old")  # impure-io',
        'os.mkdir("new")  # impure-io',
    ]
