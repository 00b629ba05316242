"""Trusted. Ask for the session and its configuration, before any plan is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeGuard

from pyspark.sql import DataFrame, SparkSession


def active_session() -> SparkSession | None:
    """Return the active session of this thread, of either kind; None if there is none."""
    return SparkSession.getActiveSession()


def is_frame(value: object) -> TypeGuard[DataFrame]:
    """Whether the value is a DataFrame of Spark, of either kind."""
    return isinstance(value, DataFrame)


def entries(spark: Any, keys: Sequence[str]) -> dict[str, str]:
    """Return the entries with these keys that the session's configuration has."""
    conf = spark.conf
    if not isinstance(spark, SparkSession) and hasattr(type(conf), "getAll"):
        session_entries = conf.getAll  # one question to the server instead of one for each key
        return {key: str(session_entries[key]) for key in keys if key in session_entries}
    return {key: str(value) for key in keys if (value := conf.get(key, None)) is not None}
