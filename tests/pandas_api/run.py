"""Runs a program as written and in an enabled session, and says what became of its filters.

A filter has reached the files where Spark hands it to their scan: both physical plans are compared.
"""

from __future__ import annotations

import logging
import re
import struct
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyspark.pandas as ps
from tests.pandas_api.programs import ORDERED, PROGRAMS, Program

import presieve
from presieve.backend.classic.scans.reads import scans
from presieve.backend.statistics.pushed_filters import split_list
from presieve.driver.options import collect_given
from presieve.driver.session import SessionSetting, enabled_as
from presieve.records import replace
from presieve.report.report_data import ReportData

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

OPTIONS = ("compute.default_index_type", "compute.ops_on_diff_frames")
"""Those that programs set."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What became of a program. ``same``: both runs gave the same, of so many ``rows``. ``spark``
    are the filters that scans are handed of the plan as written, ``added`` those that they are
    handed of the optimized one alone, and ``codes`` say why no more is pushed. ``warnings`` are
    what presieve complained of.
    """

    same: bool
    rows: int
    warnings: tuple[str, ...] = ()
    spark: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()


def measure(spark: SparkSession, name: str, folder: str) -> Measured:
    """Run a program twice. Of several plans that it runs, the last one is compared."""
    seen: list[tuple[DataFrame, ReportData]] = []
    options = collect_given(cost="always", compile="auto")
    setting = SessionSetting(options, lambda df, data: seen.append((df, data)))
    before = _rows(PROGRAMS[name], folder)
    with _warnings() as warnings, enabled_as(spark, setting):
        after = _rows(PROGRAMS[name], folder)
    same = before == after if name in ORDERED else Counter(before) == Counter(after)
    measured = Measured(same, len(before), tuple(warnings))
    return _with_filters(measured, *seen[-1]) if seen else measured


def _with_filters(measured: Measured, df: DataFrame, data: ReportData) -> Measured:
    spark, better = handed(df), handed(presieve.optimize(df, cost="always"))
    declined = [d.code for b in data.boundaries for d in b.declined]
    declined += [d.code for b in data.derived for d in b.declined]
    return replace(
        measured,
        spark=telling(spark),
        added=telling(better - spark),
        codes=tuple(dict.fromkeys(declined)),
    )


def handed(df: DataFrame) -> Counter[str]:
    """The filters that the scans of a plan are handed, as Spark prints them."""
    found = scans(df._jdf.queryExecution().sparkPlan())
    keys = ("PushedFilters", "PartitionFilters")
    return Counter(f for _, data in found for k in keys for f in split_list(data.get(k, "[]")))


def telling(filters: Counter[str]) -> tuple[str, ...]:
    """Filters in order, without those that only say that a column is there which another needs."""
    ordered = sorted(filters.elements())
    needed = [f for f in ordered if _NOT_NULL.fullmatch(f) is None]
    return tuple(f for f in ordered if not _is_said(f, needed))


_NOT_NULL = re.compile(r"IsNotNull\((\w+)\)")


def _is_said(one: str, others: Iterable[str]) -> bool:
    match = _NOT_NULL.fullmatch(one)
    return match is not None and any(f"({match[1]}," in other for other in others)


# --- results ------------------------------------------------------------------------------------


def _rows(program: Program, folder: str) -> list[str]:
    """What a program gives, so that all that differs is unequal."""
    try:
        found = program(ps, folder)
        if isinstance(found, pd.DataFrame):
            return [exact(row) for row in found.reset_index().to_numpy().tolist()]
        if isinstance(found, ps.DataFrame | ps.Series):
            return [exact(tuple(row)) for row in frame(found).collect()]
        return [exact(found)]
    finally:
        for name in OPTIONS:
            ps.reset_option(name)


def frame(found: Any) -> DataFrame:
    """The DataFrame behind a result, with the levels of its index that have a name."""
    table = found.to_frame() if isinstance(found, ps.Series) else found
    names = table.index.names
    nameless = [place for place, name in enumerate(names) if name is None]
    if 0 < len(nameless) < len(names):
        table = table.reset_index(level=nameless, drop=True)
    levels = [f"index_{place}" for place in range(len(table.index.names))]
    made: DataFrame = table.to_spark(index_col=None if len(nameless) == len(names) else levels)
    return made


def exact(value: Any) -> str:
    """A value as a text that tells apart NaN and NULL, 0.0 and -0.0, 1 and 1.0."""
    match value:
        case float():
            return "nan" if value != value else struct.pack(">d", value).hex()
        case list() | tuple():
            return f"[{', '.join(map(exact, value))}]"
    return repr(value)


@contextmanager
def _warnings() -> Iterator[list[str]]:
    """What presieve complains of."""
    found: list[str] = []

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            error = record.exc_info[1] if record.exc_info else ""
            found.append(f"{record.getMessage()} {error}".strip())

    handler = Kept(logging.WARNING)
    logger = logging.getLogger("presieve")
    logger.addHandler(handler)
    try:
        yield found
    finally:
        logger.removeHandler(handler)
