"""Untrusted. The three pipelines of the demo, as somebody would write them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from pyspark.sql import DataFrame

from presieve.demo import udfs
from presieve.demo.data import DAYS, START


@dataclass(frozen=True, slots=True)
class Pipeline:
    """``build`` takes the DataFrame of ``table`` to the result; ``question`` is for people."""

    name: str
    question: str
    table: str
    build: Callable[[DataFrame], DataFrame]


def _best_teams(scores: DataFrame) -> DataFrame:
    return (
        scores.groupBy("team")
        .applyInPandas(udfs.top_two, "team string, first double, second double")
        .filter("first >= 90 AND second >= 90")
    )


def _literal(moment: datetime) -> str:
    return f"TIMESTAMP '{moment:%Y-%m-%d %H:%M:%S}'"


T0 = START + timedelta(hours=20)
T1 = START + timedelta(hours=24)
T2 = START + timedelta(days=DAYS, hours=-24)
T3 = START + timedelta(days=DAYS, hours=-20)


def _active_tickers(events: DataFrame) -> DataFrame:
    return (
        events.groupBy("ticker")
        .applyInPandas(
            udfs.event_window,
            "ticker string, time bigint, price bigint, first timestamp, last timestamp",
        )
        .filter(
            "time > 0 AND first IS NOT NULL AND last IS NOT NULL"
            f" AND (first < {_literal(T0)} OR first = {_literal(T1)})"
            f" AND (last > {_literal(T3)} OR last = {_literal(T2)})"
        )
    )


def _epoch(moment: datetime) -> int:
    return int(moment.timestamp()) * 1_000_000


E1 = _epoch(START + timedelta(hours=12))
E2 = _epoch(START + timedelta(days=DAYS, hours=-6))
E3 = _epoch(START + timedelta(days=DAYS, hours=-12))


def _sessions(trades: DataFrame) -> DataFrame:
    return (
        trades.groupBy("symbol")
        .applyInPandas(
            udfs.open_close,
            "symbol string, open_price double, open_epoch bigint,"
            " close_price double, close_epoch bigint",
        )
        .filter(
            "open_price >= 1 AND open_price <= 5000 AND close_price >= 1 AND close_price <= 5000"
            f" AND open_epoch IS NOT NULL AND open_epoch <= {E1}"
            f" AND close_epoch IS NOT NULL AND (close_epoch > {E2} OR close_epoch = {E3})"
        )
    )


PIPELINES = (
    Pipeline("top two", "Teams whose two best scores are both at least 90", "scores", _best_teams),
    Pipeline(
        "event window",
        "Tickers with a time action whose events begin early and end late",
        "events",
        _active_tickers,
    ),
    Pipeline(
        "open and close",
        "Opening and closing trade of symbols that open early and close late",
        "trades",
        _sessions,
    ),
)
