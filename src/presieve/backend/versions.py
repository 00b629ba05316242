"""Trusted. The versions of Spark that are served, and which of them runs.

Nothing of PySpark is imported here: of a version that nobody knows it may be anywhere. What
differs in the JVM is :mod:`presieve.backend.classic.versions`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from presieve.errors import Declined

CONF = "spark.presieve.version"
"""A session's configuration may say which version the Spark that runs is to be taken for."""

_ARROW_ROWS = 101
_ARROW_TABLES = 301
_BY_PANDAS = frozenset((_ARROW_ROWS, _ARROW_TABLES))
"""Evaluation types whose values go through pandas before 4.1, so that an integer beside a NULL is a
float (``worker.py``, ``wrap_arrow_batch_udf``, ``read_udtf``).
"""


@dataclass(frozen=True, slots=True)
class Version:
    """A version of Spark. ``unread`` are the evaluation types that do there what nothing here
    describes; ``by_column`` is that of :class:`presieve.lift.forms.RowsFunction`. ``connect``:
    plans of its Spark Connect are read, too. ``two_texts``: ``'a''b'`` is ``'a'`` and ``'b'``.
    ``subqueries``: scans are handed the values of scalar subqueries.
    """

    name: str
    unread: frozenset[int] = frozenset()
    by_column: bool = False
    two_texts: bool = False
    connect: bool = True
    subqueries: bool = True

    def reads(self, kinds: Collection[int]) -> frozenset[int]:
        """Those of these evaluation types that are read."""
        return frozenset(kinds) - self.unread


VERSIONS: Mapping[str, Version] = {
    v.name: v
    for v in (
        Version(
            "3.5",
            unread=_BY_PANDAS,
            by_column=True,
            two_texts=True,
            connect=False,
            subqueries=False,
        ),
        Version("4.0", unread=_BY_PANDAS, by_column=True, two_texts=True, connect=False),
        Version("4.1", by_column=True, connect=False),
        Version("4.2", connect=False),
        Version("4.3"),
    )
}
"""All that are served, the oldest first."""

_NAMES = ", ".join(VERSIONS)
_NUMBER = re.compile(r"\d+\.\d+")


def version_of(spark: Any) -> Version | Declined:
    """The version that a session runs, or is said to be taken for, if it is served."""
    configured = spark.conf.get(CONF, None)
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
    """Major and minor version of PySpark here, and of the Spark that it talks to."""
    if spark not in _known:
        client_version = str(sys.modules["pyspark"].__version__)
        _known[spark] = (_number(client_version), _number(str(spark.version)))
    return _known[spark]


def _number(text: str) -> str:
    version_match = _NUMBER.match(text)
    return version_match[0] if version_match is not None else text


_known: WeakKeyDictionary[Any, tuple[str, str]] = WeakKeyDictionary()
