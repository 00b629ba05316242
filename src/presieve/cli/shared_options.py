# SPDX-License-Identifier: Apache-2.0
"""Untrusted. The options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from presieve.driver.options import OPTIONS, Given, read_options


class ModeChoice(StrEnum):
    """Whether the fold runs for each group, or once over all rows, even if there are none."""

    GROUPED = "grouped"
    GLOBAL = "global"


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
    typer.Option(metavar="DDL", help="Output columns, if the function does not declare them."),
]
Keys: TypeAlias = Annotated[
    str, typer.Option(metavar="A,B", help="The grouping columns, separated by commas.")
]
ModeOption: TypeAlias = Annotated[
    ModeChoice,
    typer.Option("--mode", help="GROUP BY, or one group of all rows."),
]


def _option(name: str) -> Any:
    """An option of :mod:`presieve.driver.options`: a text here, which that module reads."""
    option = OPTIONS[name]
    default = f"{option.default:g}" if isinstance(option.default, float) else option.default
    help_ = f"{option.help} Default: {default}." if default else option.help
    return typer.Option(f"--{name}", metavar=option.metavar, help=help_, show_default=False)


Policy: TypeAlias = Annotated[str | None, _option("policy")]
Cost: TypeAlias = Annotated[str | None, _option("cost")]
Compile: TypeAlias = Annotated[str | None, _option("compile")]
Reorder: TypeAlias = Annotated[str | None, _option("reorder")]
Effects: TypeAlias = Annotated[str | None, _option("effects")]
Budget: TypeAlias = Annotated[str | None, _option("budget")]
Declare: TypeAlias = Annotated[list[str] | None, _option("declare")]
Pure: TypeAlias = Annotated[list[str] | None, _option("pure")]
Save: TypeAlias = Annotated[
    Path | None, typer.Option(metavar="CERT.json", help="Write the certificate of the proof.")
]
Json: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print one JSON object to standard output.")
]


def names(keys: str) -> tuple[str, ...]:
    """Split ``"a, b"`` into names."""
    return tuple(part.strip() for part in keys.split(",") if part.strip())


def read_given_options(**written: str | list[str] | None) -> Given:
    """Read the options on the command line."""
    return read_options({name: w for name, w in written.items() if w not in (None, [])}, "--{}")
