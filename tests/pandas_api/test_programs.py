"""Every program gives the same with presieve as without, and becomes what is expected of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.pandas_api.expected import EXPECTED
from tests.pandas_api.programs import PROGRAMS
from tests.support.spark_version import is_before

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = [
    pytest.mark.classic("filters are derived from the plan of Spark's optimizer"),
    pytest.mark.skipif(is_before("4.3"), reason="plans of pandas API on Spark are those of 4.3"),
    pytest.mark.filterwarnings("ignore"),  # advice of pandas API on Spark
]


@pytest.fixture(scope="module")
def folder(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> str:
    from tests.pandas_api.tables import write_tables

    path: Path = tmp_path_factory.mktemp("pandas_api")
    write_tables(spark, str(path))
    return str(path)


CASES = [
    n if i % 12 == 0 else pytest.param(n, marks=pytest.mark.slow) for i, n in enumerate(PROGRAMS)
]


@pytest.mark.parametrize("name", CASES)
def test_program(name: str, spark: SparkSession, folder: str) -> None:
    from tests.pandas_api.run import measure

    expected = EXPECTED[name]
    found = measure(spark, name, folder)
    assert found.same
    assert found.rows > 0
    assert not found.warnings
    assert (found.added, found.spark) == (expected.added, expected.spark)
    assert found.codes == expected.codes
