"""aggregateByKey with a filter on its result."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from tests.backend.problems import rdd_folds
from tests.backend.problems.rdd_folds import (
    FailsOnNothing,
    FirstOfMerged,
    Highest,
    HowMany,
    LowestOfMerged,
    OneTooMany,
    Sum,
    Total,
    TwoHighest,
    TwoInPlace,
)
from tests.support.spark_version import is_before

from presieve.backend.rdd_fold import KeyedFold
from presieve.driver.rdd_pushdown import KeyedPushdown, keyed_pushdown
from presieve.errors import UsageError
from presieve.lift.forms import LiftRequest
from presieve.semantics.types import UNSUPPORTED, SchemaColumn
from presieve.spark import fold_by_key

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SCHEMA = (
    SchemaColumn("team", "string"),
    SchemaColumn("score", "double"),
    SchemaColumn("v", "bigint", False),
)
BEST = (SchemaColumn("best", "double"),)
TOP = (SchemaColumn("first", "double"), SchemaColumn("second", "double"))
MANY = (SchemaColumn("n", "bigint"), SchemaColumn("high", "boolean"))

CLASSIC = pytest.mark.classic("Spark Connect has no RDDs")


def below(aggregator: object, where: str, returns: tuple[SchemaColumn, ...]) -> KeyedPushdown:
    return keyed_pushdown(
        aggregator, where, LiftRequest(SCHEMA, ("team",), returns), policy="assume"
    )


# --- what goes below -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("aggregator", "where", "returns", "prefilter", "residual"),
    [
        (Highest(), "best > 90", BEST, "score > 90.0D", "true"),
        (Highest(), "best > 90 AND team <> 'x'", BEST, "team <> 'x' AND score > 90.0D", "true"),
        (TwoHighest(), "second > 90", TOP, "score > 90.0D", "second IS NOT NULL"),
        (TwoInPlace(), "second > 90", TOP, "score > 90.0D", "second IS NOT NULL"),
        (HowMany(), "n > 0 OR high", MANY, "score >= 90.0D OR v > 90", "true"),
        (Total(), "s > 0", (SchemaColumn("s", "bigint"),), "v > 90", "true"),
    ],
)
def test_goes_below(
    aggregator: object, where: str, returns: Any, prefilter: str, residual: str
) -> None:
    found = below(aggregator, where, returns)
    assert (found.prefilter, found.residual, found.declined) == (prefilter, residual, None)


@pytest.mark.parametrize(
    ("aggregator", "where", "returns"),
    [
        (LowestOfMerged(), "best > 90", BEST),
        (FirstOfMerged(), "best > 90", BEST),
        (FailsOnNothing(), "best > 90", BEST),
        (OneTooMany(), "n > 0 AND high", MANY),
        (Sum(), "s > 0", (SchemaColumn("s", "double"),)),
    ],
)
def test_a_merge_that_is_not_proved_to_agree(aggregator: object, where: str, returns: Any) -> None:
    found = below(aggregator, where, returns)
    assert (found.prefilter, found.residual) == ("true", where)
    assert found.declined is not None
    assert found.declined.code == "merge"


def test_keys_go_below_any_merge() -> None:
    where = "best > 90 AND team <> 'x'"
    found = below(FirstOfMerged(), where, BEST)
    assert (found.prefilter, found.residual) == ("(team <> 'x')", where)


def test_a_conjunct_that_may_raise_stays_behind_its_guard() -> None:
    schema = (SchemaColumn("k", "bigint"), *SCHEMA)
    where = "best > 90 AND k * k > 4"
    found = keyed_pushdown(
        FirstOfMerged(), where, LiftRequest(schema, ("k",), BEST), policy="assume"
    )
    assert (found.prefilter, found.residual) == ("true", where)


def test_policy_strict_assumes_nothing() -> None:
    found = keyed_pushdown(
        Highest(), "best > 90", LiftRequest(SCHEMA, ("team",), BEST), policy="strict"
    )
    assert found.prefilter == "true"
    assert found.declined is not None


# --- the lemma on random tables --------------------------------------------------------------


class Row(tuple[Any, ...]):
    """As much of a row as the aggregators ask for."""

    score = property(lambda self: self[0])
    v = property(lambda self: self[1])


def merged(fold: Any, parts: list[list[Row]]) -> object:
    """What ``aggregateByKey`` gives for the partitions of one key; None where it has no rows."""
    states = []
    for part in parts:
        state = fold.zero()
        for row in part:
            state = fold.reduce(state, row)
        states += [state] if part else []
    if not states:
        return None
    whole = states[0]
    for state in states[1:]:
        whole = fold.merge(whole, state)
    return whole


RIGHT = [
    (Highest(), lambda r: r.score is not None and r.score > 3, lambda x: x is not None and x > 3),
    (
        TwoHighest(),
        lambda r: r.score is not None and r.score > 3,
        lambda x: x[1] is not None and x[1] > 3,
    ),
    (
        HowMany(3.0),
        lambda r: (r.score is not None and r.score >= 3) or r.v > 90,
        lambda x: x[0] > 0 or x[1],
    ),
]
WRONG = [
    (LowestOfMerged(), *RIGHT[0][1:]),
    (FirstOfMerged(), *RIGHT[0][1:]),
    (OneTooMany(3.0), *RIGHT[2][1:]),
]


def differences(fold: Any, keeps: Any, accepts: Any, seed: int, tries: int) -> int:
    """On how many of so many random tables the filter on rows changes the result."""
    random = Random(seed)
    found = 0
    for _ in range(tries):
        parts = [
            [
                Row((random.choice([None, 1.0, 2.0, 4.0, 5.0]), random.choice([1, 95])))
                for _ in range(random.randrange(4))
            ]
            for _ in range(random.randrange(1, 4))
        ]
        results = []
        for table in (parts, [[r for r in p if keeps(r)] for p in parts]):
            state = merged(fold, table)
            kept = any(table) and accepts(state)
            results.append(state if kept else None)
        found += results[0] != results[1]
    return found


@pytest.mark.parametrize("case", RIGHT, ids=lambda c: type(c[0]).__name__)
def test_random_tables(case: Any) -> None:
    fold, keeps, accepts = case
    if isinstance(fold, TwoHighest):  # the first may change where the second is rejected
        assert below(fold, "second > 3", TOP).prefilter == "score > 3.0D"
    assert differences(fold, keeps, accepts, seed=1, tries=10_000) == 0


@pytest.mark.parametrize("case", WRONG, ids=lambda c: type(c[0]).__name__)
def test_a_wrong_merge_really_differs(case: Any) -> None:
    fold, keeps, accepts = case
    assert differences(fold, keeps, accepts, seed=1, tries=10_000) > 0


# --- on Spark --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def scores(spark: SparkSession) -> Iterator[DataFrame]:
    """Teams in several partitions, with NULL everywhere and a key that loses all its rows."""
    from pyspark import cloudpickle

    random = Random(7)
    rows = [
        (random.choice(["a", "b", "c", None]), random.choice([None, 10.0, 91.0, 95.0, 99.5]), 1)
        for _ in range(60)
    ]
    rows += [("low", 1.0, 1), ("low", None, 99), ("none", None, 1), ("inf", float("inf"), 1)]
    cloudpickle.register_pickle_by_value(rdd_folds)  # type: ignore[no-untyped-call]
    schema = "team string, score double, v bigint NOT NULL"
    yield spark.createDataFrame(rows, schema).repartition(4).cache()
    cloudpickle.unregister_pickle_by_value(rdd_folds)  # type: ignore[no-untyped-call]


def both_ways(df: DataFrame, aggregator: Any, where: str, returns: str) -> list[Any]:
    """The result, which is the one without rewriting."""
    made = aggregator() if isinstance(aggregator, type) else aggregator
    spark = df.sparkSession
    results = []
    for switch in ("false", "true"):
        spark.conf.set("spark.presieve.enabled", switch)
        try:
            found = fold_by_key(df, made, key="team", where=where, returns=returns, policy="assume")
        finally:
            spark.conf.unset("spark.presieve.enabled")
        results.append(sorted(map(repr, found.collect())))
    assert results[0] == results[1]
    return results[1]


@CLASSIC
@pytest.mark.parametrize(
    ("aggregator", "where", "returns"),
    [
        (Highest, "best > 90", "best double"),
        (TwoHighest, "second > 92 AND team <> 'b'", "first double, second double"),
        (HowMany(90.0), "n > 0 OR high", "n bigint, high boolean"),
        (TwoInPlace, "second > 92 AND team <> 'b'", "first double, second double"),
        (FirstOfMerged, "best > 90 AND team IN ('a', 'b')", "best double"),
    ],
)
def test_results_are_the_same(scores: DataFrame, aggregator: Any, where: str, returns: str) -> None:
    assert both_ways(scores, aggregator, where, returns)
    assert both_ways(scores.filter("v < 0"), aggregator, where, returns) == []


@CLASSIC
def test_a_quote_that_is_written_twice(spark: SparkSession) -> None:
    """Before Spark 4.1 it ends a text, and the next one follows: ``its``."""
    rows = spark.createDataFrame([("it's", 3.0), ("its", 4.0)], "team string, score double")
    ansi = str(spark.conf.get("spark.sql.ansi.enabled"))
    spark.conf.set("spark.sql.ansi.enabled", "true")  # without it nothing is read
    try:
        folded = fold_by_key(
            rows, Highest, key="team", where="team = 'it''s' AND best > 1", returns="best double"
        )
    finally:
        spark.conf.set("spark.sql.ansi.enabled", ansi)
    assert [r.team for r in folded.collect()] == ["its" if is_before("4.1") else "it's"]


@CLASSIC
def test_what_goes_below_is_logged(scores: DataFrame, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "presieve")
    fold_by_key(
        scores, Highest, key="team", where="best > 90", returns="best double", policy="assume"
    )
    assert "pre-filter score > 90.0D; residual true, if column score holds no NaN" in caplog.text
    fold_by_key(
        scores, FirstOfMerged, key="team", where="best > 90", returns="best double", policy="assume"
    )
    assert "no pre-filter: [merge] it is not proved that merge(a, b)" in caplog.text


@CLASSIC
def test_keys_that_python_groups_otherwise(spark: SparkSession) -> None:
    nan = float("nan")
    df = spark.createDataFrame([(nan, 95.0), (nan, 91.0), (0.0, 92.0)], "team double, score double")
    rows = both_ways(df, Highest, "best > 90 AND (isnan(team) OR team = 0)", "best double")
    assert len(rows) == 3


@CLASSIC
def test_values_that_rows_have_otherwise_stay_unread(scores: DataFrame) -> None:
    df = scores.selectExpr("team", "timestamp_seconds(score) AS score", "encode(team, 'utf8') AS v")
    fold = KeyedFold.of(df, Highest(), ("team",), "best timestamp")
    types = [c.type for c in fold.schema]
    assert types == ["string", UNSUPPORTED + "timestamp", UNSUPPORTED + "binary"]
    request = LiftRequest(fold.schema, ("team",), fold.returns)
    found = keyed_pushdown(Highest(), "best > '2020'", request, policy="assume")
    assert found.prefilter == "true"
    assert found.declined is not None


@CLASSIC
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"aggregator": object()}, r"needs methods zero\(\), reduce\(acc, row\) and merge"),
        ({"key": "nobody"}, "there is no such column"),
        ({"returns": "double"}, "returns has names and types"),
        ({"returns": "team double"}, "columns of the same name"),
    ],
)
def test_mistakes(scores: DataFrame, arguments: Any, said: str) -> None:
    given = {"aggregator": Highest, "key": "team", "where": "true", "returns": "best double"}
    with pytest.raises(UsageError, match=said):
        fold_by_key(scores, **{**given, **arguments})


def test_there_are_no_rdds_on_connect(spark: SparkSession, connect: bool) -> None:
    rows: Any = spark.range(3) if connect else [("a", 1.0)]
    with pytest.raises(UsageError, match="Spark Connect has no RDDs"):
        fold_by_key(
            rows, Highest, key="id", where="best > 90", returns="best double", policy="assume"
        )
