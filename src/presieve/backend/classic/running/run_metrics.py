# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Run a classic DataFrame and read the metrics of its physical plan."""

from __future__ import annotations

import time
from collections.abc import Iterator

from pyspark.sql.dataframe import DataFrame

from presieve.backend.classic.gateway import ClassicGateway
from presieve.backend.classic.py4j_errors import each, simple_class
from presieve.backend.gateway import Handle
from presieve.backend.statistics.metrics import METRICS, SAME_AS, Measurement, RunOperator, work_of

_MOST_FIELDS = 100
"""Maximum number of columns that Spark prints of an operator."""


def run_classic(df: DataFrame) -> Measurement:
    """Run the DataFrame, as :func:`presieve.backend.statistics.run_metrics.run` does."""
    # A query that has run keeps the output of its shuffles, so a new query is made.
    gateway = ClassicGateway(df.sparkSession)
    query = gateway.dataset(gateway.analyze_plan(df))
    execution = query.queryExecution()
    started = time.perf_counter()
    rows = int(execution.toRdd().count())
    seconds = time.perf_counter() - started
    return Measurement.of(seconds, rows, work_of(_operators(execution.executedPlan())))


def _operators(plan: Handle) -> Iterator[RunOperator]:
    """Yield the operator of a physical plan, past the stages of adaptive execution and of generated
    code; nothing for a stage that is reused, which is computed once and counted once.
    """
    kind = simple_class(plan)
    if kind == "AdaptiveSparkPlanExec":
        yield from _operators(plan.executedPlan())
    elif kind.endswith("QueryStageExec"):
        yield from _operators(plan.plan())
    elif kind in ("WholeStageCodegenExec", "InputAdapter"):
        yield from _operators(plan.child())
    elif not kind.startswith("Reused"):
        below = tuple(o for child in each(plan.children()) for o in _operators(child))
        metrics: dict[str, int] = {}
        for name in (*METRICS, *SAME_AS):
            value = _metric(plan, name)
            if value is not None:
                metrics[SAME_AS.get(name, name)] = value
        yield RunOperator(
            str(plan.nodeName()), str(plan.simpleString(_MOST_FIELDS)), metrics, below
        )


def _metric(operator: Handle, name: str) -> int | None:
    """Return the value of a metric; None if the operator has no such metric. Spark gives a negative
    value for a metric that it never set; it counts as 0.
    """
    metric = operator.metrics().get(name)
    return max(0, int(metric.get().value())) if metric.isDefined() else None
