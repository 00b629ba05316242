# SPDX-License-Identifier: Apache-2.0
"""Trusted. Determine what the leaves of a classic session's plan read, and whether they can be read
again.

The plans of one ``optimize`` share leaves and the relations in them. Each object of the JVM is
asked once, and recognized by its identity.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cached_property
from typing import TypeVar

from py4j.java_gateway import is_instance_of

from presieve.backend.classic.jvm_plans import JvmPlans
from presieve.backend.classic.py4j_errors import class_name, java_class, members
from presieve.backend.effects.trusted_scans import CORRUPT_RECORD, ICEBERG, PARSED, by_columns
from presieve.backend.gateway import Handle, LeafSource
from presieve.cost.estimate import pick_spread

T = TypeVar("T")

SOURCES = "org.apache.spark.sql.execution.datasources."
RELATION = SOURCES + "LogicalRelation"
RELATION_V2 = SOURCES + "v2.DataSourceV2Relation"
CACHED = "org.apache.spark.sql.execution.columnar.InMemoryRelation"
FILES = SOURCES + "HadoopFsRelation"
_PARQUET = SOURCES + "parquet.ParquetFileFormat"
_LISTED = SOURCES + "InMemoryFileIndex"
BY_FIELD_ID = "spark.sql.parquet.fieldId.read.enabled"
"""The setting that makes Spark look up columns by number instead of by name."""

VIEW = "org.apache.spark.sql.catalyst.plans.logical.View"
"""The class of the operator above a view's plan."""

_HELD = frozenset(("LocalRelation", "OneRowRelation", "Range"))
"""Leaves whose rows are in the plan itself."""


class Files:
    """The files of a ``HadoopFsRelation``. ``location`` is the list of them."""

    def __init__(self, base: Handle, location: Handle | None = None) -> None:
        """``location``: another list than the relation's own."""
        self.base = base
        self.location: Handle = base.location() if location is None else location

    @cached_property
    def format(self) -> Handle:
        """The format."""
        return self.base.fileFormat()

    @cached_property
    def options(self) -> Handle:
        """The options of the relation, a map."""
        return self.base.options()

    @cached_property
    def data_schema(self) -> Handle:
        """The columns of the files."""
        return self.base.dataSchema()

    @cached_property
    def partition_schema(self) -> Handle:
        """The columns of the names of directories."""
        return self.base.partitionSchema()

    @cached_property
    def form(self) -> str:
        """The class of the format."""
        return class_name(self.format)

    @cached_property
    def index(self) -> str:
        """The class of the list."""
        return class_name(self.location)

    @property
    def is_listed(self) -> bool:
        """Whether the files were listed when the relation was made."""
        return self.index == _LISTED

    @property
    def is_parquet(self) -> bool:
        """Whether the files are Parquet files."""
        return self.form == _PARQUET

    @cached_property
    def statuses(self) -> list[str]:
        """The status of each file, as Hadoop prints it."""
        return str(self.location.allFiles().mkString(_BETWEEN)).split(_BETWEEN)

    @cached_property
    def stamps(self) -> list[tuple[str, int, int]]:
        """Path, length and modification time of each file; none if they are not listed, or if the
        status of a file is not understood.
        """
        matches = [_STATUS.fullmatch(status) for status in self.statuses] if self.is_listed else []
        stamps = [(m[1], int(m[2]), int(m[3])) for m in matches if m is not None]
        return stamps if len(stamps) == len(matches) else []

    @cached_property
    def paths(self) -> list[str]:
        """The files, as URIs."""
        paths = [path for path, _, _ in self.stamps]
        if paths and all(map(_PLAIN.fullmatch, paths)):
            return paths
        return list(map(str, self.location.inputFiles()))

    @cached_property
    def placed_columns(self) -> frozenset[str]:
        """The columns that are read from the names of directories."""
        return frozenset(_field_names(self.partition_schema))

    @cached_property
    def stored_columns(self) -> frozenset[str]:
        """The columns that are read from the files. Spark reads partition columns from the
        directory, even if the files have them, too, and whatever the case of their names there.
        """
        apart = {name.lower() for name in self.placed_columns}
        stored = _field_names(self.data_schema)
        return frozenset(name for name in stored if name.lower() not in apart)

    def values(self, names: tuple[str, ...]) -> dict[str, str]:
        """Return the values of these options, if they are set."""
        drawn = str(self.options.toString()).lower()
        entries = ((name, self.options.get(name)) for name in names if name.lower() in drawn)
        return {name: str(value.get()) for name, value in entries if value.isDefined()}


_BETWEEN = "\n\0\n"
"""Stands between two files in the text of all files."""
_STATUS = re.compile(
    r"\w*FileStatus\{path=(.*?); isDirectory=false; length=(\d+); .*modification_time=(\d+);.*",
    re.DOTALL,
)
_PLAIN = re.compile(r"[\w/.:=,@+-]+", re.ASCII)
"""Paths that are their own URI: they have no character that a URI encodes."""


def _field_names(schema: Handle) -> list[str]:
    return [str(f["name"]) for f in json.loads(str(schema.json()))["fields"]]


class Leaf:
    """A leaf of a plan. ``kind`` is its class."""

    def __init__(self, plans: JvmPlans, handle: Handle, kind: str) -> None:
        self.handle, self.kind, self._plans = handle, kind, plans

    @property
    def simple_kind(self) -> str:
        """The class without its package."""
        return self.kind.rpartition(".")[2]

    @cached_property
    def files(self) -> Files | None:
        """The files that a ``LogicalRelation`` reads; None for other leaves."""
        if self.kind != RELATION:
            return None
        base = self.handle.relation()
        return _ask(self._plans, base, lambda: Files(base) if class_name(base) == FILES else None)

    @cached_property
    def is_listed_once(self) -> bool:
        """Whether it reads files that were listed when it was made and are not listed again. The
        files of a table are listed again whenever something is written to it: Spark keeps one
        listing for all DataFrames of a table (``InsertIntoHadoopFsRelationCommand``).
        """
        if self.files is None or not self.files.is_listed:
            return False
        return not bool(self.handle.catalogTable().isDefined())

    @property
    def is_scan(self) -> bool:
        """Whether a leaf of an optimized plan may be handed filters to skip rows by."""
        return self.files is not None or self.simple_kind == "DataSourceV2ScanRelation"

    @property
    def is_fixed(self) -> bool:
        """Whether the optimizer gives the same result for it at any time."""
        return self.simple_kind in (*_HELD, "LogicalRDD") or self.is_listed_once

    @property
    def is_repeatable(self) -> bool:
        """Whether it gives the same rows when it is read more than once in one execution: files,
        rows in the plan, and RDDs that Spark itself recomputes if a task is retried.
        """
        if self.simple_kind == "LogicalRDD":
            level = self.handle.rdd().outputDeterministicLevel()
            return str(level.toString()) == "DETERMINATE"
        return self.files is not None or self.simple_kind in _HELD

    @cached_property
    def source(self) -> LeafSource:
        """What it reads."""
        return _describe_source(self._plans, self)

    @cached_property
    def table(self) -> str:
        """The class of the table of a ``DataSourceV2Relation``; empty for other leaves."""
        return class_name(self.handle.table()) if self.kind == RELATION_V2 else ""


def _ask(plans: JvmPlans, thing: Handle, ask: Callable[[], T]) -> T:
    """Ask about an object of the JVM, once for the object."""
    key = (Leaf.__name__, plans.identity(thing))
    if key not in plans.answers:
        plans.answers[key] = ask()
    answer: T = plans.answers[key]
    return answer


def leaf_of(plans: JvmPlans, handle: Handle, kind: str | None = None) -> Leaf:
    """Return the facts about a leaf. ``kind`` is its class, if it is known."""
    return _ask(plans, handle, lambda: Leaf(plans, handle, kind or class_name(handle)))


def renewed_leaf(plans: JvmPlans, handle: Handle, like: Leaf, files: Files) -> None:
    """Note the facts about a copy of a leaf with its own list of the same files."""
    leaf = leaf_of(plans, handle, like.kind)
    _ask(plans, files.base, lambda: files)
    vars(leaf).update(files=files, is_listed_once=like.is_listed_once)


def leaves_of(plans: JvmPlans, plan: Handle) -> list[Leaf]:
    """Return the leaves of a plan, in order."""
    return [leaf_of(plans, handle) for handle in plans.leaves(plan)]


def some_parquet_files(plans: JvmPlans, leaf: Handle, most: int) -> tuple[int, list[str]]:
    """Return the number of files and at most ``most`` of them; none if they are not listed yet."""
    files = leaf_of(plans, leaf).files
    if files is None or not files.is_parquet or not files.is_listed:
        return 0, []
    paths = files.paths
    return len(paths), [paths[i] for i in pick_spread(range(len(paths)), most)]


_RAW_V2 = "SupportsPushDownCatalystFilters"


def _describe_source(plans: JvmPlans, leaf: Leaf) -> LeafSource:
    if leaf.files is not None:
        return _describe_files(plans, leaf.files)
    if leaf.kind == RELATION:
        base = leaf.handle.relation()
        raw = is_of_class(plans, base, "org.apache.spark.sql.sources", "CatalystScan")
        return LeafSource((leaf.kind, class_name(base)), raw=raw)
    if leaf.kind == RELATION_V2:
        handle, table = leaf.handle, leaf.table
        parsed = table.lower().startswith(tuple(SOURCES + "v2." + p for p in PARSED))
        builder = handle.table().newScanBuilder(handle.options())
        raw = is_of_class(plans, builder, "org.apache.spark.sql.internal.connector", _RAW_V2)
        if table == ICEBERG[0]:
            return _iceberg(handle, raw=raw)
        return LeafSource((table,), table.startswith(SOURCES + "v2."), raw, parsed)
    return LeafSource((leaf.kind,))


_COMPARED = re.compile(r"boolean|integer|long|date|timestamp(_ntz)?|decimal\(.*")
"""Types, in JSON, for which Iceberg compares the extremes of files as Spark does. Iceberg keeps no
NaN among the extremes, and compares texts as strings of another encoding.
"""
_TRANSFORMS = re.compile(r"identity|void|bucket\[.*|(year|month|day|hour)s?")
"""Partition transforms under which filters on the column keep the right files. Truncated numbers
wrap around at the least number, so rows next to it are lost.
"""


def _iceberg(leaf: Handle, *, raw: bool) -> LeafSource:
    """Describe a table of Iceberg by the types of its columns and all partitionings that its files
    ever had.
    """
    table = leaf.table().table()
    schema = table.schema()
    truncated = {
        str(schema.findColumnName(field.sourceId()))
        for spec in table.specs().values()
        for field in members(spec.fields())
        if not _TRANSFORMS.fullmatch(str(field.transform().toString()))
    }
    types = {f["name"]: f["type"] for f in json.loads(str(leaf.schema().json()))["fields"]}
    uncompared = {
        n for n, t in types.items() if not (isinstance(t, str) and _COMPARED.fullmatch(t))
    }
    names = (ICEBERG[0], class_name(table))
    return LeafSource(names, raw=raw, aside=frozenset(truncated | uncompared))


def _describe_files(plans: JvmPlans, files: Files) -> LeafSource:
    catalog = files.index == SOURCES + "CatalogFileIndex"
    names = (plans.conf("spark.sql.catalogImplementation", "hive"),) if catalog else ()
    raw = not catalog and not files.is_listed
    names = (FILES, files.form, files.index, *names)
    return LeafSource(names, files=True, raw=raw, by_columns=_by_columns(plans, files))


_OPTIONS = ("mode", CORRUPT_RECORD, "ignoreCorruptFiles")


def _by_columns(plans: JvmPlans, files: Files) -> bool:
    """Compute :attr:`Source.by_columns` for files."""

    def columns() -> list[str]:
        return [str(name) for name in files.base.schema().fieldNames()]

    form = files.form.removeprefix(SOURCES)
    return by_columns(form, files.values(_OPTIONS), columns, plans.conf)


def is_of_class(plans: JvmPlans, thing: Handle, package: str, name: str) -> bool:
    """Whether the object is of a class or implements an interface. Raises :class:`GatewayError` if
    this Spark does not have it.
    """
    java_class(plans.jvm, f"{package}.{name}")
    return bool(is_instance_of(plans.spark.sparkContext._gateway, thing, f"{package}.{name}"))
