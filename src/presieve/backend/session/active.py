"""Trusted. What is asked of a session before any plan: which it is, and its configuration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeGuard

from pyspark.sql import DataFrame, SparkSession


def active_session() -> SparkSession | None:
    """The active session of this thread, of either kind; None where there is none."""
    return SparkSession.getActiveSession()


def is_frame(value: object) -> TypeGuard[DataFrame]:
    """Whether it is a DataFrame of Spark, of either kind."""
    return isinstance(value, DataFrame)


def entries(spark: Any, keys: Sequence[str]) -> dict[str, str]:
    """Those of these entries that the session's configuration has."""
    conf = spark.conf
    if not isinstance(spark, SparkSession) and hasattr(type(conf), "getAll"):
        session_entries = conf.getAll  # one question to the server, where each would be one
        return {key: str(session_entries[key]) for key in keys if key in session_entries}
    return {key: str(value) for key in keys if (value := conf.get(key, None)) is not None}
