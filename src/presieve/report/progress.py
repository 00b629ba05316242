"""Untrusted. One line that says what a long search is at, where a person waits for it.

It is there in interactive sessions alone: at a Python or IPython prompt in a terminal, on standard
error, and in notebooks. A thread of its own writes it, once a second has passed, and takes it away
again. It looks at nothing that the search computes with, and the search's budget is processor time
of another thread.
"""

from __future__ import annotations

import contextvars
import os
import shutil
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol, TextIO
from uuid import uuid4

SWITCH = "PRESIEVE_PROGRESS"
"""The environment variable: ``0`` for never, ``1`` for in scripts that run in a terminal, too."""

AFTER = 1.0
"""Seconds without a line."""

EVERY = 0.25
"""Seconds from one line to the next."""


class Screen(Protocol):
    """Where the line is shown."""

    def show(self, text: str) -> None:
        """Put the text in the place of the last one."""

    def wipe(self) -> None:
        """Take it away."""


class Terminal:
    """A line that is written over, without what only some terminals understand."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._long = 0

    def show(self, text: str) -> None:
        """Cut to the width there is: a line that wraps could not be taken away."""
        text = text[: shutil.get_terminal_size().columns - 1]
        self._stream.write("\r" + text.ljust(self._long))
        self._stream.flush()
        self._long = len(text)

    def wipe(self) -> None:
        """Leave the cursor at the beginning of an empty line."""
        self._stream.write("\r" + " " * self._long + "\r")
        self._stream.flush()
        self._long = 0


class Notebook:
    """An output below the cell, replaced by the next one and by nothing in the end."""

    def __init__(self, publisher: Any) -> None:
        """``publisher`` is IPython's, ``shell.display_pub``."""
        self._publisher = publisher
        self._id = uuid4().hex
        self._there = False

    def show(self, text: str) -> None:
        """As text, which every notebook shows."""
        place: Mapping[str, str] = {"display_id": self._id}
        self._publisher.publish({"text/plain": text}, transient=place, update=self._there)
        self._there = True

    def wipe(self) -> None:
        """An output that is there cannot be taken back, but it can be empty."""
        self.show("")


@contextmanager
def indicator(what: str, started: float, budget: float) -> Iterator[None]:
    """Show what is looked at for as long as this lasts.

    ``started`` is when all of it began, by ``time.perf_counter``, and ``budget`` its seconds. One
    line at a time: who comes second shows none.
    """
    screen = _screen()
    if screen is None or not _free.acquire(blocking=False):
        yield
        return
    try:
        with _indicator_on(screen, what, started, budget):
            yield
    finally:
        _free.release()


_free = threading.Lock()


@contextmanager
def _indicator_on(screen: Screen, what: str, started: float, budget: float) -> Iterator[None]:
    done = threading.Event()

    def write() -> None:
        if done.wait(max(started + AFTER - time.perf_counter(), 0.0)):
            return
        try:
            while True:
                taken = time.perf_counter() - started
                screen.show(f"presieve: looking at {what}, {taken:.1f} s of {budget:g} s")
                if done.wait(EVERY):
                    break
            screen.wipe()
        except (OSError, ValueError):  # closed meanwhile, or it cannot take this text
            return

    # Notebooks know by context which cell an output belongs to.
    context = contextvars.copy_context()
    writer = threading.Thread(target=context.run, args=(write,), name="presieve", daemon=True)
    writer.start()
    try:
        yield
    finally:
        done.set()
        writer.join(timeout=1.0)


def in_terminal() -> None:
    """Show it in this process as if ``PRESIEVE_PROGRESS=1`` were set: for our own commands."""
    global _commanded
    _commanded = True


_commanded = False


def _screen() -> Screen | None:
    """Where a person looks at this moment, if one does. Only the main thread is waited for."""
    asked = os.environ.get(SWITCH, "").lower()
    if asked in ("0", "false", "no", "off") or _is_beside():
        return None
    shell = _shell()
    if hasattr(shell, "kernel"):
        return Notebook(shell.display_pub)
    if not (hasattr(sys, "ps1") or _commanded or asked in ("1", "true", "yes", "on")):
        return None
    try:
        return Terminal(sys.stderr) if sys.stderr.isatty() else None
    except (AttributeError, ValueError):  # there is none, or it is closed
        return None


def _is_beside() -> bool:
    """Whether this is another thread than the main one, or a process that one of Python started."""
    processes = sys.modules.get("multiprocessing.process")
    if processes is not None and processes.parent_process() is not None:
        return True
    return threading.current_thread() is not threading.main_thread()


def _shell() -> Any:
    """IPython's shell, where this process has one."""
    current = getattr(sys.modules.get("IPython"), "get_ipython", None)
    return current() if current is not None else None
