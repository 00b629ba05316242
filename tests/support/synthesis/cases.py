"""The table of cases: fold and filter in, kind, pre-filter and residual out."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.support.synthesis import folds


@dataclass(frozen=True, slots=True)
class Case:
    """One problem. ``pools`` are values worth trying of every input column: the constants and their
    neighbours; ``lengths`` the sizes of tables that reach the filter.
    """

    name: str
    fold: type
    where: str
    schema: str
    returns: str
    kind: str
    prefilter: str
    residual: str
    pools: dict[str, Sequence[object]] = field(repr=False, hash=False)
    keys: str = "g"
    mode: str = "grouped"
    longest: int = 6
    strength: str = "optimal"

    def __str__(self) -> str:
        return self.name


def _day(day: int, **more: int) -> dt.datetime:
    return dt.datetime(2024, 1, day) + dt.timedelta(**more)


def _instants(*days: int) -> list[object]:
    """The constants of case A, and the microseconds beside them."""
    return [_day(d, microseconds=m) for d in days for m in (-1, 0, 1)]


def _t(day: int, zone: str = "") -> str:
    return f"TIMESTAMP '2024-01-0{day} 00:00:00{zone}'"


def window(first: int, last: int) -> str:
    """The filter of case A: T0 = day 1, T3 = day 4, and two days in between."""
    return (
        "time > 0 AND first IS NOT NULL AND last IS NOT NULL"
        f" AND (first < {_t(1)} OR first = {_t(first)})"
        f" AND (last > {_t(4)} OR last = {_t(last)})"
    )


FLOATS = [math.inf, -math.inf, 0.0, -0.0, 5e-324, 1.7976931348623157e308]
WIDE = [-(2**63), 2**63 - 1, 2**53 + 1, -1, 0, 1]


def _near(constant: float) -> list[object]:
    below, above = math.nextafter(constant, -math.inf), math.nextafter(constant, math.inf)
    return [constant, below, above, constant - 1, constant + 1]


_TOP2 = {
    "fold": folds.Top2,
    "schema": "g string, score double NOT NULL",
    "returns": "first double, second double",
}
_SCORES: dict[str, Sequence[object]] = {"score": [*_near(90.0), *FLOATS, math.nan]}
_X: dict[str, Sequence[object]] = {"x": [99, 100, 101, *WIDE]}
_BIGINT = "g string, x bigint NOT NULL"
_ERROR_SCHEMA = "g string, is_error boolean NOT NULL"
_BOOLS: dict[str, Sequence[object]] = {"is_error": [True, False]}
_SALES: dict[str, Sequence[object]] = {
    "weekend": [True, False],
    "price": [0.0, 1.0, 500.0, 1000.0, *_near(1000.0), math.inf, -2.0, math.nan],
    "qty": [0.0, 1.0, 2.0, 3.0, -1.0, math.inf],
}
_EVENTS: dict[str, Sequence[object]] = {
    "action": ["time", "price", "other", "", None],
    "ts": _instants(1, 2, 3, 4),
}
_TRADES: dict[str, Sequence[object]] = {
    "price": [*_near(10.0), *_near(50.0), math.inf, math.nan],
    "epoch": [999, 1000, 1001, 3999, 4000, 4001, 5000, 5001, -(2**63), 2**63 - 1],
}
_TRADE_FILTER = (
    "open_price > 10 AND close_price < 50 AND open_epoch IS NOT NULL AND open_epoch <= 1000"
    " AND close_epoch IS NOT NULL AND (close_epoch > 5000 OR close_epoch = 4000)"
)

CASES: tuple[Case, ...] = (
    Case(
        name="top2",
        where="first > 90 AND second > 90",
        kind="split",
        prefilter="score > 90.0D",
        residual="second IS NOT NULL",
        pools=_SCORES,
        **_TOP2,  # type: ignore[arg-type]
    ),
    Case(
        name="top2 of nullable scores",
        fold=folds.Top2Present,
        schema="g string, score double",
        returns="first double, second double",
        where="first >= 90 AND second >= 90",
        kind="split",
        prefilter="score >= 90.0D",
        residual="second IS NOT NULL",
        pools={"score": [*_SCORES["score"], None]},
    ),
    Case(
        "max above",
        folds.Maximum,
        "m > 100",
        _BIGINT,
        "m bigint",
        "exact",
        "x > 100",
        "true",
        _X,
    ),
    Case(
        "what comes after the max",
        folds.MaximumAndNext,
        "next >= 1",
        "g string, x int NOT NULL",
        "m int, next bigint",
        "exact",
        "x >= 0",
        "true",
        {"x": [-2, -1, 0, 1, 99, -(2**31), 2**31 - 1]},
    ),
    Case(
        "max equal",
        folds.Maximum,
        "m = 100",
        _BIGINT,
        "m bigint",
        "split",
        "x >= 100",
        "m <= 100",
        _X,
    ),
    Case(
        "max of floats",
        folds.Maximum,
        "m > 100",
        "g string, x double NOT NULL",
        "m double",
        "exact",
        "x > 100.0D",
        "true",
        {"x": [*_near(100.0), *FLOATS, math.nan]},
    ),
    Case(
        "weekend revenue",
        folds.WeekendRevenue,
        "r > 1000",
        "g string, weekend boolean NOT NULL, price double NOT NULL, qty double NOT NULL",
        "r double",
        "exact",
        "price * qty > 1000.0D AND weekend",
        "true",
        _SALES,
        strength="universe",
    ),
    Case(
        "sum of positives at least",
        folds.SumPositive,
        "s >= 100",
        _BIGINT,
        "s bigint",
        "partial",
        "x > 0",
        "s >= 100",
        {"x": [-1, 0, 1, 49, 50, 51, 99, 100, 101, -(2**62)]},
    ),
    Case(
        "errors at least 5",
        folds.Errors,
        "errors >= 5",
        _ERROR_SCHEMA,
        "errors bigint",
        "partial",
        "is_error",
        "errors >= 5",
        _BOOLS,
        longest=10,
    ),
    Case(
        "errors at least 1",
        folds.Errors,
        "errors >= 1",
        _ERROR_SCHEMA,
        "errors bigint",
        "exact",
        "is_error",
        "true",
        _BOOLS,
    ),
    Case(
        "case study A",
        folds.EventWindow,
        window(2, 3),
        "g string, action string, ts timestamp NOT NULL",
        "time bigint, price bigint, first timestamp, last timestamp",
        "split",
        f"action IN ('price', 'time') OR ts <= {_t(2, 'Z')} OR ts >= {_t(3, 'Z')}",
        f"`time` <> 0 AND (first < {_t(1, 'Z')} OR first = {_t(2, 'Z')})"
        f" AND (last > {_t(4, 'Z')} OR last = {_t(3, 'Z')})",
        _EVENTS,
    ),
    Case(
        "case study B",
        folds.OpenClose,
        _TRADE_FILTER,
        "g string, price double NOT NULL, epoch bigint NOT NULL",
        "open_price double, open_epoch bigint, close_price double, close_epoch bigint",
        "split",
        "epoch <= 1000 OR epoch >= 4000",
        "open_price > 10.0D AND close_price < 50.0D AND open_epoch <= 1000"
        " AND (close_epoch > 5000 OR close_epoch = 4000)",
        _TRADES,
    ),
    Case(
        "any error",
        folds.AnyError,
        "a",
        _ERROR_SCHEMA,
        "a boolean",
        "exact",
        "is_error",
        "true",
        _BOOLS,
    ),
    Case(
        "first that is there",
        folds.FirstPresent,
        "f IS NOT NULL AND f > 5",
        "g string, x bigint",
        "f bigint",
        "split",
        "x IS NOT NULL",
        "f > 5",
        {"x": [4, 5, 6, None, *WIDE]},
    ),
    Case(
        "longest streak",
        folds.LongestStreak,
        "best >= 3",
        "g string, up boolean",
        "best bigint",
        "partial",
        "up IS NOT NULL",
        "best >= 3",
        {"up": [True, True, False, None]},
        longest=8,
    ),
    Case(
        "top3",
        folds.Top3,
        "c > 50",
        _BIGINT,
        "a bigint, b bigint, c bigint",
        "split",
        "x > 50",
        "c IS NOT NULL",
        {"x": [49, 50, 51, 52, 53, *WIDE]},
    ),
)

NOTHING_TO_PUSH: tuple[Case, ...] = (
    Case(
        name="top2 by its first only",
        where="first > 90",
        kind="none",
        prefilter="true",
        residual="first > 90",
        pools=_SCORES,
        **_TOP2,  # type: ignore[arg-type]
    ),
    Case(
        "sum of positives at most",
        folds.SumPositive,
        "s <= 100",
        _BIGINT,
        "s bigint",
        "none",
        "true",
        "s <= 100",
        {"x": [-1, 0, 1, 50, 99, 100, 101]},
    ),
    Case(
        "errors at most 5",
        folds.Errors,
        "errors <= 5",
        _ERROR_SCHEMA,
        "errors bigint",
        "none",
        "true",
        "errors <= 5",
        _BOOLS,
    ),
    Case(
        "case study A, T1 and T2 exchanged",
        folds.EventWindow,
        window(3, 2),
        "g string, action string, ts timestamp NOT NULL",
        "time bigint, price bigint, first timestamp, last timestamp",
        "none",
        "true",
        window(3, 2),
        _EVENTS,
    ),
    Case(
        "sum at most",
        folds.Sum,
        "s <= 10",
        _BIGINT,
        "s bigint",
        "none",
        "true",
        "s <= 10",
        {"x": [-11, -1, 0, 1, 10, 11]},
    ),
)
