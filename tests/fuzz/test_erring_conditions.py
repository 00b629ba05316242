"""Some random conditions that would raise on rows which are not there; ``python -m tests.fuzz
--erring-conditions N`` runs more.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest
from tests.fuzz.comparing import CRASH, ERROR_ADDED, OTHER_ROWS, READS_MORE, Tally
from tests.fuzz.erring_conditions import HOLES, Fuzz, Maker, table
from tests.support.amount import amount

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CONDITIONS = 40
"""Of a thorough run; otherwise a part of them."""
SEED, FIRST = 1, 18


@pytest.fixture(scope="module")
def tally(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Tally:
    fuzz = Fuzz(spark, tmp_path_factory.mktemp("conditions"), SEED)
    for index in range(FIRST, FIRST + amount(CONDITIONS)):
        fuzz.one(index)
    return fuzz.tally


@pytest.mark.random
@pytest.mark.classic("there, a client has no plan with metrics")
def test_conditions_are_run_and_filters_are_derived(tally: Tally) -> None:
    assert tally.plans == amount(CONDITIONS)
    assert tally.rewritten > 0.2 * tally.plans, tally.text(0)
    assert tally.raising < 0.3 * tally.plans, tally.text(0)
    wrong = tally.of(OTHER_ROWS, CRASH, READS_MORE)
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.random
@pytest.mark.classic("there, a client has no plan with metrics")
def test_no_error_is_added(tally: Tally) -> None:
    wrong = tally.of(ERROR_ADDED)
    assert not wrong, "\n\n".join(wrong)


def test_no_row_has_a_number_of_which_conditions_would_raise() -> None:
    cells = table().to_pydict()
    assert not set(HOLES) & {*cells["i"], *cells["n"], *map(int, cells["x"]), *map(int, cells["p"])}
    assert max(cells["i"]) < 10_000


def test_conditions_are_made_again_from_a_number() -> None:
    first, second = (Maker(Random(5)).condition() for _ in range(2))
    assert first == second
