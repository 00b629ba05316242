"""Untrusted. A run of a Spark Connect DataFrame, and the metrics that come with its result."""

from __future__ import annotations

import time
from typing import Any

from pyspark.sql.dataframe import DataFrame

from presieve.backend.statistics.metrics import OF_OPERATORS, ROWS_OUT, Measurement


def run_connect(df: DataFrame) -> Measurement:
    """Run the DataFrame, as :func:`presieve.backend.statistics.run_metrics.run` does."""
    connected: Any = df
    client = connected._session.client
    started = time.perf_counter()
    query = connected._plan.to_proto(client)
    table, _, info = client.to_table(query, connected._plan.observations)
    seconds = time.perf_counter() - started
    _, nodes = info.metrics.extract_graph()
    operators = list(nodes.values())
    scanned = sum(_metric(o, ROWS_OUT) for o in operators if not o.children)
    sums = {k: sum(_metric(o, name) for o in operators) for k, name in OF_OPERATORS.items()}
    return Measurement(seconds, table.num_rows, scanned, **sums)


def _metric(operator: Any, name: str) -> int:
    """Return the sum of a metric's values, without those that Spark never set (below 0)."""
    return sum(max(0, int(m.value)) for m in operator.metrics if m.name == name)
