"""Filters on a field of what a scalar UDF returns."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.backend.problems import struct_udfs as udfs
from tests.support.running import rewritten, untouched
from tests.support.spark_version import is_before

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.classic("plans of Spark Connect do not name the fields of a result")
VALUES = [150.0, 50.0, None, math.nan, math.inf, -math.inf, -0.0, 0.0, 100.0, 100.5, 1e308, 5e-324]
ARROW = pytest.mark.parametrize("arrow", [False, True], ids=["pickled", "arrow"])


@pytest.fixture(scope="module", params=["spark", "pyarrow"])
def values(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> DataFrame:
    path = str(tmp_path_factory.mktemp("structs") / "table.parquet")
    if request.param == "spark":
        rows = [(v, i) for i, v in enumerate(VALUES)]
        spark.createDataFrame(rows, "v double, id int").coalesce(1).write.parquet(path)
    else:
        ids = pa.array(range(len(VALUES)), pa.int32())
        pq.write_table(pa.table({"v": VALUES, "id": ids}), path, row_group_size=4)
    return spark.read.parquet(path)


def with_r(
    values: DataFrame, function: Callable[..., Any], *, arrow: bool, schema: str = udfs.SCHEMA
) -> DataFrame:
    from pyspark.sql.functions import udf

    make: Any = udf
    return values.withColumn("r", make(function, schema, useArrow=arrow)("v"))


HIGH = "v > 100.0D AND NOT isnan(v)"
BELOW = [
    ("label", "r.kind = 'high'", HIGH),
    ("label", "r.kind = 'high' AND id > 1", HIGH),
    ("label", "r.kind IS NULL", "v IS NULL"),
    ("label", "r.number = 7", "v IS NOT NULL"),
    ("label", "r.number IS NULL OR r.kind = 'high'", f"v IS NULL OR ({HIGH})"),
    ("label", "r.double IS NOT NULL", "false"),
    ("by_name", "r.kind = 'high'", HIGH),
    ("by_name", "r.number IS NULL", "v IS NULL"),
    ("as_row", "r.kind = 'high'", HIGH),
    ("as_row", "r.double IS NULL", "v IS NULL"),
]


@ARROW
@pytest.mark.parametrize(("name", "where", "below"), BELOW)
def test_a_filter_on_a_field_goes_below(
    values: DataFrame, name: str, where: str, below: str, arrow: bool
) -> None:
    df = with_r(values, getattr(udfs, name), arrow=arrow)
    if arrow and is_before("4.1"):  # there they are not read
        untouched(df.filter(where))
        return
    assert rewritten(df.filter(where)).prefilter == below
    aside = df.select("id", "r.kind", "r.number", "r.double")
    assert rewritten(aside.filter(where.replace("r.", ""))).prefilter == below


@ARROW
def test_a_function_of_texts_of_which_not_all_is_read(values: DataFrame, arrow: bool) -> None:
    """Each text is made by itself, with Arrow, too; other values of a batch are converted together,
    so that a value of another class decides about the others.
    """
    df = with_r(values, udfs.of_text, arrow=arrow, schema="kind string, text string")
    if not arrow or not is_before("4.1"):
        assert rewritten(df.filter("r.kind = 'read'")).prefilter == "v IS NOT NULL"
        assert rewritten(df.filter("r.kind = 'x' OR r.text = 'x'")).prefilter == "v IS NOT NULL"
    numbers = with_r(values, udfs.of_text, arrow=arrow, schema="kind string, text int")
    if arrow:
        untouched_or_failing(numbers.filter("r.kind = 'read'"))
    else:
        assert rewritten(numbers.filter("r.kind = 'read'")).prefilter == "v IS NOT NULL"


@ARROW
def test_doubles(values: DataFrame, arrow: bool) -> None:
    """NaN of a field becomes NULL with Arrow before Spark 4.1; there, they are not read."""
    df = with_r(values, udfs.parts, arrow=arrow).filter("r.double > 100")
    if arrow and is_before("4.1"):
        assert untouched(df).declined
    else:
        assert rewritten(df).prefilter == "v > 50.0D OR isnan(v)"


def test_integers_that_do_not_fit(values: DataFrame) -> None:
    """Without Arrow they are cut to 32 bits; with Arrow versions differ."""
    wide = values.selectExpr("id * 1000000000L AS v", "id")
    df = with_r(wide, udfs.passed, arrow=False)
    rewritten(df.filter("r.number < 0"))
    assert untouched(with_r(wide, udfs.passed, arrow=True).filter("r.number < 0")).declined


@ARROW
def test_the_same_condition_on_what_goes_in_keeps_other_rows(
    values: DataFrame, arrow: bool
) -> None:
    """The wrong twin: Spark puts NaN above all numbers, Python does not."""
    df = with_r(values, udfs.label, arrow=arrow)
    assert df.filter("r.kind = 'high'").count() != values.filter("v > 100").count()


LEFT = {
    "as_row_in_another_order": "return-shape",
    "listed": "return-shape",
    "too_short": "return-shape",
}


@pytest.mark.parametrize("name", LEFT)
def test_what_spark_would_not_take_as_it_is(values: DataFrame, name: str) -> None:
    """Spark takes lists without Arrow only, and a Row by its names or by its order."""
    df = with_r(values, getattr(udfs, name), arrow=False).filter("id < 0 OR r.kind = 'some'")
    boundary = untouched_or_failing(df)
    assert boundary.declined[0].code == LEFT[name]


def test_a_field_of_another_class_is_null_without_arrow(values: DataFrame) -> None:
    df = with_r(values, udfs.wrong_class, arrow=False)
    for where in ("r.kind = 'some'", "r.kind = 'some' AND r.double IS NULL"):
        assert rewritten(df.filter(where)).prefilter == "v IS NOT NULL"
    assert df.filter("r.double IS NOT NULL").count() == 0
    assert rewritten(df.filter("r.double IS NOT NULL")).kind == "empty"


def untouched_or_failing(df: DataFrame) -> Any:
    from presieve.driver.optimize import explain, optimize

    assert optimize(df) is df
    (boundary,) = explain(df, cost="always").boundaries
    return boundary


def test_a_struct_that_is_read_as_a_whole(values: DataFrame) -> None:
    (declined,) = untouched(with_r(values, udfs.label, arrow=False).filter("r IS NULL")).declined
    assert "r is read as a whole: compare its fields" in declined.reason


@ARROW
@pytest.mark.parametrize("where", ["r.number = 0", "r.kind IS NULL", "r.kind IS NOT NULL"])
def test_a_field_that_is_declared_not_null(values: DataFrame, where: str, arrow: bool) -> None:
    """None in it is an error, which a filter below would drop unseen."""
    schema = "kind string, double double, number int NOT NULL"
    df = with_r(values, udfs.by_name, arrow=arrow, schema=schema).filter(where)
    assert untouched_or_failing(df).prefilter == "true"
