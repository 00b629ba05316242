"""Untrusted. ``presieve bench compiled``: functions without a filter, in Python and compiled."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchmarks import ledger as ledgers
from benchmarks.commands import options as opt
from benchmarks.suite import load
from presieve.cli import output
from presieve.cli.shared_options import Json, names
from presieve.cli.steps import steps
from presieve.errors import UsageError


def command(
    only: Annotated[
        str, typer.Option(metavar="NAME,...", help="Functions, with commas between.")
    ] = "",
    rows: Annotated[int, typer.Option(min=1000, help="Rows of each table.")] = 1_000_000,
    runs: opt.Turns = 3,
    data: opt.Data = None,
    ledger: opt.Ledger = None,
    again: opt.Again = False,
    json: Json = False,
) -> None:
    """Run the suite's folds and functions of rows: as written, compiled, and typed by hand.

    No filter stands anywhere. Where Spark's own transpiler does something, that is measured, too.
    Exits with 1 where a result differs.
    """
    from benchmarks.compiled.rows import Row
    from benchmarks.compiled.table import print_tables
    from benchmarks.on_spark.rows import read

    line = ledgers.line_of("compiled", ledger, again, lambda: _measured(only, rows, runs, data))
    measured = read(line, Row)
    if json:
        output.as_json(line)
    else:
        print_tables(measured, line, output.console())
    if not all(r.equal for r in measured):
        raise typer.Exit(1)


def _measured(only: str, rows: int, runs: int, data: Path | None) -> dict[str, object]:
    opt.require_spark()
    from benchmarks.compiled.cases import by_value, cases
    from benchmarks.compiled.rows import to_line
    from benchmarks.compiled.run import measure, tables
    from benchmarks.on_spark.parquet import default_directory
    from presieve.demo.demo_session import session

    wanted, known = names(only), cases(load(opt.FAMILIES))
    chosen = [c for c in known if not wanted or c.name in wanted]
    if not chosen or len(chosen) < len(wanted):
        named = ", ".join(c.name for c in known)
        raise UsageError(f"--only takes names of functions ({named}), not {only}")
    folder = (data or default_directory()).resolve()
    with output.quiet(), steps("functions", len(chosen)) as progress:
        progress.console.print(f"tables in {folder}")
        with session() as spark, by_value():
            pairs = tables(spark, chosen, rows, folder)
            return to_line(measure(pairs, runs, progress), rows)
