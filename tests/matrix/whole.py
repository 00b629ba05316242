"""The whole matrix: every pipeline of the suite in every layout of files and kind of scan.

It takes minutes, and is run by ``make matrix``; its name keeps it out of ``make test``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.matrix.cells import ALL_FILES, Files, conf
from tests.matrix.compare import Pair, differences, pairs
from tests.matrix.conftest import Layout
from tests.matrix.harvest import MODULES, Named, others, pipelines, sources
from tests.matrix.pipelines import ROW_FUNCTIONS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.timeout(1800)
ARROW = "spark.sql.execution.pythonUDF.arrow.enabled"
WAYS = ("BatchEvalPython", "ArrowEvalPython")
"""Spark's operators for functions of rows, without Arrow and with."""


@pytest.fixture(params=ALL_FILES, ids=str)
def files(request: pytest.FixtureRequest) -> Files:
    found = request.param
    assert isinstance(found, Files)
    return found


def built(module: str, layout: Layout, files: Files, *, violating: bool) -> list[Named]:
    given = layout(files, violating)
    return [
        one for source in sources() if source.module == module for one in pipelines(source, given)
    ]


def physical(df: DataFrame) -> str:
    return str(df._jdf.queryExecution().executedPlan().toString())


def told(label: str, found: list[Pair]) -> None:
    codes = sorted({c for pair in found for c in pair.assumptions})
    print(f"{label}: {len(found)} pipelines rewritten; assumed {codes}")


@pytest.mark.parametrize("module", MODULES)
def test_the_suite(spark: SparkSession, layout: Layout, files: Files, module: str) -> None:
    """Data that no assumption speaks against: nothing differs."""
    made = pairs(built(module, layout, files, violating=False))
    told(f"{module} {files}", made)
    assert differences(spark, made) == []


@pytest.mark.parametrize("module", MODULES)
def test_the_suite_on_data_that_violates(
    spark: SparkSession, layout: Layout, files: Files, module: str
) -> None:
    """NULL and NaN everywhere: what differs was assumed, and nothing does under strict policy."""
    found = built(module, layout, files, violating=True)
    made = pairs(found)
    assert differences(spark, [pair for pair in made if not pair.assumptions]) == []
    assumed = [pair for pair in made if pair.assumptions]
    lines = differences(spark, assumed, ("pushdown",))
    told(f"{module} {files}, violating: {len(lines)} differ", assumed)
    names = {pair.name for pair in assumed}
    strict = pairs([one for one in found if one.name in names], strict=True)
    assert all(not pair.assumptions for pair in strict)
    assert differences(spark, strict) == []


@pytest.mark.parametrize("violating", [False, True], ids=["", "violating"])
def test_the_demo_and_what_stands_around(
    spark: SparkSession, layout: Layout, files: Files, violating: bool
) -> None:
    made = pairs(others(layout(files, violating)), strict=violating)
    assert len(made) >= 2
    assert differences(spark, made) == []


@pytest.mark.parametrize("arrow", ["true", "false"])
def test_with_and_without_arrow(
    spark: SparkSession, layout: Layout, files: Files, arrow: str
) -> None:
    """How a function of rows gets them is settled where the DataFrame is made."""
    with conf(spark, {ARROW: arrow}):
        rows = layout(files, False).tables.plain
        found = [Named(name, build(rows)) for name, build in ROW_FUNCTIONS.items()]
        made = pairs(found)
    ways = {way for one in found for way in WAYS if way in physical(one.df)}
    assert ways == {WAYS[arrow == "true"]}
    assert len(made) >= 2
    assert differences(spark, made) == []
