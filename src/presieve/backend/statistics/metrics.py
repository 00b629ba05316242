"""Untrusted. Metrics of Spark for a DataFrame that was run. Nothing depends on it."""

from __future__ import annotations

from msgspec import Struct


class Measurement(Struct, frozen=True):
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
"""Spark's metrics of operators. Each key is the field of a measurement for the metric's sum over
the plan.
"""
