"""Reports to show, of every kind of boundary."""

from __future__ import annotations

from presieve.errors import Declined, Span
from presieve.report.report_data import BoundaryReport, ReportData
from presieve.report.row_order import Permuted, answer_dependent, answer_independent

TIE = answer_dependent(
    Permuted(
        [{"score": 91.0, "by": "<b>"}, {"score": 91.0, "by": "c"}, {"score": 91.0, "by": "c"}],
        [{"score": 91.0, "by": "c"}, {"score": 91.0, "by": "<b>"}, {"score": 91.0, "by": "c"}],
        [{"first": 91.0, "by": None}],
        [],
        "value",
    )
)

SPLIT = BoundaryReport(
    operator="FlatMapGroupsInPandas",
    function="top_two",
    kind="split",
    where="first >= 90.0D AND second >= 90.0D",
    prefilter="score >= 90.0D",
    residual="second IS NOT NULL",
    invariant="second = second' or second < 90",
    strength="optimal",
    residual_strength="needed",
    assumptions=({"code": "no-nan", "text": "column score holds no NaN"},),
    seconds=0.125,
    solver_calls=9,
    pushed_to_scan=("IsNotNull(score)", "GreaterThanOrEqual(score,90.0)"),
    estimated_selectivity=0.034,
    source="def top_two(pdf):\n    if a < b & c:\n        return '<script>'\n",
    span=Span("jobs/teams.py", 12),
    discharged=({"code": "no-null", "text": "column n holds no NULL", "by": "NOT NULL"},),
    order=TIE,
)

NONE = BoundaryReport(
    operator="Aggregate",
    function="count_errors",
    kind="none",
    where="errors <= 5",
    prefilter="true",
    residual="errors <= 5",
    declined=(Declined("unknown-call", "time.time() is not known", Span("jobs/teams.py", 40, 9)),),
    order=answer_independent([{"code": "no-nan", "text": "column score holds no NaN"}]),
)

MIXED = ReportData((SPLIT, NONE), True, 0.2, "Filter <old>", "Filter <new>")
NOTHING = ReportData((), False, 0.01)
