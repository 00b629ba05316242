"""Some random functions of batches and columns, as they are lifted and as pandas runs them."""

from __future__ import annotations

from random import Random

import pytest
from tests.fuzz.batch_functions import make
from tests.fuzz.batches import Fuzz
from tests.support.amount import amount


@pytest.mark.random
def test_functions_as_lifted_and_in_pandas_give_the_same() -> None:
    fuzz = Fuzz(17)
    for number in range(amount(150)):
        fuzz.run(number)
    tally = fuzz.tally
    assert not tally.wrong, "\n\n".join(tally.wrong)
    assert tally.lifted > 0.5 * tally.functions, tally.text()
    assert tally.compared > 3 * tally.lifted, tally.text()


def test_functions_are_made_again_from_a_number() -> None:
    first, second = (make(Random(5), "f") for _ in range(2))
    assert first == second
    compile(first.source, "<batches>", "exec")
