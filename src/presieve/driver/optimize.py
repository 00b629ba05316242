# SPDX-License-Identifier: Apache-2.0
"""Trusted. Turns a DataFrame into an equivalent one, and reports the changes.

``optimize`` and ``explain`` are two views of one function, so a report cannot differ from the
actual rewrite.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Unpack

from presieve.dataflow.libraries import Effects
from presieve.driver import log
from presieve.driver.arguments import check_dataframe
from presieve.driver.declare import Declared, about_nothing, each
from presieve.driver.options import (
    UNSET,
    Compile,
    Cost,
    Given,
    OptionArguments,
    Options,
    collect_given,
    of_session,
    shows_defaults,
)
from presieve.driver.pure import PureFunctions, read_pure
from presieve.driver.solve import Policy
from presieve.errors import Declined
from presieve.report.report_data import Measured, ReportData

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from presieve.driver.stages.passes import PlanState
    from presieve.report.report import Report

logger = logging.getLogger("presieve")

ENABLED = "spark.presieve.enabled"
DISABLE = "PRESIEVE_DISABLE"


@shows_defaults
def optimize(
    df: DataFrame,
    *,
    budget: float = UNSET,
    policy: Policy = UNSET,
    cost: Cost = UNSET,
    compile: Compile = UNSET,
    reorder: bool = UNSET,
    effects: Effects = UNSET,
    declare: Declared = UNSET,
    pure: PureFunctions = UNSET,
) -> DataFrame:
    """Return an equivalent DataFrame with proven pre-filters below its UDFs and aggregates.

    A DataFrame that cannot be improved is returned as it is, the very same object, and the reasons
    go to the logger ``presieve``. Other options come from the session's configuration.

    Args:
        df: A DataFrame of a classic session or of Spark Connect.
        budget: Seconds of search for the whole DataFrame.
        policy: The assumptions that a proof may make: ``"default"``, ``"assume"`` or ``"strict"``.
        cost: Push where it pays off (``"auto"``), wherever it is proven (``"always"``) or nowhere
            (``"never"``).
        compile: Run functions that are lifted completely as Spark expressions, as for ``cost``.
        reorder: Neither the order of a group's rows nor how sums of doubles are rounded matters.
        effects: Unknown code may be skipped if it does not seem to act (``"auto"``), or in any case
            (``"none"``), or is called as before (``"keep"``).
        declare: Conditions on one column, true of all rows; or how one is made (``a = year(t)``).
        pure: Functions that are not read: no side effects, no errors, equal results for equal
            arguments. A list of annotated functions, or ``{function: type}``.

    Raises:
        PresieveError: ``df`` is not a DataFrame of Spark, or an option is invalid.

    Example:
        >>> best = scores.groupBy("team").agg({"score": "max"}).toDF("team", "best")
        >>> fast = presieve.optimize(best.filter("best > 90"), declare="NOT isnan(score)")
    """
    check_dataframe(df, "optimize")
    mine = collect_given(
        budget=budget,
        policy=policy,
        cost=cost,
        compile=compile,
        reorder=reorder,
        effects=effects,
        declare=declare,
        pure=pure,
    )
    return _optimize_with(df, mine, skip_hopeless=not logger.isEnabledFor(logging.INFO))[0]


@shows_defaults
def explain(df: DataFrame, **options: Unpack[OptionArguments]) -> Report:
    """Report what :func:`optimize` does to a DataFrame, without running it.

    Args:
        df: A DataFrame of a classic session or of Spark Connect.
        budget: Seconds of search for the whole DataFrame.
        policy: As in :func:`optimize`.
        cost: As in :func:`optimize`.
        compile: As in :func:`optimize`.
        reorder: As in :func:`optimize`.
        effects: As in :func:`optimize`.
        declare: As in :func:`optimize`.
        pure: As in :func:`optimize`.

    Raises:
        PresieveError: ``df`` is not a DataFrame of Spark, or an option is invalid.

    Example:
        >>> report = presieve.explain(best.filter("best > 90"))
        >>> report.boundaries[0].kind
        'exact'
        >>> report.save("report.html")
    """
    from presieve.report.report import Report

    check_dataframe(df, "explain")
    mine = collect_given(**options)
    better, data = _optimize_with(df, mine, for_report=True)
    return Report(data, partial(measure, df, better, data))


def _optimize_with(df: DataFrame, mine: Given, **how: bool) -> tuple[DataFrame, ReportData]:
    """Call :func:`optimize_and_report` with the options of a call, and those of the session."""
    settings = read_settings(df.sparkSession)
    options = Options.of(mine, of_session(settings))
    return optimize_and_report(df, options, about="declare" in mine, settings=settings, **how)


def measure(df: DataFrame, better: DataFrame, data: ReportData) -> Measured:
    """Run both DataFrames once. ``data`` is the report on them. Raises what the job raises."""
    from presieve.backend.statistics.run_metrics import run

    return Measured(run(df), run(better), data.optimizing)


def optimize_and_report(
    df: DataFrame,
    options: Options,
    *,
    for_report: bool = False,
    skip_hopeless: bool = False,
    about: bool = False,
    at_once: bool = False,
    count_rows: bool = False,
    settings: Mapping[str, str] | None = None,
) -> tuple[DataFrame, ReportData]:
    """Optimize a DataFrame as :func:`optimize` does, and report the changes. ``for_report`` also
    determines what only people ask for; ``skip_hopeless``, ``at_once`` and ``count_rows`` are those
    of :class:`presieve.backend.open_plan.Reading`. ``about``: the options are about this very
    DataFrame, not about all DataFrames of a session. ``settings`` are what is set in the session
    now, if it was read.
    """
    started = time.perf_counter()
    settings = read_settings(df.sparkSession) if settings is None else settings
    off = switched_off(settings)
    if off is not None:
        logger.debug("left alone: %s", off)
        return df, _report_unread(started)
    # Loading a backend loads PySpark, and importing this module must not load it.
    from presieve.backend.versions import version_of

    version = version_of(df.sparkSession, settings)
    if isinstance(version, Declined):
        log.left_alone(df, version)
        return df, _report_unread(started, version)
    from presieve.backend.open_plan import Reading
    from presieve.driver.reports import report_of
    from presieve.driver.stages.passes import Optimization
    from presieve.driver.stages.pipeline import run_passes

    pure, effects = read_pure(options.pure), options.unmissed_effects
    reading = Reading(pure, effects, for_report, skip_hopeless, at_once, count_rows)
    state = run_passes(Optimization(df, options, reading, started), settings)
    if isinstance(state, Declined):
        log.left_alone(df, state)
        return df, _report_unread(started, state)
    if about:
        _log_unmet(state)
    report = report_of(state)
    _log_report(state, report)
    return state.df, report


def _report_unread(started: float, declined: Declined | None = None) -> ReportData:
    """Return the report on a DataFrame whose plan was not read."""
    seconds = time.perf_counter() - started
    return ReportData((), False, seconds, declined=declined, optimizing=seconds)


def _log_report(state: PlanState, report: ReportData) -> None:
    from presieve.driver.stages.decisions import SiteDecision
    from presieve.driver.stages.filter_placement import FilteredDecision

    df = state.job.written
    changed = [d.is_planned for d in state.select(SiteDecision)]
    changed += [any(d.predicates) for d in state.select(FilteredDecision)]
    for boundary, is_changed in zip(report.boundaries, changed, strict=True):
        log.boundary(df, boundary, is_changed)
    for function in report.functions:
        log.function(df, function)
    for note in state.first.notes:
        log.left_alone(df, note)


def read_settings(spark: SparkSession) -> Mapping[str, str]:
    """Return the entries that are set in a session now."""
    # Loading a backend loads PySpark, and importing this module must not load it.
    from presieve.backend.session.active import settings_of

    return settings_of(spark)


def switched_off(settings: Mapping[str, str]) -> str | None:
    """Return why presieve is off (environment or session configuration); None if it is on."""
    if os.environ.get(DISABLE, "").lower() in ("1", "true", "yes"):
        return f"{DISABLE} is set"
    if settings.get(ENABLED, "true").lower() == "false":
        return f"{ENABLED} is false"
    return None


def _log_unmet(state: PlanState) -> None:
    """Warn of facts that may be meant for another DataFrame, or misspelt.

    These are facts about a column that no boundary has, if every boundary could be read, and on
    which no filter derived for files rests.
    """
    from presieve.backend.open_plan import input_names
    from presieve.driver.stages.scan_filters import DerivedDecision

    used = {text for decision in state.select(DerivedDecision) for text in decision.declared}
    declared = [text for text in each(state.options.declare) if text not in used]
    read = [s.problem for s in state.examined if not isinstance(s.problem, Declined)]
    if declared and len(read) == len(state.examined):
        names = [input_names(problem) for problem in read]
        for line in about_nothing(declared, names, state.first.timezone):
            logger.warning("%s", line)
