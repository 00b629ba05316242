"""Untrusted. ``presieve bench synth``: the published suite, by our search or by other engines."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from benchmarks import ledger as ledgers
from benchmarks.commands import options as opt
from benchmarks.suite import MODES, Benchmark, Mode, benchmarks, load, select
from presieve.cli import output
from presieve.cli.shared_options import Json, names
from presieve.cli.steps import steps

if TYPE_CHECKING:
    from benchmarks.engines.compare import Answer
    from benchmarks.published.engine import Options
    from benchmarks.synth.records import Record
    from benchmarks.synth.run import Measured


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


Modes: TypeAlias = Annotated[ModeOption, typer.Option(help="GROUP BY, or one group of all rows.")]
Runs: TypeAlias = Annotated[int, typer.Option(min=1, help="Whole rounds; medians are told.")]
Detail: TypeAlias = Annotated[bool, typer.Option(help="A line for every benchmark.")]
Curve: TypeAlias = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Draw the cumulative curve.")
]
Engine: TypeAlias = Annotated[
    EngineOption, typer.Option(help="Our search, the published one, both, or a Horn solver.")
]
Ablation: TypeAlias = Annotated[
    AblationOption, typer.Option(help="What the published search does without.")
]
Enlarge: TypeAlias = Annotated[
    int, typer.Option(min=0, max=100, help="Percent of further atoms for the published one.")
]
Timeout: TypeAlias = Annotated[
    float, typer.Option(help="Seconds for the published search, or both side by side.")
]


def command(
    suite: opt.Suite,
    only: opt.Only = "",
    mode: Modes = ModeOption.BOTH,
    runs: Runs = 3,
    detail: Detail = False,
    ledger: opt.Ledger = None,
    svg: Curve = None,
    again: opt.Again = False,
    engine: Engine = EngineOption.PRESIEVE,
    ablation: Ablation = AblationOption.NONE,
    enlarge: Enlarge = 0,
    timeout: Timeout = 60.0,
    json: Json = False,
) -> None:
    """Search the pushdowns of the 150 published benchmarks, against what was published.

    Exits with 1 where an answer is weaker than it should be, or pushes what must not be pushed.
    With another engine than ours: where the checker does not accept an answer.
    """
    from benchmarks.synth.plot import draw
    from benchmarks.synth.records import from_line, records, to_line

    known = list(benchmarks(load(suite)))
    chosen = select(known, names(only), suite)
    modes = [m for m in MODES if mode in (ModeOption.BOTH, m)]
    if engine is not EngineOption.PRESIEVE:
        from benchmarks.published.engine import Options

        answers = _answers(engine, Options(ablation.value, enlarge, timeout), chosen, modes)
        _compare(answers, suite.parent / "published.csv", timeout, ledger, json=json)
        return
    measured: list[Measured] = []

    def run() -> dict[str, object]:
        measured.extend(_measured(chosen, modes, runs))
        return to_line(records(measured))

    line = ledgers.line_of("synth", ledger, again, run)
    rows = from_line(line, known)
    if json:
        output.as_json(line)
    else:
        _print(rows, measured if detail else None, line["first"])
    if svg is not None:
        draw(rows, svg)
    if not all(r.right for r in rows):
        raise typer.Exit(1)


def _measured(chosen: Sequence[Benchmark], modes: Sequence[Mode], runs: int) -> list[Measured]:
    from benchmarks.synth.run import measure

    with output.quiet(), steps("searching", runs * len(modes) * len(chosen)) as progress:
        return measure(chosen, modes, runs, progress, progress.step)


def _print(rows: Sequence[Record], detail: Sequence[Measured] | None, first: float) -> None:
    from benchmarks.synth.table import print_detail, print_tables

    if detail is not None:
        print_detail(detail, output.console())
    print_tables(rows, output.console())
    print(f"first call of the process: {first} s")


def _answers(
    engine: EngineOption, options: Options, chosen: Sequence[Benchmark], modes: Sequence[Mode]
) -> list[Answer]:
    from benchmarks.engines import compare

    engines = compare.engines(options, both=engine is EngineOption.ALL)
    if engine is EngineOption.SPACER:
        engines = [compare.SPACER]
    total = len(engines) * len(modes) * len(chosen)
    with output.quiet(), steps("searching", total) as progress:
        return compare.answers(engines, chosen, options.timeout, modes, progress)


def _compare(
    answers: Sequence[Answer], figures: Path, timeout: float, ledger: Path | None, *, json: bool
) -> None:
    """Print the answers of engines beside the published figures. Exits with 1 if one is wrong."""
    from benchmarks.engines import table
    from benchmarks.engines.compare import OURS

    rows = table.rows(answers, OURS)
    applicable = table.magicpush_applies(answers, OURS)
    line = {**table.summary(rows, answers, timeout), "magicpush": applicable}
    if json:
        output.as_json(line)
    else:
        table.print_table([*rows, *table.published(figures)], output.console())
        for mode, kinds in applicable.items():
            counts = ", ".join(f"{n} {kind}" for kind, n in kinds.items())
            print(f"MagicPush's conditions leave room, {mode}: {counts} (published: 5, 17)")
    if ledger is not None:
        ledgers.append(ledger, "engines", line)
    if any(a.verdict == "wrong" for a in answers):
        raise typer.Exit(1)
