"""Functions of tables: the DataFrame comes back as it is, and the log says why."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.games.tables import Tables

from presieve.driver.optimize import explain, optimize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class BestOf:
    """The best score of a partition, in one row."""

    def __init__(self) -> None:
        self.best: Any = None

    def eval(self, row: Any) -> None:
        score = row["score"]
        if score is not None and (self.best is None or score > self.best):
            self.best = score

    def terminate(self) -> Any:
        yield (self.best,)


class Above:
    """One row for each that is high enough."""

    def eval(self, v: int) -> Any:
        if v > 3:
            yield (v + 1,)


def table_function(cls: type, returns: str, *, fixed: bool) -> Any:
    from pyspark import cloudpickle
    from pyspark.sql.functions import udtf

    made: Any = udtf(cloudpickle.loads(cloudpickle.dumps(cls)), returnType=returns)  # type: ignore
    return made.asDeterministic() if fixed else made


def left_alone(df: DataFrame, caplog: pytest.LogCaptureFixture) -> str:
    """What the log says of it."""
    assert df.count() > 0
    with caplog.at_level(logging.INFO, logger="presieve"):
        assert optimize(df) is df
    assert not explain(df).changed
    return caplog.text


@pytest.mark.parametrize("fixed", [False, True])
def test_table_functions_of_partitions(
    tables: Tables, caplog: pytest.LogCaptureFixture, fixed: bool
) -> None:
    best = table_function(BestOf, "best double", fixed=fixed)
    df = best(tables.strange.select("team", "score").asTable().partitionBy("team"))
    assert "BestOf" in left_alone(df.filter("best > 90"), caplog)


@pytest.mark.parametrize("fixed", [False, True])
def test_table_functions_of_rows(
    tables: Tables, caplog: pytest.LogCaptureFixture, fixed: bool
) -> None:
    from pyspark.sql import functions as F

    above = table_function(Above, "w bigint", fixed=fixed)
    df = tables.plain.lateralJoin(above(F.col("v").outer())).filter("w > 10")
    assert "Above" in left_alone(df, caplog)
