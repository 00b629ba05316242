"""Trusted. Determine what the leaves of a classic session's plan read, and whether they can be read
again.
"""

from __future__ import annotations

import json

from presieve.backend.classic.py4j_errors import each, simple_class
from presieve.backend.gateway import Handle
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


def parquet_files(relation: Handle) -> list[str]:
    """Return the files of a ``LogicalRelation`` over Parquet, as URIs; none for other relations."""
    location = _location(relation)
    return [] if location is None else [str(f) for f in location.inputFiles()]


def some_parquet_files(relation: Handle, most: int) -> tuple[int, list[str]]:
    """Return the number of files and at most ``most`` of them; none if they are not listed yet."""
    location = _location(relation)
    if location is None or simple_class(location) != "InMemoryFileIndex":
        return 0, []
    files = location.inputFiles()
    return len(files), [str(files[i]) for i in pick_spread(range(len(files)), most)]


def _location(relation: Handle) -> Handle | None:
    """Return the index of the files of a ``LogicalRelation`` over Parquet."""
    if relation.getClass().getName() != RELATION:
        return None
    base = relation.relation()
    if not reads_files(base) or base.fileFormat().getClass().getName() != _PARQUET:
        return None
    return base.location()


def file_stamps(relation: Handle) -> list[tuple[str, int, int]]:
    """Return path, length and modification time of the files of a relation over Parquet."""
    if not parquet_files(relation):
        return []
    location = relation.relation().location()
    if simple_class(location) != "InMemoryFileIndex":
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
    if str(relation.getClass().getName()) != RELATION:
        return False
    base = relation.relation()
    if not reads_files(base) or relation.catalogTable().isDefined():
        return False
    return simple_class(base.location()) == "InMemoryFileIndex"


def is_scan(leaf: Handle) -> bool:
    """Whether a leaf of an optimized plan may be handed filters to skip rows by."""
    if str(leaf.getClass().getName()) == RELATION:
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
    return str(base.getClass().getName()) == FILES
