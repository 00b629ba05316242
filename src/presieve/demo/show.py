# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Shows the demo's results on a terminal, as a page and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.rule import Rule
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from presieve.demo.compare_runs import PipelineRun
from presieve.report import html, report_text, sentences
from presieve.report.report import boundary_json


def _times(outcome: PipelineRun) -> dict[str, str]:
    measured = outcome.comparison
    return {
        "as written": f"{median(measured.written):.2f} s",
        "optimize": f"{measured.optimize:.2f} s",
        "optimized": f"{median(measured.optimized):.2f} s",
        "in all": f"{measured.total:.2f} s",
        "faster by": f"{measured.ratio:.1f}x",
        "results": "equal" if measured.equal else "DIFFERENT",
        "rows of the table": f"{outcome.rows:,}",
        "rows out": f"{measured.rows:,}",
    }


def _make_grid(rows: Iterator[tuple[str, str]]) -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in rows:
        grid.add_row(name, Text(value))
    return grid


def show(outcome: PipelineRun, console: Console) -> None:
    """Show one pipeline: what was proven, and the run times."""
    parts: list[RenderableType] = []
    for boundary in outcome.report.boundaries:
        if boundary.source:
            source = boundary.source.rstrip()
            parts += [Syntax(source, "python", background_color="default"), Text()]
        parts.append(_make_grid(report_text.fields(boundary)))
    if not parts:
        parts.append(Text(sentences.summary(outcome.report.data)))
    console.print(Rule(outcome.pipeline.name, align="left"))
    console.print(outcome.pipeline.question)
    console.print(Panel(Group(*parts), border_style="dim"))
    runs = outcome.comparison
    console.print(
        f"as written {_seconds(runs.written)}   optimized {_seconds(runs.optimized)}", style="dim"
    )
    spent = sentences.tell_spent([outcome.spent])
    console.print(", ".join(f"{name} {seconds:.2f} s" for name, seconds in spent), style="dim")
    console.print("  ".join(f"{name} [bold]{value}[/]" for name, value in _times(outcome).items()))
    console.print()


def _seconds(runs: Sequence[float]) -> str:
    return " ".join(f"{s:.2f}" for s in runs) + " s"


def table(outcomes: Sequence[PipelineRun], console: Console) -> None:
    """Show all pipelines side by side."""
    grid = Table("pipeline", "kind", *_times(outcomes[0]))
    for outcome in outcomes:
        kinds = ", ".join(b.kind for b in outcome.report.boundaries) or "none"
        grid.add_row(outcome.pipeline.name, kinds, *_times(outcome).values())
    console.print(grid)


def save(outcomes: Sequence[PipelineRun], path: Path) -> None:
    """Write the HTML report."""
    sections = [
        html.Section(o.report.data, o.pipeline.name.capitalize(), o.pipeline.question, _times(o))
        for o in outcomes
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(html.page("presieve demo", sections), encoding="utf-8")


def as_json(outcomes: Sequence[PipelineRun]) -> list[dict[str, Any]]:
    """Return all measurements and proofs as JSON types."""
    return [
        {
            "name": o.pipeline.name,
            "changed": o.report.changed,
            "equal": o.comparison.equal,
            "rows_read": o.rows,
            "rows_out": o.comparison.rows,
            "seconds_written": list(o.comparison.written),
            "seconds_optimize": o.comparison.optimize,
            "seconds_checking": o.spent.checking,
            "seconds_compiling": o.spent.compiling,
            "seconds_optimized": list(o.comparison.optimized),
            "seconds_total": o.comparison.total,
            "ratio": o.comparison.ratio,
            "boundaries": [boundary_json(b) for b in o.report.boundaries],
        }
        for o in outcomes
    ]
