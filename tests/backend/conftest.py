"""Tables for the tests of the backend, as Parquet, and the two ways to run a pipeline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support import remembered
from tests.support.games import udfs
from tests.support.games.tables import ROWS, SCHEMA, STRANGE, Tables
from tests.support.pickling import pickled_by_value

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

orders_are_decided_once = remembered.orders_are_decided_once
by_value = pickled_by_value(udfs, scope="session", autouse=False)


@pytest.fixture(scope="session")
def tables(spark: SparkSession, by_value: None, tmp_path_factory: pytest.TempPathFactory) -> Tables:
    def written(rows: list[tuple[str | None, float | None, int, str | None]]) -> DataFrame:
        path = str(Path(tmp_path_factory.mktemp("tables")) / "t")
        spark.createDataFrame(rows, SCHEMA).write.parquet(path)
        return spark.read.parquet(path)

    return Tables(written(ROWS), written(ROWS + STRANGE), written([]))
