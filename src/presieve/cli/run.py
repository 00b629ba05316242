"""Untrusted. ``presieve run``: runs an unmodified job, with every session enabled."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from presieve.cli import job as jobs
from presieve.cli import project_options
from presieve.cli import shared_options as opt
from presieve.driver.session import SessionSetting, enable_everywhere
from presieve.report.collector import ReportCollector, in_folder

# Everything after the job's name belongs to the job.
CONTEXT = {"allow_interspersed_args": False}

JobName = Annotated[str, typer.Argument(metavar="JOB.py", show_default=False)]
JobArgs = Annotated[
    list[str] | None, typer.Argument(metavar="ARGS", help="Its arguments.", show_default=False)
]


def command(
    context: typer.Context,
    *,
    job: JobName,
    args: JobArgs = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No table at the end.")] = False,
    policy: opt.Policy = None,
    budget: opt.Budget = None,
    cost: opt.Cost = None,
    compile: opt.Compile = None,
    reorder: opt.Reorder = None,
    declare: opt.Declare = None,
    pure: opt.Pure = None,
) -> None:
    """Run a PySpark job unchanged, with its DataFrames optimized.

    The job keeps its standard output, exit code and traceback. At the end, a table with a row per
    boundary goes to standard error. Options for presieve come before JOB.py.
    """
    written = {"policy": policy, "budget": budget, "cost": cost, "compile": compile}
    cli_options = opt.read_given_options(**written, reorder=reorder, declare=declare, pure=pure)
    loaded_job = jobs.read_job(job)
    collector = ReportCollector(in_folder(loaded_job.path.resolve().parent))
    enable_everywhere(
        SessionSetting(
            cli_options, collector.collect, otherwise=project_options.options(loaded_job.path)
        )
    )
    warned = jobs.Warned()
    try:
        code = jobs.end(loaded_job, args or ())
    finally:
        if not quiet:
            sys.stdout.flush()
            looked = () if warned.lines and not collector.collected else collector.lines()
            notes = (
                f"{name} was given to the job, as it stands after {loaded_job.name}; options for"
                " presieve come before that"
                for name, _ in jobs.find_misplaced_options(context, args or ())
            )
            for line in (*looked, *warned.lines, *notes):
                print("presieve:", line, file=sys.stderr)
    raise typer.Exit(code)
