"""What is made of a sequence of doubles is, bit for bit, what pandas makes of a column."""

from __future__ import annotations

import math
from random import Random

import numpy as np
import pandas as pd
import pytest

from presieve.semantics import pairwise_sums

LENGTHS = [*range(20), 100, 127, 128, 129, 136, 137, 255, 256, 257, 300, 1000, 1025]
REDUCTIONS = {
    "sum": pairwise_sums.total,
    "var": pairwise_sums.variance,
    "std": pairwise_sums.deviation,
    "median": pairwise_sums.median,
}
ODD = [0.1, 0.2, -0.3, 0.0, -0.0, 1e16, -1e16, 1.5, 5e-324, math.nan, math.nan]


def _numbers(dice: Random, length: int) -> list[float]:
    ends = [math.inf, -math.inf, 1e308, -1e308] if dice.random() < 0.1 else []
    return [dice.choice([dice.uniform(-1e3, 1e3), dice.choice(ODD + ends)]) for _ in range(length)]


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.filterwarnings("ignore")
def test_a_reduction_is_that_of_pandas(name: str) -> None:
    dice = Random(name)
    for i in range(4000):
        length = dice.choice(LENGTHS) if i % 10 == 0 else dice.randint(0, 12)
        numbers = _numbers(dice, length)
        expected = float(getattr(pd.Series(numbers, dtype="float64"), name)())
        found = REDUCTIONS[name](numbers)
        assert found == expected or (math.isnan(found) and math.isnan(expected)), numbers


@pytest.mark.filterwarnings("ignore")
def test_what_a_mask_leaves_has_its_own_sequence() -> None:
    dice = Random(5)
    for _ in range(500):
        numbers = _numbers(dice, dice.choice(LENGTHS))
        table = pd.DataFrame({"a": numbers, "n": range(len(numbers)), "b": numbers})
        left = [x for x in numbers if x > 0]
        expected = float(table[table["a"] > 0]["b"].sum())
        found = pairwise_sums.total(left)
        assert found == expected or (math.isnan(found) and math.isnan(expected))


def test_leaving_out_zeros_may_change_a_sum() -> None:
    """So that a sum is not one of the numbers alone, but of their places, too."""
    dice = Random(1)
    changed = 0
    for _ in range(300):
        numbers = [dice.uniform(-1, 1) * dice.choice([1.0, 0.0]) for _ in range(24)]
        changed += np.sum(numbers) != np.sum([x for x in numbers if x != 0])
    assert changed > 0
