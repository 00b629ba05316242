# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Report how tables of Iceberg treat filters, as Iceberg's scans describe themselves.

Iceberg prints the filters of a scan in its own words. Its own code (``SparkV2Filters``) translates
a condition into these words, so that both can be compared.
"""

from __future__ import annotations

from presieve.backend.classic.jvm_plans import JvmPlans
from presieve.backend.classic.py4j_errors import (
    class_name,
    java_class,
    simple_class,
    translate_errors,
)
from presieve.backend.classic.scans.plan_leaves import SOURCES
from presieve.backend.gateway import Handle
from presieve.backend.statistics.estimates import local
from presieve.backend.statistics.pushed_filters import split_list
from presieve.cost.estimate import FILES

_SPARK = "org.apache.iceberg.spark"
_FILTERS, _END = "[filters=", ", groupedBy="
NOT_NULL = " IS NOT NULL"


def is_scan(leaf: Handle) -> bool:
    """Whether a leaf of a physical plan is a scan of Iceberg."""
    if simple_class(leaf) != "BatchScanExec":
        return False
    return class_name(leaf.scan()).startswith(f"{_SPARK}.source.")


@translate_errors
def location(leaf: Handle) -> str:
    """Return the location of a scan's files, as a URI."""
    return str(leaf.table().table().location())


@translate_errors
def some_files(relation: Handle) -> list[str]:
    """Return the URIs of some files of a table on this machine, as it is now; none for other
    tables.
    """
    table = relation.table().table()
    if local(str(table.location())) is None:
        return []
    tasks = table.newScan().planFiles()
    try:
        file_tasks = tasks.iterator()
        return [str(file_tasks.next().file().path()) for _ in range(FILES) if file_tasks.hasNext()]
    finally:
        tasks.close()


@translate_errors
def filters_of_scan(leaf: Handle) -> list[str]:
    """Return the filters of a scan."""
    _, _, filter_text = str(leaf.scan().description()).partition(_FILTERS)
    return split_list(filter_text.rpartition(_END)[0])


def in_catalyst(text: str) -> str:
    """Write a filter as Spark would print it."""
    column, _, suffix = text.partition(NOT_NULL)
    return f"({text})" if suffix or column == text else f"isnotnull({column})"


@translate_errors
def write_in_iceberg(plans: JvmPlans, condition: Handle) -> str | None:
    """Write a condition in Iceberg's words; None if Iceberg has no words for it."""
    jvm = plans.jvm
    strategy = getattr(getattr(jvm, SOURCES + "v2.DataSourceV2Strategy$"), "MODULE$")
    predicate = strategy.translateFilterV2(condition)
    if not predicate.isDefined():
        return None
    expression = java_class(jvm, f"{_SPARK}.SparkV2Filters").convert(predicate.get())
    return (
        None
        if expression is None
        else str(java_class(jvm, f"{_SPARK}.Spark3Util").describe(expression))
    )


@translate_errors
def rows(leaf: Handle) -> tuple[int, int] | None:
    """Return the number of rows in a scan's table, and in the files that the scan chooses. None if
    that is not known, as for an old snapshot of a table.
    """
    snapshot = leaf.table().table().currentSnapshot()
    total = None if snapshot is None else snapshot.summary().get("total-records")
    read = leaf.scan().estimateStatistics().numRows()
    if not total or not read.isPresent():
        return None
    counted = int(total), int(read.getAsLong())
    return counted if 0 <= counted[1] <= counted[0] else None
