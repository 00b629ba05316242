"""Untrusted. The reports on all DataFrames that a job, or a cell of a notebook, ran."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TypeAlias

from presieve.errors import Span
from presieve.report import words
from presieve.report.grids import Cell, Grid, cut
from presieve.report.model import ReportData


@dataclass(frozen=True, slots=True)
class CollectedReport:
    """One DataFrame that was looked at, and the line of the job that ran it, where it is known."""

    data: ReportData
    at: Span | None

    @property
    def says_something(self) -> bool:
        """Whether there is a boundary, or a function of tables."""
        return bool(self.data.boundaries or self.data.functions)


class ReportCollector:
    """All of them, in order. Jobs may have threads."""

    def __init__(self, called: Callable[[str], str | None]) -> None:
        """``called`` has the name under which to tell of a file, and None for files that are no
        part of the job.
        """
        self._called = called
        self._lock = threading.Lock()
        self.collected: list[CollectedReport] = []
        self.skipped: list[tuple[str, Span | None]] = []
        """What was not executed: calls as text, and their lines."""

    def collect(self, _: object, data: ReportData) -> None:
        """A DataFrame was looked at."""
        at = self._line()
        with self._lock:
            self.collected.append(CollectedReport(data, at))

    def skip(self, what: str) -> None:
        """Something was not executed."""
        at = self._line()
        with self._lock:
            self.skipped.append((what, at))

    def _line(self) -> Span | None:
        """The innermost line of the job that this thread is at."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            name = self._called(frame.f_code.co_filename)
            if name is not None:
                return Span(name, frame.f_lineno)
            frame = frame.f_back
        return None

    def lines(self) -> Iterator[str]:
        """A table of all boundaries, and of the functions of tables that read fewer columns; those
        of which the same is to be said are one row.
        """
        rows: dict[tuple[str, str, str], list[float | None]] = {}
        for row, seconds in self._rows():
            rows.setdefault(row, []).append(seconds)
        if not rows:
            yield "the job ran no filter above a Python function or an aggregate"
            return
        body = []
        for (name, pushed, why), each in rows.items():
            times = f"{name} ({len(each)} times)" if len(each) > 1 else name
            spent = [s for s in each if s is not None]
            cells = (times, pushed, why, f"{sum(spent):.2f}" if spent else "")
            body.append(tuple(Cell(" ".join(c.split())) for c in cells))
        head = ("boundary", "pushed", "pre-filter, or why not", "seconds")
        yield from Grid("", head, tuple(body)).lines()

    def _rows(self) -> Iterator[tuple[tuple[str, str, str], float | None]]:
        for report in self.collected:
            for b in report.data.boundaries:
                yield words.row(b, report.data.changed and b.kind != "none"), b.seconds
            for function in report.data.functions:
                if function.pruned:
                    name = f"{function.operator} {function.function}"
                    read = words.columns(function).partition(". ")[0]
                    yield (cut(name), "columns", cut(read)), None


def in_folder(folder: Path) -> Callable[[str], str | None]:
    """Files of a job's own folder, by their paths below it."""

    def called(file: str) -> str | None:
        path = Path(file)
        if path.is_relative_to(folder) and "site-packages" not in path.parts:
            return str(path.relative_to(folder))
        return None

    return called


Placed: TypeAlias = list[tuple[CollectedReport, list[str]]]
"""Reports, each with the lines that run its DataFrame."""


def distinct(collected: Sequence[CollectedReport]) -> Placed:
    """DataFrames with the same boundaries and functions of tables once, with the lines that run
    them.
    """
    found: dict[tuple[tuple[str, ...], ...], tuple[CollectedReport, list[str]]] = {}
    for report in collected:
        if not report.says_something:
            continue
        key: tuple[tuple[str, ...], ...] = tuple(
            (b.operator, b.function, b.kind, b.where, b.prefilter, b.residual)
            for b in report.data.boundaries
        )
        key += tuple((words.function_line(f),) for f in report.data.functions)
        _, places = found.setdefault(key, (report, []))
        if report.at is not None and str(report.at) not in places:
            places.append(str(report.at))
    return list(found.values())


def without_boundary(collected: Sequence[CollectedReport]) -> str:
    """A sentence about the DataFrames that have no boundary, empty where all have one."""
    rest = sum(not report.says_something for report in collected)
    if collected and not rest:
        return ""
    other = "other " if rest < len(collected) else ""
    ran = f"{rest} {other}DataFrame{'s' if rest != 1 else ''} ran"
    return f"{ran} without a filter above a function or an aggregate."
