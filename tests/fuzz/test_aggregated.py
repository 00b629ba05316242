"""Some random folds as aggregates; ``python -m tests.fuzz --aggregated N`` runs more."""

from __future__ import annotations

import pytest
from tests.fuzz.aggregated import Tally, one
from tests.fuzz.pairs import Fuzzer
from tests.support.amount import amount

FOLDS = 400
"""Of a thorough run; otherwise a part of them."""


@pytest.mark.random
def test_folds_and_their_aggregates_give_the_same() -> None:
    fuzzer, tally = Fuzzer(7), Tally()
    for number in range(amount(FOLDS, 10)):
        one(fuzzer, number, tally)
    assert not tally.wrong, "\n\n".join(tally.wrong)
    assert tally.folds == amount(FOLDS, 10)
    assert tally.aggregated > 0.05 * tally.folds, tally.text()
    assert tally.groups > 10 * tally.aggregated, tally.text()
    assert len(tally.functions) >= 3, tally.text()
