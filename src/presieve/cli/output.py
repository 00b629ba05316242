"""Untrusted. Answers on standard output: fields and tables for people, one object for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from presieve.report.trace import Trace

WIDTH = 120
"""Columns where standard output is not a terminal."""


@contextmanager
def quiet() -> Iterator[None]:
    """What anything prints meanwhile, a loaded file among them, goes to standard error."""
    with redirect_stdout(sys.stderr):
        yield


def as_json(answer: Mapping[str, object]) -> None:
    """The one object. Values that JSON does not know, as dates in a table, are their texts."""
    print(json.dumps(answer, indent=2, default=str))


def console() -> Console:
    """Standard output as it is now."""
    return Console(width=None if sys.stdout.isatty() else WIDTH, highlight=False)


def fields(rows: Iterable[tuple[str, str]]) -> None:
    """Names and values, one a line. Values are not read as markup."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in rows:
        grid.add_row(name, Text(value))
    console().print(grid)


def trace(told: Trace) -> None:
    """What a search did, step by step. Texts are not read as markup."""
    show = console()
    for depth, label, text in told.lines():
        line = Text.assemble((f"{label}  " if label else "", "bold" if depth < 2 else "dim"), text)
        show.print(Padding(line, (0, 0, 0, 4 * depth), expand=False))
    show.print()


def table(title: str, rows: Sequence[Mapping[str, object]] | str) -> None:
    """Rows of one table, NULL as such; a text, or that there are no rows, stands for itself."""
    if isinstance(rows, str) or not rows:
        console().print(f"{title}: {rows or 'no rows'}")
        return
    names = list(dict.fromkeys(name for row in rows for name in row))
    shown = Table(*names, title=title, title_justify="left", min_width=len(title))
    for row in rows:
        shown.add_row(*(Text(_cell(row.get(name))) for name in names))
    console().print(shown)


def _cell(value: object) -> str:
    return "NULL" if value is None else repr(value)
