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
from presieve.report import text, words
from presieve.report.model import BoundaryReport, FunctionReport, ReportData


@dataclass(frozen=True, slots=True)
class CollectedReport:
    """One DataFrame that was looked at, and the line of the job that ran it, where it is known."""

    data: ReportData
    at: Span | None

    @property
    def says_something(self) -> bool:
        """Whether there is a boundary, a function of tables, or why the plan was not read."""
        return bool(self.data.boundaries or self.data.functions or self.data.declined)


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
        """A table of all boundaries; a sentence where there are none."""
        found = list(text.table(report.data for report in self.collected))
        yield from found or ["the job ran no filter above a Python function or an aggregate"]


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
    found: dict[object, tuple[CollectedReport, list[str]]] = {}
    for report in collected:
        if not report.says_something:
            continue
        data = report.data
        key = (
            tuple(_key(b, data.changed) for b in data.boundaries),
            tuple(map(words.function_line, data.functions)),
            data.declined,
        )
        _, places = found.setdefault(key, (report, []))
        if report.at is not None and str(report.at) not in places:
            places.append(str(report.at))
    return list(found.values())


def _key(b: BoundaryReport, changed: bool) -> object:
    """What is the same boundary in another plan. Where nothing is pushed from it, it does not
    matter what that plan is rewritten for.
    """
    pushed = changed and b.kind != "none"
    codes = tuple(d.code for d in b.declined)
    return b.operator, b.function, b.span, b.kind, b.where, b.prefilter, b.residual, codes, pushed


@dataclass(frozen=True, slots=True)
class Entry:
    """A boundary or a function of tables, the lines that run a DataFrame with it, and whether the
    first of these is rewritten.
    """

    what: BoundaryReport | FunctionReport
    changed: bool
    places: dict[str, None]


def each_once(placed: Placed, *, whole: bool = False) -> list[Entry]:
    """The boundaries of all reports, then the functions, each once: a plan that others are made of
    has the boundaries that these have. ``whole``: also functions of which a boundary says in short
    what there is to say.
    """
    boundaries: dict[object, Entry] = {}
    functions: dict[object, Entry] = {}
    for report, places in placed:
        data = report.data
        for b in data.boundaries:
            known = boundaries.setdefault(_key(b, data.changed), Entry(b, data.changed, {}))
            known.places.update(dict.fromkeys(places))
        for f in data.functions if whole else words.functions_apart(data):
            known = functions.setdefault(words.function_line(f), Entry(f, data.changed, {}))
            known.places.update(dict.fromkeys(places))
    return [*boundaries.values(), *functions.values()]


def without_boundary(collected: Sequence[CollectedReport]) -> str:
    """A sentence about the DataFrames that have no boundary, empty where all have one."""
    if not collected:
        return "No DataFrame ran."
    rest = sum(not report.says_something for report in collected)
    if not rest:
        return ""
    other = "other " if rest < len(collected) else ""
    ran = f"{rest} {other}DataFrame{'s' if rest != 1 else ''} ran"
    return f"{ran} without a filter above a function or an aggregate."
