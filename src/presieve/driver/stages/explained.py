"""Trusted. The last look at what comes out on Spark Connect, by what the server explains.

A client does not see what the optimizer makes of a plan, but for the text of its physical plan. It
names the files of each scan and the filters that the scan is handed. So the comparison is one of
texts: what is not read there is not objected to.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from presieve.backend.gateway import Gateway, GatewayError
from presieve.backend.rewrite import Predicate
from presieve.backend.statistics.scan_filters import split_list
from presieve.driver.stages.decisions import Objection
from presieve.ir.sorts import BOOL, INT, STRING, strip
from presieve.semantics.scan import may_lose_by

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_FIELD = re.compile(r"(\w+):(\w+)")
_COLUMN = re.compile(r"\b(?!And|Or|Not|IsNull|IsNotNull)[A-Z]\w+\(([\w.]+)")
_BYTES = re.compile(r"\[B@\w+")
"""How Java prints an array, with a number that is another one each time."""

_LOSSLESS = (BOOL, INT, STRING)
"""Sorts of which few types lose rows: what a pre-filter reads of others, its proof covers."""


class ExplainedCheck:
    """Compares DataFrames with the one that was ``written``, in a session of Spark Connect."""

    def __init__(self, gateway: Gateway, written: DataFrame) -> None:
        self._gateway, self._written = gateway, written

    def objection(self, df: DataFrame, certified: Iterable[Predicate]) -> Objection | None:
        """Why ``df`` must not come out; None if nothing is seen to be wrong with it. ``certified``
        are the filters whose proofs cover what scans lose by them.
        """
        if df is self._written:
            return None
        before = self._scans_as_written
        if before is None:
            return None
        try:
            now = self._scans(df)
        except GatewayError as error:
            return Objection("error", f"Spark cannot plan the rewritten query: {error}")
        return _lossy(before, now, list(certified)) or _unread(before, now)

    @cached_property
    def _scans_as_written(self) -> list[Mapping[str, str]] | None:
        """None if Spark cannot plan the query as it is written."""
        try:
            return self._scans(self._written)
        except GatewayError:
            return None

    def _scans(self, df: DataFrame) -> list[Mapping[str, str]]:
        every = self._gateway.scan_metadata(self._gateway.analyzed(df))
        return [metadata for _, metadata in every if "Location" in metadata]


def _filters(scan: Mapping[str, str]) -> Iterator[str]:
    """What the scan is handed, but for the tests for NULL that Spark adds to other filters."""
    parts = split_list(_BYTES.sub("bytes", scan.get("PushedFilters", "[]")))
    return (part for part in parts if not part.startswith("IsNotNull("))


def _counted(scans: Iterable[Mapping[str, str]]) -> Counter[tuple[str, str]]:
    """How many scans of the same files are handed a filter."""
    return Counter((scan["Location"], filter_) for scan in scans for filter_ in _filters(scan))


def _unread(before: list[Mapping[str, str]], now: list[Mapping[str, str]]) -> Objection | None:
    """A filter that scans of some files had as written and have no more. One scan alone has what
    moves.
    """
    if len(now) < 2:
        return None
    had, has = _counted(before), _counted(now)
    scans = Counter(scan["Location"] for scan in before), Counter(scan["Location"] for scan in now)
    for key, count in had.items():
        location, filter_ = key
        as_many = scans[0][location] == scans[1][location]
        if has[key] < (count if as_many else min(count, 1)):
            return Objection("read", f"a scan would lose the filter {filter_} that it has")
    return None


def _lossy(
    before: list[Mapping[str, str]], now: list[Mapping[str, str]], certified: list[Predicate]
) -> Objection | None:
    """A filter that is new at a scan and may lose rows, where no proof is about such a column."""
    if any(strip(v.sort) not in _LOSSLESS for p in certified for v in p.attributes.values()):
        return None
    had = _counted(before)
    for scan in now:
        types = dict(_FIELD.findall(scan.get("ReadSchema", "")))
        for filter_ in _filters(scan):
            names = [name.rpartition(".")[2] for name in _COLUMN.findall(filter_)]
            lossy = [n for n in names if n in types and may_lose_by(types[n])]
            if lossy and (scan["Location"], filter_) not in had:
                return Objection("scan", f"a scan may lose rows by a comparison with {lossy[0]}")
    return None
