"""Untrusted. The synthesis benchmark as tables for people and as a line of the ledger."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from statistics import fmean, median

from rich.console import Console
from rich.table import Table
from rich.text import Text

from presieve.bench.suite import Mode
from presieve.bench.synth import RANK, Measured, Sizes

_WIDTH = 160
"""Columns that the table of families takes."""

_KINDS = ("exact", "split", "partial", "empty", "none")


def show(measured: Sequence[Measured], console: Console) -> None:
    """For each mode: a table of families, one of the total, and what is not as it should be."""
    console = Console(file=console.file, width=max(console.width, _WIDTH), highlight=False)
    for mode, some in _by_mode(measured):
        console.print(_families(mode, some))
        console.print(_total(mode, some))
        if names := [m.benchmark.name for m in some if m.checks_start_only]:
            told = "exact but for the output of no rows, which counts as exact as published: "
            console.print(told + ", ".join(names))
    for m in measured:
        if not m.right:
            wanted = m.benchmark.right(m.mode)
            why = "; ".join(str(d["reason"]) for d in m.answer.declined)
            console.print(
                f"{m.benchmark.name} {m.mode}: {m.answer.kind}, not {wanted}", why, style="red"
            )


def detail(measured: Sequence[Measured], console: Console) -> None:
    """One line a benchmark, with its predicates."""
    table = Table("benchmark", "mode", "kind", "pre-filter", "residual", "strength", "s", "calls")
    for m in measured:
        a = m.answer
        cells = (m.benchmark.name, m.mode, _kind(m), a.prefilter, a.residual, a.strength)
        table.add_row(*map(Text, (*cells, f"{m.typical:.3f}", str(a.solver_calls))))
    console.print(table)


def _kind(m: Measured) -> str:
    return f"{m.answer.kind} (exact but for no rows)" if m.checks_start_only else m.answer.kind


def summary(measured: Sequence[Measured]) -> dict[str, object]:
    """The line of the ledger: totals of each mode, kind and seconds of each benchmark."""
    first = measured[0].seconds[0]
    line: dict[str, object] = {"first": round(first, 3), "runs": len(measured[0].seconds)}
    for mode, some in _by_mode(measured):
        typical = [m.typical for m in some]
        line[mode] = {
            "right": sum(m.right for m in some),
            "of": len(some),
            "exact_but_for_no_rows": sum(m.checks_start_only for m in some),
            "kinds": {k: sum(m.answer.kind == k for m in some) for k in _KINDS},
            "strongest": sum(_is_strongest(m) for m in some),
            "optimal": sum(m.answer.optimal for m in some),
            "median": round(median(typical), 4),
            "mean": round(fmean(typical), 4),
            "slowest": round(max(max(m.seconds) for m in some), 3),
            "benchmarks": {m.benchmark.name: [m.answer.kind, round(m.typical, 4)] for m in some},
        }
    return line


def _by_mode(measured: Sequence[Measured]) -> Iterator[tuple[Mode, list[Measured]]]:
    for mode, some in groupby(measured, key=lambda m: m.mode):
        yield mode, list(some)


def _is_strongest(m: Measured) -> bool:
    return m.answer.certificate is not None and m.answer.strength == "strongest"


def _families(mode: Mode, measured: Sequence[Measured]) -> Table:
    table = Table(title=f"{mode}: ours / published", title_justify="left")
    table.add_column("family", no_wrap=True)
    heads = ("kinds", "as strong", "strongest", "P", "residual", "I", "s", "s max", "calls")
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    for name, some in groupby(measured, key=lambda m: m.benchmark.family.name):
        table.add_row(name, *_cells(list(some)))
    return table


def _total(mode: Mode, measured: Sequence[Measured]) -> Table:
    table = Table(title=f"{mode}, in total: ours / published", title_justify="left")
    for head in ("kind", "number", "mean s", "median s", "slowest s", "P", "residual", "I"):
        table.add_column(head, justify="right", no_wrap=True)
    for kind in ("all", *_KINDS):
        ours = [m for m in measured if kind in ("all", m.answer.kind)]
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


def _cells(measured: Sequence[Measured]) -> Iterator[str]:
    ours = [m.answer.kind for m in measured]
    theirs = [m.benchmark.filter.published.kind for m in measured]
    yield f"{_short(ours)} / {_short(theirs)}"
    yield f"{sum(m.right for m in measured)} of {len(measured)}"
    yield str(sum(_is_strongest(m) for m in measured))
    yield from _sizes(measured, measured)
    typical = [m.typical for m in measured]
    published = [m.benchmark.filter.published.seconds for m in measured]
    yield f"{fmean(typical):.2f} / {fmean(published):.2f}"
    yield f"{max(typical):.2f} / {max(published):.2f}"
    yield f"{fmean(m.answer.solver_calls for m in measured):.0f}"


def _short(kinds: Iterable[str]) -> str:
    """``2e 3s``: how many of each kind, the strongest first."""
    counted = list(kinds)
    order = sorted(set(counted), key=lambda k: (-RANK[k], k))  # type: ignore[index]
    return " ".join(f"{counted.count(kind)} {kind}" for kind in order)


def _sizes(ours: Sequence[Measured], theirs: Sequence[Measured]) -> Iterator[str]:
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
