"""Filters derived from what joins say of other sources: which sides, and that rows are the same."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.amount import amount

import presieve
from presieve.backend.catalyst.boundary import PROJECT
from presieve.backend.catalyst.leaf_conditions import conjunction, facts_of
from presieve.backend.catalyst.operators import JOIN
from presieve.backend.catalyst.trees import ALIAS, ATTRIBUTE, EXPRESSIONS, Node
from presieve.certificate.checker import Rejected, check
from presieve.certificate.scan_filters import DerivedCertificate
from presieve.semantics.intervals import values
from presieve.sql.catalyst_tree import build
from presieve.sql.piecewise import Zones
from presieve.synthesis.scan_filters import cuts, necessary

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.classic("filters are derived from the plan of Spark's optimizer")

UTC = Zones("UTC", {"UTC": (0, 0), "Etc/UTC": (0, 0)})

VALUES: dict[str, tuple[str, list[object]]] = {
    "i": ("int", [*range(-4, 9), None, 2**31 - 1, -(2**31), 2024]),
    "n": ("long", [*range(-3, 8), None, 2**63 - 1, -(2**63)]),
    "x": ("double", [0.0, -0.0, 1.5, -2.5, 4.0, None, float("nan"), float("inf"), -float("inf")]),
    "s": ("string", ["", "a", "ab", "abc", "b", None, "2024-01"]),
    "d": ("string", ["2023-12-31", "2024-01-01", "2024-02-29", None, "1970-01-01"]),
}


@pytest.fixture(scope="module")
def sides(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> list[DataFrame]:
    """Three tables of files, whose columns begin with ``a``, ``b`` and ``c``."""
    rng = random.Random(21)
    folder = tmp_path_factory.mktemp("sides")
    found = []
    for name in "abc":
        rows = [tuple(rng.choice(v) for _, v in VALUES.values()) for _ in range(40)]
        schema = ", ".join(f"{name}{column} {type_}" for column, (type_, _) in VALUES.items())
        raw = spark.createDataFrame(rows, schema)
        dated = raw.withColumn(f"{name}d", raw[f"{name}d"].cast("date"))
        dated.coalesce(1).write.parquet(str(folder / name))
        found.append(spark.read.parquet(str(folder / name)))
    return found


@pytest.fixture(autouse=True)
def wrapping(spark: SparkSession) -> Iterator[None]:
    """Integers that overflow raise no error, as there are extreme ones."""
    before = spark.conf.get("spark.sql.ansi.enabled") or "false"
    spark.conf.set("spark.sql.ansi.enabled", "false")
    yield
    spark.conf.set("spark.sql.ansi.enabled", before)


def rows(df: DataFrame) -> list[str]:
    return sorted(map(str, df.collect()))


def derived(df: DataFrame, **options: Any) -> set[str]:
    """What is derived for files; that rows are the same, too."""
    found = presieve.explain(df, cost="always", **options).derived
    assert rows(presieve.optimize(df, cost="always", **options)) == rows(df)
    return {d.derived for d in found if d.derived and not d.operator}


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("ai < bi AND bi < 5", {"ai < 4"}),
        ("ai <= bi + 3 AND abs(bi) < 3", {"ai < 6", "bi = -2147483648 OR (bi >= -2 AND bi < 3)"}),
        # Twice a large number may be a small one, and with another mode an error.
        ("ai <= bi + 3 AND bi * 2 < 5", {"bi < 3 OR bi >= 1073741824"}),
        ("ai = bi AND year(bd) = 2024", {"bd >= DATE '2024-01-01' AND bd < DATE '2025-01-01'"}),
        ("year(ad) = bi AND bi = 2024", {"ad >= DATE '2024-01-01' AND ad < DATE '2025-01-01'"}),
        ("ai BETWEEN bi - 1 AND bi + 1 AND bi BETWEEN 2 AND 3", {"ai >= 1 AND ai < 5"}),
        ("trunc(ad, 'MM') <= bd AND bd < DATE '2024-01-10'", {"ad < DATE '2024-02-01'"}),
        ("substring(`as`, 1, 1) = bs AND bs = 'a'", {"`as` >= 'a' AND `as` < 'b'"}),
        ("ai < bi", set()),
        ("ai < bi AND (bi < 5 OR bs = 'a')", set()),
    ],
)  # fmt: skip
def test_what_is_known_of_one_side(
    sides: list[DataFrame], condition: str, expected: set[str]
) -> None:
    a, b, _ = sides
    assert derived(a.join(b).where(condition)) == expected


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("inner", {"ai < 4"}),
        ("cross", {"ai < 4"}),
        ("left_semi", {"ai < 4"}),
        ("right", {"ai < 4"}),  # a row of ``a`` without a partner is nothing
        ("left", set()),
        ("left_anti", set()),
        ("full", set()),
    ],
)
def test_the_sides_of_joins(sides: list[DataFrame], kind: str, expected: set[str]) -> None:
    from pyspark.sql import functions as F

    a, b, _ = sides
    df = a.join(b, F.expr("ai < bi AND bi < 5"), kind)
    assert derived(df) == expected


def test_a_row_without_a_partner_is_another_row(sides: list[DataFrame]) -> None:
    """What is above an outer join is nothing to the side that has the partners: without them a row
    comes out that had none before.
    """
    from pyspark.sql import functions as F

    a, b, _ = sides
    df = b.join(a, F.expr("ai <= bi"), "left").where("ai + 1 > 4 OR ai IS NULL")
    assert not any("ai" in found for found in derived(df))
    wrong = b.join(a.where("ai > 3"), F.expr("ai <= bi"), "left").where("ai + 1 > 4 OR ai IS NULL")
    assert rows(wrong) != rows(df)


def test_three_tables_and_what_is_computed_between(sides: list[DataFrame]) -> None:
    from pyspark.sql import functions as F

    a, b, c = sides
    first = a.selectExpr("abs(ai) AS p", "an").join(b, F.expr("p < bi"))
    df = first.withColumn("q", F.expr("bi div 2")).join(c, F.expr("q <= ci AND ci < 2"))
    assert {"ai = -2147483648 OR (ai >= -2 AND ai < 3)", "bi < 4"} <= derived(df)


def test_groups_windows_and_limits_on_the_other_side(sides: list[DataFrame]) -> None:
    from pyspark.sql import functions as F

    a, b, _ = sides
    grouped = b.where("bi < 5").groupBy("bi").count()
    assert derived(a.join(grouped, F.expr("ai < bi"))) == {"ai < 4"}
    ranked = b.where("bi < 5").selectExpr("bi", "row_number() OVER (PARTITION BY bs ORDER BY bn) r")
    assert derived(a.join(ranked, F.expr("ai < bi AND r < 9"))) == {"ai < 4"}
    whole = b.where("bi < 5").agg(F.expr("coalesce(max(bi), 2147483647) AS m"))
    assert derived(a.join(whole, F.expr("ai < m"))) == set()
    some = a.orderBy("ai", "an", "as", "ax", "ad").limit(3)
    assert derived(some.join(b.where("bi < 5"), F.expr("ai < bi"))) == set()


def test_exists_and_in(spark: SparkSession, sides: list[DataFrame]) -> None:
    for name, table in zip("abc", sides, strict=True):
        table.createOrReplaceTempView(f"side_{name}")
    query = "SELECT * FROM side_a WHERE {}EXISTS (SELECT 1 FROM side_b WHERE ai < bi AND bi < 5)"
    assert derived(spark.sql(query.format(""))) == {"ai < 4"}
    assert derived(spark.sql(query.format("NOT "))) == set()
    among = "SELECT * FROM side_a WHERE ai {}IN (SELECT bi * 2 FROM side_b WHERE bi IN (1, 2))"
    assert derived(spark.sql(among.format(""))) == {"ai >= 2 AND ai < 5"}
    assert derived(spark.sql(among.format("NOT "))) == set()


def test_numbers_that_depend_on_other_rows(sides: list[DataFrame]) -> None:
    """Rows that are dropped early would get no number, and later ones another."""
    from pyspark.sql import functions as F

    a, b, _ = sides
    numbered = a.withColumn("m", F.monotonically_increasing_id())
    assert derived(numbered.join(b, F.expr("ai < bi AND bi < 5"))) == set()
    drawn = a.where("rand(3) < 0.9").join(b, F.expr("ai < bi AND bi < 5"))
    assert derived(drawn) == set()


def test_strict_asks_what_is_computed_before(sides: list[DataFrame]) -> None:
    from pyspark.sql import functions as F

    a, b, _ = sides
    on = F.expr("ai < bi AND bi < 5")
    assert derived(a.join(b, on), policy="strict") == {"ai < 4"}
    computing = a.where("as IS NOT NULL").withColumn("z", F.expr("CAST(an AS int)"))
    assert derived(computing.where("an < 5").join(b, on), policy="strict") == set()


def test_strict_asks_for_conditions_that_say_nothing_of_the_source(sides: list[DataFrame]) -> None:
    """They are computed of a row all the same, and a row that is dropped has no error."""
    a, b, _ = sides
    many = ", ".join(f"ai + {n}" for n in range(300))
    for condition in ("CAST(`as` AS int) > 3", f"greatest(CAST(`as` AS int), {many}) > 3"):
        df = a.where(condition).join(b).where("ai < bi AND bi < 5")
        (first, *_) = [d for d in presieve.explain(df, cost="always").derived if d.derived]
        assert [each["code"] for each in first.assumptions] == ["may-erase-error"]
        strict = presieve.explain(df, cost="always", policy="strict").derived
        assert strict
        assert all(each.declined for each in strict)


_LEAF = "org.apache.spark.sql.execution.datasources.LogicalRelation"


def _column(number: int) -> dict[str, Any]:
    return {"class": ATTRIBUTE, "num-children": 0, "exprId": {"id": number}}


def _joined_with(*columns: list[dict[str, Any]]) -> tuple[Node, Node]:
    """Two sources that are compared; the first one's columns are projected so."""
    first = Node(_LEAF, {"output": [[_column(1)]]}, (), (0, 0))
    second = Node(_LEAF, {"output": [[_column(2)]]}, (), (1,))
    projected = Node(PROJECT, {"projectList": list(columns)}, (first,), (0,))
    less = {"class": EXPRESSIONS + "LessThan", "num-children": 2}
    fields = {
        "joinType": {"object": "org.apache.spark.sql.catalyst.plans.Inner$"},
        "condition": [less, _column(1), _column(2)],
    }
    return Node(JOIN, fields, (projected, second), ()), first


def test_a_number_that_means_two_columns_is_no_fact() -> None:
    """Some rules of the optimizer give a computed column the number of the one that it replaces."""
    again: dict[str, Any] = {"class": ALIAS, "num-children": 1, "exprId": {"id": 1}}
    plain, leaf = _joined_with([_column(1)])
    uses, _ = facts_of(plain, plain, beside=True)
    assert len(uses[leaf.path][0].conditions) == 1
    replaced, leaf = _joined_with([again, _column(1)])
    uses, _ = facts_of(replaced, replaced, beside=True)
    assert not uses[leaf.path][0].conditions


def test_the_checker_refuses_more(sides: list[DataFrame]) -> None:
    a, b, _ = sides
    df = a.join(b).where("ai <= bi + 3 AND abs(bi) < 3")
    optimized = df._jdf.queryExecution().optimizedPlan()
    trees = [n["condition"] for n in json.loads(optimized.toJSON()) if "condition" in n]
    node, _ = build(conjunction(trees), 0, 0)
    clauses = necessary(node, UTC)
    points = cuts(node, UTC)
    assert len([c for c in clauses if len(c) == 1]) >= 2
    whole = DerivedCertificate(conjunction(trees), clauses, UTC, points)
    assert not isinstance(check(whole), Rejected)
    for clause in clauses:
        ((number, allowed),) = clause.items()
        low, high = allowed.intervals[-1]
        if isinstance(high, int):
            narrower = {number: values([(low, high - 1)])}
            twin = DerivedCertificate(conjunction(trees), [narrower], UTC, points)
            assert isinstance(check(twin), Rejected), narrower


_OPERANDS = {
    "i": ["{}i", "{}i + 1", "-{}i", "{}i * 2", "coalesce({}i, 3)", "abs({}i)", "year({}d)"],
    "n": ["{}n", "{}n div 2", "7 - {}n", "greatest({}n, 2)", "CAST({}i AS long)"],
    "x": ["{}x", "{}x * 2", "CAST({}i AS double)", "-{}x"],
    "s": ["{}s", "substring({}s, 1, 1)", "CAST({}d AS string)", "coalesce({}s, 'b')"],
    "d": ["{}d", "date_add({}d, 3)", "last_day({}d)", "trunc({}d, 'MM')"],
}
_CONSTANTS = {"i": "3", "n": "4L", "x": "1.5D", "s": "'ab'", "d": "DATE '2024-01-01'"}


def _comparison(rng: random.Random, tables: str) -> str:
    kind = rng.choice("iinnxsd")
    one, other = (rng.choice(_OPERANDS[kind]).format(rng.choice(tables)) for _ in range(2))
    right = other if rng.random() < 0.6 else _CONSTANTS[kind]
    return f"{one} {rng.choice(('<', '<=', '=', '>', '>=', '<=>'))} {right}"


def _on(rng: random.Random, tables: str) -> str:
    parts = [_comparison(rng, tables) for _ in range(rng.choice((2, 3, 3, 4)))]
    found = parts[0]
    for part in parts[1:]:
        found = f"({found}) {rng.choice(('AND', 'AND', 'AND', 'OR'))} ({part})"
    return found


def _pipeline(rng: random.Random, sides: list[DataFrame]) -> DataFrame:
    from pyspark.sql import functions as F

    tables = "ab"
    kinds = ("inner", "inner", "left", "right", "full", "left_semi", "left_anti")
    kind = rng.choice(kinds)
    df = sides[0].join(sides[1], F.expr(_on(rng, tables)), kind)
    tables = "a" if kind in ("left_semi", "left_anti") else tables
    if rng.random() < 0.4:
        kind = rng.choice(kinds)
        df = df.join(sides[2].where(_on(rng, "c")), F.expr(_on(rng, tables + "c")), kind)
        tables += "" if kind in ("left_semi", "left_anti") else "c"
    if rng.random() < 0.5:
        df = df.where(_on(rng, tables))
    return df if rng.random() < 0.7 else df.groupBy(f"{tables[0]}i").agg(F.expr("count(*) AS m"))


@pytest.mark.random
def test_random_joins_keep_their_rows(sides: list[DataFrame]) -> None:
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    rng = random.Random(32)
    changed = 0
    for number in range(amount(500, 50)):
        df = _pipeline(rng, sides)
        better = presieve.optimize(df, cost="always")
        if better is df:
            continue
        changed += 1
        try:
            expected = rows(df)
        except (PySparkException, Py4JError):
            continue
        plan = df._jdf.queryExecution().analyzed().toString()
        assert rows(better) == expected, (number, plan)
    assert changed > amount(500, 50) / 10
