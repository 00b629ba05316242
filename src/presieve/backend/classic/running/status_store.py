# SPDX-License-Identifier: Apache-2.0
"""Untrusted. What Spark's UI knows of the jobs of an action: the operators of its plans, and their
metrics. Spark keeps this also if the UI itself is switched off.

The jobs are told apart from those of other threads by a tag. Sizes and times are texts in the UI's
store, rounded to one decimal of their unit; counts of rows are exact.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any
from uuid import uuid4

from pyspark.sql import SparkSession

from presieve.backend.classic.py4j_errors import java_class, translate_errors
from presieve.backend.gateway import GatewayError, Handle
from presieve.backend.statistics.metrics import METRICS, RunOperator, Work, work_of

WAIT = 2000
"""Milliseconds to wait until Spark's store knows of all that has ended."""
_SERIALIZER = "org.apache.spark.status.KVUtils$KVStoreScalaSerializer"


@contextmanager
def tagged_jobs(spark: SparkSession) -> Iterator[str | None]:
    """Tag the jobs that this thread starts; None if that is not possible."""
    tag: str | None = f"presieve-{uuid4().hex}"
    try:
        _tag(spark, tag)
    except (GatewayError, AttributeError):  # Spark has tags since 3.5
        tag = None
    try:
        yield tag
    finally:
        if tag is not None:
            with suppress(GatewayError, AttributeError):  # the job may have stopped its session
                _untag(spark, tag)


@translate_errors
def _tag(spark: SparkSession, tag: str | None) -> None:
    spark.sparkContext.addJobTag(str(tag))


@translate_errors
def _untag(spark: SparkSession, tag: str) -> None:
    spark.sparkContext.removeJobTag(tag)


def work_of_jobs(spark: SparkSession, tag: str) -> Work | None:
    """Return what Spark counted in the queries whose jobs have a tag, once they have ended; None if
    this Spark does not tell.
    """
    try:
        graphs = _read_plans(spark, tag)
    except (GatewayError, AttributeError, TypeError, ValueError, KeyError):
        return None
    return work_of(root for graph, values in graphs for root in _operators(graph, values))


@translate_errors
def _read_plans(spark: SparkSession, tag: str) -> list[tuple[Any, Mapping[str, str]]]:
    """Return the graph of each query as the UI draws it, and the texts of its metrics by number."""
    context = spark.sparkContext._jsc.sc()
    context.listenerBus().waitUntilEmpty(WAIT)
    jobs, queries = context.statusStore(), spark._jsparkSession.sharedState().statusStore()
    numbers = (
        jobs.jobWithAssociatedSql(job)._2() for job in context.statusTracker().getJobIdsForTag(tag)
    )
    executions = sorted({int(number.get()) for number in numbers if number.isDefined()})
    serializer = java_class(spark._jvm, _SERIALIZER)()
    plans = []
    for number in executions:
        values = _json(serializer, queries.execution(number).get())["metricValues"]
        plans.append((_json(serializer, queries.planGraph(number)), values or {}))
    return plans


def _json(serializer: Handle, record: Handle) -> Any:
    return json.loads(gzip.decompress(bytes(serializer.serialize(record))))


def _operators(graph: Any, values: Mapping[str, str]) -> list[RunOperator]:
    """Return the uppermost operators of a graph."""
    nodes = {n["id"]: n for n in graph["allNodes"] if "nodes" not in n}
    below: dict[int, list[int]] = {number: [] for number in nodes}
    for edge in graph["edges"]:
        if edge["fromId"] in nodes and edge["toId"] in nodes:
            below[edge["toId"]].append(edge["fromId"])
    built: dict[int, RunOperator] = {}

    def build(number: int) -> RunOperator:
        if number not in built:
            node = nodes[number]
            children = tuple(map(build, below[number]))
            built[number] = RunOperator(
                node["name"].strip(), node["desc"], _metrics(node, values), children
            )
        return built[number]

    inner = {child for children in below.values() for child in children}
    return [build(number) for number in nodes if number not in inner]


_KEYS = {shown: key for key, shown in METRICS.items()}


def _metrics(node: Any, values: Mapping[str, str]) -> dict[str, int]:
    """Return the values of an operator's metrics. One without an update has no text: it is 0."""
    return {
        _KEYS[m["name"]]: read_metric(values.get(str(m["accumulatorId"]), "0"))
        for m in node["metrics"]
        if m["name"] in _KEYS
    }


_UNITS = {
    **{unit: 1024**i for i, unit in enumerate(("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"))},
    "": 1,
    "ms": 1,
    "s": 1000,
    "m": 60_000,
    "h": 3_600_000,
}
_VALUE = re.compile(r"([\d,.]+)\s*(\w*)")


def read_metric(text: str) -> int:
    """Read a metric as the UI shows it: ``1,234``, ``3.1 MiB``, ``2.0 s``; or several lines, of
    which the second begins with the total. Times are in milliseconds.

    Raises :class:`ValueError` for another text.
    """
    match = _VALUE.match(text.splitlines()[-1])
    if match is None or match[2] not in _UNITS:
        raise ValueError(text)
    value: float = float(match[1].replace(",", "")) * _UNITS[match[2]]
    return round(value)
