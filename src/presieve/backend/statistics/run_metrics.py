"""Untrusted. Run a DataFrame once and read Spark's metrics. Nothing depends on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql.dataframe import DataFrame


@dataclass(frozen=True, slots=True)
class Measurement:
    """One run of a DataFrame. A value for which Spark has no metric is 0.

    Attributes:
        seconds: Wall-clock time, including planning.
        rows: Rows of the result.
        scanned: Rows out of all scans. Skipped row groups and pages contribute none.
        shuffled: Rows into all shuffles.
        shuffled_bytes: Bytes that shuffles write.
        python_bytes: Bytes that are sent to Python workers.
    """

    seconds: float
    rows: int
    scanned: int
    shuffled: int = 0
    shuffled_bytes: int = 0
    python_bytes: int = 0


ROWS_OUT = "numOutputRows"
OF_OPERATORS = {
    "shuffled": "shuffleRecordsWritten",
    "shuffled_bytes": "shuffleBytesWritten",
    "python_bytes": "pythonDataSent",
}
"""Spark's metrics of operators, by the field of a measurement for their sum over the plan."""


def run(df: DataFrame) -> Measurement:
    """Run the DataFrame, planned anew. The result stays in Spark in a classic session, and comes
    here over Spark Connect. Raises what the job raises.
    """
    from presieve.backend.classic.gateway import is_classic

    if is_classic(df):
        from presieve.backend.classic.run_metrics import run_classic

        return run_classic(df)
    from presieve.backend.connect.run_metrics import run_connect

    return run_connect(df)
