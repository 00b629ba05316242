# SPDX-License-Identifier: Apache-2.0
"""Untrusted. ``presieve saved``: sums up what ``presieve run --ledger`` has recorded."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from presieve.cli import output
from presieve.cli import shared_options as opt
from presieve.driver.ledger import read
from presieve.errors import UsageError
from presieve.report.json_fields import FORMAT
from presieve.report.runs import savings

Files = Annotated[list[Path], typer.Argument(metavar="FILE...", help="Ledgers.")]
Since = Annotated[
    str | None,
    typer.Option(metavar="DATE", help="Only runs since then: 2026-11-01, or with a time."),
]


def command(files: Files, since: Since = None, json: opt.Json = False) -> None:
    """Sum up what presieve saved in the runs of ledgers, for each job and boundary.

    Measured figures are told apart from counts; nothing is estimated. Exits with 1 if the ledgers
    have no such run.
    """
    start = None if since is None else _read_moment(since)
    lines = read(files)
    jobs = savings.sum_up(lines.records, start)
    if json:
        output.as_json(
            {
                "format": FORMAT,
                "since": None if start is None else start.isoformat(),
                "broken_lines": lines.broken,
                "jobs": [job.to_json() for job in jobs],
            }
        )
    else:
        for job in jobs:
            _print_job(job)
        if not jobs:
            print("no run is recorded" + ("" if start is None else f" since {since}"))
    if lines.broken:
        text = "1 line is" if lines.broken == 1 else f"{lines.broken} lines are"
        print(f"presieve: {text} no record, and left out", file=sys.stderr)
    if not jobs:
        raise typer.Exit(1)


def _print_job(job: savings.JobSavings) -> None:
    for line in savings.tell_job(job):
        output.line(line)
    if job.boundaries:
        table = Table(*savings.HEAD)
        for row in savings.rows(job):
            table.add_row(*map(Text, row))
        output.console().print(table)
    print()


def _read_moment(text: str) -> datetime:
    """Read a date or a moment; one without a time zone is in that of this machine."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise UsageError(f"--since {text}: it is no date; write it as 2026-11-01") from error
    return moment.astimezone(UTC)
