"""Untrusted. The cumulative curve: the share of benchmarks answered within a time, as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.figure import svg
from benchmarks.suite import MODES
from benchmarks.synth.records import Record


def draw(rows: Sequence[Record], path: Path) -> None:
    """One curve a mode, and the published one. Seconds are those of the machines they ran on.

    Raises :class:`UsageError` where matplotlib is missing.
    """
    with svg(path, 7, 4) as figure:
        axes = figure.add_subplot()
        for mode in MODES:
            solved = [m.typical for m in rows if m.mode == mode and m.right]
            total = sum(m.mode == mode for m in rows)
            if total:
                axes.step(*_curve(solved, total), where="post", label=f"presieve, {mode}")
        names = {m.benchmark.name: m.benchmark.filter.published.seconds for m in rows}
        axes.step(*_curve(list(names.values()), len(names)), where="post", label="published")
        axes.set_xscale("log")
        axes.set_xlabel("seconds")
        axes.set_ylabel("share of benchmarks answered")
        axes.set_ylim(0, 1.02)
        axes.grid(alpha=0.3)
        axes.legend(loc="lower right")


def _curve(seconds: Sequence[float], total: int) -> tuple[list[float], list[float]]:
    ordered = sorted(seconds)
    return ordered, [(at + 1) / total for at in range(len(ordered))]
