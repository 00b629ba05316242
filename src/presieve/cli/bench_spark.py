"""Untrusted. ``presieve bench spark``: the suite's pipelines, run by Spark."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Annotated

import typer

from presieve.cli import options as opt
from presieve.cli import output
from presieve.cli.steps import steps
from presieve.errors import UsageError

GROWING = "20Nov_2,Top2_1,AggregationQuerySuite_1,UDAF_2,Flaredown1_2,ReturnPriceAggregator_1"
"""Two exact or nearly so, two that keep few rows, and two that keep many."""


def command(
    suite: Annotated[Path, typer.Option(metavar="DIR", help="The folder of families.")] = Path(
        "benchmarks/families"
    ),
    only: Annotated[
        str, typer.Option(metavar="NAME,...", help="Families or benchmarks, with commas between.")
    ] = "",
    rows: Annotated[int, typer.Option(min=1000, help="Rows of each table.")] = 1_000_000,
    runs: opt.Turns = 3,
    sizes: Annotated[
        str, typer.Option(metavar="N,...", help="Further sizes, for those of --growing.")
    ] = "",
    growing: Annotated[
        str, typer.Option(metavar="NAME,...", help="The benchmarks that are run at all sizes.")
    ] = GROWING,
    data: opt.Data = None,
    ledger: opt.Ledger = None,
    svg: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw what is saved, by kind and by size.")
    ] = None,
    again: opt.Again = False,
    json: opt.Json = False,
) -> None:
    """Run the 150 published benchmarks as PySpark pipelines: as written, as optimized, by hand.

    The three forms run in turns, over Parquet that is generated once. By hand are the same filters
    below and above the same function, typed as SQL. Exits with 1 where a result differs.
    """
    from presieve.bench import ledger as book
    from presieve.bench.on_spark.plot import draw
    from presieve.bench.on_spark.rows import from_line
    from presieve.bench.on_spark.tell import show

    def run() -> dict[str, object]:
        numbers = _numbers(sizes)
        with output.quiet():
            return _run(suite, opt.names(only), rows, numbers, opt.names(growing), runs, data)

    line = book.line_of("spark", ledger, again, run)
    found = from_line(line)
    if json:
        output.as_json(line)
    else:
        show(found, line, output.console())
    if svg is not None:
        draw(found, int(str(line["rows"])), svg)
    if not all(r.equal for r in found):
        raise typer.Exit(1)


def needed() -> None:
    """Raise :class:`UsageError` where a package is missing that Spark's benchmarks need."""
    for package in ("pyspark", "pandas", "pyarrow"):
        if importlib.util.find_spec(package) is None:
            raise UsageError(f"this benchmark needs {package}: pip install 'presieve[spark]'")


def _numbers(sizes: str) -> tuple[int, ...]:
    try:
        found = tuple(int(n) for n in opt.names(sizes))
    except ValueError:
        found = (0,)
    if any(n < 1000 for n in found):
        raise UsageError(f"--sizes are numbers of rows, 1000 or more each, not {sizes!r}")
    return found


def _run(
    suite: Path,
    only: tuple[str, ...],
    rows: int,
    sizes: tuple[int, ...],
    growing: tuple[str, ...],
    runs: int,
    data: Path | None,
) -> dict[str, object]:
    needed()
    from presieve.bench.on_spark.rows import to_line
    from presieve.bench.on_spark.run import measure, suite_jobs, warm
    from presieve.bench.on_spark.tables import default_directory
    from presieve.bench.suite import benchmarks, load
    from presieve.demo.session import session

    known = list(benchmarks(load(suite)))
    chosen = [b for b in known if not only or {b.name, b.family.name} & set(only)]
    if not chosen:
        raise UsageError(f"no family and no benchmark in {suite} is called {', '.join(only)}")
    grown = [(b, n) for b in chosen if b.name in growing for n in sizes if n != rows]
    folder = (data or default_directory()).resolve()
    pairs = [*((b, rows) for b in chosen), *grown]
    with steps("pipelines", len(pairs)) as told, session() as spark:
        told.console.print(f"tables in {folder}")
        small = next(suite_jobs(spark, [(chosen[0], 1000)], folder))
        first = warm(small.written)
        found = measure(suite_jobs(spark, pairs, folder), runs, told)
    return to_line(found, first, rows)
