# SPDX-License-Identifier: Apache-2.0
"""Untrusted. The record of a run of a job, as one JSON object: what was decided, what it took, and
what Spark counted; and the ledger, a file with one such object a line.

Figures are told apart by what they are. ``seconds`` and all of ``work``, ``run`` and ``written``
are measured: by the clock, or by Spark's metrics. ``rows`` and ``spared`` are counts: the rows of
files by their footers, and these less what Spark counted. There are no estimates.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct

from presieve.backend.statistics.metrics import Work
from presieve.driver.optimize import measure
from presieve.driver.running import ActionRun, Watcher, is_of_job
from presieve.errors import UsageError
from presieve.records import replace
from presieve.report.collector import CollectedReport, ReportCollector
from presieve.report.json_fields import FORMAT, fields_json
from presieve.report.report_data import BoundaryReport, Measured
from presieve.report.runs.boundary_runs import runs_of, sum_up
from presieve.version import read_version

WHOLE = frozenset(
    (
        *("collect", "count", "toPandas", "_to_pandas", "toArrow", "foreach", "foreachPartition"),
        *("save", "saveAsTable", "insertInto", "json", "parquet", "text", "csv", "xml", "orc"),
        *("jdbc", "create", "replace", "createOrReplace", "append", "overwrite"),
        "overwritePartitions",
    )
)
"""Actions that need all rows of the result."""

_LEFT_OUT = (
    *("invariant", "source", "listings", "conjuncts", "sentences", "remedies", "trace", "reaches"),
    *("pushed_to_scan", "order", "solver_calls", "strength", "residual_strength", "columns"),
    *("compiled", "not_compiled", "stays", "keys"),
)
"""Fields of a boundary that are not recorded: they explain the proof, or are long."""


class RecordedAction(Struct, frozen=True, eq=False):
    """An action, the line of the job that ran it, and both ways measured, if that was asked for."""

    action: ActionRun
    at: str | None
    measured: Measured | None


class Recorder(ReportCollector):
    """Collects reports, and the actions that ran."""

    def __init__(self, called: Callable[[str], str | None], *, both_ways: bool = False) -> None:
        """``called`` is as for :class:`ReportCollector`. ``both_ways``: run each rewritten
        DataFrame once more, as written and as optimized, to measure both.
        """
        super().__init__(called)
        self._both_ways = both_ways
        self._started = time.perf_counter()
        self._began = datetime.now(UTC)
        self.actions: list[RecordedAction] = []

    def watch(self, action: ActionRun) -> None:
        """Add an action."""
        at = self._line()
        answer = action.answer
        measured = None
        if self._both_ways and answer.data is not None and answer.data.changed:
            with self._lock:
                is_new = all(r.action.answer.data is not answer.data for r in self.actions)
            if is_new and not action.failed:
                measured = measure(answer.written, answer.better, answer.data)
        with self._lock:
            self.actions.append(RecordedAction(action, str(at) if at else None, measured))

    def further_totals(self) -> Iterator[tuple[str, float]]:
        """What the job took with everything, and both ways where that was measured."""
        measuring = [r.measured for r in self.actions if r.measured is not None]
        if measuring:
            yield "measured again, as written", sum(m.written.seconds for m in measuring)
            yield "measured again, with presieve and optimize", sum(m.total for m in measuring)
        yield "the job, with all of this", time.perf_counter() - self._started

    def record(self, job: str, total: float | None = None) -> dict[str, Any]:
        """Return the record of the run so far, which took ``total`` seconds; by default, the time
        since this recorder was made.
        """
        with self._lock:
            reports, actions = list(self.collected), list(self.actions)
        of_report: dict[int, list[RecordedAction]] = {}
        for recorded in actions:
            of_report.setdefault(id(recorded.action.answer.data), []).append(recorded)
        every = [report.data for report in reports]
        measuring = [m for r in actions if (m := r.measured) is not None]
        return {
            "format": FORMAT,
            "presieve": read_version(),
            "job": job,
            "started": self._began.isoformat(timespec="seconds"),
            "seconds": {
                "total": time.perf_counter() - self._started if total is None else total,
                "optimize": sum(data.optimizing for data in every),
                "checking": sum(data.checking for data in every),
                "compiling": sum(data.compiling for data in every),
                "actions": sum(r.action.seconds for r in actions),
                "measuring": sum(m.written.seconds + m.optimized.seconds for m in measuring),
            },
            "dataframes": [
                _dataframe(report, of_report.get(id(report.data), [])) for report in reports
            ],
        }


def _dataframe(report: CollectedReport, recorded: Sequence[RecordedAction]) -> dict[str, Any]:
    data = report.data
    measured = next((r.measured for r in recorded if r.measured is not None), None)
    return {
        "at": str(report.at) if report.at else None,
        "changed": data.changed,
        "declined": data.declined.to_json() if data.declined else None,
        "seconds": {
            "optimize": data.optimizing,
            "checking": data.checking,
            "compiling": data.compiling,
        },
        "boundaries": [_boundary(b, recorded, measured) for b in data.boundaries],
        "functions": [
            {"operator": f.operator, "function": f.function, "compiled": bool(f.compiled)}
            for f in data.functions
        ],
        "actions": [_action(r) for r in recorded],
        "measured": fields_json(measured) if measured else None,
    }


def _action(recorded: RecordedAction) -> dict[str, Any]:
    action = recorded.action
    return {
        "action": action.name,
        "at": recorded.at,
        "seconds": action.seconds,
        "failed": action.failed,
        "work": fields_json(action.work) if action.work else None,
    }


def _boundary(
    boundary: BoundaryReport, recorded: Sequence[RecordedAction], measured: Measured | None
) -> dict[str, Any]:
    works = [r.action.work for r in recorded if r.action.work is not None]
    runs = [run for work in works for run in runs_of(work.python, boundary.function)]
    written = runs_of(measured.written.python, boundary.function) if measured else []
    return {
        **fields_json(boundary, *_LEFT_OUT),
        "runs_as": boundary.compiled.form if boundary.compiled else None,
        "run": sum_up(runs),
        "written": sum_up(written),
        "spared": _count_spared_rows(boundary, recorded),
    }


def _count_spared_rows(
    boundary: BoundaryReport, recorded: Sequence[RecordedAction]
) -> dict[str, int] | None:
    """Count the rows that scans did not return, and that were not sent to Python, although the plan
    as written would have had them; None if that is not certain.
    """
    rows = boundary.rows
    works = [r.action.work for r in recorded if r.action.name in WHOLE and not r.action.failed]
    known = [work for work in works if work is not None]
    if rows is None or not known or len(known) < len(works):
        return None
    to_python = [_rows_to_python(work, boundary) for work in known]
    spared = {"runs": len(known), "not_read": sum(rows - work.scanned for work in known)}
    counted = [count for count in to_python if count is not None]
    if len(counted) == len(known):
        spared["not_to_python"] = sum(rows - count for count in counted)
    return spared


def _rows_to_python(work: Work, boundary: BoundaryReport) -> int | None:
    runs = runs_of(work.python, boundary.function)
    if not runs:
        return 0 if boundary.compiled is not None else None
    counts = [run.rows_in for run in runs]
    return None if None in counts else sum(count for count in counts if count is not None)


def append(path: Path, record: Mapping[str, Any]) -> None:
    """Add a line to a ledger. Several processes may do so at once: each line is written by itself,
    under a lock. A line that a process left unfinished is ended first.

    Raises :class:`UsageError` if the file cannot be written.
    """
    import fcntl  # which only Unix has

    line = json.dumps(record, separators=(",", ":"), default=str).encode() + b"\n"
    try:
        number = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(number, "r+b", buffering=0) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            size = os.fstat(number).st_size
            if size and os.pread(number, 1, size - 1) != b"\n":
                line = b"\n" + line
            while line:
                line = line[file.write(line) :]
    except OSError as problem:
        why = problem.strerror or problem
        raise UsageError(f"{path}: the ledger cannot be written: {why}") from problem


class LedgerLines(Struct, frozen=True):
    """The records of ledgers, oldest first as far as each file goes, and how many lines could not
    be read: a process may have been stopped while it wrote.
    """

    records: tuple[Mapping[str, Any], ...]
    broken: int


def read(paths: Iterable[Path]) -> LedgerLines:
    """Read ledgers. Raises :class:`UsageError` if a file cannot be read, or has records of a later
    format.
    """
    records: list[Mapping[str, Any]] = []
    broken = 0
    for path in paths:
        try:
            lines = path.read_bytes().splitlines()
        except OSError as problem:
            raise UsageError(f"{path}: it cannot be read: {problem.strerror}") from problem
        for number, line in enumerate(filter(None, map(bytes.strip, lines)), 1):
            record = _parse(line)
            if record is None:
                broken += 1
            elif record["format"] > FORMAT:
                raise UsageError(
                    f"{path}: record {number} has format {record['format']}; this presieve reads"
                    f" formats up to {FORMAT}: use the presieve that wrote it"
                )
            else:
                records.append(record)
    return LedgerLines(tuple(records), broken)


def _parse(line: bytes) -> Mapping[str, Any] | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    match record:
        case {"format": int(), "job": str(), "started": str(), "dataframes": list()}:
            return dict(record)
    return None


def session_watcher(path: Path, job: str) -> Watcher:
    """Return a watcher that adds a line to a ledger for each action of a session."""
    return partial(_add_action, path, job)


def _add_action(path: Path, job: str, action: ActionRun) -> None:
    answer = action.answer
    if answer.data is None:
        return
    data = answer.data
    if not answer.is_new:  # an earlier line has what that decision took
        data = replace(data, optimizing=0.0, checking=0.0, compiling=0.0)
    recorder = Recorder(lambda file: Path(file).name if is_of_job(file) else None)
    recorder.collect(answer.written, data)
    recorder.watch(replace(action, answer=replace(answer, data=data)))
    append(path, recorder.record(job, data.optimizing + action.seconds))
