"""What the scripts of the gallery share: a session, tables in files, and what is printed."""

from __future__ import annotations

import os
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

import presieve

ROW_GROUP = 4096
"""Rows that a scan skips at once: small, since the tables are."""


BUDGET = 120.0
"""Seconds of search. Less than one is needed, but on a busy machine a page must not change."""


@dataclass(frozen=True)
class Wrong:
    """A pre-filter that somebody might have written by hand, and what presieve says of it."""

    filter: str
    prefilter: str
    verdict: object


@dataclass(frozen=True)
class Shown:
    """What a script found: of the pipeline as written and as optimized, and of the wrong twin."""

    report: object
    measured: object
    equal: bool
    wrong: Wrong


def parquet(spark: SparkSession, folder: Path, name: str, columns: dict) -> DataFrame:
    """A table of the given Arrow arrays, in a file with small row groups."""
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), folder / f"{name}.parquet", row_group_size=ROW_GROUP)
    return spark.read.parquet(str(folder / f"{name}.parquet"))


def compare(written: DataFrame, wrong: Wrong, **options: object) -> Shown:
    """Explain the pipeline, run it both ways, and look whether the rows are the same."""
    options = {"budget": BUDGET, **options}
    report = presieve.explain(written, **options)
    measured = report.measure()
    same = rows_of(written) == rows_of(presieve.optimize(written, **options))
    return Shown(report, measured, same, wrong)


def rows_of(df: DataFrame) -> list[str]:
    """The rows in an order of their own, as text: NaN is not equal to itself."""
    return sorted(map(repr, df.collect()))


# --- on the terminal ------------------------------------------------------------------------------


def alone(main: Callable[[SparkSession, Path], Shown]) -> None:
    """Run one script by itself, and print what it found."""
    with session() as spark, tempfile.TemporaryDirectory() as folder:
        print(text(main(spark, Path(folder))))


@contextmanager
def session() -> Iterator[SparkSession]:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers of the same Python
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "ERROR")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.presieve.compile", "never")  # to show what filters do for functions
        .getOrCreate()
    )
    try:
        yield spark
    finally:
        spark.stop()


def text(shown: Shown) -> str:
    """All of it, without seconds: the same in every run."""
    return f"{found(shown)}\n\n{refuted(shown.wrong)}"


def found(shown: Shown) -> str:
    """What was moved, and what that brought."""
    lines = [line for b in shown.report.boundaries for line in _boundary(b)]
    run = shown.measured
    lines += _field("rows read", f"{run.written.scanned:,} as written")
    lines += _field("", f"{run.optimized.scanned:,} as optimized")
    lines += _field(
        "results", f"{'equal' if shown.equal else 'DIFFERENT'}, {run.written.rows:,} rows"
    )
    return "\n".join(lines)


def _boundary(boundary) -> Iterator[str]:
    yield f"{boundary.operator} {boundary.function}".strip()
    yield from _field("filter", boundary.where)
    yield from _field("pre-filter", boundary.prefilter)
    yield from _field("residual", boundary.residual)
    yield from _field("kind", boundary.kind)
    for pushed in boundary.pushed_to_scan:
        yield from _field("in the scan", pushed)
    if boundary.order is not None:
        yield from _field("row order", str(boundary.order).splitlines()[0])
    for assumed in boundary.assumptions:
        label = "may change" if assumed["code"] == "may-erase-error" else "assuming"
        yield from _field(label, f"{assumed['text']} [{assumed['code']}]")
    for known in boundary.discharged:
        yield from _field("known", f"{known['text']} [{known['code']}], {known['by']}")
    for declined in boundary.declined:
        yield from _field("declined", declined.reason)


def refuted(wrong: Wrong) -> str:
    """The pre-filter by hand, and a table on which the result is another one."""
    lines = [f"by hand: {wrong.verdict.status}"]
    lines += _field("filter", wrong.filter)
    lines += _field("pre-filter", wrong.prefilter)
    table = wrong.verdict.counterexample
    if table is not None:
        for row in table.rows:
            lines += _field("on" if row is table.rows[0] else "", _row(row))
        lines += _field("as written", _result(table.original))
        lines += _field("by hand", _result(table.optimized))
    return "\n".join(lines)


def _row(row: dict) -> str:
    return ", ".join(f"{k} {'NULL' if v is None else v}" for k, v in row.items())


def _result(result: list | str) -> str:
    if isinstance(result, str):
        return result
    return "; ".join(map(_row, result)) or "no row"


def _field(name: str, value: str) -> Iterator[str]:
    for i, line in enumerate(
        textwrap.wrap(" ".join(value.split()), 84, break_on_hyphens=False) or [""]
    ):
        yield f"  {name if i == 0 else '':<12}{line}".rstrip()
