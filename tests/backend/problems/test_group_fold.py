"""Aggregator classes as aggregate functions."""

from __future__ import annotations

import pickle
import subprocess
import sys
from datetime import date, datetime
from decimal import Decimal
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from tests.support import aggregators
from tests.support.aggregators import Best, CountAtLeast, Latest, Mean
from tests.support.games.tables import Tables
from tests.support.pickling import pickled_by_value
from tests.support.running import code, counted, is_connect, rewritten, safe, untouched

import presieve
from presieve.driver.optimize import explain
from presieve.errors import UsageError
from presieve.lift.entry.group_fold import group_fold_under, runner
from presieve.semantics.interpret import evaluate
from presieve.spark import group_fold

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

STREAMED = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])


by_value_too = pickled_by_value(aggregators)


def best_of(df: DataFrame, streamed: bool = False) -> DataFrame:
    best = group_fold(Best, "double", streamed=streamed)
    return df.groupBy("team").agg(best("score").alias("best"))


@STREAMED
def test_a_class(tables: Tables, streamed: bool) -> None:
    df = best_of(tables.strange, streamed).filter("best > 90")
    assert rewritten(df, policy="assume").kind == "exact"
    boundary = rewritten(df)
    assert boundary.kind == "partial"  # where a group has a NaN, it goes up as it is
    assert boundary.function == "Best"
    assert boundary.prefilter == "score > 90.0D"
    assert any("GreaterThan(score,90.0)" in p for p in boundary.pushed_to_scan)


@STREAMED
def test_an_instance(tables: Tables, streamed: bool) -> None:
    many = group_fold(CountAtLeast(10), "bigint", streamed=streamed)
    df = tables.strange.groupBy("team").agg(many("v").alias("n"))
    assert rewritten(df.filter("n >= 1")).prefilter == "v >= 10"
    # Of NULL it raises, and nothing else could be dropped.
    assert code(df.filter("n <= 1")) == "may-erase-error"


@STREAMED
def test_a_global_fold_of_no_rows_has_no_result(tables: Tables, streamed: bool) -> None:
    few = group_fold(CountAtLeast(10), "bigint", streamed=streamed)
    df = tables.plain.filter("v < 0").agg(few("v").alias("n")).filter("n = 0")
    assert df.count() == 0
    safe(df)


def test_the_shape_of_spark_4_4(tables: Tables) -> None:
    df = tables.strange.groupBy("team").agg(group_fold(Mean())("score").alias("mean"))
    assert rewritten(df.filter("mean > 90")).prefilter == "score IS NOT NULL OR isnan(score)"


def test_several_in_one_aggregate(tables: Tables) -> None:
    from pyspark.sql import functions as F

    best, many = group_fold(Best, "double"), group_fold(CountAtLeast(10), "bigint")
    df = tables.strange.groupBy("team").agg(
        best(score=F.col("score")).alias("best"), many("v").alias("n")
    )
    assert rewritten(df.filter("n >= 1").select("team")).prefilter == "v >= 10"
    assert safe(df.filter("n >= 1 AND best > 5")).count() == 6


def test_columns_under_other_names(tables: Tables) -> None:
    table = tables.strange.withColumnRenamed("score", "points")
    df = table.groupBy("team").agg(group_fold(Best, "double")(score="points").alias("best"))
    assert rewritten(df.filter("best > 90")).prefilter == "points > 90.0D"


def test_a_column_of_the_key(tables: Tables) -> None:
    longest = group_fold(Latest, "string")
    df = tables.strange.groupBy("team").agg(longest("team").alias("last"))
    assert rewritten(df.filter("last >= 'c'")).prefilter == "team >= 'c'"
    renamed = tables.strange.groupBy("team").agg(longest(other="team").alias("last"))
    assert rewritten(renamed.filter("last >= 'c'")).prefilter == "team >= 'c'"


TYPES: list[tuple[str, list[Any], str, str]] = [
    ("date", [date(2024, 1, 1), date(1969, 12, 31)], "x >= DATE '2024-01-01'", "date"),
    ("timestamp", [datetime(2024, 1, 1, 5), datetime(1950, 1, 1)], "x < '1960-01-01'", "timestamp"),
    ("timestamp_ntz", [datetime(2024, 1, 1, 5), datetime(1950, 1, 1)], "x > '1960-01-01'", "ntz"),
    ("decimal(10,2)", [Decimal("2.50"), Decimal("-2.50")], "x > 2", "decimal"),
    ("string", ["", "é"], "x = 'é'", "string"),
    ("boolean", [True, False], "x", "boolean"),
    ("int", [-(2**31), 7], "x > 5", "int"),
    ("binary", [b"", b"\x00"], "x IS NOT NULL", "binary"),
]


@pytest.mark.parametrize(("type_", "values", "where", "name"), TYPES, ids=[t[3] for t in TYPES])
def test_types_both_ways(
    spark: SparkSession, type_: str, values: list[Any], where: str, name: str
) -> None:
    rows = [("a", values[0]), ("a", None), ("b", values[1]), ("c", None)]
    table = spark.createDataFrame(rows, f"k string, x {type_}")
    df = table.groupBy("k").agg(group_fold(Latest, type_)("x").alias("x"))
    assert df.schema["x"].dataType == table.schema["x"].dataType
    found = {row.k: row.x for row in df.collect()}
    assert found == {"a": values[0], "b": values[1], "c": None}
    if name not in ("boolean", "binary"):  # which are not compared with each other in proofs
        rewritten(df.filter(where))


@pytest.mark.classic("whole queries as text")
def test_timestamps_come_back_where_clocks_are_changed(spark: SparkSession) -> None:
    """One local time for two instants: the later one stays the later one. No proof speaks of it."""
    zone = spark.conf.get("spark.sql.session.timeZone")
    try:
        spark.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
        sql = "SELECT 'a' AS k, TIMESTAMP '2020-10-25 01:30:00Z' AS x"
        df = spark.sql(sql).groupBy("k").agg(group_fold(Latest, "timestamp")("x").alias("m"))
        late = df.filter("m = TIMESTAMP '2020-10-25 01:30:00Z'")
        assert late.count() == 1
        assert untouched(late).declined[0].code == "timestamp-zone"
    finally:
        spark.conf.set("spark.sql.session.timeZone", str(zone))


def test_what_is_not_lifted_runs_as_it_is(tables: Tables) -> None:
    listing = group_fold(aggregators.Listing, "int")
    df = tables.strange.groupBy("team").agg(listing("score").alias("n")).filter("n > 1")
    (declined,) = untouched(df).declined
    assert declined.span is not None
    assert declined.span.file.endswith("aggregators.py")
    assert df.count() == 6
    late = group_fold(aggregators.Late, "decimal(20,0)")
    last = tables.strange.groupBy("team").agg(late("v").alias("m")).filter("m > 11")
    assert untouched(last).declined[0].code == "not-a-function"
    assert last.count() == 5


def test_other_functions_of_arrow_arrays_are_no_folds(tables: Tables) -> None:
    from pyspark.sql.pandas.functions import pandas_udf

    made: Any = pandas_udf
    wrong = made(runner(Best(), ("score",), (("", "double"),), False), "double", 202)
    df = tables.strange.groupBy("team").agg(wrong("score").alias("best")).filter("best > 90")
    assert untouched(df).declined[0].code == "eval-type"


def test_mistakes_are_told(tables: Tables) -> None:
    from pyspark.sql import functions as F

    with pytest.raises(UsageError, match=r"needs methods zero\(\) and reduce"):
        group_fold(object(), "double")
    with pytest.raises(UsageError, match="pass returns"):
        group_fold(Best)
    with pytest.raises(UsageError, match="each once"):
        group_fold(Best, "double")("score", score="v")
    with pytest.raises(UsageError, match="by keyword"):
        group_fold(Best, "double")(F.col("score"))


def test_a_wrong_twin_is_refuted() -> None:
    schema = "team string, score double"
    given: dict[str, Any] = {"schema": schema, "returns": "best double", "keys": "team"}
    wrong = presieve.verify(Best, "best > 90", prefilter="score > 95", **given)
    assert wrong.status == "refuted"
    assert wrong.counterexample is not None
    scores: list[Any] = [row["score"] for row in wrong.counterexample.rows]
    assert folded(scores) != folded([s for s in scores if s is not None and s > 95])


def folded(scores: list[float | None]) -> object:
    """What Spark's worker computes of a group, where it passes the filter."""
    import pyarrow as pa

    if not scores:
        return None
    fold = runner(Best(), ("score",), (("", "double"),), False)
    best = fold(pa.array(scores, pa.float64()))
    return best if best is not None and best > 90 else None


WHERES = ["best > 90", "best <= 4", "best IS NULL", "best = 91 OR best < 0"]


@pytest.mark.costly
@pytest.mark.parametrize("where", WHERES)
def test_lemma_on_random_groups(where: str) -> None:
    """What the worker computes, over 2,500 groups for each filter, as written and as optimized."""
    import pyarrow as pa

    from presieve.driver.fold_inputs import Inputs, read_filter, read_inputs
    from presieve.errors import Declined
    from presieve.ir.terms import Scope

    schema, returns = "score double", "best double"
    found = presieve.synthesize(Best, where, schema=schema, returns=returns)
    inputs = read_inputs(Best, schema, returns, (), "grouped")
    assert isinstance(inputs, Inputs)
    outputs = inputs.output_names()
    terms = [
        read_filter("where", where, outputs),
        read_filter("residual", found.residual, outputs),
        read_filter("prefilter", found.prefilter, inputs.input_names()),
    ]
    before, after, below = (t for t in terms if not isinstance(t, Declined))
    fold = runner(Best(), ("score",), (("", "double"),), False)
    random = Random(3)
    pool = [None, -1.0, 0.0, 4.0, 5.0, 90.0, 91.0, 91.5, float("inf")]

    def result(values: list[float | None], filter_: Any) -> tuple[object, ...]:
        if not values:
            return ()
        best = fold(pa.array(values, pa.float64()))
        return (best,) if evaluate(filter_, {(Scope.OUT, "best"): best}) is True else ()

    kept = 0
    for _ in range(2500):
        group = [random.choice(pool) for _ in range(random.randint(0, 4))]
        fewer = [v for v in group if evaluate(below, {(Scope.ROW, "score"): v}) is True]
        assert result(group, before) == result(fewer, after), group
        kept += bool(result(group, before))
    assert kept


WORKER = """
import sys
sys.modules["presieve"] = None  # not to be found here
import pickle, pyarrow
fold = pickle.loads(sys.stdin.buffer.read())
print(fold(pyarrow.array([1, None, 2])))
"""


def test_workers_need_not_have_this_package() -> None:
    """Unless the aggregator itself comes from there."""
    from pyspark.cloudpickle import dumps

    class Sum:
        def zero(self) -> int:
            return 0

        def reduce(self, acc: int, row: Any) -> int:
            return acc + int(row[0] or 0)

    data = dumps(runner(Sum(), ("x",), (("", "bigint"),), False))  # type: ignore[no-untyped-call]
    done = subprocess.run(
        [sys.executable, "-c", WORKER], input=data, capture_output=True, timeout=60
    )
    assert done.stdout.strip() == b"3", done.stderr
    again = group_fold_under(pickle.loads(data))
    assert again is not None
    assert again.names == ("x",)


def test_told_in_reports(tables: Tables) -> None:
    (boundary,) = explain(best_of(tables.strange).filter("best > 90")).boundaries
    assert boundary.span is not None
    assert boundary.span.file.endswith("aggregators.py")
    assert "def reduce" in boundary.source


TOP_TWO = "first double, second double"


def top_two(df: DataFrame) -> DataFrame:
    fold = group_fold(aggregators.TopTwo, TOP_TWO)
    return df.groupBy("team").agg(fold("score").alias("top"))


@pytest.mark.second
def test_fields_of_a_struct(tables: Tables) -> None:
    """The filter stays, although ``second IS NOT NULL`` would do."""
    pairs = top_two(tables.strange)
    starred = pairs.select("team", "top.*").filter("first >= 90 AND second >= 90")
    for df in (
        pairs.filter("top.first >= 90 AND top.second >= 90"),
        starred,
        pairs.withColumnRenamed("top", "b").filter("b.second >= 90 AND b.first >= 90"),
    ):
        if df is starred and is_connect(df):  # where the fields of a struct are not listed
            assert code(df) == "unknown-column"
            continue
        boundary = rewritten(df)
        assert (boundary.kind, boundary.prefilter) == ("partial", "score >= 90.0D")
        assert any("GreaterThanOrEqual(score,90.0)" in p for p in boundary.pushed_to_scan)


@pytest.mark.second
@pytest.mark.classic("the files of a server, which show that the integers fit, are not looked at")
@pytest.mark.parametrize("where", ["sums.large > 15 AND sums.some >= 7", "sums.some > 20"])
def test_integers_in_a_struct(tables: Tables, where: str) -> None:
    """That they fit in their types is assumed under the names that the fields have in the plan."""
    fold = group_fold(aggregators.TwoSums, "large bigint, some bigint")
    sums = tables.strange.groupBy("team").agg(fold("v").alias("sums"))
    boundary = rewritten(sums.filter(where))
    assert (boundary.kind, boundary.prefilter) == ("partial", "v > 3")
    known = (*boundary.assumptions, *boundary.discharged)
    assert {t for a in known if "fits in" in (t := a["text"])} == {
        f"the result sums.{name} fits in bigint: Spark fails or silently wraps around where it does"
        " not"
        for name in ("large", "some")
    }
    (function,) = explain(sums, compile="always", policy="assume").functions
    assert function.compiled is not None
    native = presieve.optimize(sums, compile="always", policy="assume")
    assert counted(native) == counted(sums)
    wrong = tables.strange.filter("v > 11").groupBy("team").agg(fold("v").alias("sums"))
    assert counted(wrong.filter(where)) != counted(sums.filter(where))


def test_a_list_that_is_changed_in_place(tables: Tables) -> None:
    fold = group_fold(aggregators.TwoInPlace, TOP_TWO)
    pairs = tables.strange.groupBy("team").agg(fold("score").alias("top"))
    boundary = rewritten(pairs.filter("top.first >= 90 AND top.second >= 90"))
    assert (boundary.kind, boundary.prefilter) == ("partial", "score >= 90.0D")
    wrong = tables.strange.filter("score > 95").groupBy("team").agg(fold("score").alias("top"))
    where = "top.first >= 90 AND top.second >= 90"
    assert counted(wrong.filter(where)) != counted(pairs.filter(where))
    found = presieve.verify(
        aggregators.TwoInPlace,
        "first >= 90 AND second >= 90",
        schema="score double",
        returns=TOP_TWO,
        prefilter="score > 95",
    )
    assert found.certificate is None


def test_fields_that_nobody_reads(tables: Tables) -> None:
    df = top_two(tables.strange).filter("top.first >= 90")
    assert rewritten(df.select("team")).prefilter == "score >= 90.0D"
    first = df.selectExpr("team", "top.first AS f").select("f")
    assert rewritten(first).kind == "partial"
    assert rewritten(first, policy="assume").kind == "exact"
    both = explain(df).boundaries[0]
    assert both.prefilter != "score >= 90.0D", "the second score would be another one"
    assert safe(df).count() == 6


def test_fields_that_are_read_above_a_join(spark: SparkSession, tables: Tables) -> None:
    """Nobody but the second filter reads ``second``, which must be what it was."""
    sizes = spark.createDataFrame([("a", 1.0), ("b", 1.0), ("c", 1.0)], "team string, size double")
    kept = top_two(tables.plain).filter("top.first >= 90").join(sizes, "team")
    df = kept.filter("top.second > size").select("team")
    assert {r.team for r in df.collect()} == {"a", "b"}
    safe(df)


def test_fields_that_are_read_above_a_union(tables: Tables) -> None:
    kept = top_two(tables.plain).filter("top.first >= 90").union(top_two(tables.empty))
    df = kept.filter("top.second * 2 > 1").select("team")
    assert df.count() > 0
    safe(df)


@pytest.mark.second
def test_types_of_fields(spark: SparkSession) -> None:
    days = [date(2024, 1, d) for d in (1, 2, 3)]
    times = [datetime(2024, 1, d, 18) for d in (1, 2, 3)]
    amounts = [Decimal("2.49"), Decimal("2.50"), Decimal("9.99")]
    rows: list[Any] = [("a", *r) for r in zip(days, times, amounts, strict=True)]
    rows += [("a", None, None, None), ("b", days[0], times[0], amounts[0]), ("c", None, None, None)]
    table = spark.createDataFrame(rows, "k string, d date, t timestamp, m decimal(10,2)")
    fold = group_fold(aggregators.Boundaries, "d date, t timestamp, m decimal(10,2)")
    df = table.groupBy("k").agg(fold("d", "t", "m").alias("x"))
    assert {r.k: tuple(r.x) for r in df.collect()} == {
        "a": (days[2], times[2], amounts[2]),
        "b": (None, None, None),
        "c": (None, None, None),
    }
    rewritten(df.filter("x.d IS NOT NULL").select("k"))
    rewritten(df.filter("x.m IS NOT NULL").select("k"))
    safe(df.filter("x.t IS NOT NULL AND x.m > 2"))


def test_structs_that_are_not_looked_into(tables: Tables) -> None:
    """One field might be given as a value by itself, which Spark would refuse."""
    best = group_fold(Best, "best double")
    df = tables.plain.groupBy("team").agg(best("score").alias("b")).filter("b.best > 90")
    assert untouched(df).declined[0].code == "return-type"
