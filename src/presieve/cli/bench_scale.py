"""Untrusted. ``presieve bench scale``: how times grow."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from presieve.cli import options as opt
from presieve.cli import output
from presieve.cli.bench_spark import needed
from presieve.cli.steps import Steps, steps

if TYPE_CHECKING:
    from presieve.bench.scale.points import Point


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
    json: opt.Json = False,
) -> None:
    """Measure how the search grows with the problem, optimize with the plan, and pipelines with
    rows, groups and the share of rows that the pre-filter keeps.
    """
    from presieve.bench import ledger as book
    from presieve.bench.scale.plot import draw
    from presieve.bench.scale.points import from_line, to_line
    from presieve.bench.scale.tell import show

    def run() -> dict[str, object]:
        with output.quiet(), steps("points") as told:
            return to_line(list(_measured(part, runs, largest, data, told)))

    line = book.line_of("scale", ledger, again, run)
    points = from_line(line)
    if json:
        output.as_json(line)
    else:
        show(points, output.console())
    if svg is not None:
        draw(points, svg)


def _measured(
    part: Part, runs: int, largest: int | None, data: Path | None, told: Steps
) -> Iterator[Point]:
    if part in (Part.SEARCH, Part.ALL):
        from presieve.bench.scale import search

        yield from search.measure(runs, largest, told)
    if part is Part.SEARCH:
        return
    needed()
    from presieve.bench.on_spark.tables import default_directory
    from presieve.bench.scale import plans
    from presieve.bench.scale import runs as pipelines
    from presieve.demo.session import session

    with session() as spark:
        if part in (Part.OPTIMIZE, Part.ALL):
            yield from plans.measure(spark, runs, told)
        if part in (Part.RUN, Part.ALL):
            folder = data or default_directory()
            yield from pipelines.measure(spark, folder, runs, largest, told)
