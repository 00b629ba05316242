"""Untrusted. ``presieve bench scale``: how times grow."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from benchmarks import ledger as ledgers
from benchmarks.commands import options as opt
from presieve.cli import output
from presieve.cli.shared_options import Json
from presieve.cli.steps import Steps, steps

if TYPE_CHECKING:
    from benchmarks.scale.points import Point


class Part(StrEnum):
    """What is measured."""

    SEARCH = "search"
    OPTIMIZE = "optimize"
    RUN = "run"
    ALL = "all"


def command(
    part: Annotated[
        Part, typer.Option(help="The search alone, which needs no Spark; or what else.")
    ] = Part.ALL,
    runs: opt.Turns = 3,
    largest: Annotated[
        int | None,
        typer.Option(min=1, help="Leave out larger sizes of problems, or tables of more rows."),
    ] = None,
    data: opt.Data = None,
    ledger: opt.Ledger = None,
    svg: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the curves.")] = None,
    again: opt.Again = False,
    json: Json = False,
) -> None:
    """Measure how the search grows with the problem, optimize with the plan, and pipelines with
    rows, groups and the share of rows that the pre-filter keeps.
    """
    from benchmarks.scale.plot import draw
    from benchmarks.scale.points import from_line, to_line
    from benchmarks.scale.table import print_table

    def run() -> dict[str, object]:
        with output.quiet(), steps("points") as progress:
            return to_line(list(_measured(part, runs, largest, data, progress)))

    line = ledgers.line_of("scale", ledger, again, run)
    points = from_line(line)
    if json:
        output.as_json(line)
    else:
        print_table(points, output.console())
    if svg is not None:
        draw(points, svg)


def _measured(
    part: Part, runs: int, largest: int | None, data: Path | None, progress: Steps
) -> Iterator[Point]:
    if part in (Part.SEARCH, Part.ALL):
        from benchmarks.scale import search

        yield from search.measure(runs, largest, progress)
    if part is Part.SEARCH:
        return
    opt.require_spark()
    from benchmarks.on_spark.parquet import default_directory
    from benchmarks.scale import plans
    from benchmarks.scale import runs as pipelines
    from presieve.demo.demo_session import session

    with session() as spark:
        if part in (Part.OPTIMIZE, Part.ALL):
            yield from plans.measure(spark, runs, progress)
        if part in (Part.RUN, Part.ALL):
            folder = data or default_directory()
            yield from pipelines.measure(spark, folder, runs, largest, progress)
