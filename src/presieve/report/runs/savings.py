# SPDX-License-Identifier: Apache-2.0
"""Untrusted. What presieve saved, summed up over the records of many runs.

Measured figures come from a clock or from Spark's metrics. Counts are differences between the rows
of files by their footers and what Spark counted. Where a figure is missing in a run, that run is
not part of the sum; each sum says how many runs it has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeAlias

Record: TypeAlias = Mapping[str, Any]


@dataclass(slots=True)
class Total:
    """A sum over the runs that have the figure, and how many these are."""

    sum: float = 0
    runs: int = 0

    def add(self, value: float | None) -> None:
        """Add the figure of a run; None if the run has none."""
        if value is not None:
            self.sum += value
            self.runs += 1

    def to_json(self) -> dict[str, Any]:
        """As JSON types; None in place of the sum if no run has the figure."""
        return {"sum": self.sum if self.runs else None, "runs": self.runs}


MEASURED = ("rows_to_python", "bytes_to_python", "python_seconds")
COUNTED = ("rows_not_read", "rows_not_to_python")


@dataclass(slots=True)
class BoundarySavings:
    """One place of a job where a filter stands above a function, over all DataFrames of all runs,
    which ``runs`` counts. ``pushed`` and ``compiled`` count those in which a pre-filter was pushed,
    and in which the function ran without Python.
    """

    function: str
    where: str
    runs: int = 0
    pushed: int = 0
    compiled: int = 0
    figures: dict[str, Total] = field(
        default_factory=lambda: {name: Total() for name in (*MEASURED, *COUNTED)}
    )

    def add(self, boundary: Record, changed: bool) -> None:
        """Add one run."""
        self.runs += 1
        self.pushed += changed and boundary["kind"] != "none"
        self.compiled += boundary.get("runs_as") is not None
        run, spared = boundary.get("run") or {}, boundary.get("spared") or {}
        for name, value in (
            ("rows_to_python", run.get("rows_in")),
            ("bytes_to_python", run.get("sent_bytes")),
            ("python_seconds", run.get("seconds")),
            ("rows_not_read", spared.get("not_read")),
            ("rows_not_to_python", spared.get("not_to_python")),
        ):
            self.figures[name].add(value)

    def to_json(self) -> dict[str, Any]:
        """As JSON types."""
        return {
            "function": self.function,
            "where": self.where,
            "runs": self.runs,
            "pushed": self.pushed,
            "compiled": self.compiled,
            "measured": {name: self.figures[name].to_json() for name in MEASURED},
            "counted": {name: self.figures[name].to_json() for name in COUNTED},
        }


_SECONDS = ("total", "optimize", "checking", "compiling", "measuring")


@dataclass(slots=True)
class JobSavings:
    """One job over all runs. ``written`` and ``with_presieve`` are the seconds of DataFrames that
    were measured both ways, in ``presieve run --measure``; the latter include ``optimize``.
    """

    job: str
    runs: int = 0
    first: str = ""
    last: str = ""
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(_SECONDS, 0.0))
    written: Total = field(default_factory=Total)
    with_presieve: Total = field(default_factory=Total)
    boundaries: dict[tuple[str, str], BoundarySavings] = field(default_factory=dict)

    def add(self, record: Record) -> None:
        """Add one run."""
        started = record["started"]
        self.runs += 1
        self.first = min(self.first or started, started)
        self.last = max(self.last, started)
        for name in _SECONDS:
            self.seconds[name] += record["seconds"].get(name, 0.0)
        measured = [d["measured"] for d in record["dataframes"] if d.get("measured")]
        if measured:
            self.written.add(sum(m["written"]["seconds"] for m in measured))
            self.with_presieve.add(sum(m["optimize"] + m["optimized"]["seconds"] for m in measured))
        for dataframe in record["dataframes"]:
            for boundary in dataframe["boundaries"]:
                function = f"{boundary['operator']} {boundary['function']}".strip()
                key = function, boundary["where"]
                savings = self.boundaries.setdefault(key, BoundarySavings(*key))
                savings.add(boundary, dataframe["changed"])

    def to_json(self) -> dict[str, Any]:
        """As JSON types."""
        return {
            "job": self.job,
            "runs": self.runs,
            "first": self.first,
            "last": self.last,
            "measured": {
                "seconds": self.seconds,
                "seconds_as_written": self.written.to_json(),
                "seconds_with_presieve": self.with_presieve.to_json(),
            },
            "boundaries": [b.to_json() for b in self.boundaries.values()],
        }


def sum_up(records: Iterable[Record], since: datetime | None = None) -> list[JobSavings]:
    """Sum up the runs of each job that started at ``since`` or later."""
    jobs: dict[str, JobSavings] = {}
    for record in records:
        if since is None or datetime.fromisoformat(record["started"]) >= since:
            jobs.setdefault(record["job"], JobSavings(record["job"])).add(record)
    return list(jobs.values())


def tell_job(job: JobSavings) -> Iterator[str]:
    """What presieve took and saved in a job, in sentences."""
    seconds = job.seconds
    days = (
        job.first[:10]
        if job.first[:10] == job.last[:10]
        else f"{job.first[:10]} to {job.last[:10]}"
    )
    yield f"{job.job}: {_runs(job.runs)}, {days}"
    parts = f"optimize took {seconds['optimize']:.1f} s of {seconds['total']:.1f} s in all"
    yield (
        f"measured: {parts}, checks of the data {seconds['checking']:.1f} s of these, compiling"
        f" functions {seconds['compiling']:.1f} s"
    )
    if job.written.runs:
        saved = job.written.sum - job.with_presieve.sum
        yield (
            f"measured both ways in {_runs(job.written.runs)}: {job.written.sum:.1f} s as written,"
            f" {job.with_presieve.sum:.1f} s with presieve and optimize,"
            f" {abs(saved):.1f} s {'saved' if saved >= 0 else 'more'}"
        )
    else:
        yield "seconds as written were not measured: use `presieve run --measure` for a run"


def _runs(number: int) -> str:
    return f"{number} run" if number == 1 else f"{number} runs"


HEAD = (
    *("boundary", "filter", "times", "pushed", "without Python"),
    *("rows not read (count)", "rows not to Python (count)", "bytes to Python (measured)"),
)
"""The columns of the table of a job's boundaries."""


def rows(job: JobSavings) -> Iterator[Sequence[str]]:
    """The rows of the table of a job's boundaries."""
    for b in job.boundaries.values():
        yield (
            b.function,
            b.where,
            str(b.runs),
            str(b.pushed),
            str(b.compiled),
            *(_write_total(b.figures[name], b.runs) for name in COUNTED),
            _write_total(b.figures["bytes_to_python"], b.runs - b.compiled),
        )


def _write_total(total: Total, runs: int) -> str:
    """Show a sum, and how many of the runs have it unless all have."""
    if not total.runs:
        return "-" if runs else "0"
    return f"{total.sum:,.0f}" + (f" (in {total.runs})" if total.runs < runs else "")
