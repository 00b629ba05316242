# SPDX-License-Identifier: Apache-2.0
"""Untrusted. ``presieve run``: runs an unmodified job, with every session enabled."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from presieve.cli import job as jobs
from presieve.cli import output, project_options
from presieve.cli import shared_options as opt
from presieve.driver import ledger as ledgers
from presieve.driver.session import SessionSetting, enable_everywhere
from presieve.errors import PresieveError
from presieve.report.collector import in_folder

# Everything after the job's name belongs to the job.
CONTEXT = {"allow_interspersed_args": False}

JobName = Annotated[str, typer.Argument(metavar="JOB.py", show_default=False)]
JobArgs = Annotated[
    list[str] | None, typer.Argument(metavar="ARGS", help="Its arguments.", show_default=False)
]
Ledger = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Add a line on this run, for `presieve saved`."),
]
Measure = Annotated[
    bool,
    typer.Option("--measure", help="Run rewritten DataFrames twice more: both ways."),
]


def command(
    context: typer.Context,
    *,
    job: JobName,
    args: JobArgs = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No table at the end.")] = False,
    json: opt.Json = False,
    ledger: Ledger = None,
    measure: Measure = False,
    policy: opt.Policy = None,
    budget: opt.Budget = None,
    cost: opt.Cost = None,
    compile: opt.Compile = None,
    reorder: opt.Reorder = None,
    effects: opt.Effects = None,
    declare: opt.Declare = None,
    pure: opt.Pure = None,
) -> None:
    """Run a PySpark job unchanged, with its DataFrames optimized.

    The job keeps its standard output, exit code and traceback. At the end, a table with a row per
    boundary and the time of presieve goes to standard error. With --json, the job's output goes
    there, too, and standard output gets one object. Options for presieve come before JOB.py.
    """
    written = {"policy": policy, "budget": budget, "cost": cost, "compile": compile}
    said = {"reorder": reorder, "effects": effects, "declare": declare, "pure": pure}
    cli_options = opt.read_given_options(**written, **said)
    loaded_job = jobs.read_job(job)
    output.check_writable(ledger)
    watched = json or measure or ledger is not None
    recorder = ledgers.Recorder(in_folder(loaded_job.path.resolve().parent), both_ways=measure)
    watcher = recorder.watch if watched else None
    otherwise = project_options.options(loaded_job.path)
    enable_everywhere(
        SessionSetting(cli_options, recorder.collect, otherwise=otherwise, watcher=watcher)
    )
    warned = jobs.Warned()
    try:
        with output.stdout_elsewhere() if json else nullcontext():
            code = jobs.end(loaded_job, args or ())
    finally:
        if not quiet:
            sys.stdout.flush()
            misplaced = jobs.find_misplaced_options(context, args or ())
            _print_lines(recorder, warned, loaded_job.name, [name for name, _ in misplaced])
        if watched:
            _record(recorder, loaded_job.name, ledger, json=json)
    raise typer.Exit(code)


def _print_lines(
    recorder: ledgers.Recorder, warned: jobs.Warned, job: str, misplaced: Sequence[str]
) -> None:
    """Print the table, warnings, and which options were given to the job."""
    looked = () if warned.lines and not recorder.collected else recorder.lines()
    notes = (
        f"{name} was given to the job, as it stands after {job}; options for presieve come before"
        " that"
        for name in misplaced
    )
    for line in (*looked, *warned.lines, *notes):
        print("presieve:", line, file=sys.stderr)


def _record(recorder: ledgers.Recorder, name: str, ledger: Path | None, *, json: bool) -> None:
    """Print the record of the run, and add it to the ledger."""
    record = recorder.record(name)
    if json:
        output.as_json(record)
    if ledger is not None:
        try:
            ledgers.append(ledger, record)
        except PresieveError as problem:  # the job has run, and its exit code counts
            print("presieve:", problem, file=sys.stderr)
