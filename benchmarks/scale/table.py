"""Untrusted. The curves as a table for people."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from benchmarks.scale.points import Point, by_panel, growth


def print_table(points: Sequence[Point], console: Console) -> None:
    """A table for each panel, with how each curve grows beside what is linear."""
    for panel, curves in by_panel(points).items():
        sizes = sorted({p.at for curve in curves.values() for p in curve})
        table = Table(title=panel, title_justify="left")
        table.add_column("seconds, medians")
        for size in sizes:
            table.add_column(f"{size:g}", justify="right", no_wrap=True)
        table.add_column("growth", justify="right")
        for name, curve in curves.items():
            taken = {p.at: f"{p.typical:.4f}" for p in curve}
            grown = growth(curve)
            last = "" if grown is None else f"{grown:.2f}"
            table.add_row(name, *(taken.get(size, "") for size in sizes), last)
        console.print(table)
    console.print("growth: how many times the time grew for each time that the size grew")
