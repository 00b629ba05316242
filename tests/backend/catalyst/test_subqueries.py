"""EXISTS and IN: the filters in their plans and above them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.support.games.pipelines import pandas_udf
from tests.support.games.tables import Tables
from tests.support.running import rewritten, safe

from presieve.driver.optimize import explain, optimize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

pytestmark = pytest.mark.classic("whole queries as text")


def asked(tables: Tables, text: str, where: str = "true") -> DataFrame:
    """``seen`` has no NULL but in texts; ``games`` are those ``where`` something holds."""
    tables.strange.filter(where).createOrReplaceTempView("games")
    tables.plain.createOrReplaceTempView("seen")
    return tables.strange.sparkSession.sql(text)


HIGH = "SELECT team FROM games GROUP BY team HAVING max(v) > 10"
BEST = "SELECT team, max(v) AS m FROM games GROUP BY team"

CASES = [
    f"SELECT * FROM seen WHERE team IN ({HIGH})",
    f"SELECT * FROM seen WHERE team NOT IN ({HIGH})",
    f"SELECT * FROM seen WHERE team NOT IN ({HIGH} AND team IS NOT NULL)",
    f"SELECT * FROM seen WHERE v = 5 OR team IN ({HIGH})",
    "SELECT * FROM seen s WHERE EXISTS (SELECT 1 FROM games WHERE games.team = s.team"
    " GROUP BY games.team HAVING max(v) > 10)",
    "SELECT * FROM seen s WHERE v IN (SELECT max(v) FROM games g WHERE g.team = s.team"
    " GROUP BY g.team HAVING max(v) > 10)",
    f"WITH b AS ({BEST}) SELECT * FROM seen WHERE team IN (SELECT team FROM b WHERE m > 10)",
    f"SELECT * FROM ({BEST}) WHERE m IN (SELECT v FROM seen WHERE v > 10)",
    f"SELECT * FROM ({BEST}) WHERE EXISTS (SELECT 1 FROM seen s WHERE s.v = m AND s.v > 10)",
    f"SELECT * FROM seen WHERE v >= (SELECT min(v) FROM games) AND team IN ({HIGH})",
]


@pytest.mark.parametrize("text", CASES)
def test_filters_go_below(tables: Tables, text: str) -> None:
    boundary = rewritten(asked(tables, text))
    assert boundary.prefilter in ("v > 10", "v >= 11")
    assert any("(v,1" in pushed for pushed in boundary.pushed_to_scan)


@pytest.mark.parametrize("text", CASES)
def test_a_filter_that_is_too_strong_is_seen(tables: Tables, text: str) -> None:
    found, others = (asked(tables, text, where).collect() for where in ("true", "v > 12"))
    assert sorted(map(str, found)) != sorted(map(str, others))


def test_python_functions_in_them(tables: Tables) -> None:
    session = tables.strange.sparkSession
    session.udf.register("highest", pandas_udf("top", "double"))
    inside = "SELECT team FROM games GROUP BY team HAVING highest(score) > 90"
    assert rewritten(asked(tables, f"SELECT * FROM seen WHERE team IN ({inside})")).function
    session.sql("DROP TEMPORARY FUNCTION highest")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM seen WHERE team IN (SELECT team FROM games)",
        f"SELECT *, team IN ({HIGH}) AS high FROM seen",  # it would be NOT NULL in the schema
        "SELECT * FROM seen WHERE EXISTS (SELECT 1 FROM games WHERE v > 10)",
        f"SELECT * FROM ({BEST}) b WHERE EXISTS (SELECT 1 FROM seen s WHERE s.v > b.m)",
        "SELECT * FROM seen WHERE v > (SELECT max(v) FROM games HAVING max(v) > 10)",
    ],
)
def test_nothing_to_gain(tables: Tables, text: str) -> None:
    """The plan stays as it is written."""
    df = asked(tables, text)
    assert optimize(df, cost="always") is df


def test_what_is_cached_is_still_met(tables: Tables) -> None:
    df = asked(tables, f"SELECT * FROM seen WHERE team IN ({HIGH})")
    df.cache()
    try:
        assert optimize(df, cost="always") is df
    finally:
        df.unpersist()


def test_a_report_has_the_filter_inside(tables: Tables) -> None:
    (boundary,) = explain(asked(tables, CASES[0]), cost="always").boundaries
    assert boundary.where.endswith("` > 10")
    assert (boundary.residual, boundary.kind) == ("true", "exact")


def test_names_of_what_comes_out(tables: Tables) -> None:
    """Columns can be asked for by the names of the relations that the query has."""
    df = asked(tables, f"SELECT s.team, s.v FROM seen s WHERE s.team IN ({HIGH})")
    better = optimize(df, cost="always")
    assert better is not df
    safe(better.filter(df["v"] > 5).select(df["team"]))
