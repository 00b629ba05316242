"""Untrusted. Engines side by side as a table for people and as a line of the ledger."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from statistics import fmean, median

from rich.console import Console
from rich.table import Table
from rich.text import Text

from benchmarks.engines.compare import Answer, implies
from benchmarks.engines.magicpush import preconditions
from presieve.errors import UsageError

_VERDICTS = ("solved", "weaker", "wrong", "unanswered")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. Seconds are over the benchmarks that were answered in time."""

    engine: str
    mode: str
    of: int
    solved: int
    weaker: int
    wrong: int
    unanswered: int
    median: float
    mean: float
    slowest: float
    calls: float | None
    looser: int | None
    """Pre-filters that keep more rows than that of our engine, where it was asked too."""


def rows(answers: Sequence[Answer], own: str) -> list[Row]:
    """A row for each engine and mode; ``own`` is the engine that pre-filters are compared with."""
    best = {(a.benchmark.name, a.mode): a for a in answers if a.engine == own}
    table = []
    for (engine, mode), group in groupby(answers, key=lambda a: (a.engine, a.mode)):
        some = list(group)
        looser = None
        if best and engine != own:
            looser = sum(_is_looser(a, best.get((a.benchmark.name, a.mode))) for a in some)
        counts = {v: sum(a.verdict == v for a in some) for v in _VERDICTS}
        seconds = [a.seconds for a in some if a.verdict != "unanswered"] or [0.0]
        table.append(
            Row(
                engine,
                mode,
                len(some),
                counts["solved"],
                counts["weaker"],
                counts["wrong"],
                counts["unanswered"],
                median(seconds),
                fmean(seconds),
                max(seconds),
                fmean(a.calls for a in some),
                looser,
            )
        )
    return table


def _is_looser(answer: Answer, ours: Answer | None) -> bool:
    if ours is None or answer.problem is None or "none" in (answer.kind, ours.kind):
        return False
    return not implies(answer.problem, answer.prefilter, ours.prefilter)


def magicpush_applies(answers: Sequence[Answer], own: str) -> dict[str, dict[str, int]]:
    """For each mode, for how many of the problems that our engine pushes a filter below MagicPush's
    conditions leave room for the same pre-filter: exactly, or with the filter kept.
    """
    room: dict[str, dict[str, int]] = {}
    for a in answers:
        if a.engine == own and a.problem is not None:
            counts = room.setdefault(a.mode, {"exact": 0, "partial": 0})
            kind = "none" if a.kind == "none" else preconditions(a.problem, a.prefilter).kind
            if kind != "none":
                counts[kind] += 1
    return room


def published(path: Path) -> list[Row]:
    """What was published of the paper's tool and its variants, from a file of figures.

    Raises :class:`UsageError` where there is none.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as problem:
        raise UsageError(f"{path}: {problem.strerror or problem}") from problem
    lines = [x for x in text.splitlines() if not x.startswith("#")]
    return [
        Row(
            r["variant"],
            "published",
            int(r["of"]),
            int(r["answered"]),
            0,
            0,
            int(r["of"]) - int(r["answered"]),
            float(r["median_s"]),
            float(r["mean_s"]),
            float(r["slowest_s"]),
            None,
            None,
        )
        for r in csv.DictReader(lines)
    ]


def print_table(rows: Sequence[Row], console: Console) -> None:
    """The table."""
    table = Table(title="engines (seconds of computing; published: of other machines)")
    for head in ("engine", "mode"):
        table.add_column(head, no_wrap=True)
    heads = (*_VERDICTS, "looser P", "median s", "mean s", "slowest s", "calls")
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    for r in rows:
        table.add_row(*map(Text, _cells(r)))
    Console(file=console.file, width=max(console.width, 150), highlight=False).print(table)


def _cells(r: Row) -> Iterator[str]:
    yield from (r.engine, r.mode, f"{r.solved} of {r.of}")
    yield from (str(n) for n in (r.weaker, r.wrong, r.unanswered))
    yield "-" if r.looser is None else str(r.looser)
    yield from (f"{s:.2f}" for s in (r.median, r.mean, r.slowest))
    yield "-" if r.calls is None else f"{r.calls:.0f}"


def summary(rows: Sequence[Row], answers: Sequence[Answer], timeout: float) -> dict[str, object]:
    """The line of the ledger: the rows, and kind, verdict and seconds of each benchmark."""
    each: dict[str, dict[str, list[object]]] = {}
    for a in answers:
        entry: list[object] = [a.kind, a.verdict, round(a.seconds, 3)]
        each.setdefault(f"{a.engine}, {a.mode}", {})[a.benchmark.name] = entry
    return {"timeout": timeout, "rows": [_plain(r) for r in rows], "benchmarks": each}


def _plain(r: Row) -> dict[str, object]:
    figures = {
        "median": round(r.median, 4),
        "mean": round(r.mean, 4),
        "slowest": round(r.slowest, 3),
        "calls": None if r.calls is None else round(r.calls, 1),
    }
    counts = {v: getattr(r, v) for v in _VERDICTS}
    return {"engine": r.engine, "mode": r.mode, "of": r.of, **counts, "looser": r.looser, **figures}
