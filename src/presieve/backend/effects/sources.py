"""Trusted. Scans below a boundary: which are known to do with a filter what it says.

A data source may take a filter, claim that it was applied, and mean something else by it: strings
without regard to case, say. What is known is listed here, and its filters are Spark's own code or
evaluated again above it. Everything else is handed no filter of ours: the pre-filter stands beside
in a form that no source is given (:func:`presieve.sql.emit.aside`), and filters above the
boundary stay as they are, so that what the source is handed is what it was handed before.

Spark's Parquet reader has one such flaw itself. Of what a file holds as 32 bits it gives the last 8
or 16 where the column is of such a type, but compares statistics with all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from presieve.backend.catalyst.boundary import AGGREGATE, LOGICAL, Boundary
from presieve.backend.catalyst.definitions import CTE_REFERENCE
from presieve.backend.catalyst.operators import (
    ALWAYS_PASSED,
    DEDUPLICATE,
    DISTINCT,
    JOIN,
    UNION,
    WINDOW,
)
from presieve.backend.catalyst.trees import ALIAS, Node, expr_id, node_at, references, walk
from presieve.backend.effects.raising import trees
from presieve.backend.gateway import Gateway, Handle, Source
from presieve.errors import Declined, DeclineSignal
from presieve.plan.algebra import Attribute

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
    given = {k.lower(): v for k, v in options.items()}
    if given.get("ignorecorruptfiles", "false").lower() != "false":
        return True
    if not form.lower().startswith(PARSED):
        return False
    if given.get("mode", "PERMISSIVE").upper() != "PERMISSIVE":
        return True
    name = given.get(CORRUPT_RECORD.lower())
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
_NAMING = ALWAYS_PASSED | {AGGREGATE, WINDOW, DISTINCT, DEDUPLICATE, JOIN}
"""Operators whose columns have the numbers of those below, or are aliases."""
_STOPPING = frozenset(
    LOGICAL + name
    for name in (
        *("FlatMapGroupsInPandas", "FlatMapGroupsInArrow", "MapInPandas", "MapInArrow"),
        *("FlatMapCoGroupsInPandas", "FlatMapCoGroupsInArrow"),
    )
)
"""No filter moves past these by itself."""


@dataclass(frozen=True, slots=True)
class Sources:
    """The scans that a pre-filter may reach: whether all of them are ``faithful``, and the input
    attributes that are computed from columns of which a scan is handed no filter, such as numbers
    of 8 or 16 bits in files (``narrow``; None: any may). ``claims``: what they claim is taken for
    true.
    """

    faithful: bool
    narrow: frozenset[int] | None
    claims: bool = False

    def aside(self, read: Iterable[int]) -> bool:
        """Whether a pre-filter that reads these attributes must be kept from the scans."""
        return not self.faithful or self.narrow is None or not self.narrow.isdisjoint(read)

    @property
    def taken_at_their_word(self) -> Sources:
        """The same if all of them apply the filters that they claim as Spark does."""
        return Sources(True, self.narrow or frozenset(), claims=not self.faithful)


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
    found = [_read(gateway, plan, root, node_at(root, path), native) for path in paths]
    narrow = frozenset(i for one in found for i in one.narrow or ())
    known = all(one.narrow is not None for one in found)
    return Sources(all(one.faithful for one in found), narrow if known else None)


def check_replaceable(
    gateway: Gateway, plan: Handle, root: Node, boundary: Boundary, read: Iterable[int]
) -> None:
    """Raise :class:`DeclineSignal` where an expression over these attributes, in a function's
    place, may change what comes out of the scans below: Spark moves filters past it that it does
    not move past a function, reads its columns alone, and has some sources aggregate.
    """
    against = ignores_corrupt_files(gateway) or dropped_by_columns(
        gateway, plan, root, node_at(root, boundary.path)
    )
    if against is not None:
        raise DeclineSignal.of(against)
    if read_sources(gateway, plan, root, boundary).aside(read):
        reason = "a source below is not known to apply filters as Spark does; store its rows first"
        raise DeclineSignal("source", reason)


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


def _read(gateway: Gateway, plan: Handle, root: Node, input_: Node, native: bool) -> Sources:
    nodes = list(_reached(input_))
    leaves = [n for n in nodes if not n.children]
    shared = any(n.kind == CTE_REFERENCE for n in leaves)
    if shared:  # a filter of ours takes part in what all references together ask for
        leaves = [n for n in walk(root) if not n.children]
    leaves = [n for n in leaves if n.kind != CTE_REFERENCE and n.kind not in _STOPPING]
    narrow: set[int] = set()
    faithful = True
    for leaf in leaves:
        handle = gateway.node(plan, leaf.path)
        source = gateway.source(handle)
        if source.names in FAITHFUL:
            narrow |= set(_kept_from(source, gateway.attributes(handle)))
            continue
        faithful = False
        known = _ROWS if source.names[0] not in _ONLY_FILTERS else _ROWS | _CLASSES
        through = {n.kind for n in nodes if n.children and n.kind not in _STOPPING}
        computes = native and source.names[0] not in _ONLY_FILTERS
        if shared or computes or source.raw or not through <= known:
            raise DeclineSignal("source", _reason(source))
    return Sources(faithful, _computed(nodes, narrow))


def _kept_from(source: Source, columns: Iterable[Attribute]) -> Iterable[int]:
    """The columns of which a scan is handed no filter."""
    for column in columns:
        narrow = source.files and column.type in ("tinyint", "smallint")
        if narrow or column.name in source.aside:
            yield column.id


def _reason(source: Source) -> str:
    name = source.names[-1].rpartition(".")[2]
    return (
        f"the data source ({name}) is not known to apply filters as Spark does, and might be handed"
        " others; store its rows first"
    )


def _reached(node: Node) -> Iterable[Node]:
    """The operators that a filter may come to."""
    stack = [node]
    while stack:
        here = stack.pop()
        yield here
        if here.kind not in _STOPPING:
            stack += here.children


def _computed(nodes: list[Node], leaves: set[int]) -> frozenset[int] | None:
    """The attributes that are computed from these, at whatever place; None where it is not known
    which, since an operator gives columns new numbers.
    """
    if not leaves:
        return frozenset()
    if not {n.kind for n in nodes if n.children} <= _NAMING:
        return None
    made = [
        (expr_id(t[0]), references(t)) for n in nodes for t in trees(n) if t[0]["class"] == ALIAS
    ]
    found = set(leaves)
    while True:
        more = {i for i, read in made if i not in found and not read.isdisjoint(found)}
        if not more:
            return frozenset(found)
        found |= more
