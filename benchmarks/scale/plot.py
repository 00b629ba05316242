"""Untrusted. The curves as an SVG, a panel for each thing that grows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.figure import svg
from benchmarks.scale.points import Point, by_panel

_ACROSS = 3
"""Panels side by side."""


def draw(points: Sequence[Point], path: Path) -> None:
    """Medians over turns, between the fastest and the slowest one, on logarithmic axes.

    Raises :class:`UsageError` where matplotlib is missing.
    """
    panels = by_panel(points)
    down = -(-len(panels) // _ACROSS)
    with svg(path, 4.4 * _ACROSS, 3.4 * down) as figure:
        from matplotlib.ticker import LogLocator, NullFormatter

        places = figure.subplots(down, _ACROSS, squeeze=False).flatten()
        for axes, (panel, curves) in zip(places, panels.items(), strict=False):
            for name, curve in curves.items():
                at = [p.at for p in curve]
                (line,) = axes.plot(at, [p.typical for p in curve], marker="o", ms=3, label=name)
                low, high = ([f(p.seconds) for p in curve] for f in (min, max))
                axes.fill_between(at, low, high, color=line.get_color(), alpha=0.15, lw=0)
            axes.set_xscale("log")
            axes.set_yscale("log")
            sizes = sorted({p.at for curve in curves.values() for p in curve})
            axes.set_xticks(sizes, [f"{size:,}" for size in sizes], fontsize=7)
            axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axes.yaxis.set_major_formatter("{x:g}")
            for axis in (axes.xaxis, axes.yaxis):
                axis.set_minor_formatter(NullFormatter())
            axes.set_title(panel, fontsize=10)
            axes.set_ylabel("seconds")
            axes.grid(alpha=0.3)
            axes.legend(fontsize=7)
        for axes in places[len(panels) :]:
            axes.remove()
