# SPDX-License-Identifier: Apache-2.0
"""Trusted. Messages to the logger ``presieve``.

INFO reports what was pushed or why nothing was, DEBUG the steps of a search, WARNING that something
went wrong. A plan that is left alone causes no warning.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from msgspec import Struct

from presieve.errors import Declined
from presieve.records import replace

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from presieve.certificate import Rejected
    from presieve.report.report_data import BoundaryReport, FunctionReport
    from presieve.report.trace import Trace
    from presieve.synthesis.events import EventLog

logger = logging.getLogger("presieve")

INTERNAL = "internal"
"""The code of what a bug of presieve ended. Such a bug must not stop a user's job."""

_lock = threading.Lock()
_logged: WeakKeyDictionary[DataFrame, set[str]] = WeakKeyDictionary()


def boundary(df: DataFrame, report: BoundaryReport, changed: bool) -> None:
    """Log what was pushed at a boundary, or why nothing was, once for each DataFrame."""
    if logger.isEnabledFor(logging.INFO):
        from presieve.report import sentences  # which only people need

        # The benefit of pushing is not always estimated, so compare the line without it.
        bare = sentences.line(replace(report, decision=""), changed)
        if _is_new(df, bare):
            logger.info("%s", sentences.line(report, changed))


def function(df: DataFrame, report: FunctionReport) -> None:
    """Log the columns that a function of tables receives, once for each DataFrame."""
    if report.pruned and logger.isEnabledFor(logging.INFO):
        from presieve.report import sentences

        line = sentences.function_line(report)
        if _is_new(df, line):
            logger.info("%s", line)


def left_alone(df: DataFrame, why: Declined) -> None:
    """Log why a plan, or a part of it, was not examined, once for each DataFrame."""
    if logger.isEnabledFor(logging.INFO) and _is_new(df, str(why)):
        logger.info("left alone: %s", why)


def warn_of_bug(why: Declined) -> None:
    """Warn of something that only a bug of presieve explains: a pass that was taken back because of
    Spark's plan for its result, or a proof of a statement that is not well-formed.
    """
    logger.warning("%s: the rows are not affected; please report it", why)


def warn_of_failure(what: str, error: Exception) -> Declined:
    """Warn, with the traceback, that a bug of presieve ended ``what``. Return it as the reason."""
    why = Declined(INTERNAL, f"{what} failed: {error}")
    logger.warning("%s: the rows are not affected; please report it", why, exc_info=error)
    return why


def rejection(claim: str, rejected: Rejected) -> Declined:
    """Return why a claim is not used that the checker rejected. Warn if its statement is malformed:
    a search that fails to prove something is ordinary, but one that states nonsense is not.
    """
    from presieve.certificate.checker import FORM

    why = Declined("check", f"{claim} ({rejected.condition}: {rejected.reason})")
    if rejected.condition == FORM:
        warn_of_bug(why)
    return why


def _is_new(df: DataFrame, what: str) -> bool:
    with _lock:
        lines = _logged.setdefault(df, set())
        before = what in lines
        lines.add(what)
    return not before


def listening() -> EventLog | None:
    """Return a list for the events of a search if somebody reads the debug log, else None."""
    return [] if logger.isEnabledFor(logging.DEBUG) else None


def steps(event_log: EventLog | None) -> None:
    """Log one record for each step of a search. Its text is made only if a handler wants it."""
    if event_log and logger.isEnabledFor(logging.DEBUG):
        trace = cache(partial(_put_in_words, event_log))
        for number in range(len(event_log)):
            logger.debug("%s", _Step(trace, number))


def _put_in_words(event_log: EventLog) -> Trace:
    from presieve.report.trace_steps import trace

    return trace(event_log)


class _Step(Struct, frozen=True):
    """One step of a search. Its tables are shown only with ``trace=True``."""

    trace: Callable[[], Trace]
    number: int

    def __str__(self) -> str:
        step = self.trace().steps[self.number]
        return "; ".join([f"{step.id} {step.event}: {step.text}", *step.details])
