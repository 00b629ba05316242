"""Untrusted. ``presieve bench``: what is measured, and the ledger it is written to."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from presieve.cli import options as opt
from presieve.cli import output
from presieve.errors import UsageError

app = typer.Typer(help="The benchmarks.", no_args_is_help=True, rich_markup_mode=None)


class ModeOption(StrEnum):
    """Which folds of no rows."""

    GROUPED = "grouped"
    GLOBAL = "global"
    BOTH = "both"


@app.command("synth")
def synth(
    suite: Annotated[Path, typer.Option(metavar="DIR", help="The folder of families.")] = Path(
        "benchmarks/families"
    ),
    only: Annotated[str, typer.Option(metavar="NAME", help="One family, or one benchmark.")] = "",
    mode: Annotated[ModeOption, typer.Option(help="GROUP BY, or one group of all rows.")] = (
        ModeOption.BOTH
    ),
    runs: Annotated[int, typer.Option(min=1, help="Whole rounds; medians are told.")] = 3,
    detail: Annotated[bool, typer.Option(help="A line for every benchmark.")] = False,
    ledger: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Add a line to this file.")
    ] = None,
    svg: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the cumulative curve.")
    ] = None,
    json: opt.Json = False,
) -> None:
    """Search the pushdowns of the 150 published benchmarks, against what was published.

    Exits with 1 where an answer is weaker than it should be, or pushes what must not be pushed.
    """
    from presieve.bench import ledger as book
    from presieve.bench.curve import draw
    from presieve.bench.suite import MODES, benchmarks, load
    from presieve.bench.synth import measure
    from presieve.bench.tell import detail as show_detail
    from presieve.bench.tell import show, summary

    chosen = [b for b in benchmarks(load(suite)) if only in ("", b.name, b.family.name)]
    if not chosen:
        raise UsageError(f"no family and no benchmark in {suite} is called {only}")
    modes = MODES if mode is ModeOption.BOTH else tuple(m for m in MODES if m == mode.value)
    log = Console(stderr=True, style="dim", highlight=False)
    with output.quiet():
        measured = measure(chosen, modes, runs, log.print)
    line = summary(measured)
    if json:
        output.as_json(line)
    else:
        if detail:
            show_detail(measured, output.console())
        show(measured, output.console())
        print(f"first call of the process: {line['first']} s")
    if ledger is not None:
        book.append(ledger, "synth", line)
    if svg is not None:
        draw(measured, svg)
    if not all(m.right for m in measured):
        raise typer.Exit(1)
