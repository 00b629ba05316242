"""Untrusted. The pipelines: functions of rows and of groups, and what needs no Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pandas as pd

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Pipeline = Callable[["SparkSession", str], "DataFrame"]

PIPELINES: dict[str, Pipeline] = {}
"""All pipelines by name; each reads the tables ``facts`` and ``teams`` in a folder."""


def _pipeline(name: str) -> Callable[[Callable[[DataFrame, DataFrame], DataFrame]], Pipeline]:
    """Register a function of both tables."""

    def register(build: Callable[[DataFrame, DataFrame], DataFrame]) -> Pipeline:
        def read(spark: SparkSession, folder: str) -> DataFrame:
            tables = (spark.read.parquet(f"{folder}/{table}") for table in ("facts", "teams"))
            return build(*tables)

        PIPELINES[name] = read
        return read

    return register


# --- functions ------------------------------------------------------------------------------------


def top_two(pdf: Any) -> pd.DataFrame:
    first = second = None
    for row in pdf.itertuples():
        if first is None or row.score > first:
            first, second = row.score, first
        elif second is None or row.score > second:
            second = row.score
    return pd.DataFrame({"team": [pdf.team.iloc[0]], "first": [first], "second": [second]})


def summary(pdf: Any) -> pd.DataFrame:
    most, rows = pdf["score"].max(), len(pdf)
    return pd.DataFrame({"team": [pdf["team"].iloc[0]], "rows": [rows], "most": [most]})


def best_row(pdf: Any) -> Any:
    return pdf.loc[[pdf["points"].idxmax()]][["team", "id", "points"]]


def middle(pdf: Any) -> pd.DataFrame:
    return pd.DataFrame({"team": [pdf["team"].iloc[0]], "middle": [pdf["score"].median()]})


def centered(pdf: Any) -> Any:
    return pdf.assign(score=pdf["score"] - pdf["score"].mean())[["team", "day", "score"]]


def grade(points: Any) -> Any:
    if points is None:
        return None
    if points >= 90:
        return "high"
    return "middle" if points >= 50 else "low"


def bucket(points: Any) -> Any:
    return None if points is None else points // 10


def weekday(day: Any) -> Any:
    return None if day is None else day % 7


def clipped(score: pd.Series) -> pd.Series:
    return score.clip(lower=10.0)


def doubled(score: pd.Series) -> pd.Series:
    return score * 2.0


def letters(team: Any) -> Any:
    return None if team is None else "".join(sorted(team))


def _udf(function: Any, type_: str) -> Any:
    from pyspark.sql.functions import udf

    return udf(function, type_)


def _pandas(function: Any, type_: Any) -> Any:
    from pyspark.sql.pandas.functions import pandas_udf

    return pandas_udf(function, type_)


TWO = "team string, first double, second double"
SUMMARY = "team string, rows bigint, most double"
BEST = "team string, id bigint, points bigint"


# --- groups ---------------------------------------------------------------------------------------


@_pipeline("two best scores")
def _(facts: DataFrame, teams: DataFrame) -> DataFrame:
    best = facts.groupBy("team").applyInPandas(top_two, TWO)
    return best.filter("first >= 99 AND second >= 99")


@_pipeline("two best scores, all teams")
def _(facts: DataFrame, teams: DataFrame) -> DataFrame:
    return facts.groupBy("team").applyInPandas(top_two, TWO)


@_pipeline("count and maximum")
def _(facts: DataFrame, teams: DataFrame) -> DataFrame:
    return facts.groupBy("team").applyInPandas(summary, SUMMARY)


@_pipeline("count and maximum, filtered")
def _(facts: DataFrame, teams: DataFrame) -> DataFrame:
    return facts.groupBy("team").applyInPandas(summary, SUMMARY).filter("most > 99.5")


@_pipeline("key of a fold")
def _(facts: DataFrame, teams: DataFrame) -> DataFrame:
    return facts.groupBy("team").applyInPandas(summary, SUMMARY).filter("team = 'team 7'")


@_pipeline("best row")
def _(facts: DataFrame, teams: DataFrame) -> DataFrame:
    return facts.groupBy("team").applyInPandas(best_row, BEST).filter("points >= 99")


@_pipeline("key of a function that is not read")
def _(facts: DataFrame, teams: DataFrame) -> DataFrame:
    medians = facts.groupBy("team").applyInPandas(middle, "team string, middle double")
    return medians.filter("team < 'team 2'")


@_pipeline("median of all teams")
def _(facts: DataFrame, teams: DataFrame) -> DataFrame:
    return facts.groupBy("team").applyInPandas(middle, "team string, middle double")


@_pipeline("rows of groups")
def _(facts: DataFrame, teams: DataFrame) -> DataFrame:
    rows = facts.groupBy("team").applyInPandas(centered, "team string, day bigint, score double")
    return rows.filter("team = 'team 3' AND score > 1")


# --- rows -----------------------------------------------------------------------------------------


@_pipeline("scalar UDF")
def _(facts: DataFrame, teams: DataFrame) -> DataFrame:
    return facts.withColumn("grade", _udf(grade, "string")("points"))


@_pipeline("scalar UDF, filtered")
def _(facts: DataFrame, teams: DataFrame) -> DataFrame:
    return facts.withColumn("grade", _udf(grade, "string")("points")).filter("grade = 'high'")


@_pipeline("scalar UDF that is not read")
def _(facts: DataFrame, teams: DataFrame) -> DataFrame:
    return facts.withColumn("letters", _udf(letters, "string")("team")).filter("day < 3")


@_pipeline("pandas UDF")
def _(facts: DataFrame, teams: DataFrame) -> DataFrame:
    return facts.withColumn("clipped", _pandas(clipped, "double")("score"))


@_pipeline("pandas UDF, filtered")
def _(facts: DataFrame, teams: DataFrame) -> DataFrame:
    return facts.withColumn("twice", _pandas(doubled, "double")("score")).filter("twice > 198")


@_pipeline("chain of UDFs")
def _(facts: DataFrame, teams: DataFrame) -> DataFrame:
    bucketed = facts.withColumn("bucket", _udf(bucket, "bigint")("points"))
    return bucketed.withColumn("left", _udf(weekday, "bigint")("bucket")).filter("left = 2")


@_pipeline("five UDFs")
def _(facts: DataFrame, teams: DataFrame) -> DataFrame:
    modulo = _udf(weekday, "bigint")
    return facts.select("id", *(modulo(facts["points"] + i).alias(f"w{i}") for i in range(5)))


# --- Spark's own operators ------------------------------------------------------------------------


@_pipeline("native HAVING")
def _(facts: DataFrame, teams: DataFrame) -> DataFrame:
    return facts.groupBy("team").agg({"points": "max"}).toDF("team", "most").filter("most > 98")


@_pipeline("native aggregate")
def _(facts: DataFrame, teams: DataFrame) -> DataFrame:
    return facts.groupBy("day").agg({"points": "sum", "score": "avg"})


@_pipeline("window, best of a team")
def _(facts: DataFrame, teams: DataFrame) -> DataFrame:
    ranked = "*", "row_number() OVER (PARTITION BY team ORDER BY points DESC) AS place"
    return facts.selectExpr(*ranked).filter("place = 1")


@_pipeline("window, one team")
def _(facts: DataFrame, teams: DataFrame) -> DataFrame:
    numbered = "*", "sum(points) OVER (PARTITION BY team ORDER BY id) AS total"
    return facts.selectExpr(*numbered).filter("team = 'team 4' AND total > 100")


@_pipeline("join below a function")
def _(facts: DataFrame, teams: DataFrame) -> DataFrame:
    best = facts.join(teams, "team").groupBy("team").applyInPandas(summary, SUMMARY)
    return best.filter("most > 99.5")


@_pipeline("join above a function")
def _(facts: DataFrame, teams: DataFrame) -> DataFrame:
    best = facts.groupBy("team").applyInPandas(top_two, TWO)
    return best.join(teams, "team").filter("first > 99 AND league = 'a'")


@_pipeline("full outer join")
def _(facts: DataFrame, teams: DataFrame) -> DataFrame:
    return facts.join(teams, "team", "full").filter("league = 'b' AND points > 10")


@_pipeline("plain filter")
def _(facts: DataFrame, teams: DataFrame) -> DataFrame:
    return facts.filter("points > 50").select("team", "points")


@_pipeline("whole table")
def _(facts: DataFrame, teams: DataFrame) -> DataFrame:
    return facts.selectExpr("id", "points + 1 AS more")
