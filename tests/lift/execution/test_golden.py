"""Lifted folds as text, so that a change of shape is seen. Meaning is tested by agreement.

After a deliberate change: ``PRESIEVE_GOLDEN=write pytest tests/lift/execution/test_golden.py``,
then read the difference.
"""

from __future__ import annotations

import os
from pathlib import Path
from types import NoneType
from typing import get_args

import pytest
from tests.lift.execution import folds
from tests.support.lifting import lifted, request

from presieve.ir.text import parse_fold, print_fold, print_term
from presieve.lift import Form, LiftRequest, api

GOLDEN = Path(__file__).parent / "golden"
_TOP2 = request("team string, score double", "team string, first double, second double", "team")
_EVENTS = request(
    "ticker string, action string, ts timestamp",
    "time bigint, price bigint, first timestamp, last timestamp",
    "ticker",
)
_TRADES = request(
    "symbol string, epoch bigint, price double",
    "open_price double, open_epoch bigint, close_price double, close_epoch bigint",
    "symbol",
)
CASES: list[tuple[object, LiftRequest]] = [
    (folds.Top2, request("team string, score double", "first double, second double", "team")),
    (folds.top2_second, request("score double", "second double")),
    (folds.top2_itertuples, _TOP2),
    (folds.top2_iterrows, _TOP2),
    (folds.top2_zip, _TOP2),
    (folds.top3, request("score double NOT NULL", "c double")),
    (folds.events, _EVENTS),
    (folds.Events, _EVENTS),
    (folds.trades, _TRADES),
    (folds.count_errors, request("level string", "n bigint")),
    (folds.sum_positive, request("v double", "t double")),
    (folds.sum_positive_ints, request("n bigint", "t bigint")),
    (folds.FirstNonNull, request("v bigint", "f bigint")),
    (folds.Streak, request("up boolean", "s int")),
    (folds.weekend_revenue, request("day string, price double, qty double", "t double")),
    (folds.AnyBig, request("v double", "n bigint")),
    (folds.Raises, request("v bigint", "n bigint")),
    (folds.ArgMin, request("n int, s string", "n int, s string")),
    (folds.max_and_size, request("v double", "best double, n bigint")),
    (folds.mean, request("v double", "m double")),
]


@pytest.mark.parametrize(("obj", "asked"), CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_fold_text(obj: type, asked: LiftRequest) -> None:
    found = lifted(obj, asked)
    text = print_fold(found.fold)
    assert parse_fold(text) == found.fold
    lines = [f"; {a.code}: {a.text}\n;   {print_term(a.term)}" for a in found.assumptions]
    whole = "\n".join([text, *lines]) + "\n"
    path = GOLDEN / f"{obj.__name__}.ir"
    if os.environ.get("PRESIEVE_GOLDEN") == "write":
        path.write_text(whole)
    assert path.read_text() == whole


def test_top2_is_one_fold_however_it_is_written() -> None:
    ways = (folds.top2_second, folds.top2_itertuples, folds.top2_iterrows)
    requests = (request("score double", "second double"), _TOP2, _TOP2)
    found = [lifted(f, r) for f, r in zip(ways, requests, strict=True)]
    assert len({f.fold.fields for f in found}) == 1
    assert len({f.assumptions for f in found}) == 1


def test_an_absent_value_is_asked_for_before_it_is_compared() -> None:
    fold = lifted(folds.AnyBig, request("v double", "n bigint")).fold
    assert print_term(fold.step_raises) == "false:Bool"
    fold = lifted(folds.Raises, request("v bigint", "n bigint")).fold
    assert print_term(fold.step_raises) == "(none? row.v:Int?)"
    fold = lifted(folds.Raises, request("v bigint NOT NULL", "n bigint")).fold
    assert print_term(fold.step_raises) == "false:Bool"


def test_results_that_fit_need_no_assumption() -> None:
    def codes(obj: object, schema: str, returns: str) -> list[str]:
        return [a.code for a in lifted(obj, request(schema, returns)).assumptions]

    assert codes(folds.count_errors, "level string", "n bigint") == []
    assert codes(folds.count_errors, "level string", "n int") == ["int-range"]
    assert codes(folds.FirstNonNull, "v int", "n int") == []
    assert codes(folds.FirstNonNull, "v bigint", "n bigint") == []
    assert codes(folds.FirstNonNull, "v bigint", "n int") == ["int-range"]
    assert codes(folds.sum_positive_ints, "n smallint NOT NULL", "t bigint") == []
    assert codes(folds.sum_positive_ints, "n int NOT NULL", "t bigint") == ["int-range"]


def test_lifting_is_deterministic() -> None:
    for obj, asked in CASES:
        assert lifted(obj, asked) == lifted(obj, asked)


def test_every_form_is_lifted_by_one_entry() -> None:
    assert set(api._ENTRIES) == {*get_args(Form), NoneType}
