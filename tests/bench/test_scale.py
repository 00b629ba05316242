"""How times grow: the problems, the points, table and plot, and a small run of each part."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from benchmarks.scale import plans, runs, search
from benchmarks.scale.folds import RESPECTS
from benchmarks.scale.plot import draw
from benchmarks.scale.points import Point, by_panel, from_line, growth, to_line
from benchmarks.scale.table import print_table
from rich.console import Console

from presieve.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

POINTS = [
    Point("search: columns", "synthesize", 1, (0.2, 0.1, 0.3), "exact"),
    Point("search: columns", "synthesize", 4, (0.4, 0.4, 0.4), "exact"),
    Point("run: rows", "as written", 1000, (1.0, 2.0)),
    Point("run: rows", "as optimized", 1000, (0.5, 0.5)),
]


def quietly(line: str) -> None:
    """Nobody reads it."""


def test_a_line_of_the_ledger_and_back() -> None:
    assert from_line(to_line(POINTS)) == POINTS
    with pytest.raises(UsageError):
        from_line({"benchmarks": {}})
    with pytest.raises(UsageError):
        from_line({"panels": {"a": [{"curve": "x"}]}})


def test_growth_is_told_beside_what_is_linear() -> None:
    columns, rows = by_panel(POINTS).values()
    assert growth(columns["synthesize"]) == pytest.approx(0.5)
    assert growth(rows["as written"]) is None
    console = Console(file=io.StringIO(), width=120)
    print_table(POINTS, console)
    told = console.file.getvalue()  # type: ignore[attr-defined]
    assert "0.2000" in told
    assert "0.50" in told
    assert "as optimized" in told


def test_a_plot_has_a_panel_for_each_thing_that_grows(tmp_path: Path) -> None:
    draw(POINTS, tmp_path / "deep" / "scale.svg")
    text = (tmp_path / "deep" / "scale.svg").read_text()
    assert "search: columns" in text
    assert "as optimized" in text


def test_every_size_of_a_problem_is_text_of_python() -> None:
    for make, sizes in RESPECTS.values():
        for size in sizes:
            compile(make(size).text, "fold", "exec")


def test_small_problems_are_solved() -> None:
    """Two sizes in each respect; there is a pushdown for all of them."""
    points = list(search.measure(1, 2, quietly))
    assert {p.panel.removeprefix("search: ") for p in points} == set(RESPECTS)
    assert all(p.outcome.startswith(("exact", "split", "partial")) for p in points)
    assert not any("universe" in p.outcome for p in points)


def test_plans_with_something_to_gain_are_changed(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plans, "SIZES", (3, 5))
    points = list(plans.measure(spark, 1, quietly))
    changed = {p.curve for p in points if p.outcome == "changed"}
    assert changed == {"columns, a maximum, a filter"}
    assert len(points) == 2 * len(plans.SHAPES)


@pytest.mark.slow
def test_pipelines_give_the_same_rows(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = {"rows": (1000.0, 2000.0, 9000.0), "share of rows that the pre-filter keeps": (0.5,)}
    monkeypatch.setattr(runs, "GROWING", small)
    monkeypatch.setattr(runs, "GROUPS", 5)
    points = list(runs.measure(spark, tmp_path, 1, 2000, quietly))
    assert [(p.panel, p.at) for p in points if p.curve == "as optimized"] == [
        ("run: rows", 1000.0),
        ("run: rows", 2000.0),
        ("run: share of rows that the pre-filter keeps", 0.5),
    ]
    assert len({p.outcome for p in points}) == 3
