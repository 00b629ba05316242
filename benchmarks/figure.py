"""Untrusted. Figures as SVG files that are the same for the same data."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from presieve.errors import UsageError, install


@contextmanager
def svg(path: Path, width: float, height: float) -> Iterator[Any]:
    """An empty figure of so many inches, which is written at the end.

    Raises :class:`UsageError` where matplotlib is missing.
    """
    if find_spec("matplotlib") is None:
        raise UsageError(f"a plot needs matplotlib: {install('bench')}")
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.hashsalt": "presieve", "svg.fonttype": "none"}):
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, format="svg", metadata={"Date": None})
