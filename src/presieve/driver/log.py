"""Trusted. What goes to the logger ``presieve``.

INFO says what was pushed or why nothing was, DEBUG what a search did, WARNING that something went
wrong. What is left alone is no warning.
"""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from presieve.report import words

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from presieve.errors import Declined
    from presieve.report.model import BoundaryReport, FunctionReport
    from presieve.report.trace import Trace
    from presieve.synthesis.events import EventLog

logger = logging.getLogger("presieve")

_lock = threading.Lock()
_logged: WeakKeyDictionary[DataFrame, set[str]] = WeakKeyDictionary()


def boundary(df: DataFrame, report: BoundaryReport, changed: bool) -> None:
    """Log what was pushed there, or why nothing was, once for each DataFrame."""
    if logger.isEnabledFor(logging.INFO):
        # What pushing is worth is not always asked.
        bare = words.line(replace(report, decision=""), changed)
        if _is_new(df, bare):
            logger.info("%s", words.line(report, changed))


def function(df: DataFrame, report: FunctionReport) -> None:
    """Log which columns a function of tables is handed, once for each DataFrame."""
    if report.pruned and logger.isEnabledFor(logging.INFO):
        line = words.function_line(report)
        if _is_new(df, line):
            logger.info("%s", line)


def left_alone(df: DataFrame, why: Declined) -> None:
    """Log why a plan, or a part of it, was not looked at, once for each DataFrame."""
    if logger.isEnabledFor(logging.INFO) and _is_new(df, str(why)):
        logger.info("left alone: %s", why)


def taken_back(why: Declined) -> None:
    """Warn that a pass was taken back because of what Spark made of it: it has a bug."""
    logger.warning("%s: the rows are not affected; please report it", why)


def _is_new(df: DataFrame, what: str) -> bool:
    with _lock:
        lines = _logged.setdefault(df, set())
        before = what in lines
        lines.add(what)
    return not before


def listening() -> EventLog | None:
    """A list for the events of a search, where somebody wants to read the log of it."""
    return [] if logger.isEnabledFor(logging.DEBUG) else None


def steps(event_log: EventLog | None) -> None:
    """Log what a search did, a record for each step. Their texts are made when a handler asks."""
    if event_log and logger.isEnabledFor(logging.DEBUG):
        search = _Search(event_log)
        for number in range(len(event_log)):
            logger.debug("%s", _Step(search, number))


class _Search:
    """The steps of one search, put in words once."""

    def __init__(self, event_log: EventLog) -> None:
        self._event_log = event_log

    @cached_property
    def trace(self) -> Trace:
        from presieve.report.trace_steps import trace

        return trace(self._event_log)


@dataclass(frozen=True, slots=True)
class _Step:
    """One of them. What it shows of tables is left to ``trace=True``."""

    search: _Search
    number: int

    def __str__(self) -> str:
        step = self.search.trace.steps[self.number]
        return "; ".join([f"{step.id} {step.event}: {step.text}", *step.details])
