"""What ``presieve run`` tells at the end: one table, with short lines."""

from __future__ import annotations

import re
from typing import Any

from tests.report.examples import MIXED, NONE, SPLIT

from presieve.errors import Declined, Span
from presieve.records import replace
from presieve.report.collector import (
    CollectedReport,
    ReportCollector,
    distinct,
    each_once,
    without_boundary,
)
from presieve.report.remarks import CompiledFunction
from presieve.report.report_data import BoundaryReport, FunctionReport, ReportData
from presieve.report.report_text import brief_boundary


def lines(*plans: ReportData) -> list[str]:
    """The table without the rows of what everything took, which have tests of their own."""
    every = everything(*plans)
    return [line for line in every if not line.startswith(("optimize", "of this,"))]


def everything(*plans: ReportData) -> list[str]:
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


def test_what_everything_took_is_in_the_table() -> None:
    first = replace(MIXED, optimizing=1.5, checking=0.25, compiling=0.004)
    later = replace(MIXED, optimizing=0.25, checking=0.5)
    rows = [re.split(r"\s{2,}", line) for line in everything(first, later)[-2:]]
    assert rows == [["optimize", "1.75"], ["of this, checks of the data", "0.75"]]


def test_a_job_without_boundaries_is_told_what_looking_took() -> None:
    nothing = ReportData((), False, 0.3, optimizing=0.3)
    assert everything(nothing)[-1] == "optimize: 0.30 s"
    assert everything() == ["the job ran no filter above a Python function or an aggregate"]


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
    assert "no      no pre-filter was found" in alone(replace(NONE, declined=()))
    assert "no      the proven pre-filter is there already" in alone(SPLIT)


def test_a_function_that_runs_in_spark_is_a_row_of_its_boundary() -> None:
    made = CompiledFunction("aggregates", "max(score)")
    compiled = FunctionReport("FlatMapGroupsInPandas", "top_two", compiled=made)
    alone = ReportData((), True, 0.1, functions=(compiled,))
    assert lines(alone)[1].split("  ")[1:] == ["the function", "runs as max(score)"]
    whole = replace(MIXED, boundaries=(replace(SPLIT, compiled=made), NONE), functions=(compiled,))
    first, *others = lines(whole)[1:]
    assert "  split, the function  " in first
    assert not any("runs as" in other for other in others)
    other = replace(compiled, compiled=CompiledFunction("aggregates", "min(score)"))
    assert "runs as min(score)" in lines(replace(whole, functions=(other,)))[3]
    assert [what for what, _ in found(whole)] == [*whole.boundaries]
    assert "runs as       max(score)" in brief_boundary(whole.boundaries[0], changed=True)


FUNCTION = FunctionReport("MapInPandas", "clean", form="batches")


def found(*plans: ReportData) -> list[tuple[object, list[str]]]:
    """What is told of plans that lines 1, 2, ... run."""
    collected = [CollectedReport(data, Span("job.py", i)) for i, data in enumerate(plans, 1)]
    return [(one.what, list(one.places)) for one in each_once(distinct(collected))]


def test_a_boundary_of_several_plans_is_told_once() -> None:
    alone = replace(MIXED, boundaries=(SPLIT,))
    both = replace(MIXED, boundaries=(SPLIT, NONE, SPLIT), functions=(FUNCTION,))
    assert found(alone, both, both, replace(both, boundaries=())) == [
        (SPLIT, ["job.py:1", "job.py:2", "job.py:3"]),
        (NONE, ["job.py:2", "job.py:3"]),
        (FUNCTION, ["job.py:2", "job.py:3", "job.py:4"]),
    ]


def test_what_is_left_alone_in_a_plan_that_is_rewritten_is_the_same() -> None:
    alone = ReportData((NONE,), False, 0.1)
    assert found(alone, MIXED) == [(NONE, ["job.py:1", "job.py:2"]), (SPLIT, ["job.py:2"])]


def test_boundaries_that_differ_are_told_apart() -> None:
    other = replace(SPLIT, where="first >= 90.0D")
    why = replace(NONE, declined=(Declined("cost", "it does not pay"),))
    assert [what for what, _ in found(MIXED, replace(MIXED, boundaries=(why,)))][1:] == [NONE, why]
    unchanged = ReportData((SPLIT,), False, 0.1)
    plans = (replace(MIXED, boundaries=(SPLIT, other)), unchanged)
    assert [what for what, _ in found(*plans)] == [SPLIT, other, SPLIT]


def test_searches_stay_with_their_boundaries() -> None:
    first: Any = "the first search"
    second: Any = "the second search"
    searches = (lambda: first, lambda: second)
    data = replace(MIXED, boundaries=(SPLIT, replace(SPLIT, function="f")), searches=searches)
    ((kept, _),) = distinct([CollectedReport(data, None), CollectedReport(data, None)])
    traced = kept.data.trace_lines(1).trace_lines(0)
    assert [(b.function, b.trace) for b in traced.boundaries] == [
        ("top_two", first),
        ("f", second),
    ]


def test_a_plan_that_was_not_read_says_why() -> None:
    unread = ReportData((), False, 0.1, declined=Declined("filter-size", "it is too large"))
    other = replace(unread, declined=Declined("filter-size", "it is larger"))
    collected = [CollectedReport(data, None) for data in (unread, unread, other)]
    assert [r.data for r, _ in distinct(collected)] == [unread, other]
    assert without_boundary(collected) == ""
    assert without_boundary([]) == "No DataFrame was looked at."
