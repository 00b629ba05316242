"""Python's interactive prompt in a terminal, at which a test types or pastes as a person does."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

_CONTROLS = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b[=>]|\r")

_BRACKETS = re.compile(r"\x1b\[\?2004([hl])")
"""How a program tells the terminal to mark what is pasted, and to stop it."""


class Prompt:
    """A process with a terminal of its own. ``seconds``: how long its answers may take."""

    def __init__(self, process: subprocess.Popen[bytes], terminal: int, seconds: float) -> None:
        self._process = process
        self._terminal = terminal
        self._seconds = seconds
        self._count = 0
        self._brackets = False

    def paste(self, text: str) -> str:
        """Paste lines, press Enter until they are run, and return what the terminal shows then."""
        self._count += 1
        lines = text.strip("\n")
        self._write(f"\x1b[200~{lines}\x1b[201~\n\n" if self._brackets else f"{lines}\n\n")
        # In two parts, so that its echo is not taken for its output.
        self._write(f"print('paste', 'done', {self._count})\n")
        return self.read_to_prompt(f"paste done {self._count}\n")

    def read_to_prompt(self, after: str = "") -> str:
        """Return what the terminal shows until it asks for a line, after some text. Raises
        AssertionError if it does not.
        """
        shown = ""
        deadline = time.monotonic() + self._seconds
        while ">>> " not in shown[shown.find(after) :] or after not in shown:
            ready, _, _ = select.select([self._terminal], [], [], 1)
            chunk = self._read() if ready else ""
            shown += chunk
            ended = self._process.poll() is not None and not chunk
            assert not ended, f"the prompt ended\n{shown}"
            assert time.monotonic() < deadline, f"no prompt in time\n{shown}"
        return shown

    def _read(self) -> str:
        try:
            data = os.read(self._terminal, 65536)
        except OSError:  # the other side is closed
            return ""
        shown = data.decode(errors="replace")
        for switch in _BRACKETS.findall(shown):
            self._brackets = switch == "h"
        return _CONTROLS.sub("", shown)

    def _write(self, text: str) -> None:
        data = text.encode()
        while data:
            data = data[os.write(self._terminal, data[:1024]) :]


@contextmanager
def open_prompt(
    command: Sequence[str], folder: Path, *, seconds: float = 60, **environment: str
) -> Iterator[Prompt]:
    """Start a command at a terminal, in a folder that is also its home, and end it afterwards.

    ``seconds``: how long it may take to begin, and to answer.
    """
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=folder,
        env=_environment(folder, environment),
        start_new_session=True,
    )
    os.close(theirs)
    try:
        prompt = Prompt(process, ours, seconds)
        prompt.read_to_prompt()
        yield prompt
    finally:
        os.killpg(process.pid, signal.SIGKILL)  # a shell of Spark is several processes
        process.wait()
        os.close(ours)


def _environment(folder: Path, others: Mapping[str, str]) -> dict[str, str]:
    kept = {n: v for n, v in os.environ.items() if n not in ("PYTHONSTARTUP", "INPUTRC")}
    return {**kept, "HOME": str(folder), "TERM": "xterm", "COLUMNS": "200", **others}
