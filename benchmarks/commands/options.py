"""Untrusted. What the commands share: options, and the check for Spark's packages."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from presieve.errors import UsageError, install

FAMILIES = Path(__file__).parents[1] / "families"


def _families() -> Path:
    """The published suite, as a path from the current directory."""
    return Path(os.path.relpath(FAMILIES))


Suite: TypeAlias = Annotated[
    Path,
    typer.Option(
        metavar="DIR",
        help="The folder of families.  [default: benchmarks/families]",
        default_factory=_families,
        show_default=False,  # Typer would put it in parentheses
    ),
]
Only: TypeAlias = Annotated[
    str, typer.Option(metavar="NAME,...", help="Families or benchmarks, with commas between.")
]
Turns: TypeAlias = Annotated[int, typer.Option(min=1, help="Measured turns; medians are told.")]
Data: TypeAlias = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Where the tables are kept; a cache folder without it."),
]
Ledger: TypeAlias = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Add a line to this file.")
]
Again: TypeAlias = Annotated[
    bool, typer.Option("--again", help="No run: what the ledger's last one gave.")
]


def require_spark() -> None:
    """Raise :class:`UsageError` where a package is missing that Spark's benchmarks need."""
    for package in ("pyspark", "pandas", "pyarrow"):
        if importlib.util.find_spec(package) is None:
            raise UsageError(f"this benchmark needs {package}: {install('spark')}")
