"""A short run: no claim about the order of rows is wrong, and most folds get one."""

from __future__ import annotations

import time

import pytest
from tests.fuzz.orders import Claims
from tests.fuzz.pairs import Fuzzer
from tests.support.amount import amount

from presieve.synthesis.order import dependence
from presieve.synthesis.order.permute import Orders

SECONDS = amount(16)
LEAST = 25


@pytest.mark.random
def test_claims_about_the_order_of_rows_hold() -> None:
    fuzzer, claims = Fuzzer(11), Claims()
    started, fold = time.monotonic(), 0
    while time.monotonic() - started < SECONDS or sum(claims.told.values()) < LEAST:
        claims.try_fold(fuzzer, fold)
        fold += 1
    assert claims.wrong == [], claims.wrong[0]
    assert claims.told["independent"] > 0
    assert claims.told["value"] > 0
    assert claims.told["unknown"] < sum(claims.told.values()) / 4, claims.told


def test_false_claims_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were everything called independent, the runs would show it."""
    monkeypatch.setattr(dependence, "steps_commute", lambda *_: True)
    monkeypatch.setattr(Orders, "search", lambda *_: None)
    claims = Claims()
    for fold in range(40):
        claims.try_fold(Fuzzer(11), fold)
        if claims.wrong:
            return
    pytest.fail("40 folds, and no false claim was noticed")
