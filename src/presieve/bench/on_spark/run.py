"""Untrusted. The measured runs: three forms of each pipeline, in turns, with results compared."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from presieve.bench.on_spark.pipelines import Pipeline
from presieve.bench.on_spark.rows import Row
from presieve.bench.on_spark.tables import stored
from presieve.bench.suite import Benchmark
from presieve.driver.optimize import optimize
from presieve.driver.synthesize import Synthesis, synthesize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def measure(
    spark: SparkSession,
    benchmarks: Iterable[tuple[Benchmark, int]],
    directory: Path,
    turns: int,
    told: Callable[[str], None] = lambda _: None,
) -> list[Row]:
    """Each benchmark on a table of that many rows, ``turns`` times in each form."""
    found = []
    for benchmark, rows in benchmarks:
        path = stored(benchmark, rows, directory)
        pipeline = Pipeline(benchmark, spark.read.parquet(str(path)))
        row = _row(pipeline, rows, turns)
        found.append(row)
        told(
            f"{row.name} {rows:,}: {row.kind}, {row.saved:.1%} saved, optimize {row.optimize:.2f} s"
        )
    return found


def warm(spark: SparkSession, benchmark: Benchmark, directory: Path) -> float:
    """Seconds of the first ``optimize`` of a process, with what is loaded and started for it."""
    table = spark.read.parquet(str(stored(benchmark, 1000, directory)))
    written = Pipeline(benchmark, table).written()
    start = time.perf_counter()
    better = optimize(written)
    first = time.perf_counter() - start
    run(better)
    return first


def _row(pipeline: Pipeline, rows: int, turns: int) -> Row:
    written = pipeline.written()
    start = time.perf_counter()
    optimized = optimize(written)
    seconds = time.perf_counter() - start
    changed = optimized is not written
    answer = answered(pipeline.benchmark)
    forms = [written, optimized]
    if changed:
        forms.append(pipeline.by_hand(answer.prefilter, answer.residual))
    taken, groups, equal = in_turns(forms, turns)
    return Row(
        name=pipeline.benchmark.name,
        rows=rows,
        kind=answer.kind,
        prefilter=answer.prefilter,
        residual=answer.residual,
        declined=", ".join(str(d["reason"]) for d in answer.declined),
        changed=changed,
        kept=pipeline.table.filter(answer.prefilter).count() / rows,
        groups=groups,
        equal=equal,
        optimize=seconds,
        written=taken[0],
        optimized=taken[1],
        by_hand=taken[2] if changed else (),
    )


def answered(benchmark: Benchmark) -> Synthesis:
    """What is typed by hand. Columns of files may be NULL, whatever the family declares."""
    return synthesize(
        benchmark.family.fold,
        benchmark.filter.where,
        schema=benchmark.schema.replace(" NOT NULL", ""),
        returns=benchmark.returns,
        mode="grouped",
    )


def in_turns(
    forms: Sequence[DataFrame], turns: int
) -> tuple[tuple[tuple[float, ...], ...], int, bool]:
    """Seconds of each form in each turn, the number of rows of the result, and whether all of them
    gave the same rows.

    A first turn is not measured: it compiles code and reads the file into memory. The order
    changes from turn to turn, so that no form always runs after the same one.
    """
    _, expected = run(forms[0])
    equal = all(run(form)[1] == expected for form in forms[1:])
    seconds: list[list[float]] = [[] for _ in forms]
    for turn in range(turns):
        for place in range(len(forms)):
            at = (turn + place) % len(forms)
            taken, rows = run(forms[at])
            seconds[at].append(taken)
            equal = equal and rows == expected
    return tuple(tuple(s) for s in seconds), len(expected), equal


def run(df: DataFrame) -> tuple[float, list[str]]:
    """Seconds, and the rows as a sorted list of their texts, in which NaN equals NaN."""
    # A DataFrame keeps its executed plan, and with it what a shuffle has written: plan anew.
    fresh = df.select("*")
    start = time.perf_counter()
    rows = fresh.collect()
    return time.perf_counter() - start, sorted(map(repr, rows))
