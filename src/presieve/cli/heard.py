"""Untrusted. What was heard of the DataFrames that a job ran."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from presieve.errors import Span
from presieve.report import words
from presieve.report.model import BoundaryReport, ReportData


@dataclass(frozen=True, slots=True)
class Look:
    """One DataFrame that was looked at, and the line of the job that ran it, where it is known."""

    data: ReportData
    at: Span | None


class Heard:
    """All of them, in order. Jobs may have threads."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self.looks: list[Look] = []
        self.skipped: list[tuple[str, Span | None]] = []
        """What was not executed: calls as text, and their lines."""

    def look(self, _: object, data: ReportData) -> None:
        """A DataFrame was looked at."""
        at = self._line()
        with self._lock:
            self.looks.append(Look(data, at))

    def skip(self, what: str) -> None:
        """Something was not executed."""
        at = self._line()
        with self._lock:
            self.skipped.append((what, at))

    def _line(self) -> Span | None:
        """The innermost line of the job's own folder that this thread is at."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            file = Path(frame.f_code.co_filename)
            if file.is_relative_to(self._folder) and "site-packages" not in file.parts:
                return Span(str(file.relative_to(self._folder)), frame.f_lineno)
            frame = frame.f_back
        return None

    def lines(self) -> Iterator[str]:
        """One line for each boundary, however often it was met."""
        met: dict[str, int] = {}
        for boundary, changed in self._boundaries():
            line = words.line(boundary, changed)
            met[line] = met.get(line, 0) + 1
        for line, times in met.items():
            yield line if times == 1 else f"{line} ({times} times)"
        if not met:
            yield "no filter stands above a Python function or an aggregate in what the job ran"

    def _boundaries(self) -> Iterator[tuple[BoundaryReport, bool]]:
        for look in self.looks:
            for boundary in look.data.boundaries:
                yield boundary, look.data.changed and boundary.kind != "none"
