# SPDX-License-Identifier: Apache-2.0
"""Trusted. Replaces one function of rows or of groups by Spark's own, with a proof."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from presieve.backend.open_plan import Reading
from presieve.backend.probe_dataframe import OneCall, one_call
from presieve.driver.options import Options
from presieve.driver.stages.group_aggregates import GroupDecision
from presieve.driver.stages.passes import Optimization
from presieve.driver.stages.pipeline import run_passes
from presieve.driver.stages.row_expressions import CompileDecision
from presieve.errors import Declined
from presieve.records import replace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def compile_function(
    spark: SparkSession, call: OneCall, options: Options
) -> CompileDecision | GroupDecision | Declined:
    """Decide about a function of columns of a schema.

    Spark's analyzer resolves the expression, which is read back and proved as in a plan. The
    assumptions of the proof are listed and not checked, because there is no data.
    """
    df = one_call(spark, call)
    chosen = replace(options, compile="always", policy="assume")
    state = run_passes(Optimization(df, chosen, Reading(at_once=True), time.perf_counter()))
    if isinstance(state, Declined):
        return state
    decisions: tuple[CompileDecision | GroupDecision, ...]
    decisions = (*state.select(GroupDecision), *state.select(CompileDecision))
    if not decisions:
        return Declined("unsupported-form", "it is called in a way in which nothing is compiled")
    return next((d for d in decisions if d.verified), decisions[0])
