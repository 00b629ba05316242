"""Untrusted. The measured runs: each function as written, compiled, by hand and transpiled."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.compiled.cases import Case
from benchmarks.compiled.rows import Row
from benchmarks.on_spark.parquet import stored
from benchmarks.on_spark.run import calls_python, in_turns, written_nowhere
from benchmarks.on_spark.transpiled import transpiler
from presieve.backend.open_plan import Reading
from presieve.driver.optimize import optimize_and_report
from presieve.driver.options import Options
from presieve.driver.stages.group_aggregates import GroupDecision
from presieve.driver.stages.passes import Optimization
from presieve.driver.stages.pipeline import run_passes
from presieve.driver.stages.row_expressions import CompileDecision
from presieve.errors import Declined

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


WAYS = (
    ("", Options(compile="always"), False),
    ("reorder", Options(compile="always", reorder=True), False),
    ("enabled", Options(compile="always"), True),
)
"""What a function may need so that no Python is left: leave to reorder, or an enabled session."""


def tables(
    spark: SparkSession, cases: Iterable[Case], rows: int, directory: Path
) -> Iterator[tuple[Case, DataFrame]]:
    """Each function with its table of that many rows."""
    for case in cases:
        yield case, spark.read.parquet(str(stored(case.contents, rows, directory)))


def measure(
    pairs: Iterable[tuple[Case, DataFrame]],
    turns: int,
    progress: Callable[[str], None] = lambda _: None,
) -> list[Row]:
    """Each function on its table, ``turns`` times in each of its forms."""
    rows = []
    for case, table in pairs:
        row = _row(case, table, turns)
        rows.append(row)
        left = "" if row.native else ", Python left"
        progress(f"{row.name}: {row.faster:.1f} times as fast, {row.to_hand:.2f} by hand{left}")
    return rows


def _row(case: Case, table: DataFrame, turns: int) -> Row:
    written = case.written(table)
    made = _compiled(written)
    forms = {"written": written, "compiled": made.df, "by_hand": case.by_hand(table)}
    with transpiler(table.sparkSession, on=True):
        transpiled = case.written(table)
        if not calls_python(transpiled):
            forms["transpiled"] = transpiled
        seconds, results, equal = in_turns(list(forms.values()), turns, written_nowhere)
    return Row(
        name=case.name,
        form=case.form,
        rows=table.count(),
        results=results,
        equal=equal,
        native=made.native,
        needs=made.needs,
        declined="" if made.native else _declined(written),
        compiling=made.seconds,
        **dict(zip(forms, seconds, strict=True)),
    )


@dataclass(frozen=True, slots=True)
class _Made:
    """A compiled form, and the seconds that it took."""

    df: DataFrame
    native: bool
    needs: str
    seconds: float


def _compiled(written: DataFrame) -> _Made:
    """As ``optimize(written, compile="always")`` gives it, or else with what it needs."""
    found = []
    for needs, options, at_once in WAYS:
        start = time.perf_counter()
        df, _ = optimize_and_report(written, options, skip_hopeless=True, at_once=at_once)
        taken = time.perf_counter() - start
        found.append(_Made(df, not calls_python(df), needs, taken))
        if found[-1].native:
            return found[-1]
    return found[0]


def _declined(written: DataFrame) -> str:
    """Why Python is left, though all is given that a function may need."""
    options = Options(compile="always", reorder=True)
    reading = Reading(for_report=True, at_once=True)
    applied = run_passes(Optimization(written, options, reading, time.perf_counter()))
    if isinstance(applied, Declined):
        return _reason(applied)
    decisions = (*applied.select(CompileDecision), *applied.select(GroupDecision))
    return "; ".join(_reason(reason) for d in decisions for reason in d.reasons)


def _reason(declined: Declined) -> str:
    """Without the place, which names a file of this machine."""
    return f"{declined.code}: {declined.reason}"
