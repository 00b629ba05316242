"""Some random pipelines and their lineage; ``python -m tests.fuzz --lineage N`` checks more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.fuzz.lineage import Tally, one
from tests.support.amount import amount

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

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
