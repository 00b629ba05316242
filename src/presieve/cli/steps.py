# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Progress of a long command: a bar on standard error, if that is a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn


class Steps:
    """Calling it with a line prints the line and goes one step on. Outside of a terminal only the
    lines are printed.

    Nothing is drawn between two steps, so that measured code has the machine for itself.
    """

    def __init__(self, what: str, total: int | None, console: Console | None = None) -> None:
        """``total`` is the number of steps, or None if it is unknown."""
        self.console = console or Console(stderr=True, style="dim", highlight=False)
        self.bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=self.console,
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
            disable=not self.console.is_terminal,
        )
        self._task = self.bar.add_task(what, total=total)

    def __call__(self, line: str) -> None:
        """Print a line, and finish one step."""
        self.console.print(line)
        self.step()

    def step(self) -> None:
        """Finish one step that has no line."""
        self.bar.advance(self._task)
        self.bar.refresh()


@contextmanager
def steps(what: str, total: int | None = None, console: Console | None = None) -> Iterator[Steps]:
    """Steps with a bar that disappears at the end."""
    progress_steps = Steps(what, total, console)
    with progress_steps.bar:
        yield progress_steps
