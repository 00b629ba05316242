# SPDX-License-Identifier: Apache-2.0
"""Untrusted. ``presieve explain``: reports the possible changes to a job, which runs without its
writes.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer
from msgspec import Struct

from presieve.cli import baseline as baselines
from presieve.cli import job as jobs
from presieve.cli import output, project_options
from presieve.cli import shared_options as opt
from presieve.cli.load import cause, place
from presieve.cli.run import JobArgs, JobName
from presieve.driver.session import SessionSetting, enable_everywhere
from presieve.errors import UsageError
from presieve.records import replace
from presieve.report import html as pages
from presieve.report import progress, report_text, sentences
from presieve.report.baseline.comparison_text import BaselineOutcome, outcome_json, outcome_lines
from presieve.report.collector import (
    CollectedEntry,
    Placed,
    ReportCollector,
    distinct,
    each_once,
    in_folder,
    without_boundary,
)
from presieve.report.json_fields import FORMAT
from presieve.report.report import boundary_json
from presieve.report.report_data import BoundaryReport, FunctionReport, ReportData

Html = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write a page with every boundary.")
]
PlanOnly = Annotated[
    bool, typer.Option("--plan-only", help="Give the job no rows, instead of running its reads.")
]
Baseline = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Compare with this file; add the job if it is not in it."),
]
UpdateBaseline = Annotated[
    bool, typer.Option("--update-baseline", help="Record this run in the file of --baseline.")
]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Also show invariants, scans and obstacles.")
]


def command(
    context: typer.Context,
    *,
    job: JobName,
    args: JobArgs = None,
    html: Html = None,
    json: opt.Json = False,
    plan_only: PlanOnly = False,
    verbose: Verbose = False,
    baseline: Baseline = None,
    update_baseline: UpdateBaseline = False,
    policy: opt.Policy = None,
    budget: opt.Budget = None,
    cost: opt.Cost = None,
    compile: opt.Compile = None,
    reorder: opt.Reorder = None,
    effects: opt.Effects = None,
    declare: opt.Declare = None,
    pure: opt.Pure = None,
    trace: Annotated[bool, typer.Option("--trace", help="Show the steps of each search.")] = False,
) -> None:
    """Run a PySpark job without its writes, and report every boundary.

    Reads such as count() and collect() run. Writes are reported and skipped, and what the job
    prints goes to standard error. --json, --html, --plan-only and options on baselines may also
    come after JOB.py. Arguments after -- belong to the job. Exits with 1 if the baseline has more.
    """
    written = {"policy": policy, "budget": budget, "cost": cost, "compile": compile}
    said = {"reorder": reorder, "effects": effects, "declare": declare, "pure": pure}
    cli_options = opt.read_given_options(**written, **said)
    early = Late([], json, html, plan_only, baseline, update_baseline)
    given = split(args or (), (*LATE, *BASELINES)).joined_with(early)
    loaded_job = jobs.read_job(job)
    refuse_misplaced(context, loaded_job, args or (), (*LATE, *BASELINES))
    gate = baselines.open_gate(loaded_job, given.baseline, update=given.update_baseline)
    output.check_writable(given.html)
    collector = ReportCollector(in_folder(loaded_job.path.resolve().parent))
    warned, otherwise = jobs.Warned(), project_options.options(loaded_job.path)
    setting = SessionSetting(cli_options, collector.collect, for_report=True, otherwise=otherwise)
    setting = setting if gate is None else gate.listening(setting, given.plan_only)
    error = run_dry(loaded_job, given, setting, collector, given.plan_only)
    outcome = None if gate is None else gate.judge(collector, error is None)
    run = FinishedRun(loaded_job, collector, error, outcome)
    _show(run, given, verbose=verbose, trace=trace)
    for line in warned.lines:
        print("presieve:", line, file=sys.stderr)
    if error is not None:
        raise UsageError(error + _print_next_steps(collector, given.plan_only))
    if outcome is not None and outcome.is_worse:
        raise typer.Exit(1)


class FinishedRun(Struct, frozen=True):
    """A job that ran, what was collected, why it did not reach its end, and what that says of the
    baseline, if there is one.
    """

    job: jobs.Job
    collector: ReportCollector
    error: str | None
    outcome: BaselineOutcome | None


def _show(run: FinishedRun, given: Late, *, verbose: bool, trace: bool) -> None:
    """Print the reports, then the outcome of the baseline, and write the page."""
    collected = distinct(run.collector.collected)
    if trace:
        collected = [(replace(r, data=_with_traces(r.data)), places) for r, places in collected]
    naming = baselines.name_from_here(run.job)
    if given.json:
        answer = _json(run.job, collected, run.collector, run.error)
        if run.outcome is not None:
            answer["baseline"] = outcome_json(run.outcome, naming)
        output.as_json(answer)
    else:
        _print_boundaries(collected, run.collector, verbose=verbose or trace)
        if run.outcome is not None:
            print("\n" + "\n".join(outcome_lines(run.outcome, naming)))
    if given.html is not None:
        _page(given.html, run.job, collected)


def run_dry(
    job: jobs.Job, late: Late, setting: SessionSetting, collector: ReportCollector, plan_only: bool
) -> str | None:
    """Run the job without its writes. Return why it did not reach its end, or None if it did."""
    from presieve.backend.session import dry_run

    progress.in_terminal()
    enable_everywhere(setting, dry_run.install(collector.skip, plan_only=plan_only))
    with output.stdout_elsewhere():
        return _run(job, late.own)


def _with_traces(data: ReportData) -> ReportData:
    """Add the trace of every boundary for which there was a search."""
    for index in range(len(data.boundaries)):
        data = data.trace_lines(index)
    return data


@dataclass(slots=True)
class Late:
    """The arguments after the job's name: the job's own, and options of this command."""

    own: list[str] = field(default_factory=list)
    json: bool = False
    html: Path | None = None
    plan_only: bool = False
    baseline: Path | None = None
    update_baseline: bool = False

    def joined_with(self, early: Late) -> Late:
        """Add the options that stand before the job's name."""
        return Late(
            self.own,
            self.json or early.json,
            self.html or early.html,
            self.plan_only or early.plan_only,
            self.baseline or early.baseline,
            self.update_baseline or early.update_baseline,
        )


LATE = ("--json", "--html", "--plan-only")
BASELINES = ("--baseline", "--update-baseline")
_WITH_FILE = ("--html", "--baseline")


def split(args: Sequence[str], taken: Sequence[str] = LATE) -> Late:
    """Take the options that may stand after the job's name out of its arguments. Raises
    :class:`UsageError` if one lacks its file.
    """
    late = Late()
    remaining_args = iter(args)
    for arg in remaining_args:
        name, equals, value = arg.partition("=")
        if arg == "--":
            late.own += remaining_args
        elif name not in taken or (equals and name not in _WITH_FILE):
            late.own.append(arg)
        elif name not in _WITH_FILE:
            setattr(late, _attribute(name), True)
        else:
            file = value if equals else next(remaining_args, None)
            if not file:
                raise UsageError(f"{name} needs a FILE")
            setattr(late, _attribute(name), Path(file))
    return late


def _attribute(option: str) -> str:
    return option.removeprefix("--").replace("-", "_")


def refuse_misplaced(
    context: typer.Context, job: jobs.Job, args: Sequence[str], taken: Sequence[str] = LATE
) -> None:
    for name, meant in jobs.find_misplaced_options(context, args):
        if name == meant and name not in taken:
            raise UsageError(
                f"{name} stands after {job.name}: put it before that, or after -- if it is one of"
                " the job's"
            )
        if name != meant:
            raise UsageError(
                f"{name} is no option, but {meant} is; put it after -- if it is one of the job's"
            )


def _run(job: jobs.Job, args: Sequence[str]) -> str | None:
    """Run the job. Return in one line why it did not reach its end, or None if it did."""
    try:
        jobs.run(job, args)
    except SystemExit as stop:
        if stop.code in (None, 0):
            return None
        return f"{job.name}: the job ended with {stop.code!r}"
    except Exception as error:  # the job's code may raise anything
        told = cause(error)
        if "JAVA_GATEWAY_EXITED" in told:
            told += " Spark needs Java 17 or 21 on PATH or in JAVA_HOME"
        if isinstance(error, NameError) and error.name == "spark":
            told += "; a job makes its session: spark = SparkSession.builder.getOrCreate()"
        return f"{place(error, job.path).replace(str(job.path), job.name)}: {told}"
    return None


def _print_next_steps(collector: ReportCollector, plan_only: bool) -> str:
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
        "format": FORMAT,
        "job": job.name,
        "boundaries": [
            {**boundary_json(entry.what), "at": list(entry.places)}
            for entry in each_once(collected, whole=True)
            if isinstance(entry.what, BoundaryReport)
        ],
        "skipped": [
            {"call": call, "at": str(at) if at else None} for call, at in collector.skipped
        ],
        "error": error,
    }


def _print_boundaries(collected: Placed, collector: ReportCollector, *, verbose: bool) -> None:
    """Print a table if there are several boundaries, then each boundary once. ``verbose``: print
    everything, including functions for which no column is left out and no filter moves.
    """
    entries = each_once(collected, whole=verbose)
    several = sum(isinstance(entry.what, BoundaryReport) for entry in entries)
    if several and not verbose:
        entries = [entry for entry in entries if _has_news(entry.what)]
    if several > 1:
        print("\n".join(report_text.table(r.data for r in collector.collected)) + "\n")
    for entry in entries:
        print(f"{', '.join(entry.places) or 'somewhere'}: {_shown_as(entry, verbose)}\n")
    for report, places in collected:
        if report.data.declined:
            print(f"{', '.join(places) or 'somewhere'}: {sentences.summary(report.data)}\n")
    if summary := without_boundary(collector.collected):
        print(summary)
    for call, at in collector.skipped:
        print(f"not executed: {call}" + (f" ({at})" if at else ""))
    if entries and not verbose:
        codes = (d.code for entry in entries for d in entry.what.declined)
        details_command = "presieve explain -v (invariants, scans, obstacles)"
        print("more:", ", ".join(filter(None, (details_command, sentences.why(codes)))))


def _has_news(what: BoundaryReport | FunctionReport) -> bool:
    return isinstance(what, BoundaryReport) or what.pruned or bool(what.declined or what.compiled)


def _shown_as(entry: CollectedEntry, verbose: bool) -> str:
    if isinstance(entry.what, FunctionReport):
        return (
            report_text.render_function(entry.what)
            if verbose
            else sentences.function_line(entry.what)
        )
    if verbose:
        return report_text.render_boundary(entry.what, entry.changed)
    return report_text.brief_boundary(entry.what, entry.changed)


def _page(file: Path, job: jobs.Job, collected: Placed) -> None:
    sections = [pages.Section(report.data, title=", ".join(places)) for report, places in collected]
    output.write(file, pages.page(f"presieve explain {job.name}", sections))
