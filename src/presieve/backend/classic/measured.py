"""Untrusted. A run of a classic DataFrame, and the metrics of its physical plan."""

from __future__ import annotations

import time
from collections.abc import Iterator

from pyspark.sql.dataframe import DataFrame

from presieve.backend.classic.gateway import ClassicGateway
from presieve.backend.gateway import Handle
from presieve.backend.statistics.metrics import Measurement


def run_classic(df: DataFrame) -> Measurement:
    """As :func:`presieve.backend.statistics.measured.run`."""
    # A query that has run keeps what its shuffles have written, so this is another one.
    gateway = ClassicGateway(df.sparkSession)
    query = gateway.dataset(gateway.analyzed(df))
    execution = query.queryExecution()
    started = time.perf_counter()
    rows = int(execution.toRdd().count())
    seconds = time.perf_counter() - started
    return Measurement(seconds, rows, sum(map(_rows_out, _leaves(execution.executedPlan()))))


def _leaves(plan: Handle) -> Iterator[Handle]:
    """The leaves of a physical plan, also behind the stages of adaptive execution. What a stage is
    used for again is not computed again, and not met again either.
    """
    kind = str(plan.getClass().getSimpleName())
    if kind == "AdaptiveSparkPlanExec":
        yield from _leaves(plan.executedPlan())
    elif kind.endswith("QueryStageExec"):
        yield from _leaves(plan.plan())
    elif not kind.startswith("Reused"):
        children = plan.children()
        if children.isEmpty():
            yield plan
        for i in range(children.size()):
            yield from _leaves(children.apply(i))


def _rows_out(leaf: Handle) -> int:
    metric = leaf.metrics().get("numOutputRows")
    return int(metric.get().value()) if metric.isDefined() else 0
