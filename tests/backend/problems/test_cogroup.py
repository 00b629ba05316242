"""Filters on the key above functions of two groups."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from tests.backend.problems import cogroup_udfs
from tests.support.amount import some
from tests.support.games.tables import SCHEMA, Tables
from tests.support.pickling import pickled_by_value
from tests.support.running import rewritten, untouched

from presieve.dataflow.analysis import dataflow
from presieve.dataflow.context import AnalysisRequest
from presieve.driver.optimize import explain
from presieve.errors import DeclineSignal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

CLUBS = "club string, points double"
ROWS = [("a", 1.0), ("a", None), ("b", float("nan")), ("z", 7.0), (None, 3.0), (None, 4.0)]
KEEPING = {
    "left_rows": (SCHEMA, "team"),
    "right_key": (CLUBS, "club"),
    "matched": ("team string, score double, points double", "team"),
    "nearest": ("team string, score double, points double", "team"),
    "of_key": ("team string, rows bigint", "team"),
    "latest": (SCHEMA, "team"),
}
OTHERS = {
    "outer_without_key": "team string, score double, points double",
    "either": "team string, score double, points double",
    "other_name": SCHEMA,
    "two_names": "team string, score double, points double",
}


by_value_too = pickled_by_value(cogroup_udfs)


@pytest.fixture(scope="module")
def clubs(tables: Tables, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    """Some teams are here only, some there only, and some rows have none."""
    spark = tables.plain.sparkSession
    path = str(tmp_path_factory.mktemp("clubs") / "t")
    spark.createDataFrame(ROWS, CLUBS).write.parquet(path)
    return spark.read.parquet(path)


def applied(tables: Tables, clubs: DataFrame, name: str, schema: str) -> DataFrame:
    groups = tables.strange.groupBy("team").cogroup(clubs.groupBy("club"))
    return groups.applyInPandas(getattr(cogroup_udfs, name), schema)


@some("name, where", product(KEEPING, ["{} = 'a'", "{} IS NULL", "{} >= 'b'"]), of=2)
def test_filters_on_the_key_go_below_both(
    tables: Tables, clubs: DataFrame, name: str, where: str
) -> None:
    schema, key = KEEPING[name]
    df = applied(tables, clubs, name, schema).filter(where.format(key))
    boundary = rewritten(df)
    assert boundary.operator == "FlatMapCoGroupsInPandas"
    assert boundary.kind == "exact"
    assert boundary.residual == "true"
    sign = {"{} = 'a'": "EqualTo({},a)", "{} IS NULL": "IsNull({})"}
    for column in ("team", "club"):
        told = sign.get(where, "GreaterThanOrEqual({},b)").format(column)
        assert any(told in p for p in boundary.pushed_to_scan), boundary.pushed_to_scan
    assert [a["code"] for a in boundary.assumptions] == ["may-erase-error"]


@pytest.mark.parametrize("name", OTHERS)
def test_a_column_of_the_keys_name_is_not_enough(
    tables: Tables, clubs: DataFrame, name: str
) -> None:
    df = applied(tables, clubs, name, OTHERS[name]).filter("team = 'a'")
    assert untouched(df).declined


def test_the_tempting_prefilter_loses_rows(tables: Tables, clubs: DataFrame) -> None:
    """Rows of the second table without a partner have no team, whatever their key is."""

    def run(left: DataFrame, right: DataFrame) -> int:
        groups = left.groupBy("team").cogroup(right.groupBy("club"))
        found = groups.applyInPandas(cogroup_udfs.outer_without_key, OTHERS["outer_without_key"])
        return found.filter("team IS NULL").count()

    before = run(tables.plain, clubs)
    assert before > run(tables.plain.filter("team IS NULL"), clubs.filter("club IS NULL"))


def test_other_filters_stay(tables: Tables, clubs: DataFrame) -> None:
    df = applied(tables, clubs, "left_rows", SCHEMA).filter("score > 90")
    (why,) = untouched(df).declined
    assert why.code == "operator"


def test_keys_of_different_types(tables: Tables, clubs: DataFrame) -> None:
    groups = tables.plain.groupBy("v").cogroup(clubs.groupBy("club"))
    df = groups.applyInPandas(cogroup_udfs.left_rows, SCHEMA).filter("v = 1")
    (why,) = untouched(df).declined
    assert why.code == "key-type"


def test_functions_of_arrow_tables_are_declined(tables: Tables, clubs: DataFrame) -> None:
    groups = tables.plain.groupBy("team").cogroup(clubs.groupBy("club"))
    df = groups.applyInArrow(cogroup_udfs.left_rows, SCHEMA).filter("team = 'a'")
    assert untouched(df).declined


def test_strict_keeps_errors(tables: Tables, clubs: DataFrame) -> None:
    df = applied(tables, clubs, "left_rows", SCHEMA).filter("team = 'a'")
    strict = explain(df, policy="strict")
    assert [d.code for d in strict.boundaries[0].declined] == ["may-erase-error"]
    assert strict.boundaries[0].kind == "none"


@pytest.mark.costly
@pytest.mark.parametrize("name", [*KEEPING, *OTHERS])
def test_lemma_on_random_groups(name: str) -> None:
    """Every row has the key in the columns that are said to hold it, with one side empty, too."""
    import pandas as pd

    function: Any = getattr(cogroup_udfs, name)
    takes_key = function.__code__.co_argcount == 3
    columns = ("team", "score", "v", "level")
    try:
        beside = (("club", "points"), ("club",))
        held = dataflow(AnalysisRequest(function, "group", columns, ("team",), beside)).keys
    except DeclineSignal:
        held = {}
    assert held == ({KEEPING[name][1]: "team"} if name in KEEPING else {})
    random = Random(7)
    for _ in range(1500 if held else 0):
        key = random.choice(["a", "b", "", None])
        sizes = random.choice([(0, 2), (3, 0), (1, 1), (2, 3)])
        left = pd.DataFrame(
            {
                "team": pd.Series([key] * sizes[0], dtype=object),
                "score": pd.Series(random.choices([1.5, None], k=sizes[0]), dtype=float),
                "v": pd.Series(random.choices([0, 3], k=sizes[0]), dtype=int),
                "level": pd.Series(random.choices(["e", None], k=sizes[0]), dtype=object),
            }
        )
        right = pd.DataFrame(
            {
                "club": pd.Series([key] * sizes[1], dtype=object),
                "points": pd.Series(random.choices([1.0, None], k=sizes[1]), dtype=float),
            }
        )
        result = function((key,), left, right) if takes_key else function(left, right)
        for column in held:
            assert all(x == key or (pd.isna(x) and key is None) for x in result[column])
