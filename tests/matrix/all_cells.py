"""The whole matrix: every pipeline of the suite in every layout of files and kind of scan.

It is run by ``make matrix``; its name keeps it out of ``make test``. Parts of it are chosen by
name: ``make matrix ARGS="-k spark-one"`` takes one layout of files, ``-k missing`` the data with
NULL and NaN, ``-k test_pipelines`` the pipelines of one module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.matrix.cells import ALL_FILES, DATA, Data, Files, conf
from tests.matrix.compare import Pair, differences, pairs
from tests.matrix.harvest import MODULES, Named, others, pipelines, sources
from tests.matrix.layouts import Layout
from tests.matrix.pipelines import ROW_FUNCTIONS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.timeout(1800)
ARROW = "spark.sql.execution.pythonUDF.arrow.enabled"
WAYS = ("BatchEvalPython", "ArrowEvalPython")
"""Spark's operators for functions of rows, without Arrow and with."""
BUILDING = tuple(m for m in MODULES if any(s.module == m for s in sources()))
"""The modules of the suite with pipelines."""


@pytest.fixture(params=ALL_FILES, ids=str)
def files(request: pytest.FixtureRequest) -> Files:
    found = request.param
    assert isinstance(found, Files)
    return found


@pytest.fixture(params=DATA)
def data(request: pytest.FixtureRequest) -> Data:
    found: Data = request.param
    return found


def built(module: str, layout: Layout, files: Files, data: Data) -> list[Named]:
    given = layout(files, data)
    return [
        one for source in sources() if source.module == module for one in pipelines(source, given)
    ]


def physical(df: DataFrame) -> str:
    return str(df._jdf.queryExecution().executedPlan().toString())


def told(label: str, found: list[Pair]) -> None:
    codes = sorted({c for pair in found for c in pair.assumptions})
    print(f"{label}: {len(found)} pipelines rewritten; assumed {codes}")


@pytest.mark.parametrize("module", BUILDING)
def test_the_suite(
    spark: SparkSession, layout: Layout, files: Files, data: Data, module: str
) -> None:
    """Under default options nothing differs, whatever the data hold."""
    made = pairs(built(module, layout, files, data))
    told(f"{module} {files} {data}", made)
    assert differences(spark, made) == []


@pytest.mark.parametrize("module", BUILDING)
def test_under_strict_policy(spark: SparkSession, layout: Layout, module: str) -> None:
    """Nothing is assumed, and nothing differs, not even an error."""
    made = pairs(built(module, layout, Files("pyarrow", many=True), "missing"), "strict")
    assert all(not pair.assumptions for pair in made)
    assert differences(spark, made, ("pushdown",)) == []


def test_the_demo_and_what_stands_around(
    spark: SparkSession, layout: Layout, files: Files, data: Data
) -> None:
    made = pairs(others(layout(files, data)))
    assert len(made) >= 2
    assert differences(spark, made) == []


@pytest.mark.parametrize("arrow", ["true", "false"])
def test_with_and_without_arrow(
    spark: SparkSession, layout: Layout, files: Files, data: Data, arrow: str
) -> None:
    """How a function of rows gets them is settled where the DataFrame is made."""
    with conf(spark, {ARROW: arrow}):
        rows = layout(files, data).tables.plain
        found = [Named(name, build(rows)) for name, build in ROW_FUNCTIONS.items()]
        made = pairs(found)
    ways = {way for one in found for way in WAYS if way in physical(one.df)}
    assert ways == {WAYS[arrow == "true"]}
    assert len(made) >= 2
    assert differences(spark, made) == []
