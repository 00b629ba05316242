"""Untrusted. What each scan of a plan evaluates of the filters at it, by Spark's own planning.

Spark offers a source the filters that it can write as comparisons of columns with constants
(``DataSourceStrategy.translateFilter``). The source takes some of them. Spark evaluates all of
them again, but those that choose partitions, and those that a source claims to apply by itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from presieve.backend.catalyst.trees import ATTRIBUTE, Tree, expr_id
from presieve.backend.classic.guarded import each, guarded
from presieve.backend.classic.leaves import SOURCES
from presieve.backend.classic.names import files_name, unqualified
from presieve.backend.classic.parts import conjuncts
from presieve.backend.filtered.sides import columns_of
from presieve.backend.gateway import GatewayError, Handle
from presieve.backend.statistics.estimates import local
from presieve.backend.statistics.scan_contracts import Contract, Offered, ScanContract
from presieve.backend.statistics.scan_filters import split_list
from presieve.cost.groups import Groups, Use, skipped_by
from presieve.cost.scan import Scan
from presieve.errors import Declined
from presieve.ir.terms import SQL_TRUE, Term, Var
from presieve.ir.walk import variables
from presieve.sql.catalyst import expression

if TYPE_CHECKING:
    from pyspark.sql.dataframe import DataFrame

    from presieve.backend.classic.gateway import ClassicGateway

MOST_SCANS = 32
MOST_FILES = 4096
"""Scans of a plan, and files of a scan, beyond which nothing more is looked at."""

COMPUTED = "it computes something; scans are offered comparisons of columns with constants"
TWO_COLUMNS = "it compares columns; scans are offered comparisons of columns with constants"
PYTHON = "it calls a Python function"
SUBQUERY = "it has a subquery"
REFUSED = "the source does not take it"
AGAIN = "Spark evaluates it again"
CLAIMED = "the source claims to apply it, and Spark does not look again"
DIRECTORIES = "directories are chosen by it"

_FILES, _ROWS, _BATCHES = "FileSourceScanExec", "RowDataSourceScanExec", "BatchScanExec"
_PUSHED = "PushedFilters"
_LISTED = re.compile(rf"{_PUSHED}: (\[.*?\])(?:,? \w+: |$)")


def contracts(gateway: ClassicGateway, df: DataFrame) -> tuple[ScanContract, ...]:
    """Of the scans of a DataFrame; none where Spark cannot plan it."""
    try:
        return tuple(_contracts(gateway, df))
    except GatewayError:
        return ()


@guarded
def _contracts(gateway: ClassicGateway, df: DataFrame) -> list[ScanContract]:
    found: list[ScanContract] = []
    for leaf, above in _leaves(df._jdf.queryExecution().sparkPlan(), None):
        kind = _class(leaf)
        if kind in (_FILES, _ROWS, _BATCHES) and len(found) < MOST_SCANS:
            parts = [] if above is None else list(conjuncts(above.condition()))
            found.append(_Scan(gateway, leaf, kind, parts).contract())
    return found


def _leaves(node: Handle, above: Handle | None) -> Iterator[tuple[Handle, Handle | None]]:
    """The leaves of a physical plan, each with the filter right above it."""
    children = list(each(node.children()))
    if not children:
        yield node, above
    filter_ = node if _class(node) == "FilterExec" else None
    for child in children:
        yield from _leaves(child, filter_)


def _class(found: Handle) -> str:
    return str(found.getClass().getSimpleName())


@guarded
def _metadata(leaf: Handle, kind: str) -> Handle:
    return leaf.scan().getMetaData() if kind == _BATCHES else leaf.metadata()


@dataclass(frozen=True, slots=True)
class _Conjunct:
    """A conjunct above a scan: as JSON, in SQL, and as Spark offers it to sources, if it does."""

    tree: Tree
    sql: str
    offered: str | None

    @property
    def is_inferred(self) -> bool:
        """Whether Spark may have added it: that a column is not NULL."""
        return bool(self.tree[0]["class"].endswith(".IsNotNull"))


class _Scan:
    """A scan of a physical plan."""

    def __init__(
        self, gateway: ClassicGateway, leaf: Handle, kind: str, above: Sequence[Handle]
    ) -> None:
        self._gateway, self._leaf, self._kind = gateway, leaf, kind
        self._pushed = split_list(self._said())
        self._above = [self._conjunct(c) for c in above]

    def contract(self) -> ScanContract:
        """What becomes of each conjunct, and what statistics make of those that are offered."""
        shown = [c for c in self._above if not c.is_inferred]
        made = ScanContract(self._name(), (*self._alone(), *map(self._offered, shown)))
        return self._with_files(made, shown) if self._kind == _FILES else made

    def _conjunct(self, condition: Handle) -> _Conjunct:
        tree: Tree = json.loads(self._gateway.json(condition))
        strategy = getattr(self._gateway.spark._jvm, SOURCES + "DataSourceStrategy$")
        offered = getattr(strategy, "MODULE$").translateFilter(condition, True)
        text = str(offered.get().toString()) if offered.isDefined() else None
        return _Conjunct(tree, unqualified(self._gateway, condition, tree), text)

    def _said(self) -> str:
        """The filters that the scan says it was handed."""
        if self._kind == _BATCHES:
            found = _LISTED.search(str(self._leaf.simpleString(10_000)))
            if found:
                return found[1]
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

    def _alone(self) -> Iterator[Offered]:
        """What Spark does not evaluate."""
        if self._kind == _FILES:
            for condition in each(self._leaf.partitionFilters()):
                conjunct = self._conjunct(condition)
                if not conjunct.is_inferred:
                    yield Offered(conjunct.sql, "exact", DIRECTORIES)
            return
        again = {c.offered for c in self._above}
        for text in self._pushed:
            text = text.removeprefix("*")  # of JDBC: evaluated there
            if text not in again and not text.startswith("IsNotNull("):
                yield Offered(text, "exact", CLAIMED)

    def _offered(self, conjunct: _Conjunct) -> Offered:
        found, reason = self._status(conjunct)
        return Offered(conjunct.sql, found, reason)

    def _status(self, conjunct: _Conjunct) -> tuple[Contract, str]:
        if conjunct.offered is not None:
            if conjunct.offered in self._pushed:
                return "inexact", AGAIN
            return "unsupported", REFUSED
        names = [str(node["class"]).rsplit(".", 1)[-1] for node in conjunct.tree]
        if any(name.startswith("Python") for name in names):
            return "unsupported", PYTHON
        if any("Subquery" in name for name in names):
            return "unsupported", SUBQUERY
        plain = len(names) == 3 and names[1:] == ["AttributeReference"] * 2
        return "unsupported", TWO_COLUMNS if plain else COMPUTED

    # Statistics

    def _with_files(self, made: ScanContract, shown: Sequence[_Conjunct]) -> ScanContract:
        location = self._leaf.relation().location()
        every = len(location.inputFiles())
        if every > MOST_FILES:
            return replace(made, files=every)
        chosen = location.listFiles(self._leaf.partitionFilters(), self._leaf.dataFilters())
        uris = [
            str(file.getPath().toUri().toString())
            for directory in each(chosen)
            for file in each(directory.files())
        ]
        made = replace(made, files=every, files_read=len(uris))
        handed = [c for c in shown if c.offered in self._pushed]
        format_ = _class(self._leaf.relation().fileFormat())
        if format_ != "ParquetFileFormat" or not handed:
            return made
        return self._with_groups(made, handed, uris)

    def _with_groups(
        self, made: ScanContract, handed: Sequence[_Conjunct], uris: Sequence[str]
    ) -> ScanContract:
        known, columns = self._terms(handed)
        paths = [path for path in map(local, uris) if path is not None]
        if not known or len(paths) < len(uris):
            return made
        found = skipped_by(Scan(tuple(paths), columns, SQL_TRUE), [term for _, term in known])
        if found is None or not found.groups:
            return made
        notes = _notes(found, known)
        return replace(made, groups=found.groups, groups_read=found.kept, notes=tuple(notes))

    def _terms(
        self, handed: Sequence[_Conjunct]
    ) -> tuple[list[tuple[_Conjunct, Term]], dict[Var, str]]:
        """The conjuncts that are understood, and the names of their columns."""
        types = {expr_id(n): n for c in handed for n in c.tree if n["class"] == ATTRIBUTE}
        output = self._gateway.attributes(self._leaf)
        columns, _ = columns_of(tuple(a for a in output if a.id in types))
        timezone = self._gateway.conf("spark.sql.session.timeZone", "UTC")
        read = ((c, expression(c.tree, columns, timezone)) for c in handed)
        known = [(c, term) for c, term in read if not isinstance(term, Declined)]
        return known, {v: v.name for v in columns.values()}


_INSIDE = ("StringEndsWith(", "StringContains(")
_Known: TypeAlias = tuple[_Conjunct, Term]


def _notes(found: Groups, known: Sequence[_Known]) -> Iterator[str]:
    """Why conjuncts skip nothing."""
    if found.groups == found.files == 1:
        yield "the file is one row group, of which nothing can be skipped: write smaller ones"
        return
    for (conjunct, term), use in zip(known, found.uses, strict=True):
        if use.skipped == 0:
            yield f"{conjunct.sql} skips nothing: {_why(conjunct, term, use)}"


def _why(conjunct: _Conjunct, term: Term, use: Use) -> str:
    names = ", ".join(dict.fromkeys(v.name for v in variables(term)))
    if conjunct.offered is not None and conjunct.offered.startswith(_INSIDE):
        return "extremes of texts say nothing of what they contain and how they end"
    if use.unknown:
        return (
            f"the footers have no extremes of {', '.join(use.unknown)} that Spark uses (it has no "
            "use for those of TIMESTAMP_NTZ, and there are none of INT96)"
        )
    return f"every row group may have such rows; sort by {names} when the files are written"
