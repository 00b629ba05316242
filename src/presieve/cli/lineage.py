# SPDX-License-Identifier: Apache-2.0
"""Untrusted. ``presieve lineage``: shows the rows of a job's sources behind chosen result rows."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from presieve.cli import explain, output, project_options
from presieve.cli import job as jobs
from presieve.cli import shared_options as opt
from presieve.cli.run import JobArgs, JobName
from presieve.driver.lineage import lineage_with
from presieve.driver.session import SessionSetting
from presieve.errors import UsageError
from presieve.report.collector import ReportCollector, in_folder
from presieve.report.lineage import Lineage
from presieve.report.lineage import page as lineage_page
from presieve.report.report_data import ReportData

Where = Annotated[
    str,
    typer.Option(metavar="SQL", help="Chooses result rows of the job.", show_default=False),
]


class LineageCollector(ReportCollector):
    """Collects the lineage of each DataFrame that the job runs and that has the columns of the
    filter.
    """

    def __init__(self, job: jobs.Job, where: str, setting: SessionSetting) -> None:
        super().__init__(in_folder(job.path.resolve().parent))
        self._where, self._setting = where, setting
        self.found: dict[str, Lineage] = {}
        self.refused: dict[str, str] = {}

    def collect(self, df: Any, data: ReportData) -> None:
        """Compute the lineage of a DataFrame, or record why it is refused."""
        at = str(self._line() or "somewhere")
        try:
            lineage = lineage_with(df, self._where, self._setting.given, self._setting.otherwise)
        except UsageError as error:
            self.refused[at] = str(error)
        else:
            self.found[at] = lineage


def command(
    context: typer.Context,
    *,
    job: JobName,
    args: JobArgs = None,
    where: Where = "",
    html: explain.Html = None,
    json: opt.Json = False,
    plan_only: explain.PlanOnly = False,
    policy: opt.Policy = None,
    budget: opt.Budget = None,
    reorder: opt.Reorder = None,
    effects: opt.Effects = None,
    declare: opt.Declare = None,
    pure: opt.Pure = None,
) -> None:
    """Run a PySpark job without its writes, and show which rows of its sources matter.

    For each DataFrame that the job runs and that has the columns of --where: per source, the rows
    on which the chosen result rows depend. Options for presieve come before JOB.py.
    """
    if not where.strip():
        raise UsageError("--where is missing: name result rows, such as --where \"team = 'a'\"")
    said = {"reorder": reorder, "effects": effects, "declare": declare, "pure": pure}
    cli_options = opt.read_given_options(policy=policy, budget=budget, **said)
    late = explain.split(args or ())
    json, html, plan_only = json or late.json, html or late.html, plan_only or late.plan_only
    output.check_writable(html)
    loaded_job = jobs.read_job(job)
    explain.refuse_misplaced(context, loaded_job, args or ())
    setting = SessionSetting(cli_options, otherwise=project_options.options(loaded_job.path))
    collector = LineageCollector(loaded_job, where, setting)
    dry = SessionSetting(
        {**cli_options, "cost": "never"}, collector.collect, otherwise=setting.otherwise
    )
    error = explain.run_dry(loaded_job, late, dry, collector, plan_only)
    if json:
        output.as_json(_json(loaded_job.name, collector, error))
    else:
        print("\n\n".join(f"{at}: {lineage}" for at, lineage in collector.found.items()))
    if html is not None:
        output.write(html, lineage_page(list(collector.found.items())))
    if error is not None:
        raise UsageError(error)
    if not collector.found:
        raise UsageError(_nothing(collector))


def _json(job: str, collector: LineageCollector, error: str | None) -> dict[str, object]:
    lineages = [{**lineage.to_json(), "at": at} for at, lineage in collector.found.items()]
    return {"job": job, "lineages": lineages, "error": error}


def _nothing(collector: LineageCollector) -> str:
    for at, why in collector.refused.items():
        print(f"{at}: {why}", file=sys.stderr)
    return "the job runs no DataFrame with the columns of --where"
