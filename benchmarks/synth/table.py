"""Untrusted. The synthesis benchmark as tables for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from statistics import fmean, median

from rich.console import Console
from rich.table import Table
from rich.text import Text

from benchmarks.suite import Mode
from benchmarks.synth.records import KINDS, Record, by_mode
from benchmarks.synth.run import RANK, Measured, Sizes

_WIDTH = 160
"""Columns that the table of families takes."""


def print_tables(rows: Sequence[Record], console: Console) -> None:
    """For each mode: a table of families, one of the total, and what is not as it should be."""
    console = Console(file=console.file, width=max(console.width, _WIDTH), highlight=False)
    for mode, some in by_mode(rows):
        console.print(_families(mode, some))
        console.print(_total(mode, some))
        if names := [m.benchmark.name for m in some if m.checks_start_only]:
            note = "exact but for the output of no rows, which counts as exact as published: "
            console.print(note + ", ".join(names))
    for r in rows:
        if not r.right:
            wanted = r.benchmark.right(r.mode)
            console.print(f"{r.benchmark.name} {r.mode}: {r.kind}, not {wanted}", style="red")


def print_detail(measured: Sequence[Measured], console: Console) -> None:
    """One line a benchmark, with its predicates."""
    table = Table("benchmark", "mode", "kind", "pre-filter", "residual", "strength", "s", "calls")
    for m in measured:
        a = m.answer
        cells = (m.benchmark.name, m.mode, _kind(m), a.prefilter, a.residual, a.strength)
        table.add_row(*map(Text, (*cells, f"{m.typical:.3f}", str(a.solver_calls))))
    console.print(table)


def _kind(m: Measured) -> str:
    return f"{m.answer.kind} (exact but for no rows)" if m.checks_start_only else m.answer.kind


def _families(mode: Mode, measured: Sequence[Record]) -> Table:
    table = Table(title=f"{mode}: ours / published", title_justify="left")
    table.add_column("family", no_wrap=True)
    figures = ("kinds", "as strong", "optimal", "regions")
    heads = (*figures, "P", "residual", "I", "s", "s max", "calls")
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    for name, some in groupby(measured, key=lambda m: m.benchmark.family.name):
        table.add_row(name, *_cells(list(some)))
    return table


def _total(mode: Mode, measured: Sequence[Record]) -> Table:
    table = Table(title=f"{mode}, in total: ours / published", title_justify="left")
    for head in ("kind", "number", "mean s", "median s", "slowest s", "P", "residual", "I"):
        table.add_column(head, justify="right", no_wrap=True)
    for kind in ("all", *KINDS):
        ours = [m for m in measured if kind in ("all", m.kind)]
        theirs = [m for m in measured if kind in ("all", m.benchmark.filter.published.kind)]
        if not ours and not theirs:
            continue
        mine = [m.typical for m in ours]
        published = [m.benchmark.filter.published.seconds for m in theirs]
        table.add_row(
            kind,
            f"{len(ours)} / {len(theirs)}",
            f"{_mean(mine)} / {_mean(published)}",
            f"{_figure(mine, median)} / {_figure(published, median)}",
            f"{_figure(mine, max)} / {_figure(published, max)}",
            *_sizes(ours, theirs),
        )
    return table


def _cells(measured: Sequence[Record]) -> Iterator[str]:
    ours = [m.kind for m in measured]
    theirs = [m.benchmark.filter.published.kind for m in measured]
    yield f"{_short(ours)} / {_short(theirs)}"
    yield f"{sum(m.right for m in measured)} of {len(measured)}"
    yield str(sum(m.strength == "optimal" for m in measured))
    yield str(sum(m.strength == "regions" for m in measured))
    yield from _sizes(measured, measured)
    typical = [m.typical for m in measured]
    published = [m.benchmark.filter.published.seconds for m in measured]
    yield f"{fmean(typical):.2f} / {fmean(published):.2f}"
    yield f"{max(typical):.2f} / {max(published):.2f}"
    yield f"{fmean(m.calls for m in measured):.0f}"


def _short(kinds: Iterable[str]) -> str:
    """``2e 3s``: how many of each kind, the strongest first."""
    counted = list(kinds)
    order = sorted(set(counted), key=lambda k: (-RANK[k], k))  # type: ignore[index]
    return " ".join(f"{counted.count(kind)} {kind}" for kind in order)


def _sizes(ours: Sequence[Record], theirs: Sequence[Record]) -> Iterator[str]:
    """Mean clauses of pre-filter, residual and invariant."""
    sizes = [m.sizes for m in ours if m.sizes is not None]
    published = [
        Sizes(p.prefilter, p.residual, p.invariant)
        for p in (m.benchmark.filter.published for m in theirs)
    ]
    for name in ("prefilter", "residual", "invariant"):
        mine = _mean([getattr(s, name) for s in sizes], 1)
        yield f"{mine} / {_mean([getattr(s, name) for s in published], 1)}"


def _mean(values: Sequence[float], digits: int = 2) -> str:
    return f"{fmean(values):.{digits}f}" if values else "-"


def _figure(values: Sequence[float], of: object) -> str:
    return f"{of(values):.2f}" if values else "-"  # type: ignore[operator]
