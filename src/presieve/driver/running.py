# SPDX-License-Identifier: Apache-2.0
"""Untrusted. What happens around an action of an enabled session: Spark's UI shows which line runs
and what presieve did, and somebody may watch how long it takes and what Spark counts.

Nothing here stops the action, or changes what it returns.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from presieve.report.report_data import ReportData

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from presieve.backend.statistics.metrics import Work

logger = logging.getLogger("presieve")


class Answer(Struct, frozen=True, eq=False):
    """A DataFrame as ``written``, and the ``better`` one that runs in its place. ``data`` is the
    report on them; None if the DataFrame was not examined. ``watcher`` (a :data:`Watcher`) is told
    of each action that has run. ``is_new`` says that ``optimize`` has run for this very call.
    """

    written: DataFrame
    better: DataFrame
    data: ReportData | None = None
    watcher: Callable[..., None] | None = None
    is_new: bool = False


class ActionRun(Struct, frozen=True, eq=False):
    """An action that has run, by the name of its method.

    ``seconds`` are those of the call. ``work`` is what Spark counted; None if that is not known, as
    on Spark Connect. ``failed`` says that the action raised an error.
    """

    answer: Answer
    name: str
    seconds: float
    work: Work | None
    failed: bool


Watcher: TypeAlias = Callable[[ActionRun], None]
"""Receives each action that has run, while the calls of the job that led to it are still active."""


@contextmanager
def running(answer: Answer, name: str) -> Iterator[None]:
    """Run one action, or another member, in this context."""
    from presieve.backend.classic.gateway import is_classic
    from presieve.backend.session.hooks import ACTIONS, LATER, SAVES

    if answer.data is None or (name not in ACTIONS and name not in SAVES):
        yield
        return
    watcher = answer.watcher
    with ExitStack() as around:
        tag = None
        if is_classic(answer.written):
            from presieve.backend.classic.running.job_properties import shown_as
            from presieve.backend.classic.running.status_store import tagged_jobs

            spark, place = answer.written.sparkSession, _place()
            around.enter_context(shown_as(spark, f"{name} at {place}", _describe(answer, name)))
            tag = around.enter_context(tagged_jobs(spark)) if watcher is not None else None
        if watcher is None or name in LATER:
            yield
            return
        started, failed = time.perf_counter(), True
        try:
            yield
            failed = False
        finally:
            seconds = time.perf_counter() - started
            _tell(watcher, ActionRun(answer, name, seconds, _work(answer, tag), failed))


def _tell(watcher: Watcher, action: ActionRun) -> None:
    try:
        watcher(action)
    except Exception as error:  # what somebody does with this must not stop the job
        logger.warning("an action could not be recorded", exc_info=error)


def _work(answer: Answer, tag: str | None) -> Work | None:
    if tag is None:
        return None
    from presieve.backend.classic.running.status_store import work_of_jobs

    return work_of_jobs(answer.written.sparkSession, tag)


def _describe(answer: Answer, name: str) -> str | None:
    """Describe an action for Spark's UI; None if presieve did nothing."""
    if answer.data is None or answer.better is answer.written:
        return None
    from presieve.report.sentences import tell_changes

    file, _, line = _place().rpartition(":")
    return f"{name} at {os.path.basename(file)}:{line} (presieve: {tell_changes(answer.data)})"


def _place() -> str:
    """Return the innermost line that is neither presieve's nor PySpark's, as PySpark shows it."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if is_of_job(frame.f_code.co_filename):
            return f"{frame.f_code.co_filename}:{frame.f_lineno}"
        frame = frame.f_back
    return "<unknown>:0"


def is_of_job(file: str) -> bool:
    """Whether a file is neither presieve's nor PySpark's, nor Python's for context managers."""
    return not file.startswith(_folders())


def _folders() -> tuple[str, ...]:
    """Return what the files of presieve and PySpark, and those of context managers, begin with."""
    modules = (sys.modules["presieve"], sys.modules.get("pyspark"))
    files = (module.__file__ for module in modules if module is not None)
    folders = (str(Path(file).parent) + os.sep for file in files if file)
    return (*folders, contextlib.__file__)
