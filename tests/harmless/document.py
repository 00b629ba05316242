"""The page ``docs/harmless.md`` and its record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyspark
from benchmarks.pages import DOCS, RESULTS, measured_with

PAGE = DOCS / "harmless.md"
RECORD = RESULTS / "harmless.md"

MODULES = tuple(
    f"pyspark.{folder}.{name}"
    for folder, names in (
        (
            "sql.tests",
            (
                *("test_udf", "test_unified_udf", "test_udf_combinations", "test_udtf", "test_tvf"),
                *("test_group", "test_dataframe", "test_subquery", "test_sql", "test_functions"),
                *("test_collection", "test_stat", "test_readwriter", "test_serde"),
            ),
        ),
        (
            "sql.tests.pandas",
            (
                *("test_pandas_map", "test_pandas_grouped_map", "test_pandas_cogrouped_map"),
                *("test_pandas_udf", "test_pandas_udf_scalar", "test_pandas_udf_window"),
                "test_pandas_udf_grouped_agg",
            ),
        ),
        (
            "sql.tests.arrow",
            (
                *("test_arrow_map", "test_arrow_grouped_map", "test_arrow_cogrouped_map"),
                *("test_arrow_udf", "test_arrow_udf_scalar", "test_arrow_udf_window"),
                *("test_arrow_udf_grouped_agg", "test_arrow_udtf", "test_arrow_python_udf"),
            ),
        ),
        (
            "pandas.tests",
            (
                *("window.test_rolling", "window.test_expanding", "window.test_groupby_rolling"),
                *("groupby.test_groupby", "groupby.test_rank", "groupby.test_apply_func"),
                *("groupby.test_cumulative", "frame.test_reindexing", "computation.test_pivot"),
                *("computation.test_melt", "computation.test_missing_data", "test_sql"),
                *("computation.test_combine", "reshape.test_merge_asof"),
            ),
        ),
    )
    for name in names
)
"""What is run: windows, joins, groups, functions of all kinds, and the pandas API."""

HEAD = """\
# PySpark's own tests

Do PySpark's tests still pass when presieve is on? The tests of PySpark {version} run twice: as they
are, and with all sessions enabled (`cost="always"`, `compile="always"`). No test may fail only when
sessions are enabled. *Plans* are the DataFrames whose rows were asked for; *rewritten* are those
that ran as another plan; *failed* are those that were left alone because of an error in presieve.

"""
MORE = """
[Each module](../benchmarks/results/harmless.md). With a checkout of Spark's sources,
`python -m tests.harmless SPARK` measures again and writes both pages.
"""
RECORD_HEAD = """\
# The modules of PySpark's tests

{measured} [PySpark's own tests](../../docs/harmless.md) says what is counted.

"""
TABLE = """\
| Module | Tests | Pass | Fail only enabled | Plans | Rewritten | Failed |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |
"""


@dataclass(frozen=True, slots=True)
class Row:
    """A module: how many tests it has and how many pass as they are, and which only so."""

    module: str
    tests: int
    passed: int
    lost: tuple[str, ...]
    counts: Mapping[str, int]

    def line(self) -> str:
        """As a line of the page's table."""
        counts = [self.counts.get(name, 0) for name in ("plans", "rewritten", "failed")]
        cells = [f"`{self.module.removeprefix('pyspark.')}`", self.tests, self.passed]
        return "| " + " | ".join(map(str, (*cells, len(self.lost), *counts))) + " |"


def write(rows: Sequence[Row]) -> None:
    """The page with a line for each package of tests, and the record with each module."""
    packages = dict.fromkeys(_package(row.module) for row in rows)
    sums = [_sum(name, [row for row in rows if _package(row.module) == name]) for name in packages]
    total = _sum("all", rows)
    named = ["", *(f"- `{name}` fails only enabled." for name in total.lost)] if total.lost else []
    text = "\n".join([*(row.line() for row in (*sums, total)), *named]) + "\n"
    PAGE.write_text(HEAD.format(version=pyspark.__version__) + TABLE + text + MORE)
    head = RECORD_HEAD.format(measured=measured_with("python -m tests.harmless SPARK"))
    RECORD.write_text(head + TABLE + "\n".join(row.line() for row in rows) + "\n")


def _package(module: str) -> str:
    """``sql.tests.arrow`` of ``pyspark.sql.tests.arrow.test_arrow_map``."""
    words = module.removeprefix("pyspark.").split(".")
    return "pandas.tests" if words[0] == "pandas" else ".".join(words[:-1])


def _sum(name: str, rows: Sequence[Row]) -> Row:
    counts = {n: sum(r.counts.get(n, 0) for r in rows) for n in ("plans", "rewritten", "failed")}
    lost = tuple(test for row in rows for test in row.lost)
    return Row(name, sum(r.tests for r in rows), sum(r.passed for r in rows), lost, counts)
