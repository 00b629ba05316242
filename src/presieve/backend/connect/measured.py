"""Untrusted. A run of a Spark Connect DataFrame, and the metrics that come with its result."""

from __future__ import annotations

import time
from typing import Any

from pyspark.sql.dataframe import DataFrame

from presieve.backend.statistics.metrics import Measurement


def run_connect(df: DataFrame) -> Measurement:
    """As :func:`presieve.backend.statistics.measured.run`."""
    connected: Any = df
    client = connected._session.client
    started = time.perf_counter()
    query = connected._plan.to_proto(client)
    table, _, info = client.to_table(query, connected._plan.observations)
    seconds = time.perf_counter() - started
    _, nodes = info.metrics.extract_graph()
    leaves = (node for node in nodes.values() if not node.children)
    out = (m.value for leaf in leaves for m in leaf.metrics if m.name == "numOutputRows")
    return Measurement(seconds, table.num_rows, int(sum(out)))
