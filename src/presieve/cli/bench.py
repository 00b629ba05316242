"""Untrusted. ``presieve bench``: what is measured, and the ledger it is written to."""

from __future__ import annotations

import os
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from presieve.cli import bench_scale, bench_spark, bench_tpch, output
from presieve.cli import options as opt
from presieve.cli.steps import steps
from presieve.driver.cache.disk import CACHE
from presieve.errors import UsageError

if TYPE_CHECKING:
    from presieve.bench.compare import Answer
    from presieve.bench.synth import Measured

app = typer.Typer(help="The benchmarks.", no_args_is_help=True, rich_markup_mode=None)
app.command("spark")(bench_spark.command)
app.command("scale")(bench_scale.command)
app.command("tpch")(bench_tpch.command)


@app.callback()
def measuring() -> None:
    """The benchmarks."""
    os.environ[CACHE] = "off"  # what is measured is a search, not what is kept of an earlier one


class ModeOption(StrEnum):
    """Which folds of no rows."""

    GROUPED = "grouped"
    GLOBAL = "global"
    BOTH = "both"


class EngineOption(StrEnum):
    """Which search."""

    PRESIEVE = "presieve"
    PUBLISHED = "published"
    SPACER = "spacer"
    ALL = "all"


class AblationOption(StrEnum):
    """What the published search does without."""

    NONE = "none"
    NO_BOUNDS = "no-bounds"
    NO_REPAIR = "no-repair"
    TWO_PHASE = "two-phase"
    NO_PRUNING = "no-pruning"


@app.command("synth")
def synth(
    suite: Annotated[Path, typer.Option(metavar="DIR", help="The folder of families.")] = Path(
        "benchmarks/families"
    ),
    only: Annotated[
        str, typer.Option(metavar="NAME,...", help="Families or benchmarks, with commas between.")
    ] = "",
    mode: Annotated[ModeOption, typer.Option(help="GROUP BY, or one group of all rows.")] = (
        ModeOption.BOTH
    ),
    runs: Annotated[int, typer.Option(min=1, help="Whole rounds; medians are told.")] = 3,
    detail: Annotated[bool, typer.Option(help="A line for every benchmark.")] = False,
    ledger: opt.Ledger = None,
    svg: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the cumulative curve.")
    ] = None,
    again: opt.Again = False,
    engine: Annotated[
        EngineOption,
        typer.Option(help="Our search, the published one, both, or a Horn solver."),
    ] = EngineOption.PRESIEVE,
    ablation: Annotated[
        AblationOption, typer.Option(help="What the published search does without.")
    ] = AblationOption.NONE,
    enlarge: Annotated[
        int, typer.Option(min=0, max=100, help="Percent of further atoms for the published one.")
    ] = 0,
    timeout: Annotated[
        float, typer.Option(help="Seconds for the published search, or both side by side.")
    ] = 60.0,
    json: opt.Json = False,
) -> None:
    """Search the pushdowns of the 150 published benchmarks, against what was published.

    Exits with 1 where an answer is weaker than it should be, or pushes what must not be pushed.
    With another engine than ours: where the checker does not accept an answer.
    """
    from presieve.bench import ledger as book
    from presieve.bench.curve import draw
    from presieve.bench.recorded import from_line, recorded, to_line
    from presieve.bench.suite import MODES, benchmarks, load
    from presieve.bench.synth import measure
    from presieve.bench.tell import detail as show_detail
    from presieve.bench.tell import show

    names = opt.names(only)
    known = list(benchmarks(load(suite)))
    chosen = [b for b in known if not names or {b.name, b.family.name} & set(names)]
    if not chosen:
        raise UsageError(f"no family and no benchmark in {suite} is called {only}")
    modes = MODES if mode is ModeOption.BOTH else tuple(m for m in MODES if m == mode.value)
    if engine is not EngineOption.PRESIEVE:
        from presieve.bench import compare
        from presieve.bench.published.engine import Options

        options = Options(ablation.value, enlarge, timeout)
        engines = compare.engines(options, both=engine is EngineOption.ALL)
        if engine is EngineOption.SPACER:
            engines = [compare.SPACER]
        asked = len(engines) * len(modes) * len(chosen)
        with output.quiet(), steps("searching", asked) as told:
            answers = compare.answers(engines, chosen, timeout, modes, told)
        _side_by_side(answers, suite.parent / "published.csv", timeout, ledger, json=json)
        return
    measured: list[Measured] = []

    def run() -> dict[str, object]:
        with output.quiet(), steps("searching", runs * len(modes) * len(chosen)) as told:
            measured.extend(measure(chosen, modes, runs, told, told.step))
        return to_line(recorded(measured))

    line = book.line_of("synth", ledger, again, run)
    rows = from_line(line, known)
    if json:
        output.as_json(line)
    else:
        if detail:
            show_detail(measured, output.console())
        show(rows, output.console())
        print(f"first call of the process: {line['first']} s")
    if svg is not None:
        draw(rows, svg)
    if not all(r.right for r in rows):
        raise typer.Exit(1)


def _side_by_side(
    answers: Sequence[Answer], figures: Path, timeout: float, ledger: Path | None, *, json: bool
) -> None:
    """Tell what engines answered, beside what was published. Exits with 1 where one is wrong."""
    from presieve.bench import compare_tell
    from presieve.bench import ledger as book
    from presieve.bench.compare import OURS

    rows = compare_tell.rows(answers, OURS)
    room = compare_tell.room(answers, OURS)
    line = {**compare_tell.summary(rows, answers, timeout), "magicpush": room}
    if json:
        output.as_json(line)
    else:
        compare_tell.show([*rows, *compare_tell.published(figures)], output.console())
        for mode, kinds in room.items():
            told = ", ".join(f"{n} {kind}" for kind, n in kinds.items())
            print(f"MagicPush's conditions leave room, {mode}: {told} (published: 5, 17)")
    if ledger is not None:
        book.append(ledger, "engines", line)
    if any(a.verdict == "wrong" for a in answers):
        raise typer.Exit(1)
