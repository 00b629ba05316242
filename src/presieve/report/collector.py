# SPDX-License-Identifier: Apache-2.0
"""Untrusted. The reports on all DataFrames that a job or a notebook cell ran."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import TypeAlias

from msgspec import Struct

from presieve.errors import Span
from presieve.report import report_text, sentences
from presieve.report.report_data import BoundaryReport, FunctionReport, ReportData


class CollectedReport(Struct, frozen=True):
    """The report on one DataFrame, and the line of the job that ran it, if known."""

    data: ReportData
    at: Span | None

    @property
    def says_something(self) -> bool:
        """Whether there is a boundary, a function, or a reason why the plan was not read."""
        return bool(self.data.boundaries or self.data.functions or self.data.declined)


class ReportCollector:
    """Collects all reports, in order. Jobs may have threads."""

    def __init__(self, called: Callable[[str], str | None]) -> None:
        """``called`` returns the name by which to mention a file, and None for files that are not
        part of the job.
        """
        self._called = called
        self._lock = threading.Lock()
        self.collected: list[CollectedReport] = []
        self.skipped: list[tuple[str, Span | None]] = []
        """The calls that were not executed, as text, and their lines."""

    def collect(self, _: object, data: ReportData) -> None:
        """Add the report on a DataFrame."""
        at = self._line()
        with self._lock:
            self.collected.append(CollectedReport(data, at))

    def skip(self, what: str) -> None:
        """Record a call that was not executed."""
        at = self._line()
        with self._lock:
            self.skipped.append((what, at))

    def _line(self) -> Span | None:
        """The innermost line of the job that this thread is executing."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            name = self._called(frame.f_code.co_filename)
            if name is not None:
                return Span(name, frame.f_lineno)
            frame = frame.f_back
        return None

    def lines(self) -> Iterator[str]:
        """A table of all boundaries, and of what everything took; a sentence if there are none."""
        reports = [report.data for report in self.collected]
        totals = [*sentences.tell_spent(reports), *self.further_totals()]
        table_lines = list(report_text.table(reports, totals))
        if table_lines:
            yield from table_lines
            return
        yield "the job ran no filter above a Python function or an aggregate"
        if reports:
            yield ", ".join(f"{name}: {seconds:.2f} s" for name, seconds in totals)

    def further_totals(self) -> Iterator[tuple[str, float]]:
        """What else took time, in seconds; the last rows of the table."""
        yield from ()


def in_folder(folder: Path) -> Callable[[str], str | None]:
    """Name files in a job's own folder by their paths relative to it."""

    def name_in_folder(file: str) -> str | None:
        path = Path(file)
        if path.is_relative_to(folder) and "site-packages" not in path.parts:
            return str(path.relative_to(folder))
        return None

    return name_in_folder


Placed: TypeAlias = list[tuple[CollectedReport, list[str]]]
"""Reports, each with the lines that run its DataFrame."""


def distinct(collected: Sequence[CollectedReport]) -> Placed:
    """Merge reports with the same boundaries and functions, and collect the lines that run their
    DataFrames.
    """
    report_by_key: dict[object, tuple[CollectedReport, list[str]]] = {}
    for report in collected:
        if not report.says_something:
            continue
        data = report.data
        key = (
            tuple(_boundary_key(b, data.changed) for b in data.boundaries),
            tuple(map(sentences.function_line, data.functions)),
            data.declined,
        )
        _, places = report_by_key.setdefault(key, (report, []))
        if report.at is not None and str(report.at) not in places:
            places.append(str(report.at))
    return list(report_by_key.values())


def _boundary_key(b: BoundaryReport, changed: bool) -> object:
    """A key that identifies the same boundary in different plans. If nothing is pushed from the
    boundary, it does not matter whether its plan is rewritten.
    """
    pushed = changed and b.kind != "none"
    codes = tuple(d.code for d in b.declined)
    return b.operator, b.function, b.span, b.kind, b.where, b.prefilter, b.residual, codes, pushed


class CollectedEntry(Struct, frozen=True):
    """A boundary or a function of tables, the lines that run a DataFrame with it, and whether the
    first of these DataFrames is rewritten.
    """

    what: BoundaryReport | FunctionReport
    changed: bool
    places: dict[str, None]


def each_once(placed: Placed, *, whole: bool = False) -> list[CollectedEntry]:
    """The boundaries of all reports, then the functions, each once: a plan that is part of others
    has boundaries in common with them. ``whole``: include functions that a boundary already sums
    up.
    """
    boundaries: dict[object, CollectedEntry] = {}
    functions: dict[object, CollectedEntry] = {}
    for report, places in placed:
        data, lines = report.data, dict.fromkeys(places)
        for b in data.boundaries:
            entry = CollectedEntry(b, data.changed, {})
            boundaries.setdefault(_boundary_key(b, data.changed), entry).places.update(lines)
        for f in data.functions if whole else sentences.functions_apart(data):
            entry = CollectedEntry(f, data.changed, {})
            functions.setdefault(sentences.function_line(f), entry).places.update(lines)
    return [*boundaries.values(), *functions.values()]


def without_boundary(collected: Sequence[CollectedReport]) -> str:
    """A sentence about the DataFrames whose reports say nothing; empty if there are none."""
    if not collected:
        return "No DataFrame was looked at."
    silent_count = sum(not report.says_something for report in collected)
    if not silent_count:
        return ""
    other_word = "other " if silent_count < len(collected) else ""
    ran = f"{silent_count} {other_word}DataFrame{'s' if silent_count != 1 else ''} ran"
    return f"{ran} without a filter above a function or an aggregate."
