# SPDX-License-Identifier: Apache-2.0
"""Untrusted. The three pipelines of the demo, as a user would write them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from msgspec import Struct

from presieve.demo import udfs
from presieve.demo.data import DAYS, START

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame


class DemoPipeline(Struct, frozen=True):
    """A grouped function and a filter on its result.

    ``schema`` are the columns of ``table`` and ``returns`` those of the result, as DDL.
    ``question`` says in words which rows the pipeline looks for.
    """

    name: str
    question: str
    table: str
    schema: str
    key: str
    function: Callable[..., pd.DataFrame]
    returns: str
    where: str

    def build(self, table: DataFrame) -> DataFrame:
        """Build the pipeline as written."""
        groups = table.groupBy(self.key)
        return groups.applyInPandas(self.function, self.returns).filter(self.where)


def _literal(moment: datetime) -> str:
    return f"TIMESTAMP '{moment:%Y-%m-%d %H:%M:%S}'"


def _epoch(moment: datetime) -> int:
    return int(moment.timestamp()) * 1_000_000


T0 = _literal(START + timedelta(hours=20))
T1 = _literal(START + timedelta(hours=24))
T2 = _literal(START + timedelta(days=DAYS, hours=-24))
T3 = _literal(START + timedelta(days=DAYS, hours=-20))

E1 = _epoch(START + timedelta(hours=12))
E2 = _epoch(START + timedelta(days=DAYS, hours=-6))
E3 = _epoch(START + timedelta(days=DAYS, hours=-12))

PIPELINES = (
    DemoPipeline(
        name="top two",
        question="Teams whose two best scores are both at least 90",
        table="scores",
        schema="team string, score double",
        key="team",
        function=udfs.top_two,
        returns="team string, first double, second double",
        where="first >= 90 AND second >= 90",
    ),
    DemoPipeline(
        name="event window",
        question="Tickers with a time action whose events begin early and end late",
        table="events",
        schema="ticker string, action string, ts timestamp",
        key="ticker",
        function=udfs.event_window,
        returns="ticker string, time bigint, price bigint, first timestamp, last timestamp",
        where=(
            "time > 0 AND first IS NOT NULL AND last IS NOT NULL"
            f" AND (first < {T0} OR first = {T1}) AND (last > {T3} OR last = {T2})"
        ),
    ),
    DemoPipeline(
        name="open and close",
        question="Opening and closing trade of symbols that open early and close late",
        table="trades",
        schema="symbol string, price double, epoch bigint",
        key="symbol",
        function=udfs.open_close,
        returns=(
            "symbol string, open_price double, open_epoch bigint,"
            " close_price double, close_epoch bigint"
        ),
        where=(
            "open_price >= 1 AND open_price <= 5000 AND close_price >= 1 AND close_price <= 5000"
            f" AND open_epoch IS NOT NULL AND open_epoch <= {E1}"
            f" AND close_epoch IS NOT NULL AND (close_epoch > {E2} OR close_epoch = {E3})"
        ),
    ),
)
