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
_CONSTANT = ("ConfigEntryWithDefault", "ConfigEntryWithDefaultString")
_COMPUTED = "ConfigEntryWithDefaultFunction"

_defaults: dict[str, str] = {}
"""Defaults that are constants in Spark's code."""


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
    entry = java_module(jvm, "org.apache.spark.sql.internal.SQLConf").getConfigEntry(key)
    if entry is None:
        return None
    kind = simple_class(entry)
    if kind == _COMPUTED:
        return str(conf.get(key))
    option = conf.getOption(key)
    value = str(option.get()) if option.isDefined() else None
    if value is not None and kind in _CONSTANT and entry.alternatives().isEmpty():
        _defaults[key] = value
    return value
