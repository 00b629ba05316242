"""SQL text on Spark Connect: read where the server confirms it, else left alone."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest
from tests.support.games.pipelines import most, pandas_udf
from tests.support.games.tables import Tables
from tests.support.running import code, rewritten, safe, untouched

from presieve.driver.optimize import explain, optimize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.usefixtures("only_connect")


def test_queries_in_text(spark: SparkSession, tables: Tables) -> None:
    tables.strange.createOrReplaceTempView("text_games")
    grouped = "SELECT team, max(v) AS m FROM text_games GROUP BY team"
    for text in (
        f"{grouped} HAVING max(v) > 10",
        f"{grouped} HAVING m > 10 ORDER BY m DESC NULLS LAST LIMIT 3",
        "select TEAM, max(v) m, min(3) from text_games t where t.v > 1 group by team having m > 10",
        f"SELECT * FROM ({grouped}) AS g WHERE g.m > 10",
        f"SELECT g.team FROM ({grouped}) g JOIN text_games t ON g.team = t.team WHERE g.m > 10",
        f"SELECT m FROM ({grouped}) LEFT JOIN text_games USING (team) WHERE m > 10",
        "SELECT team AS k, max(v) AS m FROM text_games GROUP BY team HAVING k <> 'x' AND m > 10",
        "SELECT upper(t.team) AS k, max(v) FROM text_games t GROUP BY k HAVING max(v) > 10",
        "SELECT team, level FROM text_games GROUP BY team, level HAVING max(v) > 10",
        "SELECT team, count(*) FILTER (WHERE v > 10) AS n FROM text_games GROUP BY team "
        "HAVING n > 0",
        "SELECT team, `max(v)` FROM (SELECT team, max(v) FROM text_games GROUP BY team) "
        "WHERE `max(v)` > 10",
    ):
        # It is read, and no client sees whether the view's source computes aggregates itself.
        assert untouched(spark.sql(text)).declined[0].code == "source", text
    assert rewritten(best(spark.sql("SELECT * FROM text_games")))
    assert rewritten(best(spark.table("text_games")))
    beside = spark.sql(f"{grouped} HAVING m > 10").join(spark.sql("SHOW TABLES"), how="cross")
    safe(beside)


def best(df: DataFrame) -> DataFrame:
    return df.groupBy("team").agg(pandas_udf("top", "double")("score").alias("m")).filter("m >= 90")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT max(v) AS m, team FROM left_games GROUP BY team HAVING m > 10",
        "SELECT DISTINCT team, max(v) AS m FROM left_games GROUP BY team HAVING m > 10",
        "WITH g AS (SELECT team, max(v) AS m FROM left_games GROUP BY 1) "
        "SELECT * FROM g WHERE m > 10",
        "SELECT team, max(v) AS m FROM left_games GROUP BY ROLLUP(team) HAVING m > 10",
        "SELECT team, max(v) AS m FROM left_games /* all */ GROUP BY team HAVING m > 10",
        "SELECT team, most_of(v) AS m FROM left_games GROUP BY team HAVING m > 10",
    ],
)
def test_text_that_is_left_alone(
    spark: SparkSession, tables: Tables, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    tables.strange.createOrReplaceTempView("left_games")
    spark.udf.register("most_of", pandas_udf("strict_max", "bigint"))
    df = spark.sql(text)
    assert df.count() > 0
    with caplog.at_level(logging.INFO, logger="presieve"):
        assert optimize(df) is df
    assert "SQL text of a form that" in caplog.text or "most_of" in caplog.text
    below = most(spark.sql(text).selectExpr("team", "m AS v")).filter("m > 10")
    assert optimize(below) is below
    codes = {b.declined[0].code for b in explain(below).boundaries}
    assert codes <= {"sql-text", "nondeterministic"}
    assert codes


def test_views_that_compute_something(spark: SparkSession, tables: Tables) -> None:
    from pyspark.sql import functions as F

    for rows in (
        tables.plain.withColumn("v", (F.rand() * 20).cast("bigint")),
        tables.plain.filter("v > 0"),
        tables.plain.withColumn("a\n+- b", F.rand()),
        tables.plain.union(tables.plain),
    ):
        rows.createOrReplaceTempView("computing")
        assert code(most(spark.table("computing")).filter("m > 10")) == "view"
        assert code(most(spark.sql("SELECT * FROM computing")).filter("m > 10")) == "view"


def test_names_that_arguments_of_text_give(spark: SparkSession, tables: Tables) -> None:
    """``{t}`` is another relation than the view of that name, and ``:least`` is a value."""
    tables.empty.createOrReplaceTempView("t")
    text = "SELECT team, max(v) AS m FROM {t} GROUP BY team HAVING m > 10"
    df = spark.sql(text, t=tables.plain)
    assert df.count() > 0
    assert optimize(df) is df
    text = "SELECT team, max(v) AS m FROM t GROUP BY team HAVING m > :least"
    df = spark.sql(text, args={"least": 10})
    assert optimize(df) is df


def test_what_the_server_does_not_confirm_is_not_used(
    spark: SparkSession, tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader that goes wrong: it turns a sign, or leaves WHERE out."""
    from presieve.backend.connect.querytext import as_messages

    tables.strange.createOrReplaceTempView("text_games")
    text = "SELECT team, score FROM text_games WHERE v < 30"
    df = best(spark.sql(text))
    for wrong in (
        text.replace("score FROM", "-score AS score FROM"),
        text.replace("WHERE v < 30", ""),
    ):
        reader = "presieve.backend.connect.server_sql.as_messages"
        monkeypatch.setattr(reader, lambda _, kind, w=wrong: as_messages(w, kind))
        assert set(spark.sql(wrong).collect()) != set(spark.sql(text).collect())
        assert optimize(df) is df
    monkeypatch.undo()
    rewritten(df)
