"""Filters on grouping columns, above functions of groups that do not lift."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest
from tests.backend.problems import keyed_udfs
from tests.support.amount import some
from tests.support.games.tables import SCHEMA, Tables
from tests.support.pickling import pickled_by_value
from tests.support.running import rewritten, untouched

from presieve.dataflow.analysis import dataflow
from presieve.dataflow.context import AnalysisRequest
from presieve.driver.optimize import explain, optimize

COLUMNS = ("team", "score", "v", "level")
KEEPING = {
    "z_scores": SCHEMA,
    "median_of": "team string, score double",
    "upper_half": SCHEMA,
    "whole_or_nothing": SCHEMA,
}
OTHERS = {
    "rows_without_a_key": SCHEMA,
    "holes": SCHEMA,
    "one_more_row": SCHEMA,
    "left_by_break": SCHEMA,
    "same_object": SCHEMA,
    "numbered": SCHEMA,
    "sampled": SCHEMA,
}


by_value_too = pickled_by_value(keyed_udfs)


FILTERS = ["team = 'a'", "team IS NULL", "team > 'a' AND score < 93"]


@some("name, where", product(KEEPING, FILTERS), of=2)
def test_filters_on_the_key_drop_groups(tables: Tables, name: str, where: str) -> None:
    groups = tables.strange.groupBy("team").applyInPandas(getattr(keyed_udfs, name), KEEPING[name])
    boundary = rewritten(groups.filter(where))
    key = where.partition(" AND ")[0]
    assert boundary.kind == "exact"
    assert boundary.prefilter == key
    assert boundary.residual == "true"
    sign = {"team = 'a'": "EqualTo(team,a)", "team IS NULL": "IsNull(team)"}
    assert any(sign.get(key, "GreaterThan(team,a)") in p for p in boundary.pushed_to_scan)
    assert [a["code"] for a in boundary.assumptions] == ["may-erase-error"]


@pytest.mark.parametrize("name", OTHERS)
def test_a_column_of_the_keys_name_is_not_enough(tables: Tables, name: str) -> None:
    groups = tables.strange.groupBy("team").applyInPandas(getattr(keyed_udfs, name), OTHERS[name])
    assert untouched(groups.filter("team = 'a'")).declined


BY_ROW = [
    ("rated_by_key", "score > 150 AND level = 'ERROR'", "level = 'ERROR'"),
    ("rated_by_key", "score > 150", "team = 'a'"),
    ("raised_by_key", "score = 91", "team = 'a'"),
    ("raised_by_key", "level IS NULL OR v > 3", "v > 3"),
]


@pytest.mark.parametrize(("name", "where", "part"), BY_ROW)
def test_functions_that_treat_rows_by_the_key(
    tables: Tables, name: str, where: str, part: str
) -> None:
    """Each row has the values of the key of its group."""
    groups = tables.strange.groupBy("team").applyInPandas(getattr(keyed_udfs, name), SCHEMA)
    assert part in rewritten(groups.filter(where)).prefilter
    ordered = tables.plain.groupBy("team").applyInPandas(getattr(keyed_udfs, name), SCHEMA)
    rewritten(ordered.filter(where))


def test_rows_that_are_compared_with_their_group(tables: Tables) -> None:
    groups = tables.strange.groupBy("team").applyInPandas(
        keyed_udfs.compared_with_the_group, SCHEMA
    )
    untouched(groups.filter("level = 'ERROR' AND score > -5"))


def test_doubles_are_no_keys_of_rows(tables: Tables) -> None:
    """Spark puts 0.0 and -0.0 into one group."""
    groups = tables.strange.groupBy("score").applyInPandas(keyed_udfs.marked_by_number, SCHEMA)
    untouched(groups.filter("level = 'ERROR' AND score > -5"))


def test_a_key_that_is_changed_in_place(tables: Tables) -> None:
    groups = tables.strange.groupBy("team").applyInPandas(keyed_udfs.renamed_key, SCHEMA)
    report = rewritten(groups.filter("team = 'a'"))
    assert (report.prefilter, report.kind) == ("team <> ''", "partial")


def test_a_column_of_the_keys_name_may_be_another_one(tables: Tables) -> None:
    groups = tables.strange.groupBy("team").applyInPandas(
        keyed_udfs.only_the_name, "team string, score double"
    )
    assert rewritten(groups.filter("team = 'a'")).prefilter == "level = 'a'"
    assert rewritten(groups.filter("team = 'none'")).prefilter == "level IS NULL OR level = 'none'"


def test_what_may_raise_is_told_and_refused_under_strict(tables: Tables) -> None:
    df = tables.plain.groupBy("team").applyInPandas(keyed_udfs.z_scores, SCHEMA)
    strict = explain(df.filter("team = 'a'"), policy="strict")
    assert [d.code for d in strict.boundaries[0].declined] == ["may-erase-error"]
    assert not strict.changed


def test_a_key_of_another_type_is_another_value(tables: Tables) -> None:
    """Rounded keys are not those of the group."""
    groups = tables.plain.groupBy("v").applyInPandas(
        keyed_udfs.z_scores, "team string, score double, v int, level string"
    )
    df = groups.filter("v = 1")
    assert optimize(df) is df


@pytest.mark.costly
@pytest.mark.parametrize("name", [*KEEPING, *OTHERS, "only_the_name"])
def test_lemma_on_random_groups(name: str) -> None:
    """Every row has the key in the columns that are said to hold it."""
    import pandas as pd

    from presieve.errors import DeclineSignal

    function = getattr(keyed_udfs, name)
    takes_key = function.__code__.co_argcount == 2
    try:
        answer = dataflow(AnalysisRequest(function, "group", COLUMNS, ("team",)))
        held = {} if answer.effects else answer.keys
    except DeclineSignal:
        held = {}
    assert held == ({"team": "team"} if name in KEEPING else {})
    random = Random(7)
    for _ in range(2500 if held else 0):
        key = random.choice(["a", "b", "z", "", None])
        size = random.randint(1, 5)
        pdf = pd.DataFrame(
            {
                "team": pd.Series([key] * size, dtype=object),
                "score": [random.choice([1.5, float("nan"), -0.0, 99.0]) for _ in range(size)],
                "v": [random.choice([0, 3, 11, 2**53]) for _ in range(size)],
                "level": [random.choice(["error", None, ""]) for _ in range(size)],
            }
        )
        result = function((key,), pdf) if takes_key else function(pdf)
        assert all(x == key or (x is None and key is None) for x in result["team"])
