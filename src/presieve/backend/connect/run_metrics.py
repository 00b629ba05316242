# SPDX-License-Identifier: Apache-2.0
"""Untrusted. A run of a Spark Connect DataFrame, and the metrics that come with its result."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from pyspark.sql.dataframe import DataFrame

from presieve.backend.statistics.metrics import METRICS, SAME_AS, Measurement, RunOperator, work_of


def run_connect(df: DataFrame) -> Measurement:
    """Run the DataFrame, as :func:`presieve.backend.statistics.run_metrics.run` does."""
    connected: Any = df
    client = connected._session.client
    started = time.perf_counter()
    query = connected._plan.to_proto(client)
    table, _, info = client.to_table(query, connected._plan.observations)
    seconds = time.perf_counter() - started
    _, nodes = info.metrics.extract_graph()
    below = {child for number, node in nodes.items() for child in node.children if child != number}
    roots = [_operator(nodes, number) for number in nodes if number not in below]
    return Measurement.of(seconds, table.num_rows, work_of(roots))


def _operator(nodes: Mapping[Any, Any], number: Any) -> RunOperator:
    """Return an operator. Clients see only its name, and not its functions."""
    node = nodes[number]
    metrics: dict[str, int] = {}
    for metric in node.metrics:
        key = SAME_AS.get(metric.name, metric.name)
        if key in METRICS:  # below 0: Spark never set it
            metrics[key] = metrics.get(key, 0) + max(0, int(metric.value))
    # The uppermost operator may be given as its own child.
    children = tuple(_operator(nodes, child) for child in node.children if child != number)
    return RunOperator(str(node.name), str(node.name), metrics, children)
