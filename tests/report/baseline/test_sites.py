"""What a baseline keeps of a report, and what two texts of one filter have in common."""

from __future__ import annotations

import pytest

from presieve.errors import Declined, Span
from presieve.report.baseline.seen import list_sites, reasons_left_alone
from presieve.report.baseline.stored_sites import (
    DerivedSite,
    FilterSite,
    FunctionSite,
    names_in,
    shape_of,
)
from presieve.report.collector import CollectedReport
from presieve.report.remarks import CompiledFunction, ConjunctFate, Reach
from presieve.report.report_data import (
    BoundaryReport,
    DerivedReport,
    FunctionReport,
    ReportData,
)


@pytest.mark.parametrize(
    ("written", "other", "same"),
    [
        ("best >= 90.0D", "(best >= CAST(90 AS DOUBLE))", True),
        ("g = 'high'", "(g = 'it''s')", True),
        ("m > -3", "m >= 4.5D", True),
        ("m IN (1, 2, 3)", "m IN (-7)", True),
        ("ts >= TIMESTAMP_NTZ '2024-01-01 00:00:00'", "ts > DATE '2025-01-01'", True),
        ("CAST(CAST(a AS DECIMAL(10,2)) AS DOUBLE) < 3", "a < 4", True),
        ("`a b` > 1", "a > 1", False),
        ("a > 1", "a < 1", False),
        ("a > b", "a > 1", False),
        ("a - 1 > 2", "a + 1 > 2", False),
        ("a = 1", "a <> 1", False),
        ("a IS NULL", "a IS NOT NULL", False),
        ("a > 1 AND b > 1", "a > 1 OR b > 1", False),
        ("cannot # be read 1", "cannot # be read 2", False),
    ],
)
def test_shapes(written: str, other: str, same: bool) -> None:
    assert (shape_of(written) == shape_of(other)) is same


def test_names() -> None:
    assert names_in("(m > CAST(3 AS DOUBLE)) AND team = 'a' AND isnan(`x`)") == (
        "isnan",
        "m",
        "team",
        "x",
    )


CALL = Declined("unknown-call", "nothing is known of hash", Span("/home/me/job.py", 7, 12))
ERASED = {"code": "may-erase-error", "text": "an error may disappear"}


def collected(line: int, **parts: object) -> CollectedReport:
    data = ReportData(**{"boundaries": (), "changed": True, "seconds": 0.5, **parts})  # type: ignore[arg-type]
    return CollectedReport(data, Span("job.py", line))


def test_a_boundary() -> None:
    boundary = BoundaryReport(
        "Project",
        "grade",
        "split",
        "g = 'high' AND h > 1",
        "score > 90.0D AND NOT isnan(score)",
        "h > 1",
        assumptions=(ERASED,),
        span=Span("/home/me/job.py", 3),
        reaches=(Reach("score > 90.0D", True), Reach("NOT isnan(score)", False, "no filter")),
        conjuncts=(ConjunctFate("h > 1", "stays", why=(CALL,)),),
        seconds=3.5,
        estimated_selectivity=0.25,
    )
    reports = [collected(11, boundaries=(boundary,)), collected(12, boundaries=(boundary,))]
    (seen,) = list_sites(reports)
    assert seen.site == FilterSite(
        "Project",
        "grade",
        "g = 'high' AND h > 1",
        "split",
        ("score > 90.0D", "NOT isnan(score)"),
        ("score > 90.0D",),
        ("may-erase-error",),
    )
    assert [str(at) for at in seen.at] == ["job.py:11", "job.py:12"]
    assert seen.why == (CALL,)
    assert seen.note == "NOT isnan(score): no filter"


def test_of_a_boundary_that_is_left_no_trace_of_its_proof_is_kept() -> None:
    boundary = BoundaryReport(
        "Project", "grade", "none", "g = 1", "true", "g = 1", assumptions=(ERASED,)
    )
    (seen,) = list_sites([collected(1, boundaries=(boundary,))])
    assert seen.site == FilterSite("Project", "grade", "g = 1")
    assert seen.note == "no pre-filter was found"


def test_two_reports_on_a_function_are_one_site_and_two_lambdas_are_two() -> None:
    columns = FunctionReport(
        "FlatMapGroupsInPandas", "best", columns=(2, 9), read=("team", "a"), pruned=True
    )
    python = FunctionReport("FlatMapGroupsInPandas", "best", not_compiled=(CALL,))
    native = FunctionReport("Project", "<lambda>", compiled=CompiledFunction("expression", "x"))
    other = FunctionReport("Project", "<lambda>", not_compiled=(CALL,))
    report = collected(5, functions=(columns, python, native, other))
    assert [s.site for s in list_sites([report])] == [
        FunctionSite(
            "FlatMapGroupsInPandas", "best", columns=("a", "team"), declined=("unknown-call",)
        ),
        FunctionSite("Project", "<lambda>", "expression"),
        FunctionSite("Project", "<lambda>", declined=("unknown-call",)),
    ]


def test_columns_of_a_function_that_spark_runs_are_not_kept() -> None:
    columns = FunctionReport("MapInPandas", "f", columns=(1, 9), read=("a",), pruned=True)
    native = FunctionReport("MapInPandas", "f", compiled=CompiledFunction("expression", "x"))
    (seen,) = list_sites([collected(5, functions=(columns, native))])
    assert seen.site == FunctionSite("MapInPandas", "f", "expression")


def test_derived_filters_name_files_without_folders() -> None:
    year = DerivedReport("file:/home/me/data/orders", "year(ts) = 2024", "ts > 1 AND ts < 9")
    none = DerivedReport("file:/home/me/data/orders", "url = 'http://a/b'", declined=(CALL,))
    range_ = DerivedReport(
        "s3://bucket/me/large",
        "k = k of s3://bucket/me/small",
        "k BETWEEN min(k) AND max(k) of s3://bucket/me/small",
        operator="Join",
    )
    rows = DerivedReport("explode(a)", "x > 1", "x > 1", operator="Generate")
    sites = [s.site for s in list_sites([collected(5, derived=(year, none, range_, rows))])]
    assert sites == [
        DerivedSite("", "orders", "year(ts) = 2024", ("ts > 1", "ts < 9")),
        DerivedSite("", "orders", "url = 'http://a/b'", declined=("unknown-call",)),
        DerivedSite("Join", "large", "k = k of small", ("k BETWEEN min(k) AND max(k) of small",)),
        DerivedSite("Generate", "explode(a)", "x > 1", ("x > 1",)),
    ]
    assert [s.is_kept for s in sites] == [True, False, True, True]


def test_reasons_of_what_was_not_examined() -> None:
    stream = Declined("streaming", "a stream is left alone")
    operator = Declined("operator", "no filter is pushed past Filter")
    reports = [
        collected(1, declined=stream),
        collected(2, left_alone=(operator,)),
        collected(3, left_alone=(operator,)),
    ]
    assert reasons_left_alone(reports) == (stream, operator)
