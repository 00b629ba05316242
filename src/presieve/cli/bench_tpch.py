"""Untrusted. ``presieve bench tpch``: Python functions over TPC-H tables, run by Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from presieve.cli import options as opt
from presieve.cli import output
from presieve.cli.bench_spark import needed
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
    json: opt.Json = False,
) -> None:
    """Run twelve pipelines over TPC-H tables: as written, as optimized, with filters by hand, and
    those of scalar UDFs with Spark's own transpiler, too.

    Exits with 1 where a result differs, or where a filter that is typed by hand is not proven.
    """
    from presieve.bench import ledger as book
    from presieve.bench.on_spark.rows import from_line
    from presieve.bench.on_spark.tell import show

    line = book.line_of("tpch", ledger, again, lambda: _run(only, scale, runs, data))
    rows = from_line(line)
    if json:
        output.as_json(line)
    else:
        show(rows, line, output.console())
    if not all(r.equal and (r.changed or r.gated or r.prefilter == "true") for r in rows):
        raise typer.Exit(1)


def _run(only: str, scale: float, runs: int, data: Path | None) -> dict[str, object]:
    needed()
    from presieve.bench.on_spark.rows import to_line
    from presieve.bench.on_spark.run import measure, warm
    from presieve.bench.on_spark.tables import default_directory
    from presieve.bench.tpch import run
    from presieve.bench.tpch.queries import QUERIES
    from presieve.demo.session import session

    names = opt.names(only)
    chosen = tuple(q for q in QUERIES if not names or q.name in names)
    if not chosen or len(chosen) < len(names):
        known = ", ".join(q.name for q in QUERIES)
        raise UsageError(f"--only takes names of queries ({known}), not {only}")
    with output.quiet(), steps("pipelines", len(chosen)) as told:
        folder = run.generated(scale, (data or default_directory()).resolve())
        told.console.print(f"tables in {folder}")
        with session() as spark:
            tables = run.read(spark, folder)
            first = warm(run.written(QUERIES[-1], tables))
            rows = measure(run.jobs(chosen, tables), runs, told)
    return {"scale": scale, **to_line(rows, first)}
