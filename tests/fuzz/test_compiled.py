"""Some random functions of rows on Spark; ``python -m tests.fuzz --compiled N`` runs more."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest
from tests.fuzz.compiled import BATCH, Fuzz
from tests.fuzz.rows import make
from tests.support.amount import amount

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.random
@pytest.mark.classic("there, functions are not compiled")
def test_functions_as_written_and_as_expressions_give_the_same(
    spark: SparkSession, tmp_path: Path
) -> None:
    fuzz = Fuzz(spark, tmp_path, 11)
    for number in range(amount(8)):
        fuzz.batch(number, arrow=number % 2 == 1)
    tally = fuzz.tally
    assert not tally.wrong, "\n\n".join("\n".join(found) for found in tally.wrong)
    assert tally.functions >= 2 * BATCH
    assert tally.compiled > 0.5 * tally.read, tally.text()
    assert tally.raising_compiled > 0


def test_functions_are_made_again_from_a_number() -> None:
    first, second = (make(Random(5), "f") for _ in range(2))
    assert first == second
    compile(first.source, "<row>", "exec")
