# SPDX-License-Identifier: Apache-2.0
"""Untrusted. ``presieve explain --baseline``: compares a job with what a file says of it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import presieve
from presieve.cli import output
from presieve.cli.job import Job
from presieve.driver.options import OPTIONS, Options
from presieve.driver.session import SessionSetting, setting_of
from presieve.errors import Span, UsageError
from presieve.records import replace
from presieve.report.baseline.comparison import SiteChange, compare_sites
from presieve.report.baseline.comparison_text import BaselineOutcome, Naming, Status
from presieve.report.baseline.file import (
    BaselineFile,
    Environment,
    baseline_of,
    environment_differences,
    read_baseline,
    with_job,
    write_baseline,
)
from presieve.report.baseline.seen import list_sites, reasons_left_alone
from presieve.report.collector import ReportCollector
from presieve.report.report_data import ReportData


def open_gate(job: Job, file: Path | None, *, update: bool) -> Gate | None:
    """Read the baseline of a job; None if no file is given. Raises :class:`UsageError` if it
    cannot be read, or could not be written.
    """
    if file is None:
        if update:
            raise UsageError("--update-baseline needs --baseline FILE")
        return None
    output.check_writable(file)
    written = read_baseline(file.read_bytes(), str(file)) if file.exists() else BaselineFile()
    return Gate(job, file, written, update=update)


class Gate:
    """The baseline of a job while the job runs, and the comparison afterwards."""

    def __init__(self, job: Job, file: Path, written: BaselineFile, *, update: bool) -> None:
        self._file, self._written, self._update = file, written, update
        path = os.path.relpath(job.path.resolve(), file.resolve().parent)
        self._name = Path(path).as_posix()
        self._plan_only = False
        self._sparks: set[str] = set()
        self._options: dict[str, dict[str, Any]] = {}

    def listening(self, setting: SessionSetting, plan_only: bool) -> SessionSetting:
        """Return the setting with a listener that also notes the options and the version of Spark
        of each DataFrame.
        """
        self._plan_only = plan_only
        listener = setting.listener

        def listen(df: Any, data: ReportData) -> None:
            self._note(df, setting_of(df.sparkSession) or setting)
            if listener is not None:
                listener(df, data)

        return SessionSetting(
            setting.given, listen, for_report=setting.for_report, otherwise=setting.otherwise
        )

    def _note(self, df: Any, setting: SessionSetting) -> None:
        spark = df.sparkSession
        connect = type(spark).__module__.startswith("pyspark.sql.connect")
        version = ".".join(str(spark.version).split(".")[:2])
        self._sparks.add(f"{version} Connect" if connect else version)
        options = _not_default(setting.options(spark))
        self._options[repr(options)] = options

    def judge(self, collector: ReportCollector, complete: bool) -> BaselineOutcome:
        """Compare what was collected with the file, and write the file if that is asked for or the
        job is not in it. ``complete``: whether the job reached its end.
        """
        now = list_sites(collector.collected)
        environment = self._environment()
        before = self._written.jobs.get(self._name)
        notes: tuple[str, ...] = ()
        changes: tuple[SiteChange, ...] = ()
        if before is not None:
            notes = environment_differences(before.environment, environment)
            alone = reasons_left_alone(collector.collected)
            changes = compare_sites(before.sites, now, alone, complete=complete)
        status: Status = "missing" if before is None else _status(changes)
        if complete and (before is None or self._update):
            job = baseline_of(environment, now)
            output.write(self._file, write_baseline(with_job(self._written, self._name, job)))
            status = "written" if before is None else "updated"
        return BaselineOutcome(str(self._file), status, complete, notes, changes)

    def _environment(self) -> Environment:
        options = tuple(self._options[key] for key in sorted(self._options))
        return Environment(
            presieve.__version__, tuple(sorted(self._sparks)), options, self._plan_only
        )


def _not_default(options: Options) -> dict[str, Any]:
    values = ((name, getattr(options, name)) for name in sorted(OPTIONS))
    return {name: _plain(value) for name, value in values if value != OPTIONS[name].default}


def _plain(value: object) -> object:
    """A value as it is read back from the file."""
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [v if isinstance(v, str) else getattr(v, "__name__", repr(v)) for v in value]
    return value


def _status(changes: Iterable[SiteChange]) -> Status:
    outcomes = {c.outcome for c in changes}
    return next((o for o in ("lost", "gained", "different") if o in outcomes), "same")


def name_from_here(job: Job) -> Naming:
    """How to name files: from the working folder, if they are in it. The job's own lines are given
    from the job's folder.
    """
    folder, working = job.path.resolve().parent, Path.cwd()

    def naming(span: Span) -> Span:
        path = folder / span.file
        if not path.exists():
            return span
        name = path.relative_to(working) if path.is_relative_to(working) else path
        return replace(span, file=str(name))

    return naming
