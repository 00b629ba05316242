"""The magics on a session: what is pushed in a cell is shown, and the session is left as it was."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.notebook.shell import Shell
from tests.support.pages import page

import presieve
from presieve.driver.session import setting_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAGE = Path(__file__).parents[2] / "docs/howto/notebook.md"
TABLE = """
from pyspark.sql import functions as F
table = spark.createDataFrame([("a", 1), ("a", 9), ("b", 3)], "k string, v bigint")
best = table.groupBy("k").agg(F.max("v").alias("m"))
"""


@pytest.fixture
def cells(shell: Shell, spark: SparkSession) -> Iterator[Shell]:
    shell.shell.user_ns["spark"] = spark
    shell.run(TABLE)
    yield shell
    presieve.disable(spark)


@pytest.mark.classic("the active session of another thread")
def test_on_off_and_status(cells: Shell, spark: SparkSession) -> None:
    assert cells.run("%presieve status") == "presieve is off\n"
    told = "presieve is on: policy strict, cost always, budget 5 s\n"
    assert cells.run("%presieve on --policy strict --cost always --budget 5") == told
    assert cells.run("%presieve status") == told
    assert setting_of(spark) is not None
    assert cells.run("%presieve off") == "presieve is off\n"
    assert setting_of(spark) is None


@pytest.mark.classic("the active session of another thread")
def test_a_dataframe_is_explained_and_not_run(cells: Shell) -> None:
    for line in ("best.filter('m > 4')", "explain best.filter('m > 4')"):
        shown = cells.run(f"%presieve {line}")
        assert "pre-filter    v > 4" in shown
        assert "measured" not in shown
    assert "measured" in cells.run("%presieve --measure --cost always best.filter('m > 4')")


@pytest.mark.classic("the active session of another thread")
def test_a_cell_runs_enabled_and_shows_what_was_pushed(cells: Shell, spark: SparkSession) -> None:
    cells.run("%presieve on --budget 7")
    before = setting_of(spark)
    shown = cells.run(
        "%%presieve --cost always --measure\n"
        "counts = [best.filter('m > 4').count() for _ in range(2)]\n"
        "rows = best.filter('m > 4').collect()\n"
        "plan = best.filter('m > 4')._jdf.queryExecution()\n"
        "table.count()\n"
    )
    assert cells["counts"] == [1, 1]
    assert [row.m for row in cells["rows"]] == [9]
    assert shown.count("pre-filter    v > 4") == 1
    number = cells.shell.execution_count - 1
    assert f"In[{number}]:2, In[{number}]:3: Only rows with v > 4 reach max." in shown
    assert "measured" in shown
    assert "1 other DataFrame ran without a filter above" in shown
    assert "3\n" in shown  # the cell's own value
    assert setting_of(spark) is before


@pytest.mark.classic("the active session of another thread")
def test_a_cell_that_is_only_explained(cells: Shell) -> None:
    shown = cells.run("%%presieve --explain\nresult = best.filter('m > 4').collect()")
    assert "pre-filter    v > 4" in shown
    assert "The plan is unchanged." in shown


@pytest.mark.classic("the active session of another thread")
def test_a_cell_that_raises(cells: Shell, spark: SparkSession) -> None:
    seen = cells.fails("%%presieve\nbest.filter('m > 4').count()\n1 / 0\nlater = 1")
    assert seen.count("ZeroDivisionError: division by zero") == 1
    assert "pre-filter    v > 4" in seen
    assert "UsageError: the cell ended with ZeroDivisionError" in seen
    assert "later" not in cells.shell.user_ns
    assert setting_of(spark) is None


@pytest.mark.classic("the active session of another thread")
def test_the_page(cells: Shell) -> None:
    """Its cells run one after the other, with a function that a cell defines."""
    blocks = [b.text for b in page(PAGE).blocks if not b.text.startswith("presieve: ")]
    assert len(blocks) >= 8
    longer = [b.replace("%presieve best", "%presieve --budget 100 best") for b in blocks]
    longer = [b.replace("--cost always", "--cost always --budget 100") for b in longer]
    shown = [cells.run(block) for block in longer]
    explained = [out for out in shown if "pre-filter" in out]
    assert len(explained) == 2
    for out in explained:
        assert "score >= 95.0D" in out
    assert "|   a|95.0|" in explained[1]
    assert shown[-1] == "presieve is off\n"
