"""A pipeline as written and as optimized, run side by side, many in one Spark job."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from tests.matrix.cells import SCANS, conf
from tests.matrix.harvest import Named
from tests.support.other_orders import in_other_orders, tells_order
from tests.support.scans import (
    Run,
    as_texts,
    is_guarded,
    is_merged,
    lost_stages,
    reading_more,
    scanned,
    united,
)
from tests.support.traps.checks import RAISES

from presieve.backend.catalyst.definitions import WITH_CTE
from presieve.backend.catalyst.trees import walk
from presieve.backend.classic.gateway import ClassicGateway
from presieve.driver.optimize import optimize, optimize_and_report
from presieve.driver.options import Options
from presieve.driver.solve import Policy
from presieve.report.report import Report

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TOGETHER = 8
"""Pairs of pipelines in one job."""

ERASED = "may-erase-error"
"""The only thing that may become different by default: an error may disappear where that is told.
"""
Outcome = Counter[str] | str


@dataclass(frozen=True)
class Pair:
    """A pipeline as written and as ``optimize`` gives it, what is assumed, whether the report says
    that another order of rows may show, and whether a table may be read twice, for a guard or as
    Spark reads what two places refer to.
    """

    name: str
    original: DataFrame
    optimized: DataFrame
    assumptions: frozenset[str]
    is_ordered: bool = False
    reads_twice: bool = True


def pairs(found: Sequence[Named], policy: Policy = "default") -> list[Pair]:
    """Those of the pipelines that become others, whether that pays or not: with the functions left
    in Python, and with those compiled that can be.
    """
    made = []
    for one in found:
        options = Options(policy=policy, cost="always", compile="always")
        whole, data = optimize_and_report(one.df, options, for_report=True)
        report = Report(data)
        compiled = any(f.compiled for f in report.functions)
        moved = (
            optimize(one.df, policy=policy, cost="always", compile="never") if compiled else whole
        )
        filters = frozenset(a["code"] for b in report.boundaries for a in b.assumptions)
        functions = frozenset(a["code"] for f in report.functions for a in f.assumptions)
        tells = tells_order(report)
        twice = _reads_twice(one.df, report)
        if moved is not one.df:
            made.append(Pair(one.name, one.df, moved, filters, tells, twice))
        if compiled and whole is not one.df:
            name = f"{one.name}, compiled"
            made.append(Pair(name, one.df, whole, filters | functions, tells, twice))
    return made


def _reads_twice(df: DataFrame, report: Report) -> bool:
    root = ClassicGateway(df.sparkSession).tree(df._jdf.queryExecution().analyzed())
    tables = [str(n.fields["output"]) for n in walk(root) if "output" in n.fields]
    shared = any(n.kind == WITH_CTE for n in walk(root))
    return is_guarded(report) or shared or len(set(tables)) < len(tables)


def differences(
    spark: SparkSession, found: Sequence[Pair], scans: Sequence[str] = tuple(SCANS)
) -> list[str]:
    """One line for each pipeline and kind of scan with other rows than some order of tied rows
    gives, with an error of its own, or with more rows out of the scans of a source.
    """
    lines = []
    raising: set[int] = set()
    for scan in scans:
        with conf(spark, SCANS[scan]):
            for some in batches(found, raising):
                results = outcomes([df for pair in some for df in (pair.original, pair.optimized)])
                for pair, a, b in zip(some, results[::2], results[1::2], strict=True):
                    raising |= {id(pair)} if RAISES in (a.rows, b.rows) else set()
                    lines += [f"{pair.name}, {scan}: {why}" for why in _different(pair, a, b)]
    return lines


def _different(pair: Pair, written: Result, optimized: Result) -> Iterator[str]:
    a, b = written.rows, optimized.rows
    erased = a == RAISES and ERASED in pair.assumptions
    if a != b and not erased and not _of_other_order(pair, b):
        yield f"{a} is not {b}; {pair.assumptions}"
    more = reading_more(Run([], written.scanned), Run([], optimized.scanned))
    if more and not pair.reads_twice:
        yield f"the optimized form reads {more}"


def _of_other_order(pair: Pair, outcome: Outcome) -> bool:
    """Whether the pipeline as written gives this where its rows come in another order, and the
    report says that this may show.
    """
    orders = list(in_other_orders(pair.original)) if pair.is_ordered else []
    some = (orders[at : at + TOGETHER] for at in range(0, len(orders), TOGETHER))
    return any(outcome == result.rows for frames in some for result in outcomes(frames))


def batches(found: Sequence[Pair], raising: Collection[int]) -> Iterator[Sequence[Pair]]:
    """What is run together: many of those that give rows, each of the others alone."""
    calm = [pair for pair in found if id(pair) not in raising]
    for at in range(0, len(calm), TOGETHER):
        yield calm[at : at + TOGETHER]
    yield from ([pair] for pair in found if id(pair) in raising)


@dataclass(frozen=True)
class Result:
    """What a pipeline gives, and the rows out of its scans by source; None where the plan of a job
    does not tell which are its own.
    """

    rows: Outcome
    scanned: Counter[str] | None = None


def outcomes(frames: Sequence[DataFrame]) -> list[Result]:
    """What each gives: its rows with their multiplicities, or that it raises.

    One by one where something raises; and Spark 4.3.0 itself fails on two global pandas aggregates
    in one plan (its ``MergeSubplans`` asks them for ``aggBufferAttributes``).
    """
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    together = reduce(lambda a, b: a.unionAll(b), [shown(i, f) for i, f in enumerate(frames)])
    try:
        rows = together.collect()
    except (PySparkException, Py4JJavaError) as error:
        if len(frames) > 1:
            return [r for f in frames for r in outcomes([f])]
        if isinstance(error, Py4JJavaError):
            raise
        return [Result(RAISES)]
    found: list[Counter[str]] = [Counter() for _ in frames]
    for row in rows:
        found[row["n"]][row["row"]] += 1
    execution = together._jdf.queryExecution()
    parts = united(execution.executedPlan())
    tells = len(parts) == len(frames) and not lost_stages(execution)
    apart = [None if is_merged(p) else scanned(p) for p in parts] if tells else [None] * len(found)
    return list(map(Result, found, apart))


def shown(number: int, df: DataFrame) -> DataFrame:
    """The rows as text, exact to the last bit, with the number of their pipeline."""
    from pyspark.sql import functions as F

    return as_texts(df).select(F.lit(number).alias("n"), "row")
