"""Untrusted. ``presieve explain``: what would be moved in a job, without what it writes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
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
from presieve.report import progress, text, words
from presieve.report.collector import (
    Entry,
    Placed,
    ReportCollector,
    distinct,
    each_once,
    in_folder,
    without_boundary,
)
from presieve.report.model import BoundaryReport, FunctionReport, ReportData
from presieve.report.report import boundary_json

Html = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write a page with every boundary.")
]
PlanOnly = Annotated[
    bool, typer.Option("--plan-only", help="Give the job no rows, instead of running its reads.")
]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Also show invariants, scans and sources.")
]


def command(
    context: typer.Context,
    job: JobName,
    args: JobArgs = None,
    html: Html = None,
    json: opt.Json = False,
    plan_only: PlanOnly = False,
    verbose: Verbose = False,
    policy: opt.Policy = None,
    budget: opt.Budget = None,
    cost: opt.Cost = None,
    compile: opt.Compile = None,
    reorder: opt.Reorder = None,
    declare: opt.Declare = None,
    pure: opt.Pure = None,
    trace: Annotated[bool, typer.Option("--trace", help="Show the steps of each search.")] = False,
) -> None:
    """Run a PySpark job without its writes, and report every boundary.

    Reads such as count() and collect() run. Writes are reported and skipped, and what the job
    prints goes to standard error. --json, --html and --plan-only may also come after JOB.py, other
    options may not. Arguments after -- belong to the job.
    """
    written = {"policy": policy, "budget": budget, "cost": cost, "compile": compile}
    given = opt.given(**written, reorder=reorder, declare=declare, pure=pure)
    late = split(args or ())
    json, html, plan_only = json or late.json, html or late.html, plan_only or late.plan_only
    output.check_writable(html)
    found = jobs.read(job)
    refuse_misplaced(context, found, args or ())
    collector = ReportCollector(in_folder(found.path.resolve().parent))
    warned = jobs.Warned()
    otherwise = project.options(found.path)
    setting = Setting(given, collector.collect, for_report=True, otherwise=otherwise)
    error = run_dry(found, late, setting, collector, plan_only)
    collected = distinct(collector.collected)
    if trace:
        collected = [(replace(r, data=_traced(r.data)), places) for r, places in collected]
    if json:
        output.as_json(_json(found, collected, collector, error))
    else:
        _print(collected, collector, whole=verbose or trace)
    for line in warned.lines:
        print("presieve:", line, file=sys.stderr)
    if html is not None:
        _page(html, found, collected)
    if error is not None:
        raise UsageError(error + _hint(collector, plan_only))


def run_dry(
    job: jobs.Job, late: Late, setting: Setting, collector: ReportCollector, plan_only: bool
) -> str | None:
    """Run the job without its writes. Why it did not come to its end, if it did not."""
    from presieve.backend.session import dry_run

    progress.in_terminal()
    enable_everywhere(setting, dry_run.install(collector.skip, plan_only=plan_only))
    with _stdout_elsewhere():
        return _run(job, late.own)


def _traced(data: ReportData) -> ReportData:
    """With the trace of every boundary for which something was searched."""
    for index in range(len(data.boundaries)):
        data = data.traced(index)
    return data


@dataclass(slots=True)
class Late:
    """The arguments after the job's name: its own, and options of ours."""

    own: list[str] = field(default_factory=list)
    json: bool = False
    html: Path | None = None
    plan_only: bool = False


LATE = ("--json", "--html", "--plan-only")


def split(args: Sequence[str]) -> Late:
    found = Late()
    left = iter(args)
    for arg in left:
        if arg == "--":
            found.own += left
        elif arg == "--json":
            found.json = True
        elif arg == "--plan-only":
            found.plan_only = True
        elif arg == "--html":
            name = next(left, None)
            if name is None:
                raise UsageError("--html needs a FILE")
            found.html = Path(name)
        elif arg.startswith("--html="):
            found.html = Path(arg.removeprefix("--html="))
        else:
            found.own.append(arg)
    return found


def refuse_misplaced(context: typer.Context, job: jobs.Job, args: Sequence[str]) -> None:
    for name, meant in jobs.misplaced(context, args):
        if name == meant and name not in LATE:
            raise UsageError(
                f"{name} stands after {job.name}: put it before that, or after -- if it is one of"
                " the job's"
            )
        if name != meant:
            raise UsageError(
                f"{name} is no option, but {meant} is; put it after -- if it is one of the job's"
            )


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


def _hint(collector: ReportCollector, plan_only: bool) -> str:
    reported = "; what ran before it is reported"
    if plan_only:
        return f"{reported}. With --plan-only the job gets no rows; without it, its reads run"
    if not collector.skipped:
        return reported
    last, at = collector.skipped[-1]
    where = f" at {at}" if at else ""
    return (
        f"{reported}. Does the job read what was not written, such as by"
        f" {last}{where}? `presieve run` writes"
    )


def _json(
    job: jobs.Job, collected: Placed, collector: ReportCollector, error: str | None
) -> dict[str, object]:
    return {
        "job": job.name,
        "boundaries": [
            {**boundary_json(found.what), "at": list(found.places)}
            for found in each_once(collected, whole=True)
            if isinstance(found.what, BoundaryReport)
        ],
        "skipped": [
            {"call": call, "at": str(at) if at else None} for call, at in collector.skipped
        ],
        "error": error,
    }


def _print(collected: Placed, collector: ReportCollector, *, whole: bool) -> None:
    """A table where there are several boundaries, then each boundary once. ``whole``: all that
    there is to say, also of functions for which no column is left out and no filter moves.
    """
    found = each_once(collected, whole=whole)
    several = sum(isinstance(one.what, BoundaryReport) for one in found)
    if several and not whole:
        found = [one for one in found if _has_news(one.what)]
    if several > 1:
        print("\n".join(text.table(r.data for r in collector.collected)) + "\n")
    for one in found:
        print(f"{', '.join(one.places) or 'somewhere'}: {_shown_as(one, whole)}\n")
    for report, places in collected:
        if report.data.declined:
            print(f"{', '.join(places) or 'somewhere'}: {words.summary(report.data)}\n")
    if rest := without_boundary(collector.collected):
        print(rest)
    for call, at in collector.skipped:
        print(f"not executed: {call}" + (f" ({at})" if at else ""))
    if found and not whole:
        codes = (d.code for one in found for d in one.what.declined)
        more = "presieve explain -v (invariants, scans, sources)"
        print("more:", ", ".join(filter(None, (more, words.why(codes)))))


def _has_news(what: BoundaryReport | FunctionReport) -> bool:
    return isinstance(what, BoundaryReport) or what.pruned or bool(what.declined or what.compiled)


def _shown_as(one: Entry, whole: bool) -> str:
    if isinstance(one.what, FunctionReport):
        return text.render_function(one.what) if whole else words.function_line(one.what)
    if whole:
        return text.render_boundary(one.what, one.changed)
    return text.brief_boundary(one.what, one.changed)


def _page(file: Path, job: jobs.Job, collected: Placed) -> None:
    sections = [pages.Section(report.data, title=", ".join(places)) for report, places in collected]
    output.write(file, pages.page(f"presieve explain {job.name}", sections))
