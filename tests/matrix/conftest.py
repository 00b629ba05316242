"""Functions reach the workers as code; tables of a layout are written once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.matrix import udfs as matrix_udfs
from tests.matrix.cells import Data, Files, tables
from tests.matrix.harvest import Given
from tests.matrix.layouts import Layout
from tests.support.games import udfs as backend_udfs
from tests.support.traps import udfs as traps_udfs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def layout(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Layout:
    """Tables by layout and data."""
    from pyspark import cloudpickle

    for module in (backend_udfs, matrix_udfs, traps_udfs):
        cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]
    made: dict[tuple[Files, Data], Given] = {}

    def given(files: Files, data: Data) -> Given:
        if (files, data) not in made:
            path = tmp_path_factory.mktemp("matrix")
            made[files, data] = Given(spark, tables(spark, path, files, data), path)
        return made[files, data]

    return given
