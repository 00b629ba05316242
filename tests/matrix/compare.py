"""A pipeline as written and as optimized, run side by side, many in one Spark job."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from tests.matrix.cells import SCANS, conf
from tests.matrix.harvest import Named
from tests.traps.checks import RAISES

from presieve.driver.optimize import explain, optimize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TOGETHER = 8
"""Pairs of pipelines in one job."""

ERASED = "may-erase-error"
VIOLATED = "key-form"
"""All tables hold 0.0 and -0.0, 'a' and 'A': of equal keys, another one may be shown."""
Outcome = Counter[str] | str


@dataclass(frozen=True)
class Pair:
    """A pipeline as written and as ``optimize`` gives it, and what is assumed."""

    name: str
    original: DataFrame
    optimized: DataFrame
    assumptions: frozenset[str]


def pairs(found: Sequence[Named], *, strict: bool = False) -> list[Pair]:
    """Those of the pipelines that become others."""
    made = []
    for one in found:
        better = optimize(one.df, policy="strict") if strict else optimize(one.df)
        if better is not one.df:
            boundaries = explain(one.df, policy="strict" if strict else "default").boundaries
            codes = frozenset(a["code"] for b in boundaries for a in b.assumptions)
            made.append(Pair(one.name, one.df, better, codes))
    return made


def differences(
    spark: SparkSession, found: Sequence[Pair], scans: Sequence[str] = tuple(SCANS)
) -> list[str]:
    """One line for each pipeline and kind of scan with other rows, or with an error of its own.

    An error may disappear, or another form of a key be shown, where that is told.
    """
    lines = []
    for scan in scans:
        with conf(spark, SCANS[scan]):
            for at in range(0, len(found), TOGETHER):
                some = found[at : at + TOGETHER]
                results = outcomes([df for pair in some for df in (pair.original, pair.optimized)])
                for pair, a, b in zip(some, results[::2], results[1::2], strict=True):
                    if a != b and not excused(pair, a, b):
                        lines.append(f"{pair.name}, {scan}: {a} is not {b}; {pair.assumptions}")
    return lines


def excused(pair: Pair, original: Outcome, optimized: Outcome) -> bool:
    """Whether the report of the pair says of this difference that it may be."""
    if original == RAISES:
        return ERASED in pair.assumptions
    if optimized == RAISES or VIOLATED not in pair.assumptions:
        return False
    return folded(original) == folded(optimized)


def folded(rows: Outcome) -> Counter[str]:
    """The rows without the difference between equal keys."""
    assert isinstance(rows, Counter)
    found: Counter[str] = Counter()
    for row, times in rows.items():
        found[row.lower().replace(":-0.0", ":0.0")] += times
    return found


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
