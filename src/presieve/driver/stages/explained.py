# SPDX-License-Identifier: Apache-2.0
"""Trusted. The final check of the result on Spark Connect, based on the server's explanation.

A client sees nothing of the optimized plan except the text of the physical plan. That text names
the files of each scan and the filters that the scan is handed. So the check compares texts, and
does not object to text that it cannot read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from presieve.backend.gateway import Gateway, GatewayError
from presieve.backend.rewrite import Predicate
from presieve.backend.statistics.pushed_filters import split_list
from presieve.driver.stages.decisions import Objection
from presieve.ir.sorts import BOOL, INT, STRING, strip
from presieve.semantics.scan import may_lose_by

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_FIELD = re.compile(r"(\w+):(\w+)")
_COLUMN = re.compile(r"\b(?!And|Or|Not|IsNull|IsNotNull)[A-Z]\w+\(([\w.]+)")
_BYTES = re.compile(r"\[B@\w+")
"""Java's text for an array, which contains a different number each time."""

_FIRST_PATH = re.compile(r"\[([^,\]]*)")
_PARTITION = re.compile(r"/[^/=]+=[^/]*")

_LOSSLESS = (BOOL, INT, STRING)
"""Sorts with few lossy types. Under another name a column of these needs no proof."""


class ExplainedCheck:
    """Compares DataFrames with the ``written`` one in a session of Spark Connect."""

    def __init__(self, gateway: Gateway, written: DataFrame) -> None:
        self._gateway, self._written = gateway, written

    def objection(self, df: DataFrame, certified: Iterable[Predicate]) -> Objection | None:
        """Return why ``df`` must not be returned; None if nothing wrong is seen.

        ``certified`` are the filters whose proofs cover the rows that scans lose because of them.
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
        return (
            _lossy_scan_objection(before, now, list(certified))
            or _added_scan_objection(before, now)
            or _lost_filter_objection(before, now)
        )

    @cached_property
    def _scans_as_written(self) -> list[Mapping[str, str]] | None:
        """The scans of the query as written; None if Spark cannot plan it."""
        try:
            return self._scans(self._written)
        except GatewayError:
            return None

    def _scans(self, df: DataFrame) -> list[Mapping[str, str]]:
        every = self._gateway.scan_metadata(self._gateway.analyze_plan(df))
        return [metadata for _, metadata in every if "Location" in metadata]


def _source(scan: Mapping[str, str]) -> str:
    """Return the first path of the scan, without the directories of partitions, which differ with
    the filters on partitions.
    """
    path = _FIRST_PATH.search(scan["Location"])
    return scan["Location"] if path is None else _PARTITION.sub("", path[1])


def _filters(scan: Mapping[str, str]) -> Iterator[str]:
    """Return the scan's filters except the tests for NULL that Spark adds to other filters."""
    parts = split_list(_BYTES.sub("bytes", scan.get("PushedFilters", "[]")))
    yield from (part for part in parts if not part.startswith("IsNotNull("))
    if "dynamicpruning" in scan.get("PartitionFilters", ""):
        yield "on directories by the keys of a join"


def _count_filters(scans: Iterable[Mapping[str, str]]) -> Counter[tuple[str, str]]:
    """Count the scans of the same files that are handed a filter."""
    return Counter((_source(scan), filter_) for scan in scans for filter_ in _filters(scan))


def _added_scan_objection(
    before: list[Mapping[str, str]], now: list[Mapping[str, str]]
) -> Objection | None:
    """Object to files that Spark does not read as written."""
    if {*map(_source, now)} <= {*map(_source, before)}:
        return None
    return Objection("read", "a scan is left that Spark drops from the query as written")


def _lost_filter_objection(
    before: list[Mapping[str, str]], now: list[Mapping[str, str]]
) -> Objection | None:
    """Object to a filter that scans of some files had as written and no longer have.

    A plan with a single scan cannot lose one, because every moved filter ends up there.
    """
    if len(now) < 2:
        return None
    scans = Counter(map(_source, before)), Counter(map(_source, now))
    had, has = _count_filters(before), _count_filters(now)
    for key, count in had.items():
        source, filter_ = key
        as_many = scans[0][source] == scans[1][source]
        if has[key] < (count if as_many else min(count, 1)):
            return Objection("read", f"a scan would lose the filter {filter_} that it has")
    return None


def _lossy_scan_objection(
    before: list[Mapping[str, str]], now: list[Mapping[str, str]], certified: list[Predicate]
) -> Objection | None:
    """Object to a new filter at a scan that may lose rows, unless a proof covers its columns.

    If a proof is about a column that no scan has by this name, nothing can be said.
    """
    proved = {v.name: strip(v.sort) for p in certified for v in p.attributes.values()}
    scanned = {name for scan in now for name, _ in _FIELD.findall(scan.get("ReadSchema", ""))}
    if any(name not in scanned and sort not in _LOSSLESS for name, sort in proved.items()):
        return None
    had = _count_filters(before)
    for scan in now:
        types = dict(_FIELD.findall(scan.get("ReadSchema", "")))
        for filter_ in _filters(scan):
            names = {name.rpartition(".")[2] for name in _COLUMN.findall(filter_)}
            lossy = [n for n in types.keys() & names - proved.keys() if may_lose_by(types[n])]
            if lossy and (_source(scan), filter_) not in had:
                return Objection("scan", f"a scan may lose rows by a comparison with {lossy[0]}")
    return None
