"""Trusted. Scans below a boundary: which are known to do with a filter what it says.

A data source may take a filter, claim that it was applied, and mean something else by it: strings
without regard to case, say. What is known is listed here, and its filters are Spark's own code or
evaluated again above it. Everything else is handed no filter of ours: the pre-filter stands beside
in a form that no source is given (:func:`presieve.sql.emit.aside`), and filters above the
boundary stay as they are, so that what the source is handed is what it was handed before.

Spark's Parquet reader has one such flaw itself. Of what a file holds as 32 bits it gives the last 8
or 16 where the column is of such a type, but compares statistics with all of them. Of doubles,
dates and timestamps a scan may lose rows, too (:mod:`presieve.semantics.scan`). Proofs of
pre-filters cover that. Where an expression takes a function's place, Spark hands the scan filters
of the user's, which no proof covers: so such columns are hidden in the expression.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain
from typing import TypeAlias

from presieve.backend.catalyst.boundary import AGGREGATE, LOGICAL, Boundary
from presieve.backend.catalyst.definitions import CTE_REFERENCE
from presieve.backend.catalyst.operators import (
    ALWAYS_PASSED,
    DEDUPLICATE,
    DISTINCT,
    EQUALITIES,
    PASSED,
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
from presieve.backend.effects.raising import trees
from presieve.backend.gateway import Gateway, Handle, Source
from presieve.errors import Declined, DeclineSignal
from presieve.plan.algebra import Attribute
from presieve.semantics.scan import NARROW, may_lose_by

_DATASOURCES = "org.apache.spark.sql.execution.datasources."
_FORMATS = ("parquet.Parquet", "orc.Orc", "json.Json", "csv.CSV", "text.Text")
_FILES = _DATASOURCES + "HadoopFsRelation"
_INDEX = _DATASOURCES + "InMemoryFileIndex"
_CATALOG = _DATASOURCES + "CatalogFileIndex"
SERVER_FORMATS = ("parquet", "orc", "json", "csv", "text")

PARSED = ("json", "csv", "xml")
"""Formats of which a record may be malformed in one column."""
CORRUPT_RECORD = "columnNameOfCorruptRecord"


def by_columns(
    form: str,
    options: Mapping[str, str],
    columns: Callable[[], Iterable[str]],
    conf: Callable[[str, str], str],
) -> bool:
    """Whether rows of files may depend on which columns are read: files that cannot be read are
    left out, or malformed records of a parsed format (``form``) are dropped, fail the job
    (``mode``) or go into a column of their own (``FailureSafeParser``, which sees those records
    that the columns that are read show). ``columns`` and ``conf`` ask the session.
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
"""A table of Iceberg, and not one of those that describe it."""

FAITHFUL: frozenset[tuple[str, ...]] = frozenset(
    (
        # Rows that are there already: Spark filters them.
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
        # Spark's own file formats: what a scan loses is in presieve.semantics.scan, and every
        # filter is evaluated again above it. Directories are chosen by Spark.
        *((_FILES, _DATASOURCES + f + "FileFormat", _INDEX) for f in _FORMATS),
        *((_FILES, _DATASOURCES + f + "FileFormat", _CATALOG, "in-memory") for f in _FORMATS),
        *((_DATASOURCES + "v2." + f + "Table",) for f in _FORMATS),
        *(("files", f) for f in SERVER_FORMATS),
        # Metadata are compared with filters by code that is not Spark's: on some columns alone.
        ICEBERG,
    )
)
"""What leaves read from, as :class:`presieve.backend.gateway.Source` names it."""

_ONLY_FILTERS = frozenset(
    (
        _DATASOURCES + "v2.python.PythonTable",
        _DATASOURCES + "LogicalRelation",
        "org.apache.spark.sql.catalyst.catalog.HiveTableRelation",
    )
)
"""Sources that Spark hands filters and columns, and no aggregates, limits or joins."""

_ROWS = ALWAYS_PASSED | {UNION}
"""Operators through which Spark moves a filter of ours without deriving others from it."""
_CLASSES = frozenset((AGGREGATE, WINDOW, DISTINCT, DEDUPLICATE))
"""The same, but some sources compute them themselves where no filter stands in between."""
_BY_PLACE = frozenset((UNION, LOGICAL + "Intersect", LOGICAL + "Except"))
"""Operators whose columns are those below by their place."""
_STOPPING = frozenset(
    LOGICAL + name
    for name in (
        *("FlatMapGroupsInPandas", "FlatMapGroupsInArrow", "MapInPandas", "MapInArrow"),
        *("FlatMapCoGroupsInPandas", "FlatMapCoGroupsInArrow"),
    )
)
"""No filter moves past these by itself."""
_SUBQUERIES = ("Subquery", ".ListQuery", ".Exists")
"""How the classes of expressions end that have a plan in them."""
_SAME = (LOGICAL + name for name in ("LocalLimit", "GlobalLimit", "Offset", "Tail", "Sample"))
_NAMING = PASSED | _BY_PLACE | _STOPPING | frozenset(_SAME)
"""Operators whose columns have the numbers of those below, are aliases, by their place, or new."""


@dataclass(frozen=True, slots=True)
class Sources:
    """The scans that a pre-filter may reach: whether those below are all ``faithful``, and the
    columns of which a filter must be kept from scans, as it would reach one that loses rows by it
    (``narrow``) or is not known (``unknown``), wherever in the plan. None: it may be any column.
    ``lossy`` are those and all others by some comparisons with which a scan may lose rows.
    ``claims``: what sources claim is taken for true.
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
        """The same if all of them apply the filters that they claim as Spark does."""
        return Sources(True, self.narrow, lossy=self.lossy, claims=True)


def read_sources(gateway: Gateway, plan: Handle, root: Node, boundary: Boundary) -> Sources:
    """The scans below a boundary. Raises :class:`DeclineSignal` ``source`` where a filter of ours
    could change what one of them is handed.
    """
    paths = [boundary.input_path, *([boundary.beside.input_path] if boundary.beside else [])]
    native = any(call.native is not None for call in boundary.calls)
    return scanned(gateway, plan, root, paths, native=native)


def scanned(
    gateway: Gateway, plan: Handle, root: Node, paths: Iterable[tuple[int, ...]], *, native: bool
) -> Sources:
    """The same of the operators at some paths, above which Spark itself aggregates (``native``)."""
    faithful = [_is_faithful(gateway, plan, root, node_at(root, path), native) for path in paths]
    return Sources(all(faithful), *_kept_columns(gateway, plan, root))


def columns_to_hide(
    gateway: Gateway, plan: Handle, root: Node, boundary: Boundary, read: Collection[int]
) -> frozenset[int]:
    """Those of these attributes that an expression in a function's place must hide: Spark moves
    filters past it that it does not move past a function, and a scan loses rows by comparisons with
    them. Raises :class:`DeclineSignal` where the expression may change what comes out of the scans
    in another way: Spark reads its columns alone, and has some sources aggregate.
    """
    against = ignores_corrupt_files(gateway) or dropped_by_columns(
        gateway, plan, root, node_at(root, boundary.path)
    )
    if against is not None:
        raise DeclineSignal.of(against)
    sources = read_sources(gateway, plan, root, boundary)
    unknown = sources.unknown is None or not sources.unknown.isdisjoint(read)
    if not sources.faithful or unknown:
        reason = "a source below is not known to apply filters as Spark does; store its rows first"
        raise DeclineSignal("source", reason)
    return frozenset(read) if sources.lossy is None else sources.lossy.intersection(read)


def dropped_by_columns(gateway: Gateway, plan: Handle, root: Node, node: Node) -> Declined | None:
    """A source below of which some rows depend on which columns are read."""
    leaves = [n for n in walk(node) if not n.children]
    if any(n.kind == CTE_REFERENCE for n in leaves):
        leaves = [n for n in walk(root) if not n.children]
    for leaf in leaves:
        if leaf.kind != CTE_REFERENCE and gateway.source(gateway.node(plan, leaf.path)).by_columns:
            return Declined("source", "the source drops or records rows that are malformed")
    return None


_IGNORE_CORRUPT = "spark.sql.files.ignoreCorruptFiles"


def ignores_corrupt_files(gateway: Gateway) -> Declined | None:
    """Why nothing can be left out in a session that goes on where a file cannot be read."""
    if gateway.conf(_IGNORE_CORRUPT, "false").lower() == "false":
        return None
    return Declined("conf", f"{_IGNORE_CORRUPT} is true: rows depend on which columns are read")


def _is_faithful(gateway: Gateway, plan: Handle, root: Node, input_: Node, native: bool) -> bool:
    """Whether all scans below do with a filter what it says."""
    nodes = list(_reachable_operators(input_))
    leaves = [n for n in nodes if not n.children]
    shared = any(n.kind == CTE_REFERENCE for n in leaves)
    if shared:  # a filter of ours takes part in what all references together ask for
        leaves = [n for n in walk(root) if not n.children]
    leaves = [n for n in leaves if n.kind != CTE_REFERENCE and n.kind not in _STOPPING]
    faithful = True
    for leaf in leaves:
        source = gateway.source(gateway.node(plan, leaf.path))
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
"""By number; None: it may be any of them."""
Kept: TypeAlias = tuple[Columns, Columns, Columns]


def _kept_columns(gateway: Gateway, plan: Handle, root: Node) -> Kept:
    """The columns of a plan of which filters are kept from scans: those of sources that lose rows
    by them and of sources that are not known, and all that these are equal to or computed from, as
    Spark infers filters of one from those of the other (``InferFiltersFromConstraints``). The last
    are those of sources that may lose rows by some of them.
    """
    last_answer = _last.get("root")
    if last_answer is not None and last_answer[0] is root:
        return last_answer[1]
    inner = gateway.subqueries(plan)
    parts = [(plan, root), *((sub, gateway.tree(sub)) for sub in inner)]
    narrow: set[int] = set()
    unknown: set[int] = set()
    lossy: set[int] = set()
    for handle, tree in parts:
        for leaf in (n for n in walk(tree) if not n.children and n.kind != CTE_REFERENCE):
            leaf_handle = gateway.node(handle, leaf.path)
            source, columns = gateway.source(leaf_handle), gateway.attributes(leaf_handle)
            if source.names in FAITHFUL:
                narrow |= set(_kept_from(source, columns))
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
    _last["root"] = root, kept_columns
    return kept_columns


_last: dict[str, tuple[Node, Kept]] = {}
"""Of the plan that was asked about last: every boundary of it asks."""


def _kept_from(source: Source, columns: Iterable[Attribute]) -> Iterable[int]:
    """The columns of which a scan is handed no filter."""
    for column in columns:
        narrow = source.files and column.type in NARROW
        if narrow or column.name in source.aside:
            yield column.id


def _reason(source: Source) -> str:
    name = source.names[-1].rpartition(".")[2]
    return (
        f"the data source ({name}) is not known to apply filters as Spark does, and might be handed"
        " others; store its rows first"
    )


def _reachable_operators(node: Node) -> Iterable[Node]:
    """The operators that a filter may come to."""
    stack = [node]
    while stack:
        operator = stack.pop()
        yield operator
        if operator.kind not in _STOPPING:
            stack += operator.children


def _links(roots: Iterable[Node], shown: Set[int]) -> list[Set[int]] | None:
    """The columns of a plan and its subqueries among which Spark may infer filters; None where an
    operator gives columns other numbers, and it is not known which. A condition with a subquery may
    compare its columns with those that subqueries have ``shown``.
    """
    links: list[Set[int]] = []
    for node in chain.from_iterable(map(walk, roots)):
        if node.kind == CTE_REFERENCE or (node.children and node.kind not in _NAMING):
            return None
        for part in conditions(node):
            if any(str(n["class"]).endswith(_SUBQUERIES) for n in part.tree):
                links.append(references(part.tree) | shown)
            elif part.tree[0]["class"] in EQUALITIES:
                # Those of a query around this one stand inside of a node (``OuterReference``).
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
    """These and all others that links lead to; None where it may be any."""
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
