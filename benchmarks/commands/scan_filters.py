"""Untrusted. ``presieve bench scan-filters``: filters that Spark does not hand to scans."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchmarks import ledger as ledgers
from benchmarks.commands import options as opt
from benchmarks.commands.operators import show
from presieve.cli import output
from presieve.cli.shared_options import Json
from presieve.cli.steps import steps


def command(
    rows: Annotated[int, typer.Option(min=1000, help="Rows of the table.")] = 2_000_000,
    runs: opt.Turns = 3,
    data: opt.Data = None,
    ledger: opt.Ledger = None,
    again: opt.Again = False,
    json: Json = False,
) -> None:
    """Run filters on computed columns: as written, as optimized, and with a range typed by hand.

    Exits with 1 where a result differs.
    """
    line = ledgers.line_of("scan_filters", ledger, again, lambda: _measured(rows, runs, data))
    show(line, "predicate", json=json)


def _measured(rows: int, runs: int, data: Path | None) -> dict[str, object]:
    opt.require_spark()
    from benchmarks.on_spark.parquet import default_directory
    from benchmarks.operators.run import measure, to_line
    from benchmarks.scan_filters.cases import CASES, stored, views
    from presieve.demo.demo_session import session

    with output.quiet(), steps("predicates", len(CASES)) as progress, session() as spark:
        spark.conf.set("spark.sql.session.timeZone", "UTC")
        views(spark, stored(rows, (data or default_directory()).resolve()))
        return to_line(measure(spark, rows, CASES, runs, progress))
