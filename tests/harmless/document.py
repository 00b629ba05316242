"""The page ``docs/harmless.md``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyspark

PAGE = Path(__file__).parents[2] / "docs" / "harmless.md"

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

The tests of PySpark {version} were run twice, as they are and with all sessions enabled, with
`cost="always"` and `compile="always"`. None may fail enabled that passes as it is. *Plans* are the
DataFrames whose rows were asked for, *rewritten* those that ran as another plan, and *failed* those
that were left alone because of an error in presieve. `python -m tests.harmless SPARK`, with a
checkout of Spark's sources, runs them and writes this page.

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
    """The page, with the sums in its last line."""
    counts = {n: sum(r.counts.get(n, 0) for r in rows) for n in ("plans", "rewritten", "failed")}
    lost = tuple(name for row in rows for name in row.lost)
    whole = Row("all", sum(r.tests for r in rows), sum(r.passed for r in rows), lost, counts)
    lines = [row.line() for row in (*rows, whole)]
    named = ["", *(f"- `{name}` fails only enabled." for name in lost)] if lost else []
    text = HEAD.format(version=pyspark.__version__) + "\n".join([*lines, *named]) + "\n"
    PAGE.write_text(text)
