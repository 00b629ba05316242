"""Untrusted. ``presieve bench operators``: filters above windows and other operators of Spark's."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks import ledger as ledgers
from benchmarks.commands import options as opt
from presieve.cli import output
from presieve.cli.shared_options import Json, names
from presieve.cli.steps import steps
from presieve.errors import UsageError


def command(
    only: Annotated[
        str, typer.Option(metavar="NAME,...", help="Operators, with commas between.")
    ] = "",
    rows: Annotated[int, typer.Option(min=1000, help="Rows of the table.")] = 6_000_000,
    runs: opt.Turns = 3,
    data: opt.Data = None,
    ledger: opt.Ledger = None,
    again: opt.Again = False,
    json: Json = False,
) -> None:
    """Run Spark's own operators with a filter above: as written, as optimized, and by hand.

    No Python function takes part. Exits with 1 where a result differs.
    """
    line = ledgers.line_of("operators", ledger, again, lambda: _measured(only, rows, runs, data))
    show(line, "operator", json=json)


def show(line: Mapping[str, Any], what: str, *, json: bool) -> None:
    """What was measured, as a table or as JSON. Raises Exit(1) where a result differs."""
    from benchmarks.on_spark.rows import read
    from benchmarks.operators.run import Row, print_table

    measured = read(line, Row)
    if json:
        output.as_json(line)
    else:
        print_table(measured, line, output.console(), what)
    if not all(r.equal for r in measured):
        raise typer.Exit(1)


def _measured(only: str, rows: int, runs: int, data: Path | None) -> dict[str, object]:
    opt.require_spark()
    from benchmarks.on_spark.parquet import default_directory
    from benchmarks.operators.cases import CASES, stored
    from benchmarks.operators.run import measure, to_line
    from presieve.demo.demo_session import session

    wanted = names(only)
    chosen = [c for c in CASES if not wanted or c.name in wanted]
    if not chosen or len(chosen) < len(wanted):
        known = ", ".join(c.name for c in CASES)
        raise UsageError(f"--only takes names of operators ({known}), not {only}")
    folder = (data or default_directory()).resolve()
    with output.quiet(), steps("operators", len(chosen)) as progress:
        path = stored(rows, folder)
        progress.console.print(f"table {path}")
        with session() as spark:
            table = spark.read.parquet(str(path))
            return to_line(measure(table, rows, chosen, runs, progress))
