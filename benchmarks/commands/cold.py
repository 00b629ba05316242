"""Untrusted. ``presieve bench cold``: what a job costs that runs in a process of its own."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from benchmarks import ledger as ledgers
from benchmarks.commands import options as opt
from presieve.cli import output
from presieve.cli.shared_options import Json, names
from presieve.cli.steps import steps
from presieve.errors import UsageError


def command(
    only: Annotated[
        str, typer.Option(metavar="NAME;...", help="Pipelines, with semicolons between.")
    ] = "",
    sizes: Annotated[
        str, typer.Option(metavar="ROWS,...", help="Rows of the table, one size or more.")
    ] = "10000,2000000",
    runs: opt.Turns = 1,
    data: opt.Data = None,
    ledger: opt.Ledger = None,
    again: opt.Again = False,
    json: Json = False,
) -> None:
    """Run pipelines in new processes, as written and as optimized, and count the CPU of all that
    they start. Linux only.
    """
    line = ledgers.line_of("cold", ledger, again, lambda: _measured(only, sizes, runs, data))
    if json:
        output.as_json(line)
        return
    from benchmarks.cold.run import Row, print_table
    from benchmarks.on_spark.rows import read

    print_table(read(line, Row), line, output.console())


def _measured(only: str, sizes: str, runs: int, data: Path | None) -> dict[str, object]:
    opt.require_spark()
    from benchmarks.cold.pipelines import PIPELINES
    from benchmarks.cold.run import measure, stored, to_line
    from benchmarks.on_spark.parquet import default_directory

    chosen = [part.strip() for part in only.split(";") if part.strip()] or list(PIPELINES)
    if not PIPELINES.keys() >= set(chosen):
        raise UsageError(f"--only takes names of pipelines ({'; '.join(PIPELINES)}), not {only}")
    try:
        rows = [int(size) for size in names(sizes)]
    except ValueError:
        raise UsageError(f"--sizes takes numbers of rows, not {sizes}") from None
    folder = (data or default_directory()).resolve()
    tables = {number: stored(number, folder) for number in rows}
    with tempfile.TemporaryDirectory() as cache, steps("jobs", len(chosen) * len(rows)) as progress:
        return to_line(measure(chosen, tables, runs, Path(cache), progress))
