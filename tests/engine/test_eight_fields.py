"""States of eight fields, and filters over one to four of them: the others are sliced away."""

from __future__ import annotations

import math
from typing import Any

import pytest
from tests.support.answers import Case, assert_answer, assert_same_results, assert_twins_refuted

from presieve.records import replace


class Sensor:
    """What a sensor has reported: extremes, first and last, how much, and alarms."""

    def zero(self) -> Any:
        return (None, None, None, None, 0, 0.0, False, None)

    def reduce(self, acc: Any, row: Any) -> Any:
        low, high, first, last, count, total, alarm, seen = acc
        v = row["value"]
        if row["alarm"]:
            alarm = True
        if seen is None or row["ts"] > seen:
            seen = row["ts"]
        if v is None:
            return (low, high, first, last, count, total, alarm, seen)
        if low is None or v < low:
            low = v
        if high is None or v > high:
            high = v
        if first is None:
            first = v
        last = v
        return (low, high, first, last, count + 1, total + v, alarm, seen)


class High(Sensor):
    def finish(self, acc: Any) -> Any:
        return acc[1]


class Alarm(Sensor):
    def finish(self, acc: Any) -> Any:
        return acc[6]


class Count(Sensor):
    def finish(self, acc: Any) -> Any:
        return acc[4]


class First(Sensor):
    def finish(self, acc: Any) -> Any:
        return acc[2]


class LowHigh(Sensor):
    def finish(self, acc: Any) -> Any:
        return (acc[0], acc[1])


class AlarmSeen(Sensor):
    def finish(self, acc: Any) -> Any:
        return (acc[6], acc[7])


class Four(Sensor):
    def finish(self, acc: Any) -> Any:
        low, high, _first, _last, _count, _total, alarm, seen = acc
        return (low, high, alarm, seen)


class Counted(Sensor):
    def finish(self, acc: Any) -> Any:
        low, high, _first, _last, count, _total, _alarm, seen = acc
        return (low, high, count, seen)


class Device:
    """What a device has reported in any order: extremes, the earliest and the latest."""

    def zero(self) -> Any:
        return (None, None, None, None, 0, 0, False, None)

    def reduce(self, acc: Any, row: Any) -> Any:
        low, high, first, last, warns, fails, alarm, newest = acc
        v, ts, status = row["value"], row["ts"], row["status"]
        if status == "warn":
            warns += 1
        elif status == "fail":
            fails += 1
            alarm = True
        if low is None or v < low:
            low = v
        if high is None or v > high:
            high = v
        if first is None or ts < first:
            first = ts
        if last is None or ts > last:
            last = ts
            newest = v
        return (low, high, first, last, warns, fails, alarm, newest)


class Ends(Device):
    def finish(self, acc: Any) -> Any:
        low, high, first, last, _warns, _fails, _alarm, _newest = acc
        return (low, high, first, last)


class Troubles(Device):
    def finish(self, acc: Any) -> Any:
        low, _high, _first, last, warns, fails, _alarm, _newest = acc
        return (low, last, warns, fails)


class Alarmed(Device):
    def finish(self, acc: Any) -> Any:
        _low, high, first, last, _warns, _fails, alarm, _newest = acc
        return (high, first, last, alarm)


READINGS: dict[str, Any] = {
    "schema": "g string, value double, alarm boolean, ts bigint NOT NULL",
    "pools": {
        "value": [-1.0, 0.0, -0.0, 5.0, 6.0, 100.0, 101.0, 1e300, math.inf, -math.inf, None],
        "alarm": [True, False, None],
        "ts": [999, 1000, 1001, 0, -5],
    },
}
REPORTS: dict[str, Any] = {
    "schema": "g string, value bigint NOT NULL, status string, ts bigint NOT NULL",
    "pools": {
        "value": [-1, 0, 6, 7, 8, 54, 55, 56, 100, 101],
        "status": ["warn", "warn", "fail", "fail", "ok", "", None],
        "ts": [5, 6, 9, 10, 11, 15, 16, 19, 20, 29, 30, 31, 40],
    },
}

CASES: tuple[Case, ...] = (
    Case(
        name="highest",
        fold=High,
        where="high > 100",
        returns="high double",
        kind="exact",
        prefilter="value > 100.0D",
        residual="true",
        twins=(("value > 101", None), ("value >= 100", "true")),
        **READINGS,
    ),
    Case(
        name="alarm",
        fold=Alarm,
        where="alarm",
        returns="alarm boolean",
        kind="exact",
        prefilter="alarm",
        residual="true",
        twins=(("alarm AND ts > 0", None), ("true", "true")),
        **READINGS,
    ),
    Case(
        name="count",
        fold=Count,
        where="count >= 3",
        returns="count bigint",
        kind="partial",
        prefilter="value IS NOT NULL OR isnan(value)",
        twins=(("value > 0", None), ("value IS NOT NULL", "count >= 2")),
        **READINGS,
    ),
    Case(
        name="first",
        fold=First,
        where="first > 5",
        returns="first double",
        kind="partial",
        prefilter="value IS NOT NULL OR isnan(value)",
        twins=(("value > 5", None), ("value IS NOT NULL", "true")),
        **READINGS,
    ),
    Case(
        name="both extremes",
        fold=LowHigh,
        where="low < 0 AND high > 100",
        returns="low double, high double",
        kind="partial",
        prefilter="value < 0.0D OR value > 100.0D",
        twins=(("value > 100", None), ("value < -1 OR value > 100", None)),
        **READINGS,
    ),
    Case(
        name="alarm and last report",
        fold=AlarmSeen,
        where="alarm AND seen >= 1000",
        returns="alarm boolean, seen bigint",
        kind="partial",
        prefilter="alarm OR ts >= 1000",
        twins=(("alarm", None), ("alarm AND ts >= 1000", None), ("alarm OR ts >= 1000", "alarm")),
        **READINGS,
    ),
    Case(
        name="four of eight",
        fold=Four,
        where="low < 0 AND high > 100 AND alarm AND seen >= 1000",
        returns="low double, high double, alarm boolean, seen bigint",
        kind="partial",
        prefilter="value < 0.0D OR value > 100.0D OR alarm OR ts >= 1000",
        twins=(
            ("value < 0 OR alarm OR ts >= 1000", None),
            ("value < 0 OR value > 100 OR alarm OR ts >= 1000", "low < 0 AND high > 100 AND alarm"),
        ),
        longest=12,
        **READINGS,
    ),
    Case(
        name="four of eight, one of them a count",
        fold=Counted,
        where="low < 0 AND high > 100 AND count >= 8 AND seen >= 1000",
        returns="low double, high double, count bigint, seen bigint",
        kind="partial",
        prefilter="value IS NOT NULL OR isnan(value) OR ts >= 1000",
        twins=(("value IS NOT NULL", None), ("value < 0 OR value > 100 OR ts >= 1000", None)),
        longest=24,
        **READINGS,
    ),
    Case(
        name="four ends",
        fold=Ends,
        where="(first <= 10 OR first = 15) AND (last >= 40 OR last = 30)"
        " AND (low < 0 OR low = 7) AND (high > 100 OR high = 55)",
        returns="low bigint, high bigint, first bigint, last bigint",
        kind="partial",
        prefilter="value <= 7 OR value >= 55 OR ts <= 15 OR ts >= 30",
        twins=(
            ("value <= 7 OR value >= 55 OR ts <= 10 OR ts >= 30", None),
            ("value < 7 OR value >= 55 OR ts <= 15 OR ts >= 30", None),
        ),
        **REPORTS,
    ),
    Case(
        name="two counts and two ends",
        fold=Troubles,
        where="warns >= 6 AND fails >= 7 AND low < 0 AND last > 5",
        returns="low bigint, last bigint, warns bigint, fails bigint",
        kind="partial",
        prefilter="value < 0 OR status IN ('fail', 'warn') OR ts > 5",
        twins=(("status IN ('fail', 'warn') OR ts > 5", None),),
        longest=40,
        strength="regions",
        **REPORTS,
    ),
    Case(
        name="alarm and three ends",
        fold=Alarmed,
        where="first <= 10 AND last >= 20 AND alarm AND high > 100",
        returns="high bigint, first bigint, last bigint, alarm boolean",
        kind="partial",
        prefilter="value > 100 OR status = 'fail' OR ts <= 10 OR ts >= 20",
        twins=(("status = 'fail' OR ts <= 10 OR ts >= 20", None), ("value > 100", None)),
        **REPORTS,
    ),
    Case(
        name="all eight",
        fold=Sensor,
        where="alarm AND seen >= 1000",
        returns="low double, high double, first double, last double, count bigint,"
        " total double, alarm boolean, seen bigint",
        kind="partial",
        prefilter="value IS NOT NULL OR isnan(value) OR alarm OR ts >= 1000",
        twins=(("alarm OR ts >= 1000", None), ("value IS NOT NULL OR alarm", None)),
        **READINGS,
    ),
)
named = pytest.mark.parametrize("case", CASES, ids=str)


@pytest.mark.costly
@named
def test_answer(case: Case) -> None:
    assert_answer(case)


@pytest.mark.costly
@pytest.mark.random
@named
def test_random_tables(case: Case) -> None:
    assert_same_results(case)


@pytest.mark.costly
@named
def test_wrong_twins(case: Case) -> None:
    assert_twins_refuted(case)


NOTHING = replace(
    CASES[0],
    name="an output that every row changes",
    fold=Device,
    where="last >= 20 AND alarm",
    returns="low bigint, high bigint, first bigint, last bigint, warns bigint, fails bigint,"
    " alarm boolean, newest bigint",
    kind="none",
    prefilter="true",
    residual=None,
    **REPORTS,
)


def test_nothing_is_pushed_where_all_are_read() -> None:
    assert_answer(NOTHING)
