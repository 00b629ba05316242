"""The cost gate on plans: what is estimated, what is left alone, and that results stay the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.support.games.pipelines import agg
from tests.support.running import same_rows

from presieve.cost import estimate
from presieve.driver.optimize import explain, optimize
from presieve.driver.options import Cost

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.classic("files of a server are not read")
ROWS = 20_000


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine samples no less."""
    monkeypatch.setattr(estimate, "SECONDS", estimate.Limit(60.0, 60.0))


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``v`` is 0 to 999, in no order; every tenth ``w`` is NULL; ``n`` grows."""
    path = tmp_path_factory.mktemp("cost") / "table.parquet"
    v = [(i * 7919) % 1000 for i in range(ROWS)]
    columns = {
        "team": [f"t{i % 7}" for i in range(ROWS)],
        "v": pa.array(v, pa.int64()),
        "w": pa.array([None if i % 10 == 0 else x for i, x in enumerate(v)], pa.int64()),
        "n": pa.array(range(ROWS), pa.int64()),
    }
    pq.write_table(pa.table(columns), path, row_group_size=ROWS // 10)
    return path


@pytest.fixture
def table(spark: SparkSession, path: Path) -> DataFrame:
    return spark.read.parquet(str(path))


def most(table: DataFrame, column: str, where: str) -> DataFrame:
    import pyspark.sql.functions as F

    return table.groupBy("team").agg(F.max(column).alias("m")).filter(where)


def told(df: DataFrame, cost: Cost = "auto") -> tuple[bool, list[str], list[float | None]]:
    """Whether it is rewritten; what is said, and the shares."""
    report = explain(df, cost=cost)
    same_rows(df, optimize(df, cost=cost))
    assert (optimize(df, cost=cost) is not df) == report.changed
    shares = [b.estimated_selectivity for b in report.boundaries]
    return report.changed, [b.decision for b in report.boundaries], shares


def test_a_selective_filter_is_pushed(table: DataFrame) -> None:
    changed, said, shares = told(most(table, "v", "m > 899"))
    assert changed
    assert said[0].startswith("pushed: keeps about")
    assert shares == [pytest.approx(0.1, abs=0.05)]


def test_row_groups_that_the_scan_skips(table: DataFrame) -> None:
    changed, said, shares = told(most(table, "n", f"m >= {ROWS - 1000}"))
    assert changed
    assert said[0].endswith("(the scan skips 90 %)")
    assert shares == [pytest.approx(0.05, abs=0.03)]


def test_one_that_keeps_all_rows_is_left_alone_and_says_why(
    table: DataFrame, caplog: pytest.LogCaptureFixture
) -> None:
    df = most(table, "v", "m >= 0")
    with caplog.at_level("INFO", "presieve"):
        assert optimize(df) is df
    assert "[cost] keeps about 100 % of rows" in caplog.text
    assert "the pre-filter v >= 0 is proven" in caplog.text
    (boundary,) = explain(df).boundaries
    assert (boundary.kind, boundary.prefilter) == ("none", "true")
    assert [d.code for d in boundary.declined] == ["cost"]
    assert boundary.decision.startswith("not pushed: keeps about 100 % of rows")
    assert boundary.estimated_selectivity == 1.0
    assert "cost          not pushed" in str(explain(df))
    changed, said, _ = told(df, "always")
    assert changed
    assert said == [
        "pushed although it may not pay: keeps about 100 % of rows,"
        " and checking costs more than it saves"
    ]


def test_never_only_explains(table: DataFrame) -> None:
    df = most(table, "v", "m > 899")
    assert optimize(df, cost="never") is df
    (boundary,) = explain(df, cost="never").boundaries
    assert boundary.kind == "exact"


RENAMED: list[tuple[str, Callable[[DataFrame], DataFrame]]] = [
    ("renamed", lambda t: t.selectExpr("team", "w AS v")),
    ("alias", lambda t: t.alias("a").selectExpr("a.team AS team", "a.w AS v")),
    ("sorted", lambda t: t.selectExpr("team", "w AS v").sort("v")),
]


@pytest.mark.parametrize("make", [m for _, m in RENAMED], ids=[n for n, _ in RENAMED])
def test_columns_are_followed(table: DataFrame, make: Callable[[DataFrame], DataFrame]) -> None:
    _, _, shares = told(most(make(table), "v", "m > 499"))
    assert shares == [pytest.approx(0.45, abs=0.06)]


def test_rows_that_a_filter_below_drops_do_not_count(table: DataFrame) -> None:
    _, _, shares = told(most(table.filter("w > 499"), "w", "m > 749"))
    assert shares == [pytest.approx(0.5, abs=0.06)]


def test_unknown_is_pushed(spark: SparkSession, table: DataFrame) -> None:
    import pyspark.sql.functions as F

    rows = [("a", 1), ("a", 2), ("b", None)]
    memory = spark.createDataFrame(rows, "team string, v bigint")
    unknown = "pushed: how many rows it keeps is unknown"
    assert told(most(memory, "v", "m >= 0")) == (True, [unknown], [None])
    joined = table.join(memory.selectExpr("team AS t", "v AS x"), F.expr("v = x"))
    assert told(most(joined, "v", "m >= 0"))[1] == [unknown]


def test_a_computed_column_is_unknown(table: DataFrame) -> None:
    df = most(table.selectExpr("team", "coalesce(w, -1L) AS v"), "v", "m > 499")
    assert told(df) == (True, ["pushed: how many rows it keeps is unknown"], [None])


def test_a_small_table_decides_nothing(spark: SparkSession, tmp_path: Path) -> None:
    """What is small today may be large tomorrow, and five rows say little."""
    pq.write_table(pa.table({"team": ["a"] * 5, "v": range(5)}), tmp_path / "t.parquet")
    changed, said, shares = told(most(spark.read.parquet(str(tmp_path)), "v", "m >= 0"))
    assert (changed, shares) == (True, [1.0])
    assert said == ["pushed: keeps about 100 % of rows"]


def test_python_functions(table: DataFrame) -> None:
    df = agg(table, "count_high", "bigint", "v").filter("m >= 1")
    changed, said, shares = told(df)
    assert changed
    assert said[0].startswith("pushed: keeps about 9")
    assert shares == [pytest.approx(0.99, abs=0.02)]


def test_a_function_that_is_not_needed_any_more(table: DataFrame) -> None:
    import pyspark.sql.functions as F

    positive = F.udf(lambda v: v is not None and v >= 0, "boolean")
    changed, said, _ = told(table.filter(positive("v")).select("team"))
    assert changed
    assert said[0].endswith("and the filter no longer calls the function")


def test_a_self_join_of_which_one_side_is_filtered(spark: SparkSession, path: Path) -> None:
    """Spark computes the aggregate once as it is written."""
    import pyspark.sql.functions as F

    left = most(spark.read.parquet(str(path)), "v", "true")
    right = most(spark.read.parquet(str(path)), "v", "m > 998")
    joined = left.join(right.selectExpr("team AS t", "m AS top"), F.expr("team = t"))
    changed, said, _ = told(joined)
    assert not changed
    assert any("which Spark does once as long as both are the same" in s for s in said)
    changed, _, _ = told(joined, "always")
    assert changed


def test_other_files_are_not_alike(spark: SparkSession, path: Path, tmp_path: Path) -> None:
    import pyspark.sql.functions as F

    other = tmp_path / "other.parquet"
    other.write_bytes(path.read_bytes())
    left = most(spark.read.parquet(str(path)), "v", "true")
    right = most(spark.read.parquet(str(other)), "v", "m > 998").selectExpr("team AS t")
    assert told(left.join(right, F.expr("team = t")))[0]


def test_the_same_filter_on_both_sides(table: DataFrame) -> None:
    df = most(table, "v", "m > 990")
    changed, said, _ = told(df.union(df))
    assert changed
    assert len(said) == 2
