"""Trusted. Describe the source that a leaf of a classic session's plan reads."""

from __future__ import annotations

import json
import re

from py4j.java_gateway import is_instance_of

from presieve.backend.classic.jvm_plans import JvmPlans
from presieve.backend.classic.plan_leaves import FILES, RELATION, RELATION_V2, SOURCES
from presieve.backend.classic.py4j_errors import java_class, members
from presieve.backend.effects.trusted_scans import CORRUPT_RECORD, ICEBERG, PARSED, by_columns
from presieve.backend.gateway import Handle, LeafSource

_RAW_V2 = "SupportsPushDownCatalystFilters"


def source(plans: JvmPlans, leaf: Handle) -> LeafSource:
    """Implement :meth:`Gateway.source`."""
    name = str(leaf.getClass().getName())
    if name == RELATION:
        return _relation(plans, name, leaf.relation())
    if name == RELATION_V2:
        table = str(leaf.table().getClass().getName())
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
    names = (ICEBERG[0], str(table.getClass().getName()))
    return LeafSource(names, raw=raw, aside=frozenset(truncated | uncompared))


def _relation(plans: JvmPlans, name: str, base: Handle) -> LeafSource:
    kind = str(base.getClass().getName())
    if kind != FILES:
        raw = _is(plans, base, "org.apache.spark.sql.sources", "CatalystScan")
        return LeafSource((name, kind), raw=raw)
    form, index = (str(x.getClass().getName()) for x in (base.fileFormat(), base.location()))
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
