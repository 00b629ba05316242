"""Untrusted. The curves as an SVG, a panel for each thing that grows."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from presieve.bench.scale.points import Point, by_panel
from presieve.errors import UsageError

_ACROSS = 3
"""Panels side by side."""


def draw(points: Sequence[Point], path: Path) -> None:
    """Medians over turns, between the fastest and the slowest one, on logarithmic axes.

    Raises :class:`UsageError` where matplotlib is missing.
    """
    if find_spec("matplotlib") is None:
        raise UsageError("a plot needs matplotlib: pip install 'presieve[bench]'")
    import matplotlib as mpl
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator, NullFormatter

    panels = by_panel(points)
    down = -(-len(panels) // _ACROSS)
    with mpl.rc_context({"svg.hashsalt": "presieve", "svg.fonttype": "none"}):
        figure = Figure(figsize=(4.4 * _ACROSS, 3.4 * down), layout="constrained")
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
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, format="svg", metadata={"Date": None})
