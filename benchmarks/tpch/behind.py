"""Untrusted. A Python function in front of a table. Its file must not change while it runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame


def behind_function(df: DataFrame) -> DataFrame:
    """A table behind a Python function that gives the rows that it is given."""

    def same(frames: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for frame in frames:  # noqa: UP028
            yield frame

    return df.mapInPandas(same, df.schema)
