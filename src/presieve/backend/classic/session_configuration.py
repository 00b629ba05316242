# SPDX-License-Identifier: Apache-2.0
"""Trusted. Read the configuration of a classic session at once, and the clock of its workers."""

from __future__ import annotations

import os
import re
import time
from typing import TYPE_CHECKING

from presieve.backend.classic.py4j_errors import (
    java_class,
    java_module,
    simple_class,
    translate_errors,
)
from presieve.backend.gateway import Handle
from presieve.semantics.fixed_offsets import UTC_NAMES

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


_LOCAL_MASTER = re.compile(r"local(\[.*\])?")
_SYSTEM_ZONE = "/etc/localtime"


def workers_show_utc(spark: SparkSession, jvm: Handle) -> bool:
    """Return whether the clocks of Python's workers are known to show UTC: they run on this machine
    (``local[*]``), the JVM starts them with its own environment and that of the context
    (``PythonWorkerFactory.scala``), and this process, which has imported the modules that they
    import, shows UTC itself.
    """
    context = spark.sparkContext
    if os.name != "posix" or not _LOCAL_MASTER.fullmatch(str(context.master)):
        return False
    if "TZ" in context.environment or time.localtime().tm_gmtoff or set(time.tzname) - UTC_NAMES:
        return False
    variable = java_class(jvm, "java.lang.System").getenv("TZ")
    return _system_shows_utc() if variable is None else str(variable) in UTC_NAMES


def _system_shows_utc() -> bool:
    if not os.path.lexists(_SYSTEM_ZONE):
        return True  # as tzset(3) says
    path = os.path.realpath(_SYSTEM_ZONE)
    return os.path.islink(_SYSTEM_ZONE) and path.rpartition("zoneinfo/")[2] in UTC_NAMES
