"""Untrusted. ``presieve bench wide``: functions that read a few columns of a wide table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from benchmarks import ledger as ledgers
from benchmarks.commands import options as opt
from presieve.cli import output
from presieve.cli.shared_options import Json
from presieve.cli.steps import steps


def command(
    size: Annotated[
        int, typer.Option("--rows", min=1000, help="The rows of the table of 60 columns.")
    ] = 3_000_000,
    runs: opt.Turns = 3,
    data: opt.Data = None,
    ledger: opt.Ledger = None,
    again: opt.Again = False,
    json: Json = False,
) -> None:
    """Run functions of groups that read three of 60 columns, as written and as optimized.

    No filter stands anywhere. Exits with 1 where a result differs or a column too many is read.
    """
    line = ledgers.line_of("wide", ledger, again, lambda: _measured(size, runs, data))
    if json:
        output.as_json(line)
    else:
        _print(line)
    if not line["equal"]:
        raise typer.Exit(1)


def _measured(size: int, runs: int, data: Path | None) -> dict[str, object]:
    opt.require_spark()
    from benchmarks.on_spark.parquet import default_directory
    from benchmarks.wide.functions import FUNCTIONS
    from benchmarks.wide.run import measure, stored, to_line
    from presieve.demo.demo_session import session

    directory = (data or default_directory()).resolve()
    directory.mkdir(parents=True, exist_ok=True)
    with output.quiet(), steps("functions", len(FUNCTIONS)) as progress, session() as spark:
        table = spark.read.parquet(str(stored(spark, size, directory)))
        return {"size": size, **to_line(measure(table, runs, progress))}


def _print(line: Any) -> None:
    table = Table("function", "columns", "groups", "as written", "optimized", "times", "optimize")
    for row in line["rows"]:
        seconds = [f"{sorted(row[k])[len(row[k]) // 2]:.2f} s" for k in ("written", "optimized")]
        read = f"{row['read']} of {row['columns']}"
        times, optimize = f"{row['times']:.1f}", f"{row['optimize']:.2f} s"
        table.add_row(row["name"], read, f"{row['groups']:,}", *seconds, times, optimize)
    console = output.console()
    console.print(table)
    console.print(f"{line['size']:,} rows; all together {line['times']:.1f} times as fast")
