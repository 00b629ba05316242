"""Untrusted. The cumulative curve: the share of benchmarks answered within a time, as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from presieve.bench.recorded import Recorded
from presieve.bench.suite import MODES
from presieve.errors import UsageError


def draw(rows: Sequence[Recorded], path: Path) -> None:
    """One curve a mode, and the published one. Seconds are those of the machines they ran on.

    Raises :class:`UsageError` where matplotlib is missing.
    """
    if find_spec("matplotlib") is None:
        raise UsageError("a curve needs matplotlib: pip install 'presieve[bench]'")
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.hashsalt": "presieve", "svg.fonttype": "none"}):
        figure = Figure(figsize=(7, 4), layout="constrained")
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
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, format="svg", metadata={"Date": None})


def _curve(seconds: Sequence[float], total: int) -> tuple[list[float], list[float]]:
    ordered = sorted(seconds)
    return ordered, [(at + 1) / total for at in range(len(ordered))]
