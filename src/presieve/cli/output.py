# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Prints answers on standard output: fields and tables for people, one object for
programs.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from presieve.errors import UsageError

if TYPE_CHECKING:
    from presieve.report.small_tables import Grid, Mark
    from presieve.report.trace import Trace

WIDTH = 120
"""The width if standard output is not a terminal."""


@contextmanager
def quiet() -> Iterator[None]:
    """Redirect everything that is printed, also by a loaded file, to standard error."""
    with redirect_stdout(sys.stderr):
        yield


@contextmanager
def stdout_elsewhere() -> Iterator[None]:
    """Redirect what this process and its children print to standard error."""
    sys.stdout.flush()
    saved_stdout = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(saved_stdout, 1)
        os.close(saved_stdout)


def as_json(answer: Mapping[str, object]) -> None:
    """Print one object. Values that JSON does not support, such as dates in a table,
    become text.
    """
    print(json.dumps(answer, indent=2, default=str))


def console() -> Console:
    """A console on the current standard output."""
    return Console(width=None if sys.stdout.isatty() else WIDTH, highlight=False)


def fields(rows: Iterable[tuple[str, str]]) -> None:
    """Print names and values, one pair per line. Values are not read as markup."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in rows:
        grid.add_row(name, Text(value))
    console().print(grid)


def trace(steps: Trace) -> None:
    """Print the steps of a search. Texts are not read as markup."""
    show = console()
    for depth, label, text in steps.lines():
        line = Text.assemble((f"{label}  " if label else "", "bold" if depth < 2 else "dim"), text)
        show.print(Padding(line, (0, 0, 0, 4 * depth), expand=False))
    show.print()


_STYLES: Mapping[Mark, str] = {"differs": "bold red", "dropped": "red", "kept": "green"}


def print_small_table(shown: Grid) -> None:
    """Print a small table with marked cells; rows that are dropped are dim."""
    title = shown.heading
    show = Table(*shown.head, title=title, title_justify="left", min_width=len(title))
    for row in shown.body:
        cells = [Text(c.text_with_star, style=_STYLES.get(c.mark, "")) for c in row]
        show.add_row(*cells, style="dim" if row[-1].mark == "dropped" else None)
    console().print(show)


def line(text: str, style: str = "") -> None:
    """Print a sentence, which is not read as markup."""
    console().print(Text(text, style=style))


def write(path: Path, text: str) -> None:
    """Write a file that the user requested. Raises :class:`UsageError` if that fails."""
    check_writable(path)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as problem:
        why = problem.strerror or problem
        raise UsageError(f"{path}: it cannot be written: {why}; name another file") from problem


def check_writable(*paths: Path | None) -> None:
    """Raise :class:`UsageError` if a file could not be written, before anything takes time."""
    for path in paths:
        if path is None:
            continue
        if path.is_dir():
            raise UsageError(f"{path}: that is a folder; name a file in it")
        if not path.parent.is_dir():
            raise UsageError(
                f"{path}: there is no folder {path.parent}; make it, or name another file"
            )
        if not os.access(path if path.exists() else path.parent, os.W_OK):
            raise UsageError(f"{path}: it may not be written; name another file")
