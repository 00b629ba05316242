"""Some random functions of batches and columns on Spark, with filters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.fuzz.batch_plans import Fuzz
from tests.support.amount import amount

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession


@pytest.mark.slow
@pytest.mark.random
def test_rewritten_plans_give_the_same(spark: SparkSession, tmp_path: Path) -> None:
    fuzz = Fuzz(spark, tmp_path, 23)
    for index in range(amount(40)):
        fuzz.one(index)
    assert not fuzz.tally.is_bad, fuzz.tally.findings
    assert fuzz.tally.rewritten > 0.2 * fuzz.tally.plans
