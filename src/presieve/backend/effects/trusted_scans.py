# SPDX-License-Identifier: Apache-2.0
"""Trusted. Determine which scans below a boundary are known to apply a filter as it says.

A data source may take a filter, claim that it was applied, and mean something else by it: strings
without regard to case, say. The known sources are listed here: their filters are Spark's own code,
or are evaluated again above the scan. Other sources are handed no filter of ours: the pre-filter is
added in a form that Spark gives to no source (:func:`presieve.sql.emit.aside`), and filters above
the boundary stay as they are, so the source is handed the same filters as before.

Spark's Parquet reader itself has one such flaw. It reads the last 8 or 16 of the 32 bits in a file
if the column has such a type, but compares statistics with all 32 bits. For doubles, dates and
timestamps, too, a scan may lose rows (:mod:`presieve.semantics.scan`). Proofs of pre-filters cover
that. If an expression replaces a function, Spark hands the scan the user's own filters, which no
proof covers, so such columns are hidden in the expression.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from itertools import chain
from typing import TypeAlias

from msgspec import Struct

from presieve.backend.catalyst.boundary import AGGREGATE, LOGICAL, Boundary
from presieve.backend.catalyst.definitions import CTE_REFERENCE
from presieve.backend.catalyst.operators import (
    ALWAYS_PASSED,
    DEDUPLICATE,
    DISTINCT,
    EQUALITIES,
    RULES,
    UNION,
    WINDOW,
    conditions,
    outputs,
)
from presieve.backend.catalyst.trees import (
    ALIAS,
    ATTRIBUTE,
    Node,
    expr_id,
    node_at,
    nodes_inside,
    references,
    walk,
)
from presieve.backend.effects.may_raise import trees
from presieve.backend.gateway import LeafSource, PlanView, SourceReader
from presieve.errors import Declined, DeclineSignal
from presieve.semantics.scan import NARROW, may_lose_by

_DATASOURCES = "org.apache.spark.sql.execution.datasources."
_FORMATS = ("parquet.Parquet", "orc.Orc", "json.Json", "csv.CSV", "text.Text")
_FILES = _DATASOURCES + "HadoopFsRelation"
_INDEX = _DATASOURCES + "InMemoryFileIndex"
_CATALOG = _DATASOURCES + "CatalogFileIndex"
SERVER_FORMATS = ("parquet", "orc", "json", "csv", "text")

PARSED = ("json", "csv", "xml")
"""Formats in which a record may be malformed in one column."""
CORRUPT_RECORD = "columnNameOfCorruptRecord"


def by_columns(
    form: str,
    options: Mapping[str, str],
    columns: Callable[[], Iterable[str]],
    conf: Callable[[str, str], str],
) -> bool:
    """Whether the rows of files may depend on which columns are read: because unreadable files are
    left out, or because malformed records of a parsed format (``form``) are dropped, fail the job
    (``mode``) or go into a column of their own (``FailureSafeParser``, which recognizes only the
    records that are malformed in the columns that are read). ``columns`` and ``conf`` ask the
    session.
    """
    lowered_options = {k.lower(): v for k, v in options.items()}
    if lowered_options.get("ignorecorruptfiles", "false").lower() != "false":
        return True
    if not form.lower().startswith(PARSED):
        return False
    if lowered_options.get("mode", "PERMISSIVE").upper() != "PERMISSIVE":
        return True
    name = lowered_options.get(CORRUPT_RECORD.lower())
    name = conf(f"spark.sql.{CORRUPT_RECORD}", "_corrupt_record") if name is None else name
    return name.lower() in {c.lower() for c in columns()}


ICEBERG = ("org.apache.iceberg.spark.source.SparkTable", "org.apache.iceberg.BaseTable")
"""A table of Iceberg, as opposed to Iceberg's tables that describe it."""

FAITHFUL: frozenset[tuple[str, ...]] = frozenset(
    (
        # Rows that exist already: Spark filters them.
        (LOGICAL + "LocalRelation",),
        (LOGICAL + "OneRowRelation",),
        (LOGICAL + "CommandResult",),
        (LOGICAL + "Range",),
        ("org.apache.spark.sql.execution.LogicalRDD",),
        ("org.apache.spark.sql.execution.ExternalRDD",),
        ("local_relation",),
        ("cached_local_relation",),
        ("chunked_cached_local_relation",),
        ("range",),
        # Spark's own file formats: presieve.semantics.scan says which rows a scan loses, and every
        # filter is evaluated again above it. Spark chooses the directories.
        *((_FILES, _DATASOURCES + f + "FileFormat", _INDEX) for f in _FORMATS),
        *((_FILES, _DATASOURCES + f + "FileFormat", _CATALOG, "in-memory") for f in _FORMATS),
        *((_DATASOURCES + "v2." + f + "Table",) for f in _FORMATS),
        *(("files", f) for f in SERVER_FORMATS),
        # Code other than Spark's compares metadata with filters: on some columns only.
        ICEBERG,
    )
)
"""Sources of leaves, as :class:`presieve.backend.gateway.LeafSource` names them."""

_ONLY_FILTERS = frozenset(
    (
        _DATASOURCES + "v2.python.PythonTable",
        _DATASOURCES + "LogicalRelation",
        "org.apache.spark.sql.catalyst.catalog.HiveTableRelation",
    )
)
"""Sources that Spark hands filters and columns, but no aggregates, limits or joins."""

_ROWS = ALWAYS_PASSED | {UNION}
"""Operators through which Spark moves a filter of ours without deriving other filters from it."""
_CLASSES = frozenset((AGGREGATE, WINDOW, DISTINCT, DEDUPLICATE))
"""Like ``_ROWS``, but some sources compute these themselves unless a filter is in between."""
_BY_PLACE = frozenset((UNION, LOGICAL + "Intersect", LOGICAL + "Except"))
"""Operators whose columns are the columns below, by position."""
_STOPPING = frozenset(
    LOGICAL + name
    for name in (
        *("FlatMapGroupsInPandas", "FlatMapGroupsInArrow", "MapInPandas", "MapInArrow"),
        *("FlatMapCoGroupsInPandas", "FlatMapCoGroupsInArrow"),
    )
)
"""Operators that no filter moves past by itself."""
_SUBQUERIES = ("Subquery", ".ListQuery", ".Exists")
"""Suffixes of the classes of expressions that contain a plan."""
_SAME = (LOGICAL + name for name in ("LocalLimit", "GlobalLimit", "Offset", "Tail", "Sample"))
_NAMING = frozenset(RULES) | _BY_PLACE | _STOPPING | frozenset(_SAME)
"""Operators whose columns have the numbers below or places there, are aliases, or are new."""


class Sources(Struct, frozen=True):
    """The scans that a pre-filter may reach.

    ``faithful``: all scans below are known. ``narrow`` and ``unknown`` are the columns whose
    filters must be kept from scans, anywhere in the plan, because the filter would reach a scan
    that loses rows by it (``narrow``) or that is not known (``unknown``). None: it may be any
    column. ``lossy`` adds to ``narrow`` all columns by some of whose comparisons a scan may lose
    rows. ``claims``: the claims of sources are taken as true.
    """

    faithful: bool
    narrow: frozenset[int] | None
    unknown: frozenset[int] | None = frozenset()
    lossy: frozenset[int] | None = None
    claims: bool = False

    def aside(self, read: Iterable[int]) -> bool:
        """Whether a pre-filter that reads these attributes must be kept from the scans."""
        if not self.faithful or self.narrow is None or self.unknown is None:
            return True
        return not (self.narrow | self.unknown).isdisjoint(read)

    @property
    def taken_at_their_word(self) -> Sources:
        """The same sources if all of them apply the filters that they claim as Spark does."""
        return Sources(True, self.narrow, lossy=self.lossy, claims=True)


def is_faithful(sources: Callable[[], Sources]) -> bool:
    """Whether filters below are applied as they say, rather than by a source in its own way."""
    try:
        return sources().faithful
    except DeclineSignal:
        return False


def read_sources(view: PlanView, boundary: Boundary) -> Sources:
    """Describe the scans below a boundary. Raises :class:`DeclineSignal` ``source`` if a filter of
    ours could change what one of them is handed.
    """
    paths = [boundary.input_path, *([boundary.beside.input_path] if boundary.beside else [])]
    native = any(call.native is not None for call in boundary.calls)
    return describe_scans(view, paths, native=native)


def describe_scans(view: PlanView, paths: Iterable[tuple[int, ...]], *, native: bool) -> Sources:
    """Describe the scans below operators; ``native``: Spark itself aggregates above."""
    faithful = [_is_faithful(view, node_at(view.root, path), native) for path in paths]
    return Sources(all(faithful), *_kept_columns(view))


def columns_to_hide(view: PlanView, boundary: Boundary, read: Collection[int]) -> frozenset[int]:
    """Return the attributes in ``read`` that an expression in a function's place must hide, because
    Spark moves filters past the expression that it does not move past a function, and a scan loses
    rows by comparisons with these attributes. Raises :class:`DeclineSignal` if the expression may
    change the rows of the scans in another way: Spark reads only the columns of the expression, and
    makes some sources aggregate.
    """
    node = node_at(view.root, boundary.path)
    against = ignores_corrupt_files(view.gateway) or dropped_by_columns(view, node)
    if against is not None:
        raise DeclineSignal.of(against)
    sources = read_sources(view, boundary)
    unknown = sources.unknown is None or not sources.unknown.isdisjoint(read)
    if not sources.faithful or unknown:
        reason = "a source below is not known to apply filters as Spark does; store its rows first"
        raise DeclineSignal("source", reason)
    return frozenset(read) if sources.lossy is None else sources.lossy.intersection(read)


def dropped_by_columns(view: PlanView, node: Node) -> Declined | None:
    """Decline if the rows of a source below may depend on which columns are read."""
    leaves = [n for n in walk(node) if not n.children]
    if any(n.kind == CTE_REFERENCE for n in leaves):
        leaves = [n for n in walk(view.root) if not n.children]
    for leaf in leaves:
        if leaf.kind != CTE_REFERENCE and view.gateway.source(view.handle(leaf)).by_columns:
            return Declined("source", "the source drops or records rows that are malformed")
    return None


_IGNORE_CORRUPT = "spark.sql.files.ignoreCorruptFiles"


def ignores_corrupt_files(gateway: SourceReader) -> Declined | None:
    """Decline if the session ignores files that cannot be read: nothing can be left out then."""
    if gateway.conf(_IGNORE_CORRUPT, "false").lower() == "false":
        return None
    return Declined("conf", f"{_IGNORE_CORRUPT} is true: rows depend on which columns are read")


def _is_faithful(view: PlanView, input_: Node, native: bool) -> bool:
    """Whether all scans below apply a filter as it says."""
    nodes = list(_reachable_operators(input_))
    leaves = [n for n in nodes if not n.children]
    shared = any(n.kind == CTE_REFERENCE for n in leaves)
    if shared:  # our filter joins the filters of all references
        leaves = [n for n in walk(view.root) if not n.children]
    leaves = [n for n in leaves if n.kind != CTE_REFERENCE and n.kind not in _STOPPING]
    faithful = True
    for leaf in leaves:
        source = view.gateway.source(view.handle(leaf))
        if source.names in FAITHFUL:
            continue
        faithful = False
        passed_kinds = _ROWS if source.names[0] not in _ONLY_FILTERS else _ROWS | _CLASSES
        through = {n.kind for n in nodes if n.children and n.kind not in _STOPPING}
        computes = native and source.names[0] not in _ONLY_FILTERS
        if shared or computes or source.raw or not through <= passed_kinds:
            raise DeclineSignal("source", _reason(source))
    return faithful


Columns: TypeAlias = frozenset[int] | None
"""Column numbers; None: it may be any column."""
Kept: TypeAlias = tuple[Columns, Columns, Columns]


def _kept_columns(view: PlanView) -> Kept:
    """Return the columns of a plan whose filters are kept from scans, as three sets: the columns by
    which sources lose rows; the columns of sources that are not known; and the first set with the
    columns by some of whose filters sources may lose rows. Each set includes all columns that are
    equal to these or computed from them, because Spark infers filters of one from filters of the
    other (``InferFiltersFromConstraints``).
    """
    gateway, last_answer = view.gateway, _last.get("root")
    if last_answer is not None and last_answer[0] is view.root:
        return last_answer[1]
    inner = gateway.subqueries(view.plan)
    parts = [(view.plan, view.root), *((sub, gateway.tree(sub)) for sub in inner)]
    narrow: set[int] = set()
    unknown: set[int] = set()
    lossy: set[int] = set()
    for handle, tree in parts:
        for leaf in (n for n in walk(tree) if not n.children and n.kind != CTE_REFERENCE):
            leaf_handle = gateway.node(handle, leaf.path)
            source, columns = gateway.source(leaf_handle), gateway.attributes(leaf_handle)
            if source.names in FAITHFUL:
                narrow |= {
                    c.id
                    for c in columns
                    if (source.files and c.type in NARROW) or c.name in source.aside
                }
                lossy |= {c.id for c in columns if source.files and may_lose_by(c.type)}
            else:
                unknown |= {c.id for c in columns}
    links: list[Set[int]] | None = []
    if narrow or unknown or lossy:
        shown = {c.id for sub in inner for c in gateway.attributes(sub)}
        links = _links([tree for _, tree in parts], shown)
    kept_columns = (
        _follow_links(narrow, links),
        _follow_links(unknown, links),
        _follow_links(narrow | lossy, links),
    )
    _last["root"] = view.root, kept_columns
    return kept_columns


_last: dict[str, tuple[Node, Kept]] = {}
"""The answer for the plan of the last question: every boundary of a plan asks."""


def _reason(source: LeafSource) -> str:
    name = source.names[-1].rpartition(".")[2]
    return (
        f"the data source ({name}) is not known to apply filters as Spark does, and might be handed"
        " others; store its rows first"
    )


def _reachable_operators(node: Node) -> Iterable[Node]:
    """Iterate over the operators that a filter may reach."""
    stack = [node]
    while stack:
        operator = stack.pop()
        yield operator
        if operator.kind not in _STOPPING:
            stack += operator.children


def _links(roots: Iterable[Node], shown: Set[int]) -> list[Set[int]] | None:
    """Return sets of columns of a plan and its subqueries among which Spark may infer filters. None
    if an operator gives columns other numbers and the correspondence is not known. A condition with
    a subquery may compare its columns with the columns that subqueries have ``shown``.
    """
    links: list[Set[int]] = []
    for node in chain.from_iterable(map(walk, roots)):
        if node.kind == CTE_REFERENCE or (node.children and node.kind not in _NAMING):
            return None
        for part in conditions(node):
            if any(str(n["class"]).endswith(_SUBQUERIES) for n in part.tree):
                links.append(references(part.tree) | shown)
            elif part.tree[0]["class"] in EQUALITIES:
                # Attributes of an outer query are inside of a node (``OuterReference``).
                inside = nodes_inside(part.tree)
                links.append({expr_id(n) for n in inside if n["class"] == ATTRIBUTE})
        links += [{expr_id(t[0]), *references(t)} for t in trees(node) if t[0]["class"] == ALIAS]
        if node.kind in _BY_PLACE:
            columns = [outputs(n) for n in (node, *node.children)]
            known_columns = [c for c in columns if c is not None]
            if len(known_columns) < len(columns):
                return None
            links += map(set, zip(*known_columns, strict=True))
    return links


def _follow_links(
    columns: Collection[int], links: Sequence[Set[int]] | None
) -> frozenset[int] | None:
    """Return these columns and all columns that links lead to; None if it may be any."""
    if not columns:
        return frozenset()
    if links is None:
        return None
    linked: dict[int, list[Set[int]]] = {}
    for link in links:
        for number in link:
            linked.setdefault(number, []).append(link)
    reached, pending = set(columns), list(columns)
    while pending:
        for link in linked.pop(pending.pop(), ()):
            pending += link - reached
            reached |= link
    return frozenset(reached)
