"""Trusted. A DataFrame in, an equivalent one out, and a report of what was done.

``optimize`` and ``explain`` are two views of one function, so that a report cannot differ from
what happens.
"""

from __future__ import annotations

import logging
import os
import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from presieve.driver import log
from presieve.driver.arguments import check_dataframe
from presieve.driver.declare import Declared, about_nothing
from presieve.driver.options import UNSET, Cost, Options, given, of_session, shows_defaults
from presieve.driver.pure import PureFunctions, read_pure
from presieve.driver.solve import Policy
from presieve.errors import Declined
from presieve.report.model import Measured, ReportData

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from presieve.backend.plans import Opened
    from presieve.driver.pipeline import Pipeline
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
    declare: Declared = UNSET,
    pure: PureFunctions = UNSET,
) -> DataFrame:
    """An equivalent DataFrame with proven pre-filters below UDFs and aggregates.

    ``budget`` is seconds of search for the whole DataFrame. ``cost="auto"`` pushes where it pays,
    as far as footers and a few rows of local Parquet files tell (``driver/gate.py``), ``"always"``
    wherever it is proven, ``"never"`` only explains. ``declare`` are conditions that hold on every
    row that a function reads, such as ``"NOT isnan(score)"``, ``pure`` functions that the plan's
    functions call and that need not be read (:func:`presieve.synthesize`). What is not given is
    what the session's configuration says, as ``spark.presieve.policy`` and the like.
    What cannot be improved comes back as the very same object, and the reasons go to the logger
    ``presieve``.
    """
    check_dataframe(df, "optimize")
    mine = given(budget=budget, policy=policy, cost=cost, declare=declare, pure=pure)
    options = Options.of(mine, of_session(df.sparkSession))
    silent = not logger.isEnabledFor(logging.INFO)
    better, _ = optimized(df, options, skip_hopeless=silent, about="declare" in mine)
    return better


@shows_defaults
def explain(
    df: DataFrame,
    *,
    budget: float = UNSET,
    policy: Policy = UNSET,
    cost: Cost = UNSET,
    declare: Declared = UNSET,
    pure: PureFunctions = UNSET,
) -> Report:
    """What :func:`optimize` with the same options does to the DataFrame."""
    from presieve.report.report import Report

    check_dataframe(df, "explain")
    mine = given(budget=budget, policy=policy, cost=cost, declare=declare, pure=pure)
    options = Options.of(mine, of_session(df.sparkSession))
    better, data = optimized(df, options, for_report=True, about="declare" in mine)
    return Report(data, partial(_measured, df, better))


def _measured(df: DataFrame, better: DataFrame) -> Measured:
    """Both of them run once."""
    from presieve.backend.statistics.measured import run

    return Measured(run(df), run(better))


def optimized(
    df: DataFrame,
    options: Options,
    *,
    for_report: bool = False,
    skip_hopeless: bool = False,
    about: bool = False,
    at_once: bool = False,
) -> tuple[DataFrame, ReportData]:
    """:func:`optimize`, and what it did. ``for_report`` also finds out what only a person asks;
    ``skip_hopeless`` and ``at_once`` are those of :class:`presieve.backend.plans.Reading`.
    ``about``: the options are about this very DataFrame, and not about all those of a session.
    """
    started = time.perf_counter()
    off = switched_off(df)
    if off is not None:
        logger.debug("left alone: %s", off)
        return df, ReportData((), False, time.perf_counter() - started)
    # Loading a backend loads PySpark, which importing this module must not.
    from presieve.backend.plans import Reading
    from presieve.driver.pipeline import Pipeline
    from presieve.driver.reports import report_of

    reading = Reading(read_pure(options.pure), for_report, skip_hopeless, at_once)
    pipeline = Pipeline(df, options, reading, started)
    applied = pipeline.run()
    if isinstance(applied, Declined):
        log.left_alone(df, applied)
        return df, ReportData((), False, time.perf_counter() - started)
    if about:
        _log_unmet(pipeline, applied.opened)
    if options.cost == "never":
        applied = replace(applied, df=df)
    report = report_of(pipeline, applied)
    for boundary, decision in zip(report.boundaries, applied.decisions, strict=True):
        log.boundary(df, boundary, decision.edit is not None)
    for note in applied.opened.notes:
        log.left_alone(df, note)
    return applied.df, report


def switched_off(df: DataFrame) -> str | None:
    """What switches everything off, if something does: the environment or the session's conf."""
    if os.environ.get(DISABLE, "").lower() in ("1", "true", "yes"):
        return f"{DISABLE} is set"
    if str(df.sparkSession.conf.get(ENABLED, "true")).lower() == "false":
        return f"{ENABLED} is false"
    return None


def _log_unmet(pipeline: Pipeline, opened: Opened) -> None:
    """Warn of facts of which no boundary has the column, where every boundary was read: they may
    be meant for another DataFrame, or misspelt.
    """
    from presieve.backend.plans import input_names

    declared, met = pipeline.options.declare, pipeline.met
    read = [s.problem for s in met if not isinstance(s.problem, Declined)]
    if declared and len(read) == len(met):
        names = [input_names(problem) for problem in read]
        for line in about_nothing(declared, names, opened.timezone):
            logger.warning("%s", line)
