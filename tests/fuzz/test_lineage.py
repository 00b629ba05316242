"""Some random pipelines and their lineage; ``python -m tests.fuzz --lineage N`` checks more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.fuzz import lineage
from tests.fuzz.lineage import Place, Tally, never_mattering, one
from tests.support.amount import amount

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PIPELINES = 120
"""Of a thorough run; otherwise a part of them."""


@pytest.mark.random
@pytest.mark.classic("lineage reads the optimizer's plan")
def test_lineage_names_all_rows_that_matter_and_no_others_where_exact(spark: SparkSession) -> None:
    tally = Tally()
    for seed in range(amount(PIPELINES, 12)):
        one(spark, 7_000 + seed, tally)
    assert not tally.wrong, "\n\n".join(tally.wrong)
    assert tally.pipelines == amount(PIPELINES, 12)
    assert tally.filtered > 0.3 * tally.sources, tally.text()
    assert tally.exact > 0.1 * tally.sources, tally.text()
    assert tally.needed < 0.9 * tally.rows, tally.text()


@pytest.mark.classic("lineage reads the optimizer's plan")
def test_a_row_that_never_matters_is_told_from_one_that_does_in_some_table(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of ``count(*) > 1`` a row alone makes no result, and changes none where it is a third one."""

    def counted(place: Place, tally: Tally | None = None) -> DataFrame:
        return place.sources["A"].groupBy(*place.by, "k").agg(F.count("*").cast("int").alias("v"))

    from pyspark.sql import functions as F

    monkeypatch.setattr(lineage, "_pipeline", counted)
    rows = [("A", (0, 1, 3)), ("A", (1, 4, 3)), ("B", (2, 1, 3))]
    assert never_mattering(spark, 5, "v > 1 AND k < 3", rows) == rows[1:]


@pytest.mark.classic("lineage reads the optimizer's plan")
@pytest.mark.parametrize("seed", [1439005990, 1439007192, 1439015138])
def test_a_row_that_matters_beside_few_others_is_not_called_idle(
    spark: SparkSession, seed: int
) -> None:
    """Of a maximum by key, a row with neither key nor company of that kind in 40 databases."""
    tally = Tally()
    one(spark, seed, tally)
    assert tally.exact == 1
    assert not tally.wrong, tally.wrong
