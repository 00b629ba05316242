# SPDX-License-Identifier: Apache-2.0
"""Untrusted. ``presieve demo``: runs three pipelines, as written and as optimized."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Annotated

import typer

from presieve.cli import output
from presieve.cli import shared_options as opt
from presieve.cli.steps import steps
from presieve.errors import UsageError, install

MIN_ROWS = 10_000


def command(
    rows: Annotated[int, typer.Option(min=MIN_ROWS, help="Rows of each table.")] = 3_000_000,
    data: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The folder for the tables. Default: a cache folder."),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The HTML report; in the data folder by default."),
    ] = None,
    runs: Annotated[int, typer.Option(min=1, help="Measured runs of each pipeline.")] = 3,
    json: opt.Json = False,
) -> None:
    """Run three pipelines on generated data, as written and optimized.

    Their Python functions keep a state from row to row. Exits with 1 if a result differs or
    nothing could be pushed.
    """
    for package in ("pyspark", "pandas", "pyarrow"):
        if importlib.util.find_spec(package) is None:
            raise UsageError(f"the demo needs {package}: {install('spark')}")
    output.check_writable(html)
    if data is not None and data.exists() and not data.is_dir():
        raise UsageError(f"{data}: that is a file; name a folder for the tables")
    from presieve.demo import data as tables
    from presieve.demo import show
    from presieve.demo.compare_runs import STEPS, run
    from presieve.demo.demo_session import session

    folder = (data or tables.default_directory()).resolve()
    page = (html or folder / "report.html").resolve()
    with output.quiet(), steps("demo", STEPS) as shown:
        shown.console.print(f"tables of {rows:,} rows in {folder}")
        paths = tables.generate(folder, rows)
        shown.console.print("starting Spark")
        with session() as spark:
            outcomes = run(spark, paths, rows, runs, shown)
    show.save(outcomes, page)
    if json:
        output.as_json({"pipelines": show.as_json(outcomes), "html": str(page)})
    else:
        console = output.console()
        for outcome in outcomes:
            show.show(outcome, console)
        show.table(outcomes, console)
        print(f"report: {page.as_uri()}")
    if not all(o.good for o in outcomes):
        raise typer.Exit(1)
