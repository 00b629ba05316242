# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Shows the progress of a long search to a waiting user, in one line.

The line appears only in interactive sessions: at a Python or IPython prompt in a terminal, on
standard error, and in notebooks. A separate thread writes it once a second has passed, and removes
it at the end. The thread reads no data of the search, and the search's budget is processor time of
another thread.
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
"""The environment variable: ``0`` for never, ``1`` also for scripts that run in a terminal."""

AFTER = 1.0
"""Seconds before the line appears."""

EVERY = 0.25
"""Seconds between updates of the line."""


class Screen(Protocol):
    """A place where the line is shown."""

    def show(self, text: str) -> None:
        """Replace the last text by this one."""

    def wipe(self) -> None:
        """Remove the text."""


class Terminal:
    """A line that is overwritten, using no sequences that only some terminals understand."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._long = 0

    def show(self, text: str) -> None:
        """Show the text, cut to the terminal's width, because a wrapped line cannot be removed."""
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
    """An output below the cell, replaced by the next text, and emptied at the end."""

    def __init__(self, publisher: Any) -> None:
        """``publisher`` is IPython's ``shell.display_pub``."""
        self._publisher = publisher
        self._id = uuid4().hex
        self._is_shown = False

    def show(self, text: str) -> None:
        """Publish the text as plain text, which every notebook shows."""
        place: Mapping[str, str] = {"display_id": self._id}
        self._publisher.publish({"text/plain": text}, transient=place, update=self._is_shown)
        self._is_shown = True

    def wipe(self) -> None:
        """Empty the output, because it cannot be removed."""
        self.show("")


@contextmanager
def indicator(what: str, started: float, budget: float) -> Iterator[None]:
    """Show progress to a waiting user while the context is open.

    ``started`` is the start of the whole run, by ``time.perf_counter``, and ``budget`` its seconds.
    There is one line at a time: a second context shows none.
    """
    screen = _find_screen()
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
    finished = threading.Event()

    def write() -> None:
        if finished.wait(max(started + AFTER - time.perf_counter(), 0.0)):
            return
        try:
            while True:
                taken = time.perf_counter() - started
                screen.show(f"presieve: looking at {what}, {taken:.1f} s of {budget:g} s")
                if finished.wait(EVERY):
                    break
            screen.wipe()
        except (OSError, ValueError):  # closed meanwhile, or it cannot encode this text
            return

    # Notebooks use the context to find the cell that an output belongs to.
    context = contextvars.copy_context()
    writer = threading.Thread(target=context.run, args=(write,), name="presieve", daemon=True)
    writer.start()
    try:
        yield
    finally:
        finished.set()
        writer.join(timeout=1.0)


def in_terminal() -> None:
    """Show progress as if ``PRESIEVE_PROGRESS=1`` were set, for presieve's own commands."""
    global _commanded
    _commanded = True


_commanded = False


def _find_screen() -> Screen | None:
    """The screen of a waiting user, if there is one. Users wait only for the main thread."""
    setting = os.environ.get(SWITCH, "").lower()
    if setting in ("0", "false", "no", "off") or _is_in_background():
        return None
    shell = _shell()
    if hasattr(shell, "kernel"):
        return Notebook(shell.display_pub)
    if not (hasattr(sys, "ps1") or _commanded or setting in ("1", "true", "yes", "on")):
        return None
    try:
        return Terminal(sys.stderr) if sys.stderr.isatty() else None
    except (AttributeError, ValueError):  # there is no such stream, or it is closed
        return None


def _is_in_background() -> bool:
    """Whether this is not the main thread, or a process that ``multiprocessing`` started."""
    processes = sys.modules.get("multiprocessing.process")
    if processes is not None and processes.parent_process() is not None:
        return True
    return threading.current_thread() is not threading.main_thread()


def _shell() -> Any:
    """IPython's shell, if this process has one."""
    current = getattr(sys.modules.get("IPython"), "get_ipython", None)
    return current() if current is not None else None
