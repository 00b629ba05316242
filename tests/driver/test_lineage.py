"""``lineage``: the filters of sources, what is exact, and why not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pytest

import presieve

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.classic("lineage reads the optimizer's plan")

ROWS = [("a", 95, 1), ("a", 80, 2), ("b", 99, 1), (None, 91, None), ("b", None, 3), ("a", None, 3)]


@pytest.fixture(scope="module")
def scores(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DataFrame]:
    path = str(tmp_path_factory.mktemp("lineage") / "scores")
    spark.createDataFrame(ROWS, "team string, score long, day int").write.parquet(path)
    found = spark.read.parquet(path)
    found.createOrReplaceTempView("lineage_scores")
    yield found
    spark.catalog.dropTempView("lineage_scores")


def filter_of(df: DataFrame, where: str) -> tuple[str, bool]:
    """The filter of the only source, and whether it is exact. Its text selects the same rows."""
    (source,) = presieve.lineage(df, where).sources
    written = df.sparkSession.table("lineage_scores").where(source.filter)
    assert sorted(map(str, written.collect())) == sorted(map(str, source.dataframe.collect()))
    return source.filter, source.exact


def test_a_filter_on_an_aggregate_goes_to_its_rows(scores: DataFrame) -> None:
    best = scores.groupBy("team").agg({"score": "max"}).toDF("team", "best")
    text, exact = filter_of(best, "team = 'a' AND best > 90")
    assert "score > 90" in text
    assert "team = 'a'" in text
    assert exact
    source = presieve.lineage(best, "team = 'a' AND best > 90")["scores"]
    assert [tuple(r) for r in source.dataframe.collect()] == [("a", 95, 1)]
    assert source.columns == ("team", "score", "day")


def test_a_value_in_a_list_may_be_missing(spark: SparkSession, tmp_path: Path) -> None:
    """``a IN (b, 95)`` is true of a row without ``b``."""
    spark.createDataFrame([(95, None), (95, 1)], "a long, b long").write.parquet(f"{tmp_path}/t")
    rows = spark.read.parquet(f"{tmp_path}/t").where("a IN (b, 95) AND b IS NOT NULL")
    (source,) = presieve.lineage(rows, "a > 3").sources
    assert [tuple(r) for r in source.dataframe.collect()] == [(95, 1)]


def top_two(pdf):  # type: ignore[no-untyped-def]
    first = second = None
    for row in pdf.itertuples():
        if first is None or row.score > first:
            first, second = row.score, first
        elif second is None or row.score > second:
            second = row.score
    return pd.DataFrame({"team": [pdf.team.iloc[0]], "first": [first], "second": [second]})


def test_a_guarded_plan_reads_rows_that_do_not_matter(spark: SparkSession, tmp_path: Path) -> None:
    """It reads the rows of a view again, for groups that break a condition."""
    rows = [("a", 91.0), ("a", 40.0), ("a", 95.0)]
    spark.createDataFrame(rows, "team string, score double").write.parquet(f"{tmp_path}/t")
    spark.read.parquet(f"{tmp_path}/t").createOrReplaceTempView("lineage_view")
    two = spark.table("lineage_view").groupBy("team")
    best = two.applyInPandas(top_two, "team string, first double, second double")
    (source,) = presieve.lineage(best, "first >= 90 AND second >= 90").sources
    assert source.dataframe.where("score = 40").count() == 1
    assert not source.exact
    assert source.reasons
    spark.catalog.dropTempView("lineage_view")


def test_a_filter_that_stays_above_makes_it_a_superset(scores: DataFrame) -> None:
    (source,) = presieve.lineage(scores.groupBy("team").count(), "count > 1").sources
    assert (source.filter, source.exact) == ("true", False)
    assert source.reasons == (
        "a filter above Aggregate stays there and may drop what comes of a row",
    )


def test_a_filter_of_the_pipeline_is_part_of_it(scores: DataFrame) -> None:
    best = scores.where("day < 3").groupBy("team").agg({"score": "max"}).toDF("team", "best")
    text, exact = filter_of(best, "best > 90")
    assert "score > 90" in text
    assert "day < 3" in text
    assert exact  # each row that passes is a group of its own that passes


def test_below_a_function_the_search_only_speaks_of_all_rows(scores: DataFrame) -> None:
    def top(pdf: pd.DataFrame) -> pd.DataFrame:
        return pd.DataFrame({"team": [pdf.team.iloc[0]], "best": [pdf.day.max()]})

    days = scores.where("score < 95").selectExpr("team", "coalesce(day, 0) AS day")
    best = days.groupBy("team").applyInPandas(top, "team string, best int")
    (source,) = presieve.lineage(best, "best > 2").sources
    assert "coalesce(day, 0) > 2" in source.filter
    assert source.reasons == ("what FlatMapGroupsInPandas does with a row is not known",)


def test_a_column_that_is_not_shown_may_be_all_that_a_row_changes(scores: DataFrame) -> None:
    both = scores.groupBy("team").agg({"score": "max", "day": "max"}).toDF("team", "s", "d")
    _, exact = filter_of(both, "s > 90")
    _, shown = filter_of(both.selectExpr("team", "s"), "s > 90")
    assert not shown or exact


def test_functions_of_groups_are_read(scores: DataFrame) -> None:
    def top(pdf: pd.DataFrame) -> pd.DataFrame:
        return pd.DataFrame({"team": [pdf.team.iloc[0]], "best": [pdf.score.max()]})

    filled = scores.selectExpr("team", "coalesce(score, 0) AS score")
    best = filled.groupBy("team").applyInPandas(top, "team string, best long")
    found = presieve.lineage(best, "best > 90")
    assert "coalesce(score, 0L) > 90L" in found.sources[0].filter
    assert {r.score for r in found.sources[0].dataframe.collect()} == {95, 99, 91}
    assert found.report.boundaries[0].kind == "exact"


def test_a_function_that_is_not_read_needs_all_rows_of_its_table(scores: DataFrame) -> None:
    out = scores.mapInPandas(lambda parts: parts, scores.schema)
    (source,) = presieve.lineage(out, "score > 90", policy="strict").sources
    if source.filter == "true":
        assert not source.exact


def test_each_side_of_a_join_has_its_own_reason(spark: SparkSession, scores: DataFrame) -> None:
    teams = spark.sql("SELECT * FROM VALUES ('a', 1), ('b', 2) AS t(team, size)")
    found = presieve.lineage(teams.join(scores, "team", "left"), "team = 'b'")
    left, right = found.sources
    assert (left.filter, left.exact) == ("team = 'b'", True)
    assert not right.exact
    assert right.reasons == ("rows that find no partner in a join are kept",)
    assert right.filter == "team = 'b'"


def test_a_source_that_is_read_twice_has_one_filter(spark: SparkSession, scores: DataFrame) -> None:
    text = "SELECT team, score FROM lineage_scores UNION ALL SELECT team, day FROM lineage_scores"
    (source,) = presieve.lineage(spark.sql(text), "score > 90").sources
    assert source.exact
    assert source.filter == "(score > 90L) OR (day > 90)"
    defined = "WITH c AS (SELECT team, max(score) m FROM lineage_scores GROUP BY team)"
    twice = spark.sql(f"{defined} SELECT x.team, y.m FROM c x JOIN c y ON x.team = y.team")
    (source,) = presieve.lineage(twice, "team = 'a'").sources
    assert source.filter == "team = 'a'"
    assert not source.exact


def test_what_a_subquery_reads_is_a_source(spark: SparkSession, scores: DataFrame) -> None:
    text = "SELECT id, (SELECT max(day) FROM lineage_scores) AS latest FROM range(3)"
    found = presieve.lineage(spark.sql(text), "id = 1")
    assert found["scores"].filter == "true"
    assert "a subquery reads it" in found["scores"].reasons
    assert found["Range(id)"].exact


def test_rows_of_the_program_are_not_evaluated(spark: SparkSession) -> None:
    df = spark.sql("SELECT a, sum(b) AS s FROM VALUES (1, 2), (3, 4) AS t(a, b) GROUP BY a")
    (source,) = presieve.lineage(df, "a = 3").sources
    assert (source.filter, source.exact) == ("a = 3", True)
    assert [tuple(r) for r in source.dataframe.collect()] == [(3, 4)]


def test_what_cannot_hold_needs_nothing(scores: DataFrame) -> None:
    (source,) = presieve.lineage(scores, "score > 5 AND 1 = 2").sources
    assert source.filter == "false"
    assert source.dataframe.count() == 0


def test_cached_rows_are_no_source(scores: DataFrame) -> None:
    doubled = scores.selectExpr("team", "score * 2 AS twice").cache()
    try:
        assert doubled.count() == len(ROWS)
        (source,) = presieve.lineage(doubled, "team = 'a'").sources
    finally:
        doubled.unpersist()
    assert source.name.endswith("scores")
    assert source.filter == "team = 'a'"


def test_rules_that_were_off_stay_off(spark: SparkSession, scores: DataFrame) -> None:
    key, rule = "spark.sql.optimizer.excludedRules", "org.apache.spark.sql.catalyst.optimizer."
    spark.conf.set(key, rule + "PushDownPredicates")
    try:
        found = presieve.lineage(scores.selectExpr("team AS t", "score"), "t = 'a'")
        assert spark.conf.get(key) == rule + "PushDownPredicates"
    finally:
        spark.conf.unset(key)
    assert found.sources[0].filter in ("true", "team = 'a'")


def test_names_with_dots_and_quotes_are_quoted(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "odd")
    spark.sql("SELECT 1 AS `a.b`, 'x' AS `c``d`").write.parquet(path)
    odd = spark.read.parquet(path).alias("t")
    (source,) = presieve.lineage(odd, "t.`a.b` = 1 AND `c``d` = 't.`a.b`'").sources
    assert source.dataframe.sparkSession.read.parquet(path).where(source.filter).count() == 0
    assert "`a.b` = 1" in source.filter
    assert "'t.`a.b`'" in source.filter


def test_pages_and_data(scores: DataFrame, tmp_path: Path) -> None:
    found = presieve.lineage(scores.groupBy("team").count(), "team = '<a>'")
    assert "&lt;a&gt;" in found._repr_html_()
    assert "<a>" not in found._repr_html_()
    found.save(tmp_path / "x.html")
    assert "<h1>presieve lineage</h1>" in (tmp_path / "x.html").read_text()
    found.save(tmp_path / "x.json")
    assert json.loads((tmp_path / "x.json").read_text())["sources"][0]["exact"] is True
    assert "rows behind: team = '<a>'" in str(found)
    with pytest.raises(KeyError):
        found["nothing"]


@pytest.mark.parametrize("where", ["", "nope > 1", "score >", "score"])
def test_a_condition_that_is_none_is_an_error(scores: DataFrame, where: str) -> None:
    with pytest.raises(presieve.UsageError):
        presieve.lineage(scores, where)


def test_options_are_checked(scores: DataFrame) -> None:
    with pytest.raises(presieve.UsageError):
        presieve.lineage(scores, "score > 1", cost="nonsense")  # type: ignore[arg-type]
    with pytest.raises(presieve.UsageError):
        presieve.lineage(5, "score > 1")  # type: ignore[arg-type]
