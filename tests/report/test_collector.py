"""What ``presieve run`` tells at the end: one table, with short lines."""

from __future__ import annotations

from dataclasses import replace

from tests.report.examples import MIXED, NONE, SPLIT

from presieve.errors import Declined
from presieve.report.collector import ReportCollector
from presieve.report.model import BoundaryReport, FunctionReport, ReportData


def lines(*plans: ReportData) -> list[str]:
    collector = ReportCollector(lambda _: None)
    for plan in plans:
        collector.collect(None, plan)
    return list(collector.lines())


def alone(boundary: BoundaryReport, *, changed: bool = False) -> str:
    """The row of one boundary."""
    return lines(ReportData((boundary,), changed, 0.1))[1]


def test_a_table() -> None:
    assert lines(MIXED) == [
        "boundary                       pushed  pre-filter, or why not                   seconds",
        "FlatMapGroupsInPandas top_two  split   score >= 90.0D, assuming [no-nan]        0.12",
        "Aggregate count_errors         no      [unknown-call] time.time() is not known  0.00",
    ]


def test_the_same_is_one_row_with_the_seconds_of_all() -> None:
    row = lines(MIXED, MIXED)[1]
    assert row.startswith("FlatMapGroupsInPandas top_two (2 times)  split ")
    assert row.endswith(" 0.25")


def test_no_line_is_long() -> None:
    long = " AND ".join(f"score <> {n}" for n in range(99))
    why = replace(NONE, function="f" * 99, declined=(Declined("no-proof", long), *NONE.declined))
    for row in (alone(replace(SPLIT, prefilter=long), changed=True), alone(why)):
        assert len(row) < 180
        assert "..." in row


def test_a_function_of_tables_that_reads_fewer_columns() -> None:
    function = FunctionReport("MapInPandas", "clean", columns=(1, 60), read=("v",), pruned=True)
    kept = replace(function, pruned=False)
    assert lines(ReportData((), True, 0.1, functions=(kept, function)))[1:] == [
        "MapInPandas clean  columns  reads 1 of 60: v",
    ]


def test_why_nothing_was_pushed_where_nothing_was_declined() -> None:
    assert "no      no row can be dropped below it" in alone(replace(NONE, declined=()))
    assert "no      the proven pre-filter is there already" in alone(SPLIT)
