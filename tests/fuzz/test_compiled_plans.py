"""Some random plans with compiled functions over hostile files; ``python -m tests.fuzz
--compiled-plans N`` runs more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.fuzz.comparing import CRASH, ERROR_ADDED, OTHER_ROWS, READS_MORE, Tally
from tests.fuzz.compiled_plans import Fuzz
from tests.support.amount import amount

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PLANS = 32
"""Of a thorough run; otherwise a part of them."""
SEED, FIRST = 5, 5

pytestmark = [
    pytest.mark.random,
    pytest.mark.classic("there, functions are not compiled"),
]


@pytest.fixture(scope="module")
def tally(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Tally:
    fuzz = Fuzz(spark, tmp_path_factory.mktemp("plans"), SEED)
    for index in range(FIRST, FIRST + amount(PLANS)):
        fuzz.one(index)
    return fuzz.tally


def test_plans_are_run_and_become_others(tally: Tally) -> None:
    assert tally.plans == amount(PLANS)
    assert tally.rewritten > 0.5 * tally.plans, tally.text(0)
    assert tally.raising < 0.3 * tally.plans, tally.text(0)


def test_rows_are_the_same(tally: Tally) -> None:
    wrong = tally.of(OTHER_ROWS, ERROR_ADDED, CRASH)
    assert not wrong, "\n\n".join(wrong)


def test_no_more_rows_are_read(tally: Tally) -> None:
    wrong = tally.of(READS_MORE)
    assert not wrong, "\n\n".join(wrong)
