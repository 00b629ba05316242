"""Untrusted. ``presieve bench tpch``: Python functions over TPC-H tables, run by Spark."""

from __future__ import annotations

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
        str, typer.Option(metavar="NAME,...", help="Queries, with commas between.")
    ] = "",
    scale: Annotated[
        float, typer.Option(min=0.01, help="The scale factor; 1 is 6 million lines.")
    ] = 0.1,
    runs: opt.Turns = 3,
    data: opt.Data = None,
    ledger: opt.Ledger = None,
    again: opt.Again = False,
    json: Json = False,
) -> None:
    """Run twelve pipelines over TPC-H tables: as written, as optimized, with filters by hand, and
    those of scalar UDFs with Spark's own transpiler, too.

    Exits with 1 where a result differs, or where a filter that is typed by hand is not proven.
    """
    from benchmarks.on_spark.rows import from_line
    from benchmarks.on_spark.table import print_tables

    line = ledgers.line_of("tpch", ledger, again, lambda: _measured(only, scale, runs, data))
    rows = from_line(line)
    if json:
        output.as_json(line)
    else:
        print_tables(rows, line, output.console())
    if not all(r.equal and (r.changed or r.gated or r.prefilter == "true") for r in rows):
        raise typer.Exit(1)


def _measured(only: str, scale: float, runs: int, data: Path | None) -> dict[str, object]:
    opt.require_spark()
    from benchmarks.on_spark.parquet import default_directory
    from benchmarks.on_spark.rows import to_line
    from benchmarks.on_spark.run import measure, warm
    from benchmarks.tpch import run
    from benchmarks.tpch.queries import QUERIES
    from benchmarks.tpch.tables import generated
    from presieve.demo.demo_session import session

    wanted = names(only)
    chosen = tuple(q for q in QUERIES if not wanted or q.name in wanted)
    if not chosen or len(chosen) < len(wanted):
        known = ", ".join(q.name for q in QUERIES)
        raise UsageError(f"--only takes names of queries ({known}), not {only}")
    with output.quiet(), steps("pipelines", len(chosen)) as progress:
        folder = generated(scale, (data or default_directory()).resolve())
        progress.console.print(f"tables in {folder}")
        with session() as spark:
            tables = run.read(spark, folder)
            first = warm(run.written(QUERIES[-1], tables))
            rows = measure(run.jobs(chosen, tables), runs, progress)
    return {"scale": scale, **to_line(rows, first)}
