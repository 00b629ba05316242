"""Untrusted. ``presieve run``: an unmodified job, with every session enabled."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from presieve.cli import job as jobs
from presieve.cli import options as opt
from presieve.cli import project
from presieve.driver.session import Setting, enable_everywhere
from presieve.report.collector import ReportCollector, in_folder

# What follows the job's name is the job's.
CONTEXT = {"allow_interspersed_args": False}

JobName = Annotated[str, typer.Argument(metavar="JOB.py", show_default=False)]
JobArgs = Annotated[
    list[str] | None, typer.Argument(metavar="ARGS", help="Its arguments.", show_default=False)
]


def command(
    context: typer.Context,
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
    given = opt.given(**written, reorder=reorder, declare=declare, pure=pure)
    found = jobs.read(job)
    collector = ReportCollector(in_folder(found.path.resolve().parent))
    enable_everywhere(Setting(given, collector.collect, otherwise=project.options(found.path)))
    warned = jobs.Warned()
    try:
        code = jobs.end(found, args or ())
    finally:
        if not quiet:
            sys.stdout.flush()
            looked = () if warned.lines and not collector.collected else collector.lines()
            notes = (
                f"{name} was given to the job, as it stands after {found.name}; options for"
                " presieve come before that"
                for name, _ in jobs.misplaced(context, args or ())
            )
            for line in (*looked, *warned.lines, *notes):
                print("presieve:", line, file=sys.stderr)
    raise typer.Exit(code)
