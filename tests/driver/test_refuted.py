"""Pushdowns that look right: each is refuted by a table on which the user's Python differs."""

from __future__ import annotations

import datetime as dt
import json

import pytest
from tests.driver import folds
from tests.support.refuting import Job
from tests.support.synthesis import folds as table

from presieve import verify

TOP2 = Job(
    table.Top2,
    "first > 90 AND second > 90",
    "team string, score double NOT NULL",
    "first double, second double",
    "team",
)
ERRORS = "u string, is_error boolean NOT NULL"


def test_top_two_with_a_stronger_prefilter() -> None:
    shown = TOP2.refuted("score > 91")
    assert any(90 < r["score"] <= 91 for r in shown.rows)  # type: ignore[operator]
    TOP2.proved("score > 90", "second IS NOT NULL")


def test_top_two_with_a_residual_that_checks_nothing() -> None:
    shown = TOP2.refuted("score > 90", "true")
    assert shown.original == []
    assert isinstance(shown.optimized, list)
    assert shown.optimized[0]["second"] is None
    assert len(shown.rows) == 1


def test_top_two_with_the_wrong_slot_checked() -> None:
    TOP2.refuted("score > 90", "first IS NOT NULL")
    TOP2.refuted("score > 90", "second IS NULL")
    TOP2.refuted("score > 90", "false")


def test_counting_errors_at_most() -> None:
    """Users without an error vanish."""
    job = Job(table.Errors, "errors <= 5", ERRORS, "errors bigint", "u")
    shown = job.refuted("is_error")
    assert [r["is_error"] for r in shown.rows] == [False]
    assert isinstance(shown.original, list)
    assert shown.original[0]["errors"] == 0
    assert shown.optimized == []


def test_counting_errors_at_least() -> None:
    Job(table.Errors, "errors >= 1", ERRORS, "errors bigint", "u").proved("is_error", "true")
    Job(table.Errors, "errors >= 2", ERRORS, "errors bigint", "u").refuted("is_error", "true")


def test_a_sum_of_what_may_be_negative() -> None:
    job = Job(table.Sum, "s >= 100", "g string, x bigint NOT NULL", "s bigint")
    shown = job.refuted("x > 0")
    assert any(r["x"] < 0 for r in shown.rows)  # type: ignore[operator]
    positive = Job(table.SumPositive, "s >= 100", "g string, x bigint NOT NULL", "s bigint")
    positive.proved("x > 0")
    positive.refuted("x > 1")
    positive.refuted("x > 0", "s >= 99")


@pytest.mark.parametrize("prefilter", ["x >= 5", "x > 100", "x <> 7", "x IS NULL", "false"])
def test_a_maximum_with_rows_missing(prefilter: str) -> None:
    job = Job(table.Maximum, "m < 9", "g string, x bigint NOT NULL", "m bigint")
    job.refuted(prefilter)


def test_a_neighbouring_double_matters() -> None:
    job = Job(table.Maximum, "m > 0.1D", "g string, x double NOT NULL", "m double")
    job.proved("x > 0.1D", "true")
    shown = job.refuted("x > 0.10000000000000002D")
    assert shown.rows == [{"g": shown.rows[0]["g"], "x": 0.10000000000000002}]


def test_dates_and_timestamps_are_shown_as_such() -> None:
    job = Job(
        table.EventWindow,
        "time > 0 AND last > TIMESTAMP '2024-01-04 00:00:00'",
        "ticker string, action string, ts timestamp NOT NULL",
        "time bigint, price bigint, first timestamp, last timestamp",
        "ticker",
    )
    shown = job.refuted("action = 'time'")
    text = json.dumps(shown.to_json())
    assert "2024-01-04 00:00:00" in text


def test_times_without_zone() -> None:
    schema = "g string, x timestamp_ntz NOT NULL"
    job = Job(table.Maximum, "m > TIMESTAMP_NTZ '2024-01-04 00:00:00'", schema, "m timestamp_ntz")
    job.proved("x > DATE '2024-01-04'", "true")
    shown = job.refuted("x > TIMESTAMP_NTZ '2024-01-04 00:00:00.000001'")
    assert shown.rows[0]["x"] == dt.datetime(2024, 1, 4, 0, 0, 0, 1)
    job.refuted("x >= DATE '2024-01-04'", "true")


def test_bytes() -> None:
    schema = "g string, x binary NOT NULL"
    job = Job(table.Maximum, "m > X'7FFF'", schema, "m binary")
    job.proved("x > X'7FFF'", "true")
    shown = job.refuted("x > X'7FFF00'")
    assert shown.rows[0]["x"] == b"\x7f\xff\x00"
    job.refuted("x >= X'80'")
    job.refuted("x >= X'7FFF'", "true")
    between = Job(table.Maximum, "m >= X'7FFF' AND m < X'8000'", schema, "m binary")
    between.proved("x >= X'7FFF'", "m < X'8000'")
    between.refuted("x >= X'7FFF' AND x < X'8000'")


def test_a_filter_on_the_key_only_needs_the_right_key() -> None:
    job = Job(folds.Maximum, "m > 5 AND g <> 'b'", "g string, v bigint NOT NULL", "m bigint")
    job.proved("v > 5 AND g <> 'b'", "true")
    shown = job.refuted("v > 5 AND g <> 'a'", "true")
    assert {r["g"] for r in shown.rows} <= {"a", "b"}


def test_json_of_a_refutation() -> None:
    told = TOP2.verify("score > 91").to_json()
    assert told["status"] == "refuted"
    assert told["certificate"] is None
    assert set(told["counterexample"]) == {
        *("rows", "original", "optimized"),
        *("kept", "blame", "differs"),
    }
    json.dumps(told, allow_nan=False)


def test_a_table_obeys_what_is_declared_however_plain_it_is() -> None:
    verdict = verify(
        table.Maximum,
        "m > -1",
        schema="g string, x double NOT NULL",
        returns="m double",
        keys="g",
        prefilter="x > 3",
        declare="x > 0.25D AND x < 0.75D",
    )
    assert verdict.counterexample is not None
    (row,) = verdict.counterexample.rows
    assert 0.25 < row["x"] < 0.75  # type: ignore[operator]


def test_tables_have_plain_values_where_others_are_not_the_point() -> None:
    shown = TOP2.refuted("score > 91")
    assert shown.rows == [{"team": "a", "score": 100.0}, {"team": "a", "score": 91.0}]
    job = Job(table.Maximum, "m < 9", "g string, x bigint", "m bigint")
    assert job.refuted("x > 100").rows == [{"g": "a", "x": 0}]
