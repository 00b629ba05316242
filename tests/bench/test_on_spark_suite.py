"""The suite on Spark at a small size: everything but its speed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.parquet as pq
import pytest
from benchmarks import ledger
from benchmarks.on_spark.parquet import KEY, stored
from benchmarks.on_spark.pipelines import Pipeline
from benchmarks.on_spark.rows import Row, from_line, to_line, totals
from benchmarks.on_spark.run import answered, in_turns, measure, run, suite_jobs
from benchmarks.suite import Benchmark, benchmarks, load
from benchmarks.values import Choice, Normal, Uniform, Zipf
from tests.bench.row import ROW

from presieve.cli.app import main
from presieve.driver.optimize import optimize
from presieve.records import replace
from presieve.sql.ddl import parse_schema

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SUITE = Path(__file__).parents[2] / "benchmarks" / "families"
BENCHMARKS = {b.name: b for b in benchmarks(load(SUITE))}

# --- tables -------------------------------------------------------------------------------------


def test_laws() -> None:
    rng = np.random.default_rng(1)
    even = Uniform(0, 1, step=0.25).draw(rng, 1000)
    assert set(even.tolist()) == {0.0, 0.25, 0.5, 0.75, 1.0}
    found, often = np.unique(Zipf(3, first=5).draw(rng, 11_000), return_counts=True)
    assert found.tolist() == [5, 6, 7]
    assert often == pytest.approx([6000, 3000, 2000], rel=0.1)
    around = Normal(10, 5, 8, 12).draw(rng, 1000)
    assert set(around.tolist()) == {8, 9, 10, 11, 12}
    found, often = np.unique(Choice({"a": 3, "b": 1}).draw(rng, 4000), return_counts=True)
    assert dict(zip(found.tolist(), often.tolist(), strict=True)) == pytest.approx(
        {"a": 3000, "b": 1000}, rel=0.1
    )


@pytest.mark.parametrize("benchmark", BENCHMARKS.values(), ids=lambda b: b.name)
def test_a_table_of_every_benchmark(benchmark: Benchmark, tmp_path: Path) -> None:
    path = stored(benchmark.contents, 1000, tmp_path)
    table = pq.read_table(path)
    declared = parse_schema(benchmark.schema)
    assert table.column_names == [KEY, *(c.name for c in declared)]
    for column in declared:
        some_null = table.column(column.name).null_count > 0
        assert some_null == column.nullable
    before = path.stat().st_mtime_ns
    assert stored(benchmark.contents, 1000, tmp_path) == path
    assert path.stat().st_mtime_ns == before
    assert stored(benchmark.contents, 2000, tmp_path) != path


def test_other_values_are_another_table(tmp_path: Path) -> None:
    one = BENCHMARKS["Top2_1"]
    family = replace(one.family, data={"score": Uniform(0, 10)})
    other = stored(replace(one, family=family).contents, 1000, tmp_path)
    assert other != stored(one.contents, 1000, tmp_path)
    assert max(pq.read_table(other).column("score").to_pylist()) == 10


# --- runs ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_three_forms(spark: SparkSession, tmp_path: Path) -> None:
    named = [BENCHMARKS[n] for n in ("Top2_1", "Basket_3", "Chicago_3", "TPCHUDAF_3")]
    told: list[str] = []
    rows = measure(suite_jobs(spark, [(b, 3000) for b in named], tmp_path), 1, told.append)
    assert [r.name for r in rows] == ["Top2_1", "Basket_3", "Chicago_3", "TPCHUDAF_3"]
    assert all(r.equal and r.groups > 0 and r.optimize > 0 for r in rows)
    best, basket, neither, always = rows
    assert (best.kind, best.prefilter, best.pushed) == ("split", "score >= 90.0D", True)
    assert (basket.kind, basket.residual) == ("exact", "true")
    assert best.kept == pytest.approx(21 / 201, rel=0.2)
    assert (neither.changed, neither.pushed, neither.by_hand) == (False, False, ())
    # Workers raise for texts that are not valid UTF-8: the filter stays, so that they are called.
    assert (always.kind, always.changed, always.pushed) == ("exact", False, False)
    assert [len(s) for s in (best.written, best.optimized, best.by_hand)] == [1, 1, 1]
    assert len(told) == 4


@pytest.fixture
def compiling(spark: SparkSession) -> Iterator[SparkSession]:
    before = str(spark.conf.get("spark.presieve.compile"))
    spark.conf.set("spark.presieve.compile", "always")
    yield spark
    spark.conf.set("spark.presieve.compile", before)


@pytest.mark.slow
def test_ties_are_those_of_the_reverse_order(compiling: SparkSession, tmp_path: Path) -> None:
    spark = compiling
    jobs = suite_jobs(spark, [(BENCHMARKS["KeepRowWithMaxAge_2"], 3000)], tmp_path)
    (row,) = measure(jobs, 1, reorder=True)
    assert (row.equal, row.ties, row.wrong, row.native) == (False, True, False, True)
    (job,) = suite_jobs(spark, [(BENCHMARKS["KeepRowWithMaxAge_2"], 3000)], tmp_path)
    (row,) = measure([replace(job, backwards=job.written)], 1, reorder=True)
    assert row.wrong


def test_outputs_are_copied_from_columns_that_may_be_null() -> None:
    answer = answered(BENCHMARKS["ReturnPriceAggregator_1"])
    assert (answer.kind, answer.prefilter) == ("split", "minute < 38 OR minute > 55")


def test_results_are_compared(spark: SparkSession) -> None:
    strange = spark.sql("SELECT * FROM VALUES (1, double('NaN')), (2, NULL), (3, -0.0D) AS t(a, b)")
    assert in_turns([strange, strange.orderBy("b")], 1)[1:] == (3, True)
    assert not in_turns([strange, strange.filter("a < 3")], 1)[2]
    assert not in_turns([strange, strange.selectExpr("a", "b + 0.0D AS b")], 1)[2]
    assert not in_turns([strange, strange.selectExpr("a", "nullif(b, 'NaN') AS b")], 1)[2]


def test_a_wrong_filter_by_hand_is_seen(spark: SparkSession, tmp_path: Path) -> None:
    benchmark = BENCHMARKS["Top2_1"]
    table = spark.read.parquet(str(stored(benchmark.contents, 1000, tmp_path)))
    pipeline = Pipeline(benchmark, table)
    written = pipeline.written()
    where = benchmark.filter.where
    assert in_turns([written, optimize(written), pipeline.by_hand("score >= 90", where)], 1)[2]
    assert not in_turns([written, pipeline.by_hand("score > 99", where)], 1)[2]
    assert not in_turns([written, pipeline.by_hand("score > 99", "true")], 1)[2]
    assert run(pipeline.by_hand("true", where))[1] == run(written)[1]


# --- what is told -------------------------------------------------------------------------------

SAME = replace(ROW, name="Chicago_3", kind="none", prefilter="true", changed=False, by_hand=())


def test_figures_of_a_row() -> None:
    assert ROW.saved == 0.75
    assert ROW.saved_in_total == 1 - 1.5 / 4
    assert ROW.saved_by_fastest == 0.5
    assert ROW.above_hand == 0.0
    assert ROW.above_hand_in_total == 0.5
    assert ROW.above_hand_by_fastest == pytest.approx(0.25)
    assert (SAME.above_hand, SAME.above_hand_in_total, SAME.above_hand_by_fastest) == (0, 0, 0)


@pytest.mark.parametrize(
    ("optimized", "slower"),
    [
        ((4.2, 2.1, 8.4), True),
        ((4.1, 2.05, 8.2), False),  # 2.5 %
        ((6.0, 2.0, 9.0), False),  # the fastest is not slower
        ((4.0, 2.0, 8.0), False),
    ],
)
def test_slower_is_more_than_noise(optimized: tuple[float, ...], slower: bool) -> None:
    row = replace(SAME, optimized=optimized)
    assert row.slower() == slower
    assert row.slower(0.5)


def test_totals() -> None:
    changed = replace(ROW, prefilter="score IS NOT NULL", kept=1.0, name="TPCHUDAF_3")
    slow = replace(ROW, name="slow", optimized=(5.0, 5.0, 9.0), equal=False)
    told = totals([ROW, SAME, changed, slow])
    assert (told["of"], told["equal"], told["pushed"]) == (4, 3, 2)
    assert told["saved"] == {"mean": 0.25, "median": 0.25, "least": -0.25, "most": 0.75}
    assert told["slower"] == ["slow"]
    assert told["far_above_hand"] == ["slow"]
    assert told["unchanged"] == {"mean": 0.75, "median": 0.75, "least": 0.75, "most": 0.75}
    assert totals([SAME])["saved"] is None


def book(tmp_path: Path, *rows: Row) -> list[str]:
    """The arguments by which the command tells these rows again."""
    path = tmp_path / "ledger.jsonl"
    ledger.append(path, "spark", to_line(rows, 1.25, 1000))
    return ["bench", "spark", "--again", "--ledger", str(path)]


def test_told_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    larger = replace(ROW, rows=4000, optimized=(0.5, 0.5, 0.5))
    svg = tmp_path / "new" / "plot.svg"
    assert main([*book(tmp_path, ROW, SAME, larger), "--svg", str(svg)]) == 0
    out = capsys.readouterr().out
    for part in ("in total, 1,000 rows", " 4,000 ", "75.0%", "1 of 2 pushed, 2 with equal results"):
        assert part in out
    assert "slower than as written by more than 3%: none" in out
    for part in ("saved at 1,000 rows", "by kind", "growth", "split", "Top2_1"):
        assert part in svg.read_text()


def test_ties_that_may_be_decided_otherwise(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(book(tmp_path, replace(ROW, equal=False, ties=True))) == 0
    out = capsys.readouterr().out
    assert "ties are decided otherwise, as is allowed: 1 (Top2_1)" in out
    assert "DIFFER" not in out


def test_what_is_told_of_trouble(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = replace(ROW, equal=False)
    stopped = replace(SAME, declined="12288 regions of rows are too many")
    assert main(book(tmp_path, wrong, stopped)) == 1
    out = capsys.readouterr().out
    assert "Top2_1: RESULTS DIFFER" in out
    assert "Chicago_3: nothing is pushed: 12288 regions of rows are too many" in out


def test_a_line_of_the_ledger(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*book(tmp_path, ROW, SAME), "--json"]) == 0
    line = json.loads(capsys.readouterr().out)
    assert from_line(line) == [ROW, SAME]
    assert {"spark", "cores", "load", "rows", "turns"} <= set(line)


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["--again"], "--ledger FILE says which"),
        (["--only", "Nobody"], "called Nobody"),
        (["--sizes", "10"], "1000 or more"),
        (["--sizes", "some"], "1000 or more"),
    ],
)
def test_usage(args: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "spark", "--suite", str(SUITE), *args]) == 2
    assert told in capsys.readouterr().err


def test_another_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "ledger.jsonl"
    ledger.append(path, "spark", {"benchmarks": [{"name": "Top2_1"}]})
    assert main(["bench", "spark", "--again", "--ledger", str(path)]) == 2
    assert "not one of this benchmark" in capsys.readouterr().err


@pytest.mark.slow
def test_the_command(tmp_path: Path) -> None:
    program = Path(sys.executable).with_name("presieve")
    args = ["bench", "spark", "--suite", str(SUITE), "--only", "Jdata_1,Top2_9", "--runs", "1"]
    args += ["--rows", "2000", "--sizes", "1000,2000", "--growing", "Jdata_1"]
    args += ["--data", str(tmp_path), "--ledger", str(tmp_path / "l.jsonl"), "--json"]
    done = subprocess.run([program, *args], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    rows = from_line(answer)
    assert [(r.name, r.rows) for r in rows] == [
        ("Jdata_1", 2000),
        ("Top2_9", 2000),
        ("Jdata_1", 1000),
    ]
    assert all(r.equal and r.pushed for r in rows)
    assert (answer["of"], answer["pushed"]) == (2, 2)
    assert json.loads((tmp_path / "l.jsonl").read_text()) == answer
