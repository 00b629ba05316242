"""Untrusted. ``presieve bench spark``: the suite's pipelines, run by Spark."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Annotated

import typer

from benchmarks import ledger as ledgers
from benchmarks.commands import options as opt
from benchmarks.suite import Benchmark, benchmarks, load, select
from presieve.cli import output
from presieve.cli.shared_options import Json, names
from presieve.cli.steps import steps
from presieve.errors import UsageError

GROWING = "20Nov_2,Top2_1,AggregationQuerySuite_1,UDAF_2,Flaredown1_2,ReturnPriceAggregator_1"
"""Two exact or nearly so, two that keep few rows, and two that keep many."""


def command(
    suite: opt.Suite,
    only: opt.Only = "",
    rows: Annotated[int, typer.Option(min=1000, help="Rows of each table.")] = 1_000_000,
    runs: opt.Turns = 3,
    sizes: Annotated[
        str, typer.Option(metavar="N,...", help="Further sizes, for those of --growing.")
    ] = "",
    growing: Annotated[
        str, typer.Option(metavar="NAME,...", help="The benchmarks that are run at all sizes.")
    ] = GROWING,
    reorder: Annotated[
        bool, typer.Option("--reorder", help="Compile what depends on order or rounding, too.")
    ] = False,
    data: opt.Data = None,
    ledger: opt.Ledger = None,
    svg: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw what is saved, by kind and by size.")
    ] = None,
    again: opt.Again = False,
    json: Json = False,
) -> None:
    """Run the 150 published benchmarks as PySpark pipelines, in four forms.

    As written, with filters, with compiled functions, too, and with the same filters typed by hand.
    They run in turns, over Parquet that is generated once. Exits with 1 where a result differs.
    """
    from benchmarks.on_spark.plot import draw
    from benchmarks.on_spark.rows import from_line
    from benchmarks.on_spark.table import print_tables

    def run() -> dict[str, object]:
        further = _numbers(sizes)
        opt.require_spark()
        chosen = select(list(benchmarks(load(suite))), names(only), suite)
        pairs = _pairs(chosen, rows, names(growing), further)
        with output.quiet():
            return _measured(pairs, runs, data, reorder)

    line = ledgers.line_of("spark", ledger, again, run)
    measured = from_line(line)
    if json:
        output.as_json(line)
    else:
        print_tables(measured, line, output.console())
    if svg is not None:
        draw(measured, int(str(line["rows"])), svg)
    if any(r.wrong for r in measured):
        raise typer.Exit(1)


def _pairs(
    chosen: Sequence[Benchmark], rows: int, growing: Collection[str], further: Sequence[int]
) -> list[tuple[Benchmark, int]]:
    """Each benchmark with a number of rows."""
    grown = [b for b in chosen if b.name in growing]
    more = [(b, n) for b in grown for n in further if n != rows]
    return [*((b, rows) for b in chosen), *more]


def _numbers(sizes: str) -> tuple[int, ...]:
    try:
        numbers = tuple(int(n) for n in names(sizes))
    except ValueError:
        numbers = (0,)
    if any(n < 1000 for n in numbers):
        raise UsageError(f"--sizes are numbers of rows, 1000 or more each, not {sizes!r}")
    return numbers


def _measured(
    pairs: Sequence[tuple[Benchmark, int]], runs: int, data: Path | None, reorder: bool
) -> dict[str, object]:
    """The ledger's line of these benchmarks, each with a number of rows; its totals are of the
    first number.
    """
    from benchmarks.on_spark.parquet import default_directory
    from benchmarks.on_spark.rows import to_line
    from benchmarks.on_spark.run import measure, suite_jobs, warm
    from presieve.demo.demo_session import session

    folder = (data or default_directory()).resolve()
    benchmark, rows = pairs[0]
    with steps("pipelines", len(pairs)) as progress, session() as spark:
        progress.console.print(f"tables in {folder}")
        small = next(suite_jobs(spark, [(benchmark, 1000)], folder))
        first = warm(small.written)
        measured = measure(suite_jobs(spark, pairs, folder), runs, progress, reorder=reorder)
    return to_line(measured, first, rows)
