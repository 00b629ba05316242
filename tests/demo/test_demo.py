"""The demo at a small size: everything but its speed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from presieve.demo import show
from presieve.demo.compare_runs import Comparison, PipelineRun, compare, run
from presieve.demo.data import generate
from presieve.records import replace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = 20_000


@pytest.fixture(scope="module")
def outcomes(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, PipelineRun]:
    paths = generate(tmp_path_factory.mktemp("demo"), ROWS)
    told: list[str] = []
    found = run(spark, paths, ROWS, 1, told.append)
    assert len(told) == 2 * len(found)
    return {o.pipeline.name: o for o in found}


def test_every_pipeline_is_pushed_and_gives_the_same(outcomes: dict[str, PipelineRun]) -> None:
    assert len(outcomes) == 3
    for outcome in outcomes.values():
        assert outcome.good, outcome.report
        assert outcome.comparison.rows > 0
        (boundary,) = outcome.report.boundaries
        assert boundary.kind in ("split", "exact")
        assert "def " in boundary.source


def test_top_two(outcomes: dict[str, PipelineRun]) -> None:
    (boundary,) = outcomes["top two"].report.boundaries
    assert boundary.prefilter == "score >= 90.0D"
    assert boundary.residual == "second IS NOT NULL"
    assert "GreaterThanOrEqual(score,90.0)" in boundary.pushed_to_scan


def test_open_and_close(outcomes: dict[str, PipelineRun]) -> None:
    (boundary,) = outcomes["open and close"].report.boundaries
    assert "NULL" not in boundary.residual
    assert "epoch <= 1767268800000000" in boundary.prefilter
    assert "epoch >= 1769774400000000" in boundary.prefilter
    assert any("epoch" in f for f in boundary.pushed_to_scan)


def test_event_window(outcomes: dict[str, PipelineRun]) -> None:
    (boundary,) = outcomes["event window"].report.boundaries
    assert "NULL" not in boundary.residual
    for part in ("'time'", "'price'", "2026-01-02 00:00:00", "2026-01-30 00:00:00"):
        assert part in boundary.prefilter


def test_page_and_json(outcomes: dict[str, PipelineRun], tmp_path: Path) -> None:
    show.save(tuple(outcomes.values()), tmp_path / "new" / "r.html")
    page = (tmp_path / "new" / "r.html").read_text()
    for outcome in outcomes.values():
        assert outcome.pipeline.name.capitalize() in page
        assert outcome.pipeline.question in page
    plain = json.loads(json.dumps(show.as_json(tuple(outcomes.values()))))
    assert [p["equal"] for p in plain] == [True] * 3


def test_a_difference_is_seen(spark: SparkSession) -> None:
    some, more = spark.range(3), spark.range(4)
    assert compare(some, spark.range(2, -1, -1), 1).equal
    assert not compare(some, more, 1).equal
    assert not compare(some.selectExpr("id + 0.0D"), some.selectExpr("id"), 1).equal


def test_the_ratio_is_of_medians() -> None:
    assert Comparison((1.0, 9.0, 3.0), (1.0, 2.0, 1.0), 0, True).ratio == 3.0


def test_the_ratio_counts_what_optimize_took() -> None:
    compared = Comparison((6.0,), (1.0, 2.0, 1.0), 0, True, optimize=2.0)
    assert (compared.total, compared.ratio) == (3.0, 2.0)


def test_what_optimize_took_is_shown_and_counted(outcomes: dict[str, PipelineRun]) -> None:
    top = outcomes["top two"]
    assert top.spent.checking > 0  # whether a score is NaN is in no footer
    assert top.comparison.optimize >= top.spent.checking + top.spent.compiling
    # A check of a small file takes too little to be shown.
    top = replace(top, spent=replace(top.spent, checking=0.25, compiling=0.0))
    console = Console(record=True, width=160)
    show.show(top, console)
    show.table([top], console)
    text = console.export_text()
    assert f"optimize {top.comparison.optimize:.2f} s" in text
    assert f"in all {top.comparison.total:.2f} s" in text
    assert "of this, checks of the data 0.25 s" in text
    assert "compiling functions" not in text
    (plain,) = show.as_json([top])
    assert plain["seconds_checking"] == 0.25
    assert plain["seconds_total"] > plain["seconds_optimize"] == top.comparison.optimize
    assert plain["ratio"] * plain["seconds_total"] == pytest.approx(plain["seconds_written"][0])


@pytest.mark.slow
def test_the_command(tmp_path: Path) -> None:
    program = Path(sys.executable).with_name("presieve")
    args = ["demo", "--rows", "10000", "--runs", "1", "--data", str(tmp_path), "--json"]
    done = subprocess.run([program, *args], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert len(answer["pipelines"]) == 3
    assert Path(answer["html"]) == tmp_path / "report.html"
    assert "<h2>Top two</h2>" in (tmp_path / "report.html").read_text()
