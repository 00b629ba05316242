"""Random functions of rows with filters; ``python -m tests.fuzz --row-filters N`` runs more."""

from __future__ import annotations

import pytest
from tests.fuzz.row_filters import Tally, trial
from tests.support.amount import amount


@pytest.mark.random
def test_filters_of_random_functions_change_no_result() -> None:
    tally = Tally()
    for number in range(amount(150)):
        trial(number, 3, tally)
    assert not tally.wrong, "\n\n".join(tally.wrong)
    assert tally.gained > tally.functions // 10, tally.text()
    assert tally.dropped > 0
