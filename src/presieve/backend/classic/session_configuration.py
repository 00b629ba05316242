# SPDX-License-Identifier: Apache-2.0
"""Trusted. Read the configuration of a classic session at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from presieve.backend.classic.py4j_errors import java_module, simple_class, translate_errors
from presieve.backend.gateway import Handle

if TYPE_CHECKING:
    from pyspark.sql.session import SparkSession

_BETWEEN = "\n\0\n"
"""Stands between two entries in the text of all entries."""
_ARROW = " -> "
_CONSTANT = ("ConfigEntryWithDefault", "ConfigEntryWithDefaultString", "OptionalConfigEntry")
_COMPUTED = "ConfigEntryWithDefaultFunction"

_defaults: dict[str, str | None] = {}
"""Defaults that are constants in Spark's code. They are asked for once."""
_computed: set[str] = set()
"""Entries whose default Spark computes each time."""


def runtime_conf(spark: SparkSession) -> Handle:
    """Return the JVM's ``RuntimeConfig`` of a session."""
    return spark.conf._jconf


@translate_errors
def read_settings(spark: SparkSession) -> dict[str, str]:
    """Return all entries that are set in a session."""
    text = str(runtime_conf(spark).getAll().mkString(_BETWEEN))
    entries = (entry.partition(_ARROW) for entry in text.split(_BETWEEN) if entry)
    return {key: value for key, _, value in entries}


def read_default(jvm: Handle, conf: Handle, key: str) -> str | None:
    """Return the value of an entry that is not set; None if Spark has no such entry, or no value
    for it.
    """
    if key in _defaults:
        return _defaults[key]
    if key in _computed:
        return str(conf.get(key))
    entry = java_module(jvm, "org.apache.spark.sql.internal.SQLConf").getConfigEntry(key)
    if entry is None:
        return None
    option = conf.getOption(key)
    value = str(option.get()) if option.isDefined() else None
    kind = simple_class(entry)
    if kind in _CONSTANT and entry.alternatives().isEmpty():
        _defaults[key] = value
    elif kind == _COMPUTED:
        _computed.add(key)
    return value
