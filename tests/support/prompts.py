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


class Prompt:
    """A process with a terminal of its own. ``seconds``: how long its answers may take."""

    def __init__(self, process: subprocess.Popen[bytes], terminal: int, seconds: float) -> None:
        self._process = process
        self._terminal = terminal
        self._seconds = seconds
        self._count = 0

    def paste(self, text: str) -> str:
        """Paste lines, press Enter until they are run, and return what the terminal shows then."""
        self._count += 1
        self._write(f"{text.rstrip()}\n\n")
        # In two parts, so that its echo is not taken for its output.
        self._write(f"print('paste', 'done', {self._count})\n")
        return self.read_until(f"paste done {self._count}\n")

    def read_until(self, end: str) -> str:
        """Return what the terminal shows until then. Raises AssertionError if it does not."""
        shown = ""
        deadline = time.monotonic() + self._seconds
        while end not in shown:
            ready, _, _ = select.select([self._terminal], [], [], 1)
            chunk = self._read() if ready else ""
            shown += chunk
            ended = self._process.poll() is not None and not chunk
            assert not ended, f"the prompt ended\n{shown}"
            assert time.monotonic() < deadline, f"no {end!r} in time\n{shown}"
        return shown

    def _read(self) -> str:
        try:
            data = os.read(self._terminal, 65536)
        except OSError:  # the other side is closed
            return ""
        return _CONTROLS.sub("", data.decode(errors="replace"))

    def _write(self, text: str) -> None:
        data = text.encode()
        while data:
            data = data[os.write(self._terminal, data[:1024]) :]


@contextmanager
def open_prompt(
    command: Sequence[str], folder: Path, *, seconds: float = 60, **environment: str
) -> Iterator[Prompt]:
    """Start a command at a terminal, in a folder that is also its home, and end it afterwards."""
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
        yield Prompt(process, ours, seconds)
    finally:
        os.killpg(process.pid, signal.SIGKILL)  # a shell of Spark is several processes
        process.wait()
        os.close(ours)


def _environment(folder: Path, others: Mapping[str, str]) -> dict[str, str]:
    kept = {n: v for n, v in os.environ.items() if n not in ("PYTHONSTARTUP", "INPUTRC")}
    return {**kept, "HOME": str(folder), "TERM": "xterm", "COLUMNS": "200", **others}
