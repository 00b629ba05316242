"""Untrusted. The options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeAlias

import typer


class Mode(StrEnum):
    """What the fold of no rows is."""

    GROUPED = "grouped"
    GLOBAL = "global"


class Policy(StrEnum):
    """What a proof may rest on."""

    DEFAULT = "default"
    ASSUME = "assume"
    STRICT = "strict"


class Cost(StrEnum):
    """Where to push what is proven."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


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
Target: TypeAlias = Annotated[
    str, typer.Argument(metavar="FILE.py:NAME", help="The function or class of the fold.")
]
Schema: TypeAlias = Annotated[
    str,
    typer.Option(
        metavar="DDL",
        help='Input columns: "team string, score double NOT NULL".',
        show_default=False,
    ),
]
Where: TypeAlias = Annotated[
    str, typer.Option(metavar="SQL", help="The filter on keys and output columns.")
]
Returns: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="DDL", help="Output columns, where the function does not carry them."),
]
Keys: TypeAlias = Annotated[
    str, typer.Option(metavar="A,B", help="The grouping columns, with commas between.")
]
ModeOption: TypeAlias = Annotated[
    Mode, typer.Option("--mode", help="Whether the fold of no rows is nothing (GROUP BY) or a row.")
]
PolicyOption: TypeAlias = Annotated[
    Policy,
    typer.Option(
        "--policy", help="What a proof may rest on: what is known, whatever it lists, or least."
    ),
]
CostOption: TypeAlias = Annotated[
    Cost, typer.Option("--cost", help="Push where it pays, wherever it is proven, or nowhere.")
]
Budget: TypeAlias = Annotated[float, typer.Option(metavar="SECONDS", help="Time for the search.")]
Pure: TypeAlias = Annotated[
    str,
    typer.Option(
        metavar="F,MODULE:G",
        help="Functions of that file, or of a module, that need not be read: each changes nothing, "
        "never raises, and gives the same for the same arguments, as annotated.",
    ),
]
Json: TypeAlias = Annotated[
    bool, typer.Option("--json", help="One JSON object on standard output, the rest elsewhere.")
]


def names(keys: str) -> tuple[str, ...]:
    """``"a, b"`` as names."""
    return tuple(part.strip() for part in keys.split(",") if part.strip())
