"""Small files are counted without a job, and as Spark counts them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.backend.classic.groups_that_break_assumptions import applied, report

from presieve.backend.classic.gateway import ClassicGateway
from presieve.backend.statistics import small_files
from presieve.backend.statistics.small_files import count_locally
from presieve.driver.optimize import optimize
from presieve.driver.stages import datachecks
from presieve.ir.ops import app
from presieve.ir.sorts import FLOAT, Option
from presieve.ir.terms import Op, Scope, Term, Var, lit

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAN = math.nan
VALUES = [95.0, NAN, None, -0.0, 0.0, math.inf, -math.inf, 5e-324, 1.7e308, NAN, None, 2.0**53]
X = Var(Scope.ROW, "x", Option(FLOAT))
Y = Var(Scope.ROW, "y", Option(FLOAT))
DOUBLE = {"x": "double", "y": "double"}


def number(value: float) -> Term:
    return lit(FLOAT, value)


IS_NAN = app(Op.SQL_IS_NAN, X)
IS_NULL = app(Op.SQL_IS_NULL, X)
CONDITIONS: dict[str, tuple[Term, str]] = {
    "NaN": (IS_NAN, "isnan(x)"),
    "NULL": (IS_NULL, "x IS NULL"),
    "zero of both signs": (app(Op.SQL_EQ, X, number(0.0)), "x = 0.0D"),
    "NaN is the greatest": (app(Op.SQL_GT, X, number(1e308)), "x > 1e308D"),
    "less": (app(Op.SQL_LT, X, number(0.0)), "x < 0.0D"),
    "not of NULL": (app(Op.SQL_NOT, app(Op.SQL_LE, X, number(1.0))), "NOT x <= 1.0D"),
    "two columns": (
        app(Op.SQL_OR, app(Op.SQL_AND, app(Op.SQL_GE, Y, number(1.0)), IS_NAN), IS_NULL),
        "y >= 1.0D AND isnan(x) OR x IS NULL",
    ),
}


def write(path: Path, **columns: Any) -> str:
    pq.write_table(pa.table(columns), path, row_group_size=5)
    return str(path)


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    double = pa.float64()
    x, y = pa.array(VALUES, double), pa.array(VALUES[::-1], double)
    more = [NAN, None, 3.0]
    return [
        write(tmp_path / "a.parquet", x=x, y=y),
        write(tmp_path / "b.parquet", y=pa.array(more, double), x=pa.array(more[::-1], double)),
        write(tmp_path / "c.parquet", x=pa.array([], double), y=pa.array([], double)),
    ]


@pytest.mark.parametrize("name", CONDITIONS)
def test_what_spark_counts(name: str, spark: SparkSession, files: list[str]) -> None:
    condition, sql = CONDITIONS[name]
    # Not as a filter: a scan that is given x > 1e308 skips row groups with NaN.
    (counted,) = spark.read.parquet(*files).selectExpr(f"count_if({sql})").collect()
    assert count_locally(files, condition, DOUBLE) == counted[0] > 0


def test_what_is_left_to_spark(tmp_path: Path, files: list[str]) -> None:
    double = pa.array([1.0, NAN], pa.float64())
    others = {
        "float": {"x": pa.array([1.0, NAN], pa.float32())},
        "integer": {"x": pa.array([1, 2], pa.int64())},
        "missing": {"y": double},
        "another case beside it": {"x": double, "X": double},
        "another case": {"X": double},
        "a struct": {"x": pa.array([{"x": 1.0}, {"x": NAN}])},
        "a list": {"x": pa.array([[1.0], [NAN]])},
    }
    for name, columns in others.items():
        path = write(tmp_path / "other.parquet", **columns)
        assert count_locally([path], IS_NAN, DOUBLE) is None, name
        assert count_locally([files[0], path], IS_NAN, DOUBLE) is None, name
    assert count_locally(files, IS_NAN, {"x": "float"}) is None
    assert count_locally(files, IS_NAN, {}) is None
    assert count_locally([], IS_NAN, DOUBLE) is None
    assert count_locally(["s3a://bucket/a.parquet"], IS_NAN, DOUBLE) is None
    assert count_locally([*files, str(tmp_path / "gone.parquet")], IS_NAN, DOUBLE) is None
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and no more")
    assert count_locally([str(tmp_path / "broken.parquet")], IS_NAN, DOUBLE) is None


def test_a_null_where_the_plan_has_none_is_left_to_spark(files: list[str]) -> None:
    never_null = Var(Scope.ROW, "x", FLOAT)
    assert count_locally(files, app(Op.SQL_IS_NAN, never_null), DOUBLE) is None


def test_many_rows_or_files_are_left_to_spark(
    files: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert count_locally(files * 3, IS_NAN, DOUBLE) is None
    monkeypatch.setattr(small_files, "MOST_ROWS", len(VALUES) + 3)
    assert count_locally(files, IS_NAN, DOUBLE) is not None
    monkeypatch.setattr(small_files, "MOST_ROWS", len(VALUES) + 2)
    assert count_locally(files, IS_NAN, DOUBLE) is None


@pytest.mark.classic("data are not checked on Spark Connect")
def test_a_check_of_a_small_file_starts_no_job(
    spark: SparkSession, by_value: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> int:
        raise AssertionError("a job")

    monkeypatch.setattr(ClassicGateway, "count", refuse)
    monkeypatch.setattr(datachecks, "_answers", {})
    teams = pa.array(["a", "a", "b", "b"])
    for name, scores, kind in (
        ("good", [95.0, 92.0, 97.0, -0.0], "split"),
        ("bad", [95.0, NAN, 97.0, 91.0], "partial"),
    ):
        write(tmp_path / f"{name}.parquet", team=teams, score=pa.array(scores, pa.float64()))
        df = applied(spark.read.parquet(str(tmp_path / f"{name}.parquet")))
        assert report(df).kind == kind
        assert sorted(optimize(df, cost="always").collect()) == sorted(df.collect())
