"""Untrusted. A run on Spark as a table and a few lines for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from benchmarks.on_spark.rows import ABOVE_HAND, SLOWER, Row

_WIDTH = 160
"""Columns that the table takes."""

_FIGURES = (
    ("saved", "saved, where something is pushed"),
    ("saved_in_total", "the same, optimize counted"),
    ("saved_by_fastest", "saved, by the fastest runs"),
    ("above_hand", "above by hand"),
    ("above_hand_in_total", "the same, optimize counted"),
    ("above_hand_by_fastest", "above by hand, by the fastest runs"),
    ("saved_compiled", "saved, with functions compiled"),
    ("saved_native", "the same, where no Python is left"),
    ("unchanged", "saved, where nothing is pushed (noise)"),
)


def print_tables(rows: Sequence[Row], line: Mapping[str, Any], console: Console) -> None:
    """Every benchmark and size, and then what the ledger's line says of all of them."""
    console = Console(file=console.file, width=max(console.width, _WIDTH), highlight=False)
    console.print(_table(rows))
    console.print(_totals(line))
    optimize = line["optimize"]
    console.print(
        f"{line['pushed']} of {line['of']} pushed, {line['equal']} with equal results; optimize"
        f" takes {optimize['median']:.2f} s in the median, {optimize['mean']:.2f} s in the mean,"
        f" {optimize['most']:.2f} s at most; the first of the process {line['first']:.2f} s"
    )
    if line.get("saved_compiled"):
        console.print(
            f"without Python: {line['native']} of {line['of']}; slower than as written, compiled:"
            f" {', '.join(line['slower_compiled']) or 'none'}"
        )
    console.print(_together(line["seconds"], any(r.transpiled for r in rows)))
    if line.get("ties"):
        ties = f"ties are decided otherwise, as is allowed: {len(line['ties'])}"
        console.print(f"{ties} ({', '.join(line['ties'])})")
    for name, label in (
        ("slower", f"slower than as written by more than {SLOWER:.0%}"),
        ("slower_in_total", f"slower by more than {SLOWER:.0%}, optimize counted"),
        ("far_above_hand", f"more than {ABOVE_HAND:.0%} above by hand"),
    ):
        console.print(f"{label}: {', '.join(line[name]) or 'none'}")
    for row in rows:
        if row.wrong:
            console.print(f"{row.name}: RESULTS DIFFER", style="red")
        if row.gated:
            console.print(f"{row.name}: nothing is pushed, as it would not pay")
        if row.declined:
            console.print(Text(f"{row.name}: nothing is pushed: {row.declined}"))


def _together(seconds: Mapping[str, float], others: bool) -> str:
    """The run times of all that has something pushed, as parts of those as written."""
    whole = seconds["written"]
    if not whole:
        return "nothing is pushed"
    both = seconds["optimized"] + seconds["optimize"]
    sentence = (
        f"together, where something is pushed: as written {whole:.2f} s, optimized"
        f" {seconds['optimized']:.2f} s ({_share(seconds['optimized'] / whole)}), with optimize"
        f" {both:.2f} s ({_share(both / whole)})"
    )
    if others:
        other = seconds["transpiled"]
        sentence += (
            f"; with Spark's transpiler {other:.2f} s ({_share(other / whole)}), of which"
            f" optimized is {_share(seconds['optimized'] / other)}"
        )
    return sentence


def _table(rows: Sequence[Row]) -> Table:
    table = Table(title="seconds are medians over turns", title_justify="left")
    table.add_column("benchmark", no_wrap=True)
    table.add_column("kind", no_wrap=True)
    heads = ("rows", "kept", "groups", "written", "optimized", "by hand", "compiled", "optimize")
    others = any(r.transpiled for r in rows)
    more = ("transpiled",) if others else ()
    for head in (*heads, *more, "saved", "in total", "above hand", "in total"):
        table.add_column(head, justify="right", no_wrap=True)
    for r in rows:
        cells = [f"{r.rows:,}", f"{r.kept:.1%}", f"{r.groups:,}"]
        cells += [
            f"{median(s):.2f}" if s else "" for s in (r.written, r.optimized, r.by_hand, r.compiled)
        ]
        cells += [f"{r.optimize:.2f}"]
        cells += [f"{median(r.transpiled):.2f}" if r.transpiled else ""] if others else []
        cells += [_share(r.saved), _share(r.saved_in_total)]
        cells += [_share(r.above_hand), _share(r.above_hand_in_total)] if r.by_hand else ["", ""]
        table.add_row(r.name, r.kind if r.changed else "none", *cells)
    return table


def _totals(line: Mapping[str, Any]) -> Table:
    size = f", {line['rows']:,} rows" if line["rows"] else ""
    table = Table(title=f"in total{size}", title_justify="left")
    table.add_column("", no_wrap=True)
    for head in ("mean", "median", "least", "most"):
        table.add_column(head, justify="right", no_wrap=True)
    for name, label in _FIGURES:
        spread = line.get(name)
        if spread is not None:
            table.add_row(label, *(_share(spread[k]) for k in ("mean", "median", "least", "most")))
    return table


def _share(value: float) -> str:
    return f"{value:.1%}"
