"""Untrusted. What a run leaves behind: points of curves, and the ledger's line of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import median
from typing import Any

from presieve.errors import UsageError


@dataclass(frozen=True, slots=True)
class Point:
    """Seconds of each turn at one size.

    ``panel`` is what is measured against what ("search: columns"), ``curve`` one line in it, ``at``
    the size, and ``outcome`` what came out there.
    """

    panel: str
    curve: str
    at: float
    seconds: tuple[float, ...]
    outcome: str = ""

    @property
    def typical(self) -> float:
        """The median of the turns."""
        return median(self.seconds)


def by_panel(points: Iterable[Point]) -> dict[str, dict[str, list[Point]]]:
    """Panels in the order in which they come, with the curves of each."""
    panels: dict[str, dict[str, list[Point]]] = {}
    for p in points:
        panels.setdefault(p.panel, {}).setdefault(p.curve, []).append(p)
    return panels


def growth(curve: Sequence[Point]) -> float | None:
    """How many times longer the last point takes, for each time that it is larger than the first:
    1 is linear. None of a curve of one size.
    """
    first, last = curve[0], curve[-1]
    if last.at == first.at or not first.at or not first.typical:
        return None
    return (last.typical / first.typical) / (last.at / first.at)


def to_line(points: Sequence[Point]) -> dict[str, object]:
    """The line of the ledger."""
    panels = groupby(points, key=lambda p: p.panel)
    return {"panels": {panel: [_entry(p) for p in some] for panel, some in panels}}


def _entry(p: Point) -> dict[str, object]:
    seconds = [round(s, 5) for s in p.seconds]
    return {"curve": p.curve, "at": p.at, "seconds": seconds, "told": p.outcome}


def from_line(line: Mapping[str, Any]) -> list[Point]:
    """The points that :func:`to_line` wrote; :class:`UsageError` for a line of another kind."""
    try:
        return [
            Point(panel, p["curve"], p["at"], tuple(p["seconds"]), p["told"])
            for panel, some in line["panels"].items()
            for p in some
        ]
    except (KeyError, TypeError, AttributeError) as problem:
        raise UsageError(f"the ledger's line is not one of this benchmark: {problem}") from None
