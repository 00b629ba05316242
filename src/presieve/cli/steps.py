"""Untrusted. How far a long command is: a bar on standard error, where that is a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn


class Steps:
    """Called with a line, it prints the line and goes one step on. Elsewhere than in a terminal
    the lines are all there is.

    Nothing is drawn between two steps, so that what is measured meanwhile has the machine for
    itself.
    """

    def __init__(self, what: str, total: int | None, console: Console | None = None) -> None:
        """``total`` is the number of steps, or None where nobody knows it."""
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
        """Print, and one step is done."""
        self.console.print(line)
        self.step()

    def step(self) -> None:
        """One step is done that there is no line for."""
        self.bar.advance(self._task)
        self.bar.refresh()


@contextmanager
def steps(what: str, total: int | None = None, console: Console | None = None) -> Iterator[Steps]:
    """Steps with a bar that is gone in the end."""
    made = Steps(what, total, console)
    with made.bar:
        yield made
