# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Determine, by Spark's own planning, which filters each scan of a plan evaluates.

Spark offers a source the filters that it can write as comparisons of columns with constants
(``DataSourceStrategy.translateFilter``). The source takes some of them. Spark evaluates all of them
again, except for filters that choose partitions and filters that a source claims to apply by
itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from presieve.backend.catalyst.native_aggregates import child_trees
from presieve.backend.catalyst.trees import (
    AND,
    ATTRIBUTE,
    LITERAL,
    OR,
    Tree,
    is_attribute,
)
from presieve.backend.classic.catalyst_builder import conjuncts
from presieve.backend.classic.display_names import files_name, print_unqualified
from presieve.backend.classic.py4j_errors import each, simple_class, translate_errors
from presieve.backend.classic.scans import iceberg
from presieve.backend.classic.scans.optimized import offered_filter
from presieve.backend.classic.scans.reads import (
    FILE_SCAN,
    Chosen,
    Reader,
    filters_of_scan,
    is_parquet,
    list_chosen_files,
)
from presieve.backend.gateway import GatewayError, Handle
from presieve.backend.statistics.estimates import local
from presieve.backend.statistics.pushed_filters import split_list
from presieve.backend.statistics.scan_contracts import Contract, Offered, ScanContract
from presieve.cost.estimate import Limit
from presieve.cost.parquet import without_extremes
from presieve.cost.parquet_scan import Reads
from presieve.records import replace
from presieve.sql.expressions import predicates

if TYPE_CHECKING:
    from pyspark.sql.dataframe import DataFrame

    from presieve.backend.classic.gateway import ClassicGateway

MOST_SCANS = 32
"""Maximum number of scans of a plan to look at."""

COMPUTED = "it computes something; scans are offered comparisons of columns with constants"
TWO_COLUMNS = "it compares columns; scans are offered comparisons of columns with constants"
PYTHON = "it calls a Python function"
SUBQUERY = "it has a subquery"
WHEN_RUN = "its value is known when the plan runs, and Spark evaluates it again"
REFUSED = "the source does not take it"
SILENT = "the source does not say that it takes it"
AGAIN = "Spark evaluates it again"
CLAIMED = "the source claims to apply it, and Spark does not look again"
SECONDS = Limit(2.0, 4.0)
"""Time limit for opening files, for each of the conditions."""

DIRECTORIES = "directories are chosen by it"
UNUSED = "the reader of Parquet compares no values of this type (as of TIMESTAMP_NTZ, and INT96)"

_FILES, _ROWS, _BATCHES = FILE_SCAN, "RowDataSourceScanExec", "BatchScanExec"
_PUSHED = "PushedFilters"
_LISTED = re.compile(rf"{_PUSHED}: (\[.*?\])(?:,? \w+: |$)")


def contracts(gateway: ClassicGateway, df: DataFrame) -> tuple[ScanContract, ...]:
    """Describe the scans of a DataFrame; none if Spark cannot plan it."""
    try:
        return tuple(_contracts(gateway, df))
    except GatewayError:
        return ()


@translate_errors
def _contracts(gateway: ClassicGateway, df: DataFrame) -> list[ScanContract]:
    scan_contracts: list[ScanContract] = []
    for leaf, above in _leaves(df._jdf.queryExecution().sparkPlan(), None):
        kind = simple_class(leaf)
        if kind in (_FILES, _ROWS, _BATCHES) and len(scan_contracts) < MOST_SCANS:
            parts = [] if above is None else list(conjuncts(above.condition()))
            scan_contracts.append(_Scan(gateway, leaf, kind, parts).contract())
    return scan_contracts


def _leaves(node: Handle, above: Handle | None) -> Iterator[tuple[Handle, Handle | None]]:
    """Iterate over the leaves of a physical plan, each with the filter right above it."""
    children = list(each(node.children()))
    if not children:
        yield node, above
    filter_ = node if simple_class(node) == "FilterExec" else None
    for child in children:
        yield from _leaves(child, filter_)


_COMPARISONS = tuple(
    entry.class_name for entry in (*predicates.COMPARISONS, predicates.EQUAL_NULL_SAFE)
)
_NULL_TESTS = (predicates.IS_NULL.class_name, predicates.IS_NOT_NULL.class_name)


def _compares_with_values(condition: Tree) -> bool:
    """Whether a condition consists of comparisons of columns with values that are constants or
    known when the plan runs.
    """
    kind, parts = condition[0]["class"], child_trees(condition, 0)
    if kind in (AND, OR):
        return all(map(_compares_with_values, parts))
    if kind in _NULL_TESTS:
        return is_attribute(parts[0])
    if kind not in _COMPARISONS or not is_attribute(parts[0]):
        return False
    value = str(parts[1][0]["class"])
    return value == LITERAL or value.endswith(".ScalarSubquery")  # of the logical or physical plan


@translate_errors
def _metadata(leaf: Handle, kind: str) -> Handle:
    return leaf.scan().getMetaData() if kind == _BATCHES else leaf.metadata()


class _Conjunct(Struct, frozen=True):
    """A conjunct above a scan: as JSON, in SQL, and as Spark offers it to sources, if it does."""

    tree: Tree
    sql: str
    offered: str | None

    @property
    def is_inferred(self) -> bool:
        """Whether Spark may have inferred the conjunct: that a column is not NULL."""
        return bool(self.tree[0]["class"] == predicates.IS_NOT_NULL.class_name)


class _Scan:
    """A scan of a physical plan."""

    def __init__(
        self, gateway: ClassicGateway, leaf: Handle, kind: str, above: Sequence[Handle]
    ) -> None:
        self._gateway, self._leaf, self._kind = gateway, leaf, kind
        self._iceberg = iceberg.is_scan(leaf)
        self._pushed = (
            iceberg.filters_of_scan(leaf) if self._iceberg else split_list(self._reported_filters())
        )
        self._above = [self._conjunct(c) for c in above]

    def contract(self) -> ScanContract:
        """Describe what happens to each conjunct, and what statistics do with the offered ones."""
        shown = [c for c in self._above if not c.is_inferred]
        scan_contract = ScanContract(
            self._name(), (*self._applied_by_source(), *map(self._judge_conjunct, shown))
        )
        if self._iceberg and (counted := iceberg.rows(self._leaf)) is not None:
            return replace(scan_contract, rows=counted[0], rows_read=counted[1])
        return self._with_files(scan_contract, shown) if self._kind == _FILES else scan_contract

    def _conjunct(self, condition: Handle) -> _Conjunct:
        tree: Tree = json.loads(self._gateway.json(condition))
        return _Conjunct(
            tree, print_unqualified(self._gateway, condition, tree), self._text(condition)
        )

    def _text(self, condition: Handle) -> str | None:
        """Write a condition in the words in which the scan reports its filters."""
        if self._iceberg:
            return iceberg.write_in_iceberg(self._gateway, condition)
        return offered_filter(self._gateway, condition)

    def _reported_filters(self) -> str:
        """Return the filters that the scan says it was handed."""
        if self._kind == _BATCHES:
            listed = _LISTED.search(str(self._leaf.simpleString(10_000)))
            if listed:
                return listed[1]
        try:
            value = _metadata(self._leaf, self._kind).get(_PUSHED)
        except GatewayError:  # the scan has none
            return "[]"
        return str(value.get()) if value.isDefined() else "[]"

    def _name(self) -> str:
        if self._kind != _FILES:
            return str(self._leaf.nodeName()).strip()
        table = self._leaf.tableIdentifier()
        if table.isDefined():
            return str(table.get().unquotedString())
        return files_name(self._leaf.relation())

    def _applied_by_source(self) -> Iterator[Offered]:
        """Yield the conditions that Spark does not evaluate."""
        if self._kind == _FILES:
            for condition in each(self._leaf.partitionFilters()):
                conjunct = self._conjunct(condition)
                if not conjunct.is_inferred:
                    yield Offered(conjunct.sql, "exact", DIRECTORIES)
            return
        again = {c.offered for c in self._above}
        for text in self._pushed:
            text = text.removeprefix("*")  # JDBC: evaluated there
            inferred = text.startswith("IsNotNull(") or text.endswith(iceberg.NOT_NULL)
            if text not in again and not inferred:
                yield Offered(text, "exact", CLAIMED)

    def _judge_conjunct(self, conjunct: _Conjunct) -> Offered:
        status, reason = self._status(conjunct)
        return Offered(conjunct.sql, status, reason)

    def _status(self, conjunct: _Conjunct) -> tuple[Contract, str]:
        if conjunct.offered is not None:
            if conjunct.offered in self._pushed:
                return "inexact", AGAIN
            silent = self._kind == _BATCHES and not self._iceberg and not self._pushed
            return "unsupported", SILENT if silent else REFUSED
        names = [str(node["class"]).rsplit(".", 1)[-1] for node in conjunct.tree]
        if any(name.startswith("Python") for name in names):
            return "unsupported", PYTHON
        if any("Subquery" in name for name in names):
            by_value = self._gateway.version.subqueries and self._kind == _FILES
            if by_value and _compares_with_values(conjunct.tree):
                return "inexact", WHEN_RUN
            return "unsupported", SUBQUERY
        plain = len(names) == 3 and names[1:] == ["AttributeReference"] * 2
        return "unsupported", TWO_COLUMNS if plain else COMPUTED

    # Statistics

    def _with_files(self, scan_contract: ScanContract, shown: Sequence[_Conjunct]) -> ScanContract:
        files = list_chosen_files(self._gateway, self._leaf)
        if files is None:
            return scan_contract
        scan_contract = replace(scan_contract, files=files.files, files_read=files.chosen)
        pushed_conjuncts = [c for c in shown if c.offered in self._pushed]
        if not pushed_conjuncts or not is_parquet(self._leaf) or not files.are_local:
            return scan_contract
        filters = {str(f.toString()): f for f in filters_of_scan(self._leaf)}
        read = self._read_with(list(filters.values()), files)
        alone = [
            (c, self._read_with([filters[c.offered]], files)) for c in pushed_conjuncts if c.offered
        ]
        notes = tuple(
            f"{conjunct.sql} skips nothing: {_why(conjunct, reads, files.some)}"
            for conjunct, reads in alone
            if reads.rows and not reads.skipped
        )
        counted = replace(
            scan_contract, groups=read.groups, groups_read=read.groups_read, notes=notes
        )
        return replace(counted, rows=read.rows, rows_read=read.read) if read.rows else scan_contract

    def _read_with(self, filters: Sequence[Handle], files: Chosen) -> Reads:
        return Reader(self._gateway, self._leaf, filters).of_all(files.some, SECONDS)


_INSIDE = ("StringEndsWith(", "StringContains(")


def _why(conjunct: _Conjunct, reads: Reads, uris: Sequence[str]) -> str:
    columns = [node for node in conjunct.tree if node["class"] == ATTRIBUTE]
    names = list(dict.fromkeys(str(node["name"]) for node in columns))
    if conjunct.offered is not None and conjunct.offered.startswith(_INSIDE):
        return "extremes of texts say nothing of what they contain and how they end"
    if not reads.used:
        return UNUSED
    paths = [path for path in map(local, uris) if path is not None]
    silent = without_extremes(paths, names)
    if silent:
        return f"the files have no statistics of {', '.join(silent)}"
    order = f"sort by {', '.join(names)} when the files are written"
    if reads.groups == 1:
        return f"the file is one row group; {order}, in smaller ones or with indexes of pages"
    return f"every row group may have such rows; {order}"
