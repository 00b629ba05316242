"""Trusted. The files that a plan reads, with the conditions under which it has a use for a row."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from presieve.backend.catalyst.leaf_conditions import conditions_of
from presieve.backend.catalyst.trees import Node, Tree, walk
from presieve.backend.classic.gateway import ClassicGateway
from presieve.backend.classic.guarded import guarded
from presieve.backend.classic.names import source_name, unqualified
from presieve.backend.classic.time_zones import zones
from presieve.backend.effects.sources import scanned
from presieve.backend.filtered.sides import columns_of
from presieve.backend.gateway import Handle
from presieve.backend.plans import Opened, or_declined, session_declines
from presieve.backend.statistics.estimates import local
from presieve.ir.terms import Var
from presieve.sql.beginnings import LIKE
from presieve.sql.piecewise import Zones

if TYPE_CHECKING:
    from pyspark.sql.dataframe import DataFrame

_FORMATS = ("parquet.ParquetFileFormat", "orc.OrcFileFormat")
_CONDITIONS = re.compile(r"^[ :+-]*(?:Filter|Join)\b(.*)", re.MULTILINE)
_PROJECTIONS = re.compile(r"^[ :+-]*Project\b(.*)", re.MULTILINE)
_COMPUTED = re.compile(
    r"\b(?:CASE|R?LIKE|StartsWith|coalesce|greatest|least|year|trunc|date_trunc|date_format|left"
    r"|substring|substr|datediff|date_add|date_sub|add_months|last_day|abs|floor|ceil|nvl|ifnull"
    r"|if|unix_\w+|date_part|extract|to_date|timestamp_\w+|cast\([^()]*#)\b|#\w+ (?:[-+*/]|div) "
    r"| (?:[-+*/]|div) \w+#|-\w+#",
    re.IGNORECASE,
)
"""What can be followed to a column, in Spark's drawing of a plan."""
_FILES = re.compile(r"^[ :+-]*Relation .*\] (?:parquet|orc)$", re.MULTILINE)
_NUMBER = re.compile(r"#(\d+)")
_NAMED = re.compile(r" AS [^#\n]*?#(\d+)")


def _computes(drawing: str) -> bool:
    """Whether files are read, and a condition computes something or may be on a column that a
    projection computes.
    """
    if not _FILES.search(drawing):
        return False
    conditions = _CONDITIONS.findall(drawing)
    if any(map(_COMPUTED.search, conditions)):
        return True
    asked = {n for line in conditions for n in _NUMBER.findall(line)}
    return any(
        not asked.isdisjoint(_NAMED.findall(line))
        for line in _PROJECTIONS.findall(drawing)
        if _COMPUTED.search(line)
    )


@dataclass(frozen=True, slots=True)
class FileSource:
    """Files at a place in the plan. A row is needed where one of the ``conditions``, trees of
    Catalyst, is true; ``columns`` and their ``types`` are those that proofs can speak of, by
    number, and ``sql`` are the conditions for a person. ``files`` are paths of this machine; there
    are none where some are elsewhere.
    """

    path: tuple[int, ...]
    name: str
    conditions: tuple[Tree, ...]
    columns: Mapping[int, Var]
    types: Mapping[int, str]
    files: tuple[str, ...]
    sql: str


@dataclass(frozen=True, slots=True)
class FileSources:
    """Those of a plan that filters of files may be derived for."""

    gateway: ClassicGateway
    plan: Handle
    timezone: str
    zones: Zones
    found: tuple[FileSource, ...] = ()


@or_declined
@guarded
def open_sources(opened: Opened, df: DataFrame) -> FileSources | None:
    """The sources of a DataFrame in a classic session; None where nothing is computed in a filter,
    or rows may come out of a cache. What is true now (``current_date``) is in the optimized plan a
    constant, which a filter must not keep.
    """
    gateway = opened.gateway
    if not isinstance(gateway, ClassicGateway):
        return None
    plan = gateway.analyzed(df)
    if not gateway.mentions(plan, "FILTER") or gateway.mentions(plan, "CURRENT_LIKE"):
        return None
    if gateway.is_streaming(plan) or not gateway.cache_is_empty() or _is_legacy(gateway):
        return None
    if not _computes(gateway.text(plan)):
        return None
    if session_declines(gateway, plan) is not None:
        return None
    written = gateway.tree(plan)
    optimized = df._jdf.queryExecution().optimizedPlan()
    root = gateway.tree(optimized)
    uses, others = conditions_of(written, root)
    if _are_copies(gateway, written, plan, others, optimized):
        return None
    timezone = gateway.conf("spark.sql.session.timeZone", "UTC")
    found = []
    for path, filters in uses.items():
        known = [f for f in filters if f is not None]
        if len(known) == len(filters):
            sql = " OR ".join(unqualified(gateway, gateway.node(optimized, f.path)) for f in known)
            conditions = tuple(_with_escapes(gateway, optimized, f) for f in known)
            source = _source(gateway, (plan, written), path, conditions, sql)
            found += [] if source is None else [source]
    names = {z for s in found for c in s.conditions for z in _zones(c)}
    return FileSources(gateway, plan, timezone, zones(gateway, timezone, names), tuple(found))


def _are_copies(
    gateway: ClassicGateway, written: Node, plan: Handle, others: Sequence[Node], optimized: Handle
) -> bool:
    """Whether some leaf of the optimized plan reads what a source of the plan reads, though it has
    other numbers: a definition that is used twice has copies.
    """
    mine = [gateway.node(plan, n.path) for n in walk(written) if not n.children]
    theirs = [gateway.node(optimized, n.path) for n in others]
    return any(bool(a.sameResult(b)) for a in mine for b in theirs)


def _is_legacy(gateway: ClassicGateway) -> bool:
    """Whether days are written by the calendar of ``SimpleDateFormat``."""
    return gateway.conf("spark.sql.legacy.timeParserPolicy", "CORRECTED").upper() == "LEGACY"


def _with_escapes(gateway: ClassicGateway, plan: Handle, filter_: Node) -> Tree:
    """The condition of a filter, and in each LIKE the escape character, which its JSON has not."""
    tree: Tree = filter_.fields["condition"]
    if not any(node["class"] == LIKE for node in tree):
        return tree
    nodes = _in_order(gateway.node(plan, filter_.path).condition())
    return [
        {**node, "escapeChar": str(handle.escapeChar())} if node["class"] == LIKE else node
        for node, handle in zip(tree, nodes, strict=True)
    ]


def _in_order(expression: Handle) -> list[Handle]:
    """An expression and all below it, as they stand in its JSON."""
    children = expression.children()
    below = (_in_order(children.apply(i)) for i in range(int(children.size())))
    return [expression, *(node for part in below for node in part)]


def _source(
    gateway: ClassicGateway,
    within: tuple[Handle, Node],
    path: tuple[int, ...],
    conditions: tuple[Tree, ...],
    sql: str,
) -> FileSource | None:
    """Files that Spark reads by itself, and those of their columns of which scans compare what they
    read; None for other sources.
    """
    plan, root = within
    leaf = gateway.node(plan, path)
    source, scans = gateway.source(leaf), scanned(gateway, plan, root, [path], native=False)
    if not scans.faithful or source.by_columns:
        return None
    if not any(name.endswith(_FORMATS) for name in source.names):
        return None
    attributes = gateway.attributes(leaf)
    known, _ = columns_of(attributes)
    columns = {i: v for i, v in known.items() if not scans.aside([i])}
    types = {a.id: a.type for a in attributes}
    paths = tuple(map(local, gateway.parquet_files(leaf)))
    files = tuple(p for p in paths if p is not None) if None not in paths else ()
    return FileSource(path, source_name(leaf), conditions, columns, types, files, sql)


def _zones(condition: Tree) -> list[str]:
    return [str(n["timeZoneId"]) for n in condition if isinstance(n.get("timeZoneId"), str)]
