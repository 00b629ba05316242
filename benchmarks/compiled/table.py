"""Untrusted. A run as a table and a few lines for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from benchmarks.compiled.rows import Row

_WIDTH = 160
"""Columns that the table takes."""


def print_tables(rows: Sequence[Row], line: Mapping[str, Any], console: Console) -> None:
    """Every function, what the ledger's line says of all of them, and why Python is left."""
    console = Console(file=console.file, width=max(console.width, _WIDTH), highlight=False)
    console.print(_functions(rows))
    console.print(_totals(line))
    for row in rows:
        if not row.equal:
            console.print(f"{row.name}: RESULTS DIFFER", style="red")
        if row.declined:
            console.print(Text(f"{row.name}: {row.declined}"))


def _functions(rows: Sequence[Row]) -> Table:
    title = "seconds are medians over turns, ratios those within one turn"
    table = Table(title=title, title_justify="left")
    table.add_column("function", no_wrap=True)
    table.add_column("form", no_wrap=True)
    heads = ("rows", "written", "compiled", "by hand", "transpiled", "times as fast", "to by hand")
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    table.add_column("needs", no_wrap=True)
    for r in rows:
        times = (r.written, r.compiled, r.by_hand, r.transpiled)
        seconds = [f"{median(s):.2f}" if s else "" for s in times]
        ratios = (f"{r.faster:.1f}", f"{r.to_hand:.2f}")
        needs = r.needs if r.native else "Python"
        table.add_row(r.name, r.form, f"{r.rows:,}", *seconds, *ratios, needs)
    return table


def _totals(line: Mapping[str, Any]) -> Table:
    title = "medians (least to most); to by hand is of those without Python"
    table = Table(title=title, title_justify="left")
    table.add_column("form", no_wrap=True)
    heads = ("functions", "equal", "without Python", "times as fast", "to by hand", "optimize, s")
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    for form, told in (*line["forms"].items(), ("all", line)):
        counts = (str(told[name]) for name in ("of", "equal", "native"))
        spreads = (_spread(told[name]) for name in ("faster", "to_hand", "compiling"))
        table.add_row(form, *counts, *spreads)
    return table


def _spread(told: Mapping[str, float] | None) -> str:
    if told is None:
        return ""
    return f"{told['median']:.2f} ({told['least']:.2f} to {told['most']:.2f})"
