"""What Spark counted, from the operators of a plan or from the store of its UI."""

from __future__ import annotations

from typing import Any

import pytest

from presieve.backend.classic.running.status_store import _operators, read_metric
from presieve.backend.statistics.metrics import (
    BYTES_WRITTEN,
    PYTHON_TIME,
    RECORDS_WRITTEN,
    ROWS_OUT,
    SENT,
    RunOperator,
    Work,
    work_of,
)

SCAN = RunOperator("Scan parquet", "FileScan", {ROWS_OUT: 100})
FILTER = RunOperator("Filter", "Filter (v > 1)", {ROWS_OUT: 40}, (SCAN,))
PROJECT = RunOperator("Project", "Project [k, v]", {}, (FILTER,))
EXCHANGE = RunOperator(
    "Exchange", "Exchange", {RECORDS_WRITTEN: 40, BYTES_WRITTEN: 900}, (PROJECT,)
)
SORT = RunOperator("Sort", "Sort [k]", {}, (EXCHANGE,))
PYTHON = {ROWS_OUT: 7, SENT: 5000, PYTHON_TIME: 1500}


def of_python(below: RunOperator) -> Work:
    return work_of([RunOperator("FlatMapGroupsInPandas", "f(k, v)", PYTHON, (below,))])


def test_rows_are_counted_where_they_pass() -> None:
    work = of_python(SORT)
    assert (work.scanned, work.shuffled, work.shuffled_bytes) == (100, 40, 900)
    assert work.python_bytes == 5000
    (run,) = work.python
    assert (run.rows_in, run.rows_out, run.seconds) == (40, 7, 1.5)
    (run,) = of_python(PROJECT).python
    assert run.rows_in == 40


def test_rows_into_python_are_unknown_below_an_operator_that_drops_some_uncounted() -> None:
    for name in ("LocalLimit", "Sample", "CartesianProduct", "Unheard of"):
        (run,) = of_python(RunOperator(name, name, {}, (SORT,))).python
        assert run.rows_in is None
    (run,) = of_python(RunOperator("LocalLimit", "", {ROWS_OUT: 3}, (SORT,))).python
    assert run.rows_in == 3


def test_an_operator_that_is_used_twice_ran_once() -> None:
    both = RunOperator("Union", "Union", {}, (EXCHANGE, EXCHANGE))
    assert work_of([both]) == Work(100, 40, 900)
    (run,) = of_python(RunOperator("Union", "Union", {}, (EXCHANGE, SORT))).python
    assert run.rows_in is None  # a union is not on the list


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("1,234,567", 1_234_567),
        ("59.0 B", 59),
        ("317.9 KiB", 325_530),
        ("total (min, med, max (stageId: taskId))\n1.5 MiB (0.5 MiB, 1.0 MiB)", 1_572_864),
        ("18 ms", 18),
        ("2.2 s", 2200),
        ("1.5 m", 90_000),
        ("total (min, med, max (stageId: taskId))\n1.00 h (1 ms, 2 ms)", 3_600_000),
    ],
)
def test_metrics_as_the_ui_writes_them(text: str, value: int) -> None:
    assert read_metric(text) == value


@pytest.mark.parametrize("text", ["", "many", "3.1 apples", "-"])
def test_another_text_is_no_metric(text: str) -> None:
    with pytest.raises((ValueError, IndexError)):
        read_metric(text)


def node(number: int, name: str, **metrics: int) -> dict[str, Any]:
    listed = [{"name": n.replace("_", " "), "accumulatorId": i} for n, i in metrics.items()]
    return {"id": number, "name": name, "desc": name, "metrics": listed}


def test_the_graph_of_the_ui() -> None:
    inside = [node(2, "Filter", number_of_output_rows=20)]
    graph = {
        "allNodes": [
            node(0, "AdaptiveSparkPlan"),
            {**node(1, "WholeStageCodegen (1)", duration=10), "nodes": inside},
            *inside,
            node(3, "Scan parquet ", number_of_output_rows=30, scan_time=31),
            node(4, "BatchEvalPython", data_sent_to_Python_workers=40, number_of_output_rows=41),
        ],
        "edges": [
            {"fromId": 4, "toId": 0},
            {"fromId": 2, "toId": 4},
            {"fromId": 3, "toId": 2},
        ],
    }
    values = {"20": "5", "30": "1,000", "40": "1.0 KiB"}
    (root,) = _operators(graph, values)
    work = work_of([root])
    assert (work.scanned, work.python_bytes) == (1000, 1024)
    (run,) = work.python
    assert (run.rows_in, run.rows_out) == (5, 0)  # what was never updated has no value
