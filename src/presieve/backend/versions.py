# SPDX-License-Identifier: Apache-2.0
"""Trusted. List the supported versions of Spark, and determine which of them runs.

This module imports nothing of PySpark, because in an unknown version everything may be somewhere
else. Differences in the JVM are in :mod:`presieve.backend.classic.version_differences`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Mapping
from typing import Any
from weakref import WeakKeyDictionary

from msgspec import Struct

from presieve.errors import Declined

CONF = "spark.presieve.version"
"""The configuration entry that says which version the running Spark is to be treated as."""

_ARROW_ROWS = 101
_ARROW_TABLES = 301
_BY_PANDAS = frozenset((_ARROW_ROWS, _ARROW_TABLES))
"""Evaluation types whose values go through pandas before 4.1, so an integer beside a NULL becomes a
float (``worker.py``, ``wrap_arrow_batch_udf``, ``read_udtf``).
"""


class Version(Struct, frozen=True):
    """A version of Spark. ``unread`` are the evaluation types that behave differently there than
    described here. ``by_column`` is that of :class:`presieve.lift.forms.RowsFunction`. ``connect``:
    plans of its Spark Connect are read, too.
    ``subqueries``: scans are handed the values of scalar subqueries.
    """

    name: str
    unread: frozenset[int] = frozenset()
    by_column: bool = False
    connect: bool = True
    subqueries: bool = True

    def reads(self, kinds: Collection[int]) -> frozenset[int]:
        """Return the evaluation types in ``kinds`` that are read."""
        return frozenset(kinds) - self.unread


VERSIONS: Mapping[str, Version] = {
    v.name: v
    for v in (
        Version(
            "3.5",
            unread=_BY_PANDAS,
            by_column=True,
            connect=False,
            subqueries=False,
        ),
        Version("4.0", unread=_BY_PANDAS, by_column=True, connect=False),
        Version("4.1", by_column=True, connect=False),
        Version("4.2", connect=False),
        Version("4.3"),
    )
}
"""All supported versions, the oldest first."""

_NAMES = ", ".join(VERSIONS)
_NUMBER = re.compile(r"\d+\.\d+")


def version_of(spark: Any, settings: Mapping[str, str] | None = None) -> Version | Declined:
    """Return the version that a session runs, or is to be treated as, if it is supported.
    ``settings`` are the entries that are set in the session, if they were read.
    """
    configured = spark.conf.get(CONF, None) if settings is None else settings.get(CONF)
    if configured is not None:
        return VERSIONS.get(configured) or _decline(
            f"{CONF} is {configured!r}, not one of {_NAMES}"
        )
    connect = type(spark).__module__.startswith("pyspark.sql.connect")
    client, server = _numbers(spark)
    if server not in VERSIONS:
        return _decline(f"this is Spark {server}, and only {_NAMES} are known")
    if client != server:
        return _decline(f"this is PySpark {client} with Spark {server}")
    if connect and not VERSIONS[server].connect:
        return _decline(f"Spark Connect {server} is not known; use a classic session")
    return VERSIONS[server]


def _decline(reason: str) -> Declined:
    return Declined("spark-version", reason)


def _numbers(spark: Any) -> tuple[str, str]:
    """Return the major and minor version of PySpark here, and of the connected Spark."""
    if spark not in _known:
        client_version = str(sys.modules["pyspark"].__version__)
        _known[spark] = (_number(client_version), _number(str(spark.version)))
    return _known[spark]


def _number(text: str) -> str:
    version_match = _NUMBER.match(text)
    return version_match[0] if version_match is not None else text


_known: WeakKeyDictionary[Any, tuple[str, str]] = WeakKeyDictionary()
