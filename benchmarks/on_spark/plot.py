"""Untrusted. A run on Spark as an SVG: how much is saved, by kind, and how that grows."""

from __future__ import annotations

from collections.abc import Sequence
from operator import truediv
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.figure import svg
from benchmarks.on_spark.rows import Row

_KINDS = ("empty", "exact", "split", "partial")


def draw(rows: Sequence[Row], size: int, path: Path) -> None:
    """Three panels, of the benchmarks with a pushdown: the shares saved at ``size`` rows, the same
    by kind, and the growth of those that were run at more than one size.

    Raises :class:`UsageError` where matplotlib is missing.
    """
    pushed = [r for r in rows if r.pushed]
    usual = [r for r in pushed if r.rows == size]
    grown = _grown(pushed)
    with svg(path, 14 if grown else 9, 4) as figure:
        panels = figure.subplots(1, 3 if grown else 2, sharey=True)
        _distribution(panels[0], usual, size)
        _kinds(panels[1], usual)
        if grown:
            _growth(panels[2], grown)
        low = min((100 * r.saved_in_total for r in pushed), default=0.0)
        panels[0].set_ylim(max(-60.0, min(0.0, low)) - 2, 102)


def _distribution(axes: Any, rows: Sequence[Row], size: int) -> None:
    """Each curve by its own order, so that they are distributions, not single benchmarks."""
    curves = {
        "run time": [r.saved for r in rows],
        "with optimize": [r.saved_in_total for r in rows],
        "by hand": [1 - median(map(truediv, r.by_hand, r.written)) for r in rows],
    }
    for (label, saved), style in zip(curves.items(), ("-", "-", ":"), strict=True):
        ordered = sorted((100 * s for s in saved), reverse=True)
        axes.plot(range(1, len(rows) + 1), ordered, style, label=label)
    axes.set_title(f"saved at {size:,} rows")
    axes.set_xlabel("number of benchmarks")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_ylabel("% of the run time as written, or more")
    axes.grid(alpha=0.3)
    axes.legend(loc="lower left")


def _kinds(axes: Any, rows: Sequence[Row]) -> None:
    """A box a kind: quartiles, whiskers at 1.5 times their distance, and single points beyond."""
    named = [(k, [100 * r.saved for r in rows if r.kind == k]) for k in _KINDS]
    drawn = [(kind, saved) for kind, saved in named if saved]
    axes.boxplot([saved for _, saved in drawn], widths=0.5)
    axes.set_xticks(range(1, len(drawn) + 1), [f"{k}\n({len(s)})" for k, s in drawn])
    axes.set_title("by kind")
    axes.grid(alpha=0.3, axis="y")


def _growth(axes: Any, grown: Sequence[Sequence[Row]]) -> None:
    for some in grown:
        saved = [100 * r.saved for r in some]
        (drawn,) = axes.plot([r.rows for r in some], saved, marker="o", label=some[0].name)
        total = [100 * r.saved_in_total for r in some]
        axes.plot([r.rows for r in some], total, ":", color=drawn.get_color())
    axes.set_xscale("log")
    sizes = sorted({r.rows for some in grown for r in some})
    axes.set_xticks(sizes, [f"{n:,}" for n in sizes])
    axes.minorticks_off()
    axes.set_title("growth (dotted: with optimize)")
    axes.set_xlabel("rows")
    axes.grid(alpha=0.3)
    axes.legend(loc="best", fontsize="small")


def _grown(rows: Sequence[Row]) -> list[list[Row]]:
    """Those of each benchmark that was run at more than one size, by size."""
    names = dict.fromkeys(r.name for r in rows)
    all_of = [sorted((r for r in rows if r.name == n), key=lambda r: r.rows) for n in names]
    return [some for some in all_of if len(some) > 1]
