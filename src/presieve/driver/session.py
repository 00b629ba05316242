# SPDX-License-Identifier: Apache-2.0
"""Trusted. Optimizes whole sessions: the optimized DataFrame runs in place of the original.

Members of PySpark's DataFrame classes are replaced while any session is enabled
(``backend/session/hooks.py`` lists them). A DataFrame of an enabled session is optimized when its
rows are requested. The result is stored with it and used as long as its premises hold
(``backend/session/validity.py``). DataFrames of other sessions, and of classes that somebody
derived from PySpark's, are passed through.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, Unpack
from weakref import WeakKeyDictionary

from msgspec import Struct

from presieve.driver.optimize import optimize_and_report, read_settings, switched_off
from presieve.driver.options import (
    Given,
    OptionArguments,
    Options,
    collect_given,
    of_session,
    shows_defaults,
)
from presieve.driver.running import Answer, Watcher, running
from presieve.errors import UsageError
from presieve.records import replace
from presieve.report.report_data import ReportData

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from presieve.backend.session.hooks import Hooks, Instead
    from presieve.backend.session.validity import Surroundings

logger = logging.getLogger("presieve")

LEDGER = "spark.presieve.ledger"
"""The entry of a session's configuration that names its ledger."""


@shows_defaults
def enable(spark: SparkSession, **options: Unpack[OptionArguments]) -> None:
    """Run every action and write on this session's DataFrames through :func:`optimize`.

    ``df.explain()`` then shows the plan that would run. Cached data and registered views keep the
    plan as it was written. If the session is enabled again, the last options count. Options that
    are not given come from the session's configuration and may change at any time.

    Args:
        spark: A classic session or one of Spark Connect.
        budget: Seconds of search for each DataFrame.
        policy: As in :func:`optimize`.
        cost: As in :func:`optimize`.
        compile: As in :func:`optimize`.
        reorder: As in :func:`optimize`.
        effects: As in :func:`optimize`.
        declare: As in :func:`optimize`.
        pure: As in :func:`optimize`.

    Raises:
        PresieveError: ``spark`` is not a session, or an option is invalid.

    Example:
        >>> presieve.enable(spark, policy="strict")
    """
    _set(spark, _fit(spark, SessionSetting(collect_given(**options))))


def disable(spark: SparkSession) -> None:
    """Undo :func:`enable`: the session's DataFrames run as they were written again.

    Args:
        spark: A session. If it is not enabled, nothing happens.

    Raises:
        PresieveError: ``spark`` is not a session.

    Example:
        >>> presieve.disable(spark)
    """
    _set(spark, None)


@shows_defaults
@contextmanager
def enabled(spark: SparkSession, **options: Unpack[OptionArguments]) -> Iterator[None]:
    """Enable the session for a ``with`` block, then restore what was before, also on an error.

    The session is enabled for all threads.

    Args:
        spark: A classic session or one of Spark Connect.
        budget: Seconds of search for each DataFrame.
        policy: As in :func:`optimize`.
        cost: As in :func:`optimize`.
        compile: As in :func:`optimize`.
        reorder: As in :func:`optimize`.
        effects: As in :func:`optimize`.
        declare: As in :func:`optimize`.
        pure: As in :func:`optimize`.

    Raises:
        PresieveError: ``spark`` is not a session, or an option is invalid.

    Example:
        >>> with presieve.enabled(spark):
        ...     best.filter("best > 90").show()
    """
    with enabled_as(spark, SessionSetting(collect_given(**options))):
        yield


Listener: TypeAlias = "Callable[[DataFrame, ReportData], None]"
"""Receives the report of each DataFrame that was examined."""


@dataclass(frozen=True, slots=True, eq=False)
class SessionSetting:
    """How a session's DataFrames are optimized.

    ``given`` takes precedence over the session's configuration at that time, and that over
    ``otherwise``. ``for_report`` is as in :func:`optimized`. ``watcher`` is told of each action
    that has run.
    """

    given: Given
    listener: Listener | None = None
    for_report: bool = False
    otherwise: Given = field(default_factory=dict)
    watcher: Watcher | None = None

    def options(self, spark: SparkSession, settings: Mapping[str, str] | None = None) -> Options:
        """Return the options for a session's DataFrames. ``settings`` are what is set in the
        session now, if it was read.

        Raises :class:`UsageError` if the session's configuration is invalid.
        """
        settings = read_settings(spark) if settings is None else settings
        return Options.of(self.given, of_session(settings), self.otherwise)


@contextmanager
def enabled_as(spark: SparkSession, setting: SessionSetting) -> Iterator[None]:
    """Enable a session as :func:`enabled` does, with a setting that may have a listener."""
    before = _set(spark, _fit(spark, setting))
    try:
        yield
    finally:
        _set(spark, before)


def setting_of(spark: SparkSession) -> SessionSetting | None:
    """Return how a session is enabled; None if it is not."""
    from presieve.backend.session.hooks import session_key

    return _state.sessions.get(session_key(spark), _state.everywhere)


def enable_everywhere(setting: SessionSetting, instead: dict[str, Instead] | None = None) -> None:
    """Permanently enable all sessions of this process, including future ones.

    ``instead`` maps names of methods to replacements that run in their place.
    """
    from presieve.backend.session.hooks import visit_frame_classes

    def install(owner: type[DataFrame]) -> None:
        with _lock:
            _hooks().install(owner, instead)

    with _lock:
        _state.everywhere = setting
    visit_frame_classes(install)


class _Kept(Struct, frozen=True):
    """The decision about a DataFrame: the better one, or None for the DataFrame itself."""

    better: DataFrame | None
    data: ReportData
    setting: SessionSetting
    around: Surroundings


class _State:
    """The enabled sessions, and the decisions about their DataFrames."""

    def __init__(self) -> None:
        self.sessions: dict[str, SessionSetting] = {}
        self.everywhere: SessionSetting | None = None
        self.kept: WeakKeyDictionary[DataFrame, _Kept] = WeakKeyDictionary()
        self.writers: WeakKeyDictionary[object, Answer] = WeakKeyDictionary()
        self.hooks: Hooks | None = None
        self.complaints: set[str] = set()


_state = _State()
_lock = threading.RLock()
_here = threading.local()
"""``inside`` is true while this thread is in a hooked member; calls from there are not hooked.
``answer`` is the one on which that member is called.
"""


def _hooks() -> Hooks:
    from presieve.backend.session.hooks import Hooks, Writing

    if _state.hooks is None:
        _state.hooks = Hooks(_through, Writing(_keep_writer, _through_writer))
    return _state.hooks


def _fit(spark: SparkSession, setting: SessionSetting) -> SessionSetting:
    """Return the setting; raise now the errors that the first action would raise."""
    from presieve.backend.session.hooks import frame_class, session_key

    frame_class(spark)
    session_key(spark)
    setting.options(spark)
    return setting


def _set(spark: SparkSession, setting: SessionSetting | None) -> SessionSetting | None:
    """Change the session's setting, and return the earlier one."""
    from presieve.backend.session.hooks import frame_class, session_key

    owner = frame_class(spark)
    key = session_key(spark)
    with _lock:
        before = _state.sessions.pop(key, None)
        if setting is not None:
            _state.sessions[key] = _heard_everywhere(setting)
            _hooks().install(owner)
        elif not _state.sessions and _state.everywhere is None:
            _hooks().remove()
    return before


def _heard_everywhere(setting: SessionSetting) -> SessionSetting:
    """Return the setting with the listener of all sessions, if it has none of its own: a command
    that reports on a job also reports on sessions that the job enables.
    """
    everywhere = _state.everywhere
    if everywhere is None or setting.listener is not None:
        return setting
    return replace(setting, listener=everywhere.listener, for_report=everywhere.for_report)


@contextmanager
def _through(df: DataFrame, name: str) -> Iterator[DataFrame]:
    """Yield the DataFrame that stands in for another one during the call of a member."""
    if getattr(_here, "inside", False) or _makes_limit(df, name):
        yield df
        return
    _here.inside = True
    try:
        answer = _here.answer = _answering(df)
        with running(answer, name):
            yield answer.better
    finally:
        _here.inside, _here.answer = False, None


def _makes_limit(df: DataFrame, name: str) -> bool:
    """Whether the action collects the first rows of an order by a limit: then the DataFrame with
    the limit is examined, which says how few rows are needed.
    """
    from presieve.backend.session.hooks import FIRST_ROWS
    from presieve.backend.session.validity import is_sorted

    return name in FIRST_ROWS and _setting(df) is not None and is_sorted(df)


def _keep_writer(writer: object) -> None:
    """Keep the answer of which this writer was made."""
    answer = getattr(_here, "answer", None)
    if answer is None or answer.data is None:
        return
    if getattr(writer, "_df", answer.better) is answer.better:  # writers of MERGE keep no DataFrame
        with _lock:
            _state.writers[writer] = answer


@contextmanager
def _through_writer(writer: object, name: str) -> Iterator[object]:
    """Yield the writer itself; what it writes is an action like others."""
    with _lock:
        answer = _state.writers.get(writer)
    if answer is None or getattr(_here, "inside", False):
        yield writer
        return
    _here.inside = True
    try:
        with running(answer, name):
            yield writer
    finally:
        _here.inside = False


def _answering(df: DataFrame) -> Answer:
    try:
        setting = _setting(df)
        if setting is None:
            return Answer(df, df)
        settings = read_settings(df.sparkSession)
        if switched_off(settings) is not None:
            return Answer(df, df)
        answer = _earlier_decision(df, setting, settings)
        if answer is None:
            answer = _optimize_now(df, setting, settings)
        return replace(answer, watcher=setting.watcher or _ledger_of(settings))
    except UsageError as error:  # from the configuration, which somebody else may have written
        _complain(f"left alone: {error}")
    except Exception as error:  # a bug of ours must not stop a job that runs without us
        logger.warning("left alone because optimizing it failed; please report it", exc_info=error)
    return Answer(df, df)


def _ledger_of(settings: Mapping[str, str]) -> Watcher | None:
    """Return what adds actions to the ledger that the session's configuration names."""
    path = settings.get(LEDGER)
    if not path:
        return None
    from presieve.driver.ledger import session_watcher

    return session_watcher(Path(path), settings.get("spark.app.name", ""))


def _complain(text: str) -> None:
    """Warn with this text once."""
    with _lock:
        before = text in _state.complaints
        _state.complaints.add(text)
    if not before:
        logger.warning("%s", text)


def _setting(df: DataFrame) -> SessionSetting | None:
    """Return how the DataFrame is to be optimized; None if it is not."""
    from presieve.backend.session.hooks import frame_class, session_key

    spark = df.sparkSession
    if type(df) is not frame_class(spark):
        return None  # it may behave differently from the DataFrame that would stand in for it
    if not _state.sessions:
        return _state.everywhere
    return _state.sessions.get(session_key(spark), _state.everywhere)


def _earlier_decision(
    df: DataFrame, setting: SessionSetting, settings: Mapping[str, str]
) -> Answer | None:
    """Return the earlier decision about a DataFrame, if it is still valid."""
    from presieve.backend.session.validity import surroundings

    with _lock:
        decision = _state.kept.get(df)
    if decision is None or decision.setting is not setting:
        return None
    now = surroundings(df, settings)
    if now is None or not decision.around.same(now):
        return None
    return Answer(df, df if decision.better is None else decision.better, decision.data)


def _optimize_now(df: DataFrame, setting: SessionSetting, settings: Mapping[str, str]) -> Answer:
    from presieve.backend.session.validity import surroundings

    around = surroundings(df, settings)
    silent = setting.listener is None and not logger.isEnabledFor(logging.INFO)
    better, data = optimize_and_report(
        df,
        setting.options(df.sparkSession, settings),
        for_report=setting.for_report,
        skip_hopeless=silent,
        at_once=True,
        count_rows=setting.watcher is not None or LEDGER in settings,
        settings=settings,
    )
    if setting.listener is not None:
        setting.listener(df, data)
    if around is None or not around.is_undisturbed():
        return Answer(df, better, data, is_new=True)
    if better is df or not around.keeps_values(better):
        # A DataFrame that refers to itself from here would never be garbage collected.
        with _lock:
            _state.kept[df] = _Kept(None if better is df else better, data, setting, around)
    return Answer(df, better, data, is_new=True)
