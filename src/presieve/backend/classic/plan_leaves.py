"""Trusted. Determine what the leaves of a classic session's plan read, and whether they can be read
again.
"""

from __future__ import annotations

import json
import re

from py4j.java_gateway import is_instance_of

from presieve.backend.classic.jvm_plans import JvmPlans
from presieve.backend.classic.py4j_errors import class_name, each, java_class, members, simple_class
from presieve.backend.effects.trusted_scans import CORRUPT_RECORD, ICEBERG, PARSED, by_columns
from presieve.backend.gateway import Handle, LeafSource
from presieve.cost.estimate import pick_spread

SOURCES = "org.apache.spark.sql.execution.datasources."
RELATION = SOURCES + "LogicalRelation"
RELATION_V2 = SOURCES + "v2.DataSourceV2Relation"
CACHED = "org.apache.spark.sql.execution.columnar.InMemoryRelation"
FILES = SOURCES + "HadoopFsRelation"
_PARQUET = SOURCES + "parquet.ParquetFileFormat"
BY_FIELD_ID = "spark.sql.parquet.fieldId.read.enabled"
"""The setting that makes Spark look up columns by number instead of by name."""

VIEW = "View"
"""The class of the operator above a view's plan."""

_HELD = frozenset(("LocalRelation", "OneRowRelation", "Range"))
"""Leaves whose rows are in the plan itself."""


def some_parquet_files(relation: Handle, most: int) -> tuple[int, list[str]]:
    """Return the number of files and at most ``most`` of them; none if they are not listed yet."""
    location = parquet_location(relation)
    if location is None or simple_class(location) != "InMemoryFileIndex":
        return 0, []
    files = location.inputFiles()
    return len(files), [str(files[i]) for i in pick_spread(range(len(files)), most)]


def parquet_location(relation: Handle) -> Handle | None:
    """Return the index of the files of a ``LogicalRelation`` over Parquet; None for others."""
    if class_name(relation) != RELATION:
        return None
    base = relation.relation()
    if not reads_files(base) or class_name(base.fileFormat()) != _PARQUET:
        return None
    return base.location()


def file_stamps(location: Handle | None) -> list[tuple[str, int, int]]:
    """Return path, length and modification time of the files in an index of listed files."""
    if location is None or simple_class(location) != "InMemoryFileIndex":
        return []
    return sorted(
        (str(f.getPath().toString()), int(f.getLen()), int(f.getModificationTime()))
        for f in each(location.allFiles())
    )


def stored_columns(relation: Handle) -> frozenset[str]:
    """Return the columns that are read from the files. Spark reads partition columns from the
    directory, even if the files have them, too, and whatever the case of their names there.
    """
    base = relation.relation()
    stored, placed = (
        [str(f["name"]) for f in json.loads(str(schema.json()))["fields"]]
        for schema in (base.dataSchema(), base.partitionSchema())
    )
    apart = {name.lower() for name in placed}
    return frozenset(name for name in stored if name.lower() not in apart)


def is_listed_once(relation: Handle) -> bool:
    """Whether the files of a ``LogicalRelation`` were listed when it was made and are not listed
    again. The files of a table are listed again whenever something is written to it: Spark keeps
    one listing for all DataFrames of a table (``InsertIntoHadoopFsRelationCommand``).
    """
    if class_name(relation) != RELATION:
        return False
    base = relation.relation()
    if not reads_files(base) or relation.catalogTable().isDefined():
        return False
    return simple_class(base.location()) == "InMemoryFileIndex"


def is_scan(leaf: Handle) -> bool:
    """Whether a leaf of an optimized plan may be handed filters to skip rows by."""
    if class_name(leaf) == RELATION:
        return reads_files(leaf.relation())
    return simple_class(leaf) == "DataSourceV2ScanRelation"


def stays(leaf: Handle) -> bool:
    """Whether the optimizer gives the same result for a leaf at any time."""
    return simple_class(leaf) in (*_HELD, "LogicalRDD") or is_listed_once(leaf)


def repeatable(leaf: Handle) -> bool:
    """Whether a leaf gives the same rows when it is read more than once in one execution: files,
    rows in the plan, and RDDs that Spark itself recomputes if a task is retried.
    """
    kind = simple_class(leaf)
    if kind == "LogicalRelation":
        return reads_files(leaf.relation())
    if kind == "LogicalRDD":
        return str(leaf.rdd().outputDeterministicLevel().toString()) == "DETERMINATE"
    return kind in _HELD


def reads_files(base: Handle) -> bool:
    return class_name(base) == FILES


_RAW_V2 = "SupportsPushDownCatalystFilters"


def describe_source(plans: JvmPlans, leaf: Handle) -> LeafSource:
    """Implement :meth:`Gateway.source`."""
    name = class_name(leaf)
    if name == RELATION:
        return _relation(plans, name, leaf.relation())
    if name == RELATION_V2:
        table = class_name(leaf.table())
        parsed = table.lower().startswith(tuple(SOURCES + "v2." + p for p in PARSED))
        builder = leaf.table().newScanBuilder(leaf.options())
        raw = _is(plans, builder, "org.apache.spark.sql.internal.connector", _RAW_V2)
        if table == ICEBERG[0]:
            return _iceberg(leaf, raw=raw)
        return LeafSource((table,), table.startswith(SOURCES + "v2."), raw, parsed)
    return LeafSource((name,))


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


def _relation(plans: JvmPlans, name: str, base: Handle) -> LeafSource:
    kind = class_name(base)
    if kind != FILES:
        raw = _is(plans, base, "org.apache.spark.sql.sources", "CatalystScan")
        return LeafSource((name, kind), raw=raw)
    form, index = (class_name(x) for x in (base.fileFormat(), base.location()))
    catalog = index == SOURCES + "CatalogFileIndex"
    names = (plans.conf("spark.sql.catalogImplementation", "hive"),) if catalog else ()
    raw = not catalog and index != SOURCES + "InMemoryFileIndex"
    dependent = _by_columns(plans, form, base)
    return LeafSource((kind, form, index, *names), files=True, raw=raw, by_columns=dependent)


_OPTIONS = ("mode", CORRUPT_RECORD, "ignoreCorruptFiles")


def _by_columns(plans: JvmPlans, form: str, base: Handle) -> bool:
    """Compute :attr:`Source.by_columns` for files."""
    entries = ((name, base.options().get(name)) for name in _OPTIONS)
    options = {name: str(value.get()) for name, value in entries if value.isDefined()}

    def columns() -> list[str]:
        return [str(name) for name in base.schema().fieldNames()]

    return by_columns(form.removeprefix(SOURCES), options, columns, plans.conf)


def _is(plans: JvmPlans, thing: Handle, package: str, name: str) -> bool:
    """Whether the object is of a class or implements an interface. Raises :class:`GatewayError` if
    this Spark does not have it.
    """
    java_class(plans.jvm, f"{package}.{name}")
    return bool(is_instance_of(plans.spark.sparkContext._gateway, thing, f"{package}.{name}"))
