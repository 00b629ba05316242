# SPDX-License-Identifier: Apache-2.0
"""Trusted. Ask for the session and its configuration, before any plan is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeGuard

from pyspark.sql import DataFrame, SparkSession

from presieve.backend.classic.session_configuration import read_settings
from presieve.backend.gateway import GatewayError


def active_session() -> SparkSession | None:
    """Return the active session of this thread, of either kind; None if there is none."""
    return SparkSession.getActiveSession()


def is_frame(value: object) -> TypeGuard[DataFrame]:
    """Whether the value is a DataFrame of Spark, of either kind."""
    return isinstance(value, DataFrame)


class _Asked(Mapping[str, str]):
    """The entries of a session that does not tell all of them at once."""

    def __init__(self, conf: Any) -> None:
        self._conf = conf

    def __getitem__(self, key: str) -> str:
        value = self._conf.get(key, None)
        if value is None:
            raise KeyError(key)
        return str(value)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def settings_of(spark: Any) -> Mapping[str, str]:
    """Return the entries that are set in a session's configuration, by one question if this version
    of Spark has it.
    """
    conf = spark.conf
    if not isinstance(spark, SparkSession):
        return dict(conf.getAll) if hasattr(type(conf), "getAll") else _Asked(conf)
    try:
        return read_settings(spark)
    except (AttributeError, GatewayError):
        return _Asked(conf)
