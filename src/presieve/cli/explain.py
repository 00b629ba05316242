"""Untrusted. ``presieve explain``: what would be moved in a job, without what it writes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from presieve.cli import job as jobs
from presieve.cli import options as opt
from presieve.cli import output, project
from presieve.cli.load import kind, place
from presieve.cli.run import JobArgs, JobName
from presieve.driver.session import Setting, enable_everywhere
from presieve.errors import UsageError
from presieve.report import html as pages
from presieve.report import progress, text
from presieve.report.collector import Placed, ReportCollector, distinct, in_folder, without_boundary
from presieve.report.model import ReportData
from presieve.report.report import boundary_json


def command(
    job: JobName,
    args: JobArgs = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page with every boundary.")
    ] = None,
    json: opt.Json = False,
    policy: opt.Policy = None,
    budget: opt.Budget = None,
    cost: opt.Cost = None,
    compile: opt.Compile = None,
    declare: opt.Declare = None,
    pure: opt.Pure = None,
    trace: Annotated[bool, typer.Option("--trace", help="Show the steps of each search.")] = False,
) -> None:
    """Run a PySpark job without its writes, and report every boundary.

    Reads such as count() and collect() run. Writes are reported and skipped, and what the job
    prints goes to standard error. --json and --html may also come after JOB.py; --trace may not.
    Arguments after -- belong to the job.
    """
    written = {"policy": policy, "budget": budget, "cost": cost, "compile": compile}
    given = opt.given(**written, declare=declare, pure=pure)
    own, late_json, late_html = _split(args or ())
    json, html = json or late_json, html or late_html
    output.check_writable(html)
    found = jobs.read(job)
    from presieve.backend.session import dry_run

    progress.in_terminal()
    collector = ReportCollector(in_folder(found.path.resolve().parent))
    otherwise = project.options(found.path)
    setting = Setting(given, collector.collect, for_report=True, otherwise=otherwise)
    warned = jobs.Warned()
    enable_everywhere(setting, dry_run.install(collector.skip))
    with _stdout_elsewhere():
        error = _run(found, own)
    collected = distinct(collector.collected)
    if trace:
        collected = [(replace(r, data=_traced(r.data)), places) for r, places in collected]
    if json:
        output.as_json(_json(found, collected, collector, error))
    else:
        _print(collected, collector)
    for line in warned.lines:
        print("presieve:", line, file=sys.stderr)
    if html is not None:
        _page(html, found, collected)
    if error is not None:
        raise UsageError(error + _hint(collector))


def _traced(data: ReportData) -> ReportData:
    """With the trace of every boundary for which something was searched."""
    for index in range(len(data.boundaries)):
        data = data.traced(index)
    return data


def _split(args: Sequence[str]) -> tuple[list[str], bool, Path | None]:
    """The job's arguments without options of ours, and these."""
    own: list[str] = []
    json, html = False, None
    left = iter(args)
    for arg in left:
        if arg == "--":
            return [*own, *left], json, html
        if arg == "--json":
            json = True
        elif arg == "--html":
            name = next(left, None)
            if name is None:
                raise UsageError("--html needs a FILE")
            html = Path(name)
        elif arg.startswith("--html="):
            html = Path(arg.removeprefix("--html="))
        else:
            own.append(arg)
    return own, json, html


@contextmanager
def _stdout_elsewhere() -> Iterator[None]:
    """What this process and those it starts print meanwhile goes to standard error."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)


def _run(job: jobs.Job, args: Sequence[str]) -> str | None:
    """Why the job did not come to its end, in one line, if it did not."""
    try:
        jobs.run(job, args)
    except SystemExit as stop:
        if stop.code in (None, 0):
            return None
        return f"{job.name}: the job ended with {stop.code!r}"
    except Exception as error:  # foreign code may raise anything
        first = kind(error).strip().splitlines()[0]
        if "JAVA_GATEWAY_EXITED" in first:
            first += " Spark needs Java 17 or 21 on PATH or in JAVA_HOME"
        return f"{place(error, job.path).replace(str(job.path), job.name)}: {first}"
    return None


def _hint(collector: ReportCollector) -> str:
    if not collector.skipped:
        return "; what ran before it is reported"
    last, at = collector.skipped[-1]
    where = f" at {at}" if at else ""
    return (
        f"; what ran before it is reported. Does the job read what was not written, such as by"
        f" {last}{where}? `presieve run` writes"
    )


def _json(
    job: jobs.Job, collected: Placed, collector: ReportCollector, error: str | None
) -> dict[str, object]:
    return {
        "job": job.name,
        "boundaries": [
            {**boundary_json(boundary), "at": places}
            for report, places in collected
            for boundary in report.data.boundaries
        ],
        "skipped": [
            {"call": call, "at": str(at) if at else None} for call, at in collector.skipped
        ],
        "error": error,
    }


def _print(collected: Placed, collector: ReportCollector) -> None:
    for report, places in collected:
        print(f"{', '.join(places) or 'somewhere'}: {text.render(report.data)}\n")
    if rest := without_boundary(collector.collected):
        print(rest)
    for call, at in collector.skipped:
        print(f"not executed: {call}" + (f" ({at})" if at else ""))


def _page(file: Path, job: jobs.Job, collected: Placed) -> None:
    sections = [pages.Section(report.data, title=", ".join(places)) for report, places in collected]
    output.write(file, pages.page(f"presieve explain {job.name}", sections))
