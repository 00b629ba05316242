# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Metrics of Spark for a DataFrame that was run. Nothing depends on it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from msgspec import Struct


class PythonRun(Struct, frozen=True):
    """An operator that called Python functions.

    Attributes:
        operator: Spark's operator.
        text: The operator as Spark prints it, with the names of its functions.
        rows_in: Rows that it received; None if Spark does not count them.
        rows_out: Rows that it returned; None if Spark does not count them.
        sent_bytes: Bytes that were sent to Python workers.
        seconds: Time of the Python workers, all tasks together.
    """

    operator: str
    text: str
    rows_in: int | None
    rows_out: int | None
    sent_bytes: int
    seconds: float


class Work(Struct, frozen=True):
    """What Spark counted while a plan ran: the fields of :class:`Measurement` without ``seconds``
    and ``rows``.
    """

    scanned: int = 0
    shuffled: int = 0
    shuffled_bytes: int = 0
    python_bytes: int = 0
    python: tuple[PythonRun, ...] = ()


class Measurement(Struct, frozen=True):
    """One run of a DataFrame. A value for which Spark has no metric is 0.

    Attributes:
        seconds: Wall-clock time, including planning.
        rows: Rows of the result.
        scanned: Rows out of all scans. Skipped row groups and pages contribute none.
        shuffled: Rows into all shuffles.
        shuffled_bytes: Bytes that shuffles write.
        python_bytes: Bytes that are sent to Python workers.
        python: The operators that called Python functions.
    """

    seconds: float
    rows: int
    scanned: int
    shuffled: int = 0
    shuffled_bytes: int = 0
    python_bytes: int = 0
    python: tuple[PythonRun, ...] = ()

    @staticmethod
    def of(seconds: float, rows: int, work: Work) -> Measurement:
        """Put together what was measured."""
        return Measurement(
            seconds,
            rows,
            work.scanned,
            work.shuffled,
            work.shuffled_bytes,
            work.python_bytes,
            work.python,
        )


ROWS_OUT, RECORDS_WRITTEN, BYTES_WRITTEN, SENT, PYTHON_TIME = (
    "numOutputRows",
    "shuffleRecordsWritten",
    "shuffleBytesWritten",
    "pythonDataSent",
    "pythonTotalTime",
)
METRICS: Mapping[str, str] = {
    ROWS_OUT: "number of output rows",
    RECORDS_WRITTEN: "shuffle records written",
    BYTES_WRITTEN: "shuffle bytes written",
    SENT: "data sent to Python workers",
    PYTHON_TIME: "time to run Python workers",
}
"""Spark's metrics of operators that are read: the name in the plan, and in Spark's UI. Counts are
rows or bytes, and times milliseconds.
"""

SAME_AS: Mapping[str, str] = {"pythonNumRowsReceived": ROWS_OUT}
"""Further names in plans; the UI has the same name for both."""

PASS_ROWS_ON = frozenset(
    ("Project", "Sort", "Window", "WindowInPandas", "ArrowWindowPython", "AQEShuffleRead")
)
"""Operators without a count of rows that return as many rows as they receive."""


@dataclass(frozen=True, slots=True, eq=False)
class RunOperator:
    """An operator of a physical plan after its run. ``metrics`` has the values of
    :data:`METRICS` that the operator has.
    """

    name: str
    text: str
    metrics: Mapping[str, int]
    children: tuple[RunOperator, ...] = ()


def work_of(roots: Iterable[RunOperator]) -> Work:
    """Sum up the metrics of physical plans. An operator that occurs twice ran once."""
    every = list({id(operator): operator for root in roots for operator in _walk(root)}.values())

    def total(metric: str) -> int:
        return sum(operator.metrics.get(metric, 0) for operator in every)

    return Work(
        sum(o.metrics.get(ROWS_OUT, 0) for o in every if not o.children),
        total(RECORDS_WRITTEN),
        total(BYTES_WRITTEN),
        total(SENT),
        tuple(_python_run(o) for o in every if SENT in o.metrics),
    )


def _walk(root: RunOperator) -> Iterator[RunOperator]:
    stack = [root]
    while stack:
        operator = stack.pop()
        yield operator
        stack.extend(reversed(operator.children))


def _python_run(operator: RunOperator) -> PythonRun:
    metrics = operator.metrics
    return PythonRun(
        operator.name,
        operator.text,
        _rows_in(operator),
        metrics.get(ROWS_OUT),
        metrics[SENT],
        metrics.get(PYTHON_TIME, 0) / 1000,
    )


def _rows_in(operator: RunOperator) -> int | None:
    """Return the rows that an operator receives; None if that is not counted."""
    counts = [_rows_from(child) for child in operator.children]
    return sum(c for c in counts if c is not None) if counts and None not in counts else None


def _rows_from(operator: RunOperator) -> int | None:
    for metric in (RECORDS_WRITTEN, ROWS_OUT):
        if metric in operator.metrics:
            return operator.metrics[metric]
    return _rows_in(operator) if operator.name in PASS_ROWS_ON else None
