"""Untrusted. Run a classic DataFrame and read the metrics of its physical plan."""

from __future__ import annotations

import time
from collections.abc import Iterator

from pyspark.sql.dataframe import DataFrame

from presieve.backend.classic.gateway import ClassicGateway
from presieve.backend.classic.py4j_errors import simple_class
from presieve.backend.gateway import Handle
from presieve.backend.statistics.metrics import OF_OPERATORS, ROWS_OUT, Measurement


def run_classic(df: DataFrame) -> Measurement:
    """Run the DataFrame, as :func:`presieve.backend.statistics.run_metrics.run` does."""
    # A query that has run keeps the output of its shuffles, so a new query is made.
    gateway = ClassicGateway(df.sparkSession)
    query = gateway.dataset(gateway.analyzed(df))
    execution = query.queryExecution()
    started = time.perf_counter()
    rows = int(execution.toRdd().count())
    seconds = time.perf_counter() - started
    operators = list(_operators(execution.executedPlan()))
    scanned = sum(_metric(o, ROWS_OUT) for o in operators if o.children().isEmpty())
    sums = {k: sum(_metric(o, name) for o in operators) for k, name in OF_OPERATORS.items()}
    return Measurement(seconds, rows, scanned, **sums)


def _operators(plan: Handle) -> Iterator[Handle]:
    """Iterate over the operators of a physical plan, including those behind the stages of adaptive
    execution. A stage that is reused is computed once and counted once.
    """
    kind = simple_class(plan)
    if kind == "AdaptiveSparkPlanExec":
        yield from _operators(plan.executedPlan())
    elif kind.endswith("QueryStageExec"):
        yield from _operators(plan.plan())
    elif not kind.startswith("Reused"):
        yield plan
        children = plan.children()
        for i in range(children.size()):
            yield from _operators(children.apply(i))


def _metric(operator: Handle, name: str) -> int:
    """Return the value of a metric. Spark gives a negative value for a metric that it never set; it
    counts as 0.
    """
    metric = operator.metrics().get(name)
    return max(0, int(metric.get().value())) if metric.isDefined() else 0
