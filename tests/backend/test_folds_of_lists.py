"""Functions of groups that run over the list of a group's rows, and what ``reorder`` permits."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from tests.support import group_functions as g
from tests.support.aggregating import Saved, better, check, grouped, python_left, rows
from tests.support.pickling import pickled_by_value

import presieve
from presieve.spark import group_fold

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [
    pytest.mark.spark,
    pytest.mark.classic("what a server makes of an expression cannot be read back"),
]
functions_by_value = pickled_by_value(g, scope="module")

WHERE = "v IS NOT NULL AND x <> 0 AND NOT isnan(x) AND s IS NOT NULL"


@pytest.fixture(scope="module")
def df(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    return Saved(spark, tmp_path_factory)(g.ROWS, g.SCHEMA)


def plan(df: DataFrame) -> str:
    return str(df._jdf.queryExecution().optimizedPlan())


@pytest.mark.parametrize(
    ("of", "type_", "column"),
    [(g.second, "double", "x"), (g.second_text, "string", "s"), (g.second_number, "bigint", "v")],
)
def test_the_second_best(df: DataFrame, of: object, type_: str, column: str) -> None:
    out = grouped(df.filter(WHERE), of, type_, column)  # type: ignore[arg-type]
    assert "collect_list(struct(" in plan(check(out))
    above = out.filter("m IS NOT NULL").groupBy("m").count()
    assert rows(better(above)) == rows(above)


class Ranked:
    """Two fields of a struct, of which one is an aggregate, and errors of rows."""

    def zero(self):  # type: ignore[no-untyped-def]
        return (0, None, None)

    def reduce(self, acc, row):  # type: ignore[no-untyped-def]
        number, best, other = acc
        if row.v is None:
            return acc
        if row.v == 13:
            raise ValueError("unlucky")
        if best is None or row.v > best:
            return (number + 1, row.v, best)
        if other is None or row.v > other:
            return (number + 1, best, row.v)
        return (number + 1, best, other)

    def finish(self, acc):  # type: ignore[no-untyped-def]
        return acc[0], acc[2]


@pytest.mark.parametrize("unlucky", [False, True])
def test_a_struct_and_errors(spark: SparkSession, unlucky: bool) -> None:
    given = [("a", 3), ("a", 3), ("a", -1), ("b", None), ("b", 5), (None, 7), (None, 9)]
    given += [("b", 13)] if unlucky else []
    table = spark.createDataFrame(given, "k string, v bigint")
    ranked = group_fold(Ranked, "struct<n: bigint, second: bigint>")
    out = table.groupBy("k").agg(ranked("v").alias("r")).select("k", "r.*")
    made = better(out)
    assert not python_left(made)
    assert rows(made) == rows(out)
    assert (rows(out) == "raises") is unlucky
    assert rows(better(out, policy="strict")) == rows(out)


def test_what_depends_on_the_order_stays(df: DataFrame) -> None:
    for of, type_, column in (
        (g.second_wrong, "bigint", "v"),
        (g.last, "double", "x"),
        (g.average, "double", "x"),
        (g.pandas_mean, "double", "x"),
    ):
        out = grouped(df.filter(WHERE), of, type_, column)
        made = better(out)
        assert python_left(made), of
        assert rows(made) == rows(out)
        notes = [str(n) for f in presieve.explain(out, compile="always").functions for n in f.notes]
        assert any("no-aggregate" in note for note in notes), notes


# --- how large groups are ---


class Second:
    """The second greatest value; it holds one batch of rows at a time."""

    def zero(self):  # type: ignore[no-untyped-def]
        return (None, None)

    def reduce(self, acc, row):  # type: ignore[no-untyped-def]
        best, other = acc
        if row.v is None:
            return acc
        if best is None or row.v > best:
            return (row.v, best)
        if other is None or row.v > other:
            return (best, row.v)
        return acc

    def finish(self, acc):  # type: ignore[no-untyped-def]
        return acc[1]


def of_auto(df: DataFrame) -> tuple[bool, str]:
    """Whether Python is left by default, and why."""
    made = presieve.optimize(df, compile="auto")
    assert rows(made) == rows(df)
    functions = presieve.explain(df, compile="auto").functions
    return python_left(made), " ".join(str(n) for f in functions for n in f.notes)


@pytest.mark.second
def test_large_groups_are_not_held_in_memory(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("presieve.cost.decision", "presieve.backend.statistics.edits"):
        monkeypatch.setattr(f"{module}.LISTED", 100)
    saved = Saved(spark, tmp_path_factory)
    even = saved([(f"k{i % 50}", i) for i in range(1000)], "k string, v bigint")
    skewed = saved([(f"k{i % 50 if i % 2 else 0}", i) for i in range(1000)], "k string, v bigint")
    second = group_fold(Second, "bigint")

    def of(table: DataFrame) -> DataFrame:
        return table.groupBy("k").agg(second("v").alias("m"))

    assert of_auto(of(even)) == (False, "")
    left, why = of_auto(of(skewed))
    assert left
    assert "cost" in why
    assert "held in memory" in why
    assert not python_left(better(of(skewed)))


# --- reorder --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "of", [g.average, g.pandas_mean, g.pandas_sum, g.total_double, g.total_from_first]
)
def test_sums_of_doubles(spark: SparkSession, of: object) -> None:
    """Of these, no order makes a difference: all sums are exact."""
    given = [("a", 0.5), ("a", 2.25), ("a", -8.0), ("b", 1e9), (None, 4.0), (None, -4.0)]
    table = spark.createDataFrame([*given, ("c", 0.0)], "k string, x double")
    out = grouped(table.filter("x IS NOT NULL AND NOT isnan(x)"), of, "double", "x")  # type: ignore[arg-type]
    made = check(out, reorder=True)
    assert "sum(" in plan(made)
    assert python_left(better(out))


def test_what_is_said_of_the_order_is_listed(df: DataFrame) -> None:
    out = grouped(df.filter(WHERE), g.last, "double", "x")
    made = better(out, reorder=True)
    assert not python_left(made)
    last = {(r.k, r.m) for r in made.collect()}
    assert last <= {(r.k, r.x) for r in df.filter(WHERE).collect()}
    (function,) = presieve.explain(out, compile="always", reorder=True).functions
    assert function.compiled is not None
    assert function.compiled.form == "aggregates"
    assert "max_by(" in function.compiled.expression


class Kept:
    """The first row with the greatest value."""

    def zero(self):  # type: ignore[no-untyped-def]
        return (None, None, None, None)

    def reduce(self, acc, row):  # type: ignore[no-untyped-def]
        if acc[0] is None or row.v > acc[0]:
            return (row.v, row.n, row.s, row.n)
        return acc

    def finish(self, acc):  # type: ignore[no-untyped-def]
        return acc


class Ended:
    """The row that came last of those with a text."""

    def zero(self):  # type: ignore[no-untyped-def]
        return (None, None)

    def reduce(self, acc, row):  # type: ignore[no-untyped-def]
        return acc if row.s is None else (row.n, row.v)

    def finish(self, acc):  # type: ignore[no-untyped-def]
        return acc


def test_of_equal_rows_one_is_taken_as_a_whole(spark: SparkSession) -> None:
    """What comes out are rows that are there, in some order of the group."""
    seed = random.Random(2)
    given = [
        (f"k{seed.randrange(9)}", seed.randrange(3), i, seed.choice([None, "", "a"]))
        for i in range(400)
    ]
    schema = "k string, v bigint NOT NULL, n bigint NOT NULL, s string"
    table = spark.createDataFrame(given, schema).repartition(5)
    kept = group_fold(Kept, "struct<v: bigint, n: bigint, s: string, m: bigint>")
    ended = group_fold(Ended, "struct<n: bigint, v: bigint>")
    out = table.groupBy("k").agg(kept("v", "n", "s").alias("a"), ended("n", "v", "s").alias("b"))
    made = better(out, reorder=True)
    assert not python_left(made)
    assert "collect_list" not in plan(made)
    assert made.schema == out.schema
    there = set(given)
    most = {k: max(v for key, v, _, _ in given if key == k) for k, _, _, _ in given}
    found = made.collect()
    assert {r.k for r in found} == set(most)
    for r in found:
        assert (r.k, r.a.v, r.a.n, r.a.s) in there
        assert (r.a.v, r.a.m) == (most[r.k], r.a.n)
        assert any((r.k, r.b.v, r.b.n, s) in there for s in ("", "a"))
    assert python_left(better(out))


def test_a_boundary_tells_what_runs(df: DataFrame) -> None:
    kept = grouped(df.filter(WHERE), g.second, "double", "x").filter("m > 1")
    (boundary,) = presieve.explain(kept, compile="auto").boundaries
    assert boundary.compiled is not None
    assert (boundary.compiled.form, boundary.not_compiled) == ("list", "")
    last = grouped(df.filter(WHERE), g.last, "double", "x").filter("m > 1")
    (boundary,) = presieve.explain(last, compile="auto").boundaries
    assert boundary.compiled is None
    assert "no-aggregate" in boundary.not_compiled
    assert presieve.explain(last, compile="auto").to_json()["boundaries"][0]["compiled"] is None


def test_wrong_values_of_the_option(df: DataFrame, spark: SparkSession) -> None:
    with pytest.raises(presieve.PresieveError, match="true or false"):
        presieve.optimize(df, reorder="yes")  # type: ignore[arg-type]
    spark.conf.set("spark.presieve.reorder", "true")
    out = grouped(df.filter(WHERE), g.last, "double", "x")
    assert not python_left(presieve.optimize(out, compile="always", cost="always"))
    spark.conf.unset("spark.presieve.reorder")


def test_where_files_tell_extremes(df: DataFrame, spark: SparkSession) -> None:
    conf = "spark.sql.parquet.aggregatePushdown.enabled"
    out = grouped(df, g.size, "bigint", "x")
    assert not python_left(better(out))
    spark.conf.set(conf, "true")
    assert python_left(better(out))
    spark.conf.unset(conf)
