"""Trusted. The session that a person means who names none."""

from __future__ import annotations

from typing import TypeGuard

from pyspark.sql import DataFrame, SparkSession


def active_session() -> SparkSession | None:
    """The active session of this thread, of either kind; None where there is none."""
    return SparkSession.getActiveSession()


def is_frame(value: object) -> TypeGuard[DataFrame]:
    """Whether it is a DataFrame of Spark, of either kind."""
    return isinstance(value, DataFrame)
