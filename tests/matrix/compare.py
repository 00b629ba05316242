"""A pipeline as written and as optimized, run side by side, many in one Spark job."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from tests.matrix.cells import SCANS, conf
from tests.matrix.harvest import Named
from tests.matrix.ties import in_other_orders
from tests.support.traps.checks import RAISES

from presieve.driver.optimize import explain, optimize
from presieve.driver.solve import Policy

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
    """A pipeline as written and as ``optimize`` gives it, what is assumed, and whether the report
    says that peers may come in another order.
    """

    name: str
    original: DataFrame
    optimized: DataFrame
    assumptions: frozenset[str]
    tells_peers: bool = False


def pairs(found: Sequence[Named], policy: Policy = "default") -> list[Pair]:
    """Those of the pipelines that become others, whether that pays or not: with the functions left
    in Python, and with those compiled that can be.
    """
    made = []
    for one in found:
        moved = optimize(one.df, policy=policy, cost="always", compile="never")
        whole = optimize(one.df, policy=policy, cost="always", compile="always")
        report = explain(one.df, policy=policy, cost="always", compile="always")
        filters = frozenset(a["code"] for b in report.boundaries for a in b.assumptions)
        functions = frozenset(a["code"] for f in report.functions for a in f.assumptions)
        tells = bool(report.data.peer_orders)
        if moved is not one.df:
            made.append(Pair(one.name, one.df, moved, filters, tells))
        if whole is not one.df and any(f.compiled for f in report.functions):
            name = f"{one.name}, compiled"
            made.append(Pair(name, one.df, whole, filters | functions, tells))
    return made


def differences(
    spark: SparkSession, found: Sequence[Pair], scans: Sequence[str] = tuple(SCANS)
) -> list[str]:
    """One line for each pipeline and kind of scan with other rows than some order of tied rows
    gives, or with an error of its own.
    """
    lines = []
    raising: set[int] = set()
    for scan in scans:
        with conf(spark, SCANS[scan]):
            for some in batches(found, raising):
                results = outcomes([df for pair in some for df in (pair.original, pair.optimized)])
                for pair, a, b in zip(some, results[::2], results[1::2], strict=True):
                    raising |= {id(pair)} if RAISES in (a, b) else set()
                    erased = a == RAISES and ERASED in pair.assumptions
                    if a != b and not erased and not _of_other_order(pair, b):
                        lines.append(f"{pair.name}, {scan}: {a} is not {b}; {pair.assumptions}")
    return lines


def _of_other_order(pair: Pair, outcome: Outcome) -> bool:
    """Whether the pipeline as written gives this where rows that tie come in another order, and the
    report says that they may.
    """
    orders = list(in_other_orders(pair.original)) if pair.tells_peers else []
    some = (orders[at : at + TOGETHER] for at in range(0, len(orders), TOGETHER))
    return any(outcome in outcomes(frames) for frames in some)


def batches(found: Sequence[Pair], raising: Collection[int]) -> Iterator[Sequence[Pair]]:
    """What is run together: many of those that give rows, each of the others alone."""
    calm = [pair for pair in found if id(pair) not in raising]
    for at in range(0, len(calm), TOGETHER):
        yield calm[at : at + TOGETHER]
    yield from ([pair] for pair in found if id(pair) in raising)


def outcomes(frames: Sequence[DataFrame]) -> list[Outcome]:
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
        return [RAISES]
    found: list[Outcome] = [Counter() for _ in frames]
    for row in rows:
        one = found[row["n"]]
        assert isinstance(one, Counter)
        one[row["row"]] += 1
    return found


def shown(number: int, df: DataFrame) -> DataFrame:
    """The rows as text, exact to the last bit, with the number of their pipeline."""
    from pyspark.sql import functions as F

    plain = df.toDF(*[f"c{i}" for i in range(len(df.columns))])
    options = {
        "ignoreNullFields": "false",
        "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    }
    text = F.to_json(F.struct("*"), options)
    return plain.select(F.lit(number).alias("n"), text.alias("row"))
