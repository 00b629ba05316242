"""Untrusted. The measured runs: three forms of each pipeline, in turns, with results compared."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle, islice, permutations
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.on_spark.parquet import stored
from benchmarks.on_spark.pipelines import Pipeline
from benchmarks.on_spark.rows import Row
from benchmarks.suite import Benchmark
from presieve.driver.optimize import explain, optimize
from presieve.driver.stages.cost_gate import COST
from presieve.driver.synthesize import Synthesis, synthesize
from presieve.ir.pushdown import Kind
from presieve.records import replace

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class ByHand:
    """What is typed by hand, and why nothing is where nothing is. ``kept`` counts the rows that
    the pre-filter keeps.
    """

    kind: Kind
    prefilter: str
    residual: str
    declined: str
    pipeline: DataFrame
    kept: Callable[[], int]


@dataclass(frozen=True, slots=True)
class Job:
    """One pipeline on ``rows`` rows. ``by_hand`` is asked after ``optimize``, which may search.
    ``transpiled`` is what Spark's own transpiler of UDFs makes of it, where it may make anything,
    and ``backwards`` the same as written, of the table's rows in the reverse order.
    """

    name: str
    rows: int
    written: DataFrame
    by_hand: Callable[[], ByHand]
    transpiled: DataFrame | None = None
    backwards: DataFrame | None = None


def measure(
    jobs: Iterable[Job],
    turns: int,
    progress: Callable[[str], None] = lambda _: None,
    *,
    reorder: bool = False,
) -> list[Row]:
    """Each job ``turns`` times in each of its forms. ``reorder`` is that of ``optimize``."""
    rows = []
    for job in jobs:
        row = _row(job, turns, reorder)
        rows.append(row)
        saved = f"{row.saved:.1%} saved, compiled {row.saved_compiled:.1%}"
        progress(f"{row.name}, {row.rows:,} rows: {row.kind}, {saved}")
    return rows


def suite_jobs(
    spark: SparkSession, benchmarks: Iterable[tuple[Benchmark, int]], directory: Path
) -> Iterator[Job]:
    """Each benchmark of the suite on a table of that many rows."""
    for benchmark, rows in benchmarks:
        path = stored(benchmark.contents, rows, directory)
        pipeline = Pipeline(benchmark, spark.read.parquet(str(path)))
        by_hand = partial(_suite_by_hand, pipeline)
        yield Job(benchmark.name, rows, pipeline.written(), by_hand, backwards=_backwards(pipeline))


def _backwards(pipeline: Pipeline) -> DataFrame:
    from pyspark.sql.functions import desc, monotonically_increasing_id

    number = "presieve_number"
    numbered = pipeline.table.withColumn(number, monotonically_increasing_id())
    table = numbered.orderBy(desc(number)).drop(number)
    return replace(pipeline, table=table).written()


def warm(written: DataFrame) -> float:
    """Seconds of the first ``optimize`` of a process, with what is loaded and started for it."""
    start = time.perf_counter()
    optimize(written)
    return time.perf_counter() - start


def _suite_by_hand(pipeline: Pipeline) -> ByHand:
    answer = answered(pipeline.benchmark)
    return ByHand(
        kind=answer.kind,
        prefilter=answer.prefilter,
        residual=answer.residual,
        declined=", ".join(str(d["reason"]) for d in answer.declined),
        pipeline=pipeline.by_hand(answer.prefilter, answer.residual),
        kept=pipeline.table.filter(answer.prefilter).count,
    )


def _row(job: Job, turns: int, reorder: bool) -> Row:
    start = time.perf_counter()
    optimized = optimize(job.written, compile="never")
    seconds = time.perf_counter() - start
    changed = optimized is not job.written
    start = time.perf_counter()
    compiled = optimize(job.written, reorder=reorder)
    compiling = time.perf_counter() - start
    typed = job.by_hand()
    forms = {"written": job.written, "optimized": optimized, "compiled": compiled}
    if changed:
        forms["by_hand"] = typed.pipeline
    if job.transpiled is not None:
        forms["transpiled"] = job.transpiled
    seconds_of, groups, equal = in_turns(list(forms.values()), turns)
    taken = dict(zip(forms, seconds_of, strict=True))
    return Row(
        name=job.name,
        rows=job.rows,
        kind=typed.kind,
        prefilter=typed.prefilter,
        residual=typed.residual,
        declined=typed.declined,
        gated=not changed and _gated(job.written),
        changed=changed,
        kept=typed.kept() / job.rows,
        groups=groups,
        equal=equal,
        optimize=seconds,
        written=taken["written"],
        optimized=taken["optimized"],
        by_hand=taken.get("by_hand", ()),
        transpiled=taken.get("transpiled", ()),
        compiled=taken["compiled"],
        compiling=compiling,
        native=not calls_python(compiled),
        ties=not equal and reorder and _ties(job, forms),
    )


def _ties(job: Job, forms: Mapping[str, DataFrame]) -> bool:
    """Whether only the compiled form gives others: what is given as written of the table's rows in
    the reverse order.
    """
    expected = run(job.written)[1]
    others = (form for name, form in forms.items() if name != "compiled")
    if job.backwards is None or any(run(form)[1] != expected for form in others):
        return False
    return run(job.backwards)[1] == run(forms["compiled"])[1]


def calls_python(df: DataFrame) -> bool:
    """Whether workers of Python take part in the physical plan."""
    plan = str(df._jdf.queryExecution().executedPlan().toString())
    return any(word in plan for word in ("Python", "Pandas", "InArrow"))


def _gated(written: DataFrame) -> bool:
    """Whether something is proven that would not pay."""
    return any(d.code == COST for b in explain(written).boundaries for d in b.declined)


def answered(benchmark: Benchmark) -> Synthesis:
    """What is typed by hand. Columns of files may be NULL, whatever the family declares, and so
    may what is copied from them.
    """
    return synthesize(
        benchmark.family.fold,
        benchmark.filter.where,
        schema=benchmark.schema.replace(" NOT NULL", ""),
        returns=benchmark.returns.replace(" NOT NULL", ""),
        mode="grouped",
    )


def in_turns(
    forms: Sequence[DataFrame],
    turns: int,
    measured: Callable[[DataFrame], tuple[float, list[str] | None]] | None = None,
) -> tuple[tuple[tuple[float, ...], ...], int, bool]:
    """Seconds of each form in each turn, the number of rows of the result, and whether all of them
    gave the same rows.

    A first turn is not measured: it compiles code and reads the file into memory. The order
    changes from turn to turn, through all orders, so that no form always runs after the same one: a
    short one takes longer after a long one. ``measured`` runs a form; without it that is
    :func:`run`.
    """
    _, expected = run(forms[0])
    equal = all(run(form)[1] == expected for form in forms[1:])
    seconds: list[list[float]] = [[] for _ in forms]
    for order in islice(cycle(permutations(range(len(forms)))), turns):
        for at in order:
            taken, rows = (measured or run)(forms[at])
            seconds[at].append(taken)
            equal = equal and rows in (expected, None)
    return tuple(tuple(s) for s in seconds), len(expected), equal


def run(df: DataFrame) -> tuple[float, list[str]]:
    """Seconds, and the rows as a sorted list of their texts, in which NaN equals NaN."""
    # A DataFrame keeps its executed plan, and with it what a shuffle has written: plan anew.
    fresh = df.select("*")
    start = time.perf_counter()
    rows = fresh.collect()
    return time.perf_counter() - start, sorted(map(repr, rows))


def written_nowhere(df: DataFrame) -> tuple[float, None]:
    """Seconds, where all rows are made and none is sent to the driver."""
    start = time.perf_counter()
    df.write.format("noop").mode("overwrite").save()
    return time.perf_counter() - start, None
