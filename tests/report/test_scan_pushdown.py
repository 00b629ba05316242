"""What is told of scans and of assumptions: from what Spark prints, and from terms."""

from __future__ import annotations

import json

import pytest
from tests.report.examples import SPLIT
from tests.report.pages import outline
from tests.support.synthesis import folds

from presieve.backend.statistics.pushed_filters import Scans
from presieve.demo.pipelines import PIPELINES
from presieve.driver.synthesize import synthesize
from presieve.errors import Declined
from presieve.ir.sorts import BOOL, DATE, FLOAT, INT, STRING, TIMESTAMP, Option
from presieve.ir.terms import Scope, Term, Var
from presieve.records import replace
from presieve.report import html
from presieve.report.remarks import ConjunctFate, Reach, Remedy
from presieve.report.remedies import remedy, remedy_of_code
from presieve.report.report import boundary_json
from presieve.report.report_data import ReportData
from presieve.report.report_text import render_boundary
from presieve.report.scan_pushdown import FALLBACK, reaches
from presieve.sql.parse import parse_predicate

X = Var(Scope.ROW, "x", Option(FLOAT))
N, M = Var(Scope.ROW, "n", Option(INT)), Var(Scope.ROW, "m", Option(INT))
S, B = Var(Scope.ROW, "s", Option(STRING)), Var(Scope.ROW, "b", Option(BOOL))
T, D = Var(Scope.ROW, "t", Option(TIMESTAMP)), Var(Scope.ROW, "d", Option(DATE))
NAMES = {v.name: v for v in (X, N, M, S, B, T, D)}
FILES = ("Scan parquet",)


def predicate(text: str) -> Term:
    found = parse_predicate(text, NAMES, "UTC")
    assert not isinstance(found, Declined), found
    return found


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("x >= 90", "GreaterThanOrEqual(x,90.0)"),
        ("x < 12345678", "LessThan(x,1.2345678E7)"),
        ("x > 1e-5", "GreaterThan(x,1.0E-5)"),
        ("n = 7", "EqualTo(n,7)"),
        ("n <> 7", "Not(EqualTo(n,7))"),
        ("s = 'a'", "EqualTo(s,a)"),
        ("s IN ('b', 'a')", "In(s, [a,b])"),
        ("b", "EqualTo(b,true)"),
        ("n IS NOT NULL", "IsNotNull(n)"),
        ("n IS NULL", "IsNull(n)"),
        ("d > DATE '2024-02-29'", "GreaterThan(d,2024-02-29)"),
        ("t <= TIMESTAMP '2026-01-02 00:00:00'", "LessThanOrEqual(t,2026-01-02 00:00:00.0)"),
        ("t <= TIMESTAMP '2026-01-02 00:00:00'", "LessThanOrEqual(t,2026-01-02T00:00:00Z)"),
        ("n > 3 OR s = 'a' OR x < 1", "Or(LessThan(x,1.0),Or(EqualTo(s,a),GreaterThan(n,3)))"),
        ("s IN ('a', 'b') OR n > 3", "Or(In(s, [a,b]),GreaterThan(n,3))"),
        (
            "s IS NULL OR s = '' OR NOT contains(s, 'h=')",
            "Or(Or(IsNull(s),EqualTo(s,)),Not(StringContains(s,h=)))",
        ),
        ("endswith(s, 'b')", "StringEndsWith(s,b)"),
    ],
)
def test_a_filter_is_known_by_how_spark_prints_it(text: str, printed: str) -> None:
    (found,) = reaches(predicate(text), Scans((printed, "IsNotNull(z)"), (), FILES), {})
    assert found.reached
    assert found.why == ""
    (other,) = reaches(predicate(text), Scans((printed.replace("(", "(y", 1),), (), FILES), {})
    assert not other.reached
    assert other.why == FALLBACK


def test_another_constant_is_another_filter() -> None:
    scans = Scans(("GreaterThan(x,90.0)", "GreaterThanOrEqual(x,91.0)"), (), FILES)
    assert [r.reached for r in reaches(predicate("x >= 90"), scans, {})] == [False]


def test_a_filter_of_partitions_reaches() -> None:
    scans = Scans((), ("isnotnull(n#12L)", "(n#12L >= 3)"), FILES)
    found = reaches(predicate("n >= 3 AND n IS NOT NULL AND n < 9"), scans, {})
    assert [r.reached for r in found] == [True, True, False]


def test_a_renamed_column_is_known_by_its_name_in_the_file() -> None:
    scans = Scans(("GreaterThan(score,90.0)",), (), FILES)
    (found,) = reaches(predicate("x > 90"), scans, {NAMES["x"]: "score"})
    assert found.reached


@pytest.mark.parametrize(
    ("text", "leaves", "names", "why"),
    [
        ("isnan(x) OR x > 3", FILES, {}, "no scan filter for isnan(); an OR is pushed to a scan"),
        ("x * x > 3", FILES, {}, "it computes with a column"),
        ("n > m", FILES, {}, "it compares two columns"),
        ("x > 3", FILES, {NAMES["x"]: ""}, "column x is computed below the function"),
        ("x > 3", ("InMemoryTableScan",), {}, "from the cache"),
        ("x > 3", ("LocalTableScan",), {}, "the rows do not come from files"),
        ("x > 3", ("Scan ExistingRDD", "LocalTableScan"), {}, "the rows do not come from files"),
        ("x > 3", ("Scan JDBCRelation(t)",), {}, "over JDBC"),
        ("x > 3", ("BatchScan t",), {}, "a connector"),
        ("x > 3", (), {}, FALLBACK),
        ("x > 3", ("LocalTableScan", "Scan parquet"), {}, FALLBACK),
        ("x > 3", FILES, {}, FALLBACK),
    ],
)
def test_reasons(text: str, leaves: tuple[str, ...], names: dict[Var, str], why: str) -> None:
    (found,) = reaches(predicate(text), Scans((), (), leaves), names)
    assert not found.reached
    assert why in found.why
    assert str(found).startswith(found.text)


def test_nothing_is_told_of_a_plan_that_was_not_read() -> None:
    assert reaches(predicate("x > 3"), Scans(read=False), {}) == ()


TOP = {
    "fold": folds.Top2,
    "where": "first >= 90 AND second >= 90",
    "returns": "first double, second double",
    "keys": "g",
}


@pytest.mark.parametrize("nullable", [True, False])
def test_what_is_to_be_declared_discharges_the_assumption(nullable: bool) -> None:
    schema = "g string, score double" + ("" if nullable else " NOT NULL")
    found = synthesize(schema=schema, **TOP)  # type: ignore[arg-type]
    assert found.certificate is not None
    open_ = [a for a in found.certificate.problem.assumptions if a.code == "no-nan"]
    assert open_
    for assumption in open_:
        told = remedy(assumption)
        assert told.declare == "NOT isnan(score)"
        assert f"declare={told.declare!r}" in str(told)
        again = synthesize(schema=schema, declare=told.declare, **TOP)  # type: ignore[arg-type]
        assert again.kind == found.kind
        assert "no-nan" not in [a["code"] for a in again.assumptions]


def test_of_a_column_without_null_a_filter_below_will_do() -> None:
    (line,) = [p for p in PIPELINES if p.name == "event window"]
    asked = {"schema": line.schema, "returns": line.returns, "keys": line.key}
    found = synthesize(line.function, line.where, **asked)  # type: ignore[arg-type]
    assert found.certificate is not None
    (assumption,) = [a for a in found.certificate.problem.assumptions if a.code == "no-null"]
    told = remedy(assumption)
    assert told.declare == "ts IS NOT NULL"
    assert "add a filter ts IS NOT NULL below the function" in told.advice
    again = synthesize(line.function, line.where, declare=told.declare, **asked)  # type: ignore[arg-type]
    assert again.kind == found.kind
    assert "no-null" not in [a["code"] for a in again.assumptions]


def test_what_cannot_be_declared_says_what_else_can_be_done() -> None:
    assert remedy_of_code("may-erase-error", "an error may disappear").declare == ""
    assert 'policy="strict"' in str(remedy_of_code("may-erase-error", "an error may disappear"))
    assert "pure=" in str(remedy_of_code("pure", "f is pure"))
    assert str(remedy_of_code("unheard-of", "something")) == ""


def test_page_text_and_json_say_all_of_it() -> None:
    missed = Reach("isnan(x)", False, "Spark has no scan filter for isnan()")
    known = Remedy("column score holds no NaN", "NOT isnan(score)", "or else")
    part = ConjunctFate("b >= 90", "weakened", ("b IS <NOT> NULL",))
    told = replace(
        SPLIT, reaches=(missed,), remedies=(known,), conjuncts=(part,), sentences=("`a` is set",)
    )
    text = " ".join(render_boundary(told).split())
    page = html.page("t", [html.Section(ReportData((told,), True, 1.0))])
    shown = " ".join(" ".join(outline(page).text).split())
    for said in (text, shown):
        assert "isnan(x)" in said
        assert missed.why in said
        assert "NOT isnan(score)" in said
        assert "b IS <NOT> NULL" in said
        assert "is set" in said
    plain = boundary_json(told)
    assert json.loads(json.dumps(plain)) == plain
    assert plain["reaches"] == [{"text": "isnan(x)", "reached": False, "why": missed.why}]
    assert plain["remedies"][0]["declare"] == "NOT isnan(score)"
    assert plain["conjuncts"][0]["fate"] == "weakened"
    assert plain["sentences"] == ["`a` is set"]
