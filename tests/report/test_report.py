"""The three faces of a report: text, page and JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.report.examples import MIXED, NONE, NOTHING, SPLIT, TIE
from tests.report.pages import outline

from presieve.backend.statistics.metrics import Measurement, PythonRun
from presieve.errors import Declined, UsageError
from presieve.records import replace
from presieve.report import html
from presieve.report.remarks import CompiledFunction
from presieve.report.report import Report
from presieve.report.report_data import Measured, ReportData
from presieve.report.report_text import brief_boundary
from presieve.report.sentences import runs_as


def test_text_of_a_split() -> None:
    assert str(Report(MIXED)) == (
        "Only rows with score >= 90.0D reach top_two, about 3.4% of the rows. This holds if column"
        " score\n"
        "holds no NaN.\n"
        "\n"
        "Nothing is pushed below count_errors: time.time() is not known (jobs/teams.py:40:9).\n"
        "\n"
        "2 places where a filter meets a UDF or an aggregate, 1 with a proven pre-filter. The plan"
        " is rewritten.\n"
        "\n"
        "boundary                       pushed  pre-filter, or why not                   seconds\n"
        "FlatMapGroupsInPandas top_two  split   score >= 90.0D, assuming [no-nan]        0.12\n"
        "Aggregate count_errors         no      [unknown-call] time.time() is not known  0.00\n"
        "\n"
        "FlatMapGroupsInPandas top_two (jobs/teams.py:12)\n"
        "  filter        first >= 90.0D AND second >= 90.0D\n"
        "  pre-filter    score >= 90.0D\n"
        "  residual      second IS NOT NULL\n"
        "  assuming      column score holds no NaN [no-nan]\n"
        "  kind          split. Rows are filtered below; a weaker filter remains above.\n"
        "  strength      optimal: every row that it keeps matters in some table; no correct"
        " one keeps fewer\n"
        "  conjuncts     every conjunct is needed, with a table for each\n"
        "  invariant     second = second' or second < 90\n"
        "  scan filters  IsNotNull(score), GreaterThanOrEqual(score,90.0)\n"
        "  rows kept     about 3.4%\n"
        "  row order     the result depends on the order of rows\n"
        "                rows (score 91.0, by '<b>'), (score 91.0, by 'c') 2 times: (first 91.0, by"
        " NULL)\n"
        "                rows (score 91.0, by 'c'), (score 91.0, by '<b>'), (score 91.0, by 'c'):"
        " filtered\n"
        "                out\n"
        "  known         column n holds no NULL [no-null], NOT NULL\n"
        "  effort        0.12 s, 9 solver calls\n"
        "\n"
        "Aggregate count_errors\n"
        "  filter        errors <= 5\n"
        "  declined      [unknown-call] time.time() is not known (jobs/teams.py:40:9)\n"
        "  more          presieve why unknown-call\n"
        "  kind          none. Nothing was pushed.\n"
        "  row order     the result does not depend on the order of rows (proved), if column score"
        " holds no\n"
        "                NaN\n"
        "  effort        0.00 s"
    )


def test_a_boundary_in_short() -> None:
    assert brief_boundary(SPLIT, changed=True) == (
        "FlatMapGroupsInPandas top_two (jobs/teams.py:12)\n"
        "  filter        first >= 90.0D AND second >= 90.0D\n"
        "  pre-filter    score >= 90.0D\n"
        "  residual      second IS NOT NULL\n"
        "  assuming      column score holds no NaN [no-nan]"
    )
    assert brief_boundary(NONE, changed=False) == (
        "Aggregate count_errors\n"
        "  filter        errors <= 5\n"
        "  declined      [unknown-call] time.time() is not known (jobs/teams.py:40:9)"
    )


def test_in_short_no_boundary_has_more_than_five_lines_or_a_long_one() -> None:
    long = " AND ".join(f"score <> {n}" for n in range(99))
    why = (Declined("no-proof", long), Declined("unknown-call", "f" * 300))
    assumed = tuple({"code": "no-nan", "text": f"column c{n} holds no NaN"} for n in range(20))
    for boundary in (
        replace(SPLIT, where=long, prefilter="f" * 300, assumptions=assumed, declined=why),
        replace(SPLIT, residual=long, assumptions=assumed),
        replace(NONE, where=long, declined=why),
    ):
        heading, *lines = brief_boundary(boundary, changed=True).splitlines()
        assert heading.startswith(boundary.operator)
        assert len(lines) <= 5
        assert max(map(len, lines)) <= 100
        assert lines[-1].endswith("...")


def test_long_texts_are_cut_so_that_more_of_a_condition_is_seen() -> None:
    where = f"trim(BOTH '{'x' * 90}' FROM level) = 'error' AND note <> 'it''s fine'"
    told = brief_boundary(replace(NONE, where=where), changed=False)
    expected = f"trim(BOTH '{'x' * 12}...' FROM level) = 'error' AND note <> 'it''s fine'"
    assert f"  filter        {expected}\n" in told
    whole = Report(ReportData((replace(NONE, where=where),), False, 0.1))
    assert "x" * 90 in str(whole)


def test_no_boundary_ends_without_a_reason() -> None:
    silent = replace(NONE, declined=())
    assert "declined      no pre-filter was found" in brief_boundary(silent, changed=False)
    assert "declined      no pre-filter was found" in str(Report(ReportData((silent,), False, 0.1)))
    assert "declined      the proven pre-filter is there already" in brief_boundary(
        SPLIT, changed=False
    )
    assert "declined" not in brief_boundary(SPLIT, changed=True)


def test_reasons_lead_to_their_pages() -> None:
    shown = " ".join(outline(html.page("t", [html.Section(MIXED)])).text)
    assert "presieve why unknown-call" in shown
    assert "docs/declined/unknown-call.md" in shown


def test_text_of_a_plan_with_nothing_to_do() -> None:
    assert str(Report(NOTHING)) == (
        "No filter of this plan is held up by a Python function, an aggregate or a window."
        " The plan is unchanged."
    )


@pytest.mark.parametrize("data", [MIXED, NOTHING], ids=["mixed", "nothing"])
def test_page_and_fragment_are_well_formed(data: ReportData, tmp_path: Path) -> None:
    report = Report(data)
    report.save(tmp_path / "r.html")
    whole = outline((tmp_path / "r.html").read_text(encoding="utf-8"))
    assert {"html", "head", "body", "main"} <= whole.tags
    part = outline(report._repr_html_())
    assert not {"html", "head", "body"} & part.tags
    for parsed in (whole, part):
        assert "script" not in parsed.tags


def test_page_shows_everything_about_a_boundary() -> None:
    shown = " ".join(outline(html.page("t", [html.Section(MIXED)])).text)
    for text in (
        SPLIT.where,
        SPLIT.prefilter,
        SPLIT.residual,
        SPLIT.invariant,
        SPLIT.source,
        "column score holds no NaN",
        "column n holds no NULL",
        *SPLIT.pushed_to_scan,
        *TIE.lines(),
        "does not depend on the order of rows (proved)",
        "about 3.4%",
        "time.time() is not known",
        NONE.where,
        "Filter <old>",
        "Filter <new>",
    ):
        assert text in shown


def test_sections_have_titles_and_facts() -> None:
    section = html.Section(MIXED, "Top two", "Which teams?", {"as written": "3.4 s"})
    shown = outline(html.page("demo", [section]))
    assert {"h2", "dl"} <= shown.tags
    assert {"Top two", "Which teams?", "as written", "3.4 s"} <= {t.strip() for t in shown.text}


def test_json_has_the_public_names_and_only_plain_types() -> None:
    plain = Report(MIXED).to_json()
    assert json.loads(json.dumps(plain)) == plain
    split, none = plain["boundaries"]
    assert set(split) >= {
        *("operator", "function", "kind", "where", "prefilter", "residual", "assumptions"),
        *("declined", "seconds", "pushed_to_scan", "estimated_selectivity"),
    }
    assert split["span"] == {"file": "jobs/teams.py", "line": 12, "column": 0}
    assert none["declined"] == [
        {
            "code": "unknown-call",
            "reason": "time.time() is not known",
            "file": "jobs/teams.py",
            "line": 40,
            "column": 9,
        }
    ]


def test_what_is_measured_is_shown_everywhere() -> None:
    report = Report(
        MIXED,
        lambda: Measured(
            Measurement(4.0, 3, 1_000_000, 500_000, 8_000_000, 0),
            Measurement(1.0, 3, 1_000_000, 20, 400_000, 70_000),
            1.0,
        ),
    )
    assert report.to_json()["measured"] is None
    assert report.measure() == report.data.measured
    told = (
        "as written and as optimized: 4.00 s and 1.00 s + 1.00 s of optimize, 2.0 times as fast;"
        " 500,000 and 20 rows"
        " into shuffles (< 0.01%); 8 MB and 400 kB into shuffles (5.0%); 1,000,000 and 1,000,000"
        " rows out of scans; 0 bytes and 70 kB into Python; the result has 3 rows"
    )
    assert told in " ".join(str(report).split())
    page = "".join(outline(html.page("", [html.Section(report.data)])).text)
    for row in (
        "time of the query4.00 s1.00 s",
        "time of optimize1.00 s",
        "in all4.00 s2.00 s50.0%",
        "rows into shuffles500,00020< 0.01%",
        "bytes into shuffles8 MB400 kB5.0%",
        "rows out of scans1,000,0001,000,000",
        "bytes into Python0 bytes70 kB",
        "rows of the result33",
    ):
        assert row in page
    plain = report.to_json()["measured"]
    assert plain["written"] == {
        "seconds": 4.0,
        "rows": 3,
        "scanned": 1_000_000,
        "shuffled": 500_000,
        "shuffled_bytes": 8_000_000,
        "python_bytes": 0,
        "python": [],
    }
    assert plain["optimize"] == 1.0
    split, none = report.to_json()["boundaries"][:2]
    assert split["written"] is split["run"] is none["written"] is None
    decoy = PythonRun("ArrowEvalPython", f"[not_{none['function']}(a#1)]", 7, 7, 7, 7.0)
    both = PythonRun("ArrowEvalPython", f"[{none['function']}(a#1), f(b#2)]", 5, 5, 10, 0.5)
    again = PythonRun("ArrowEvalPython", f"[{none['function']}(c#1)]", None, 5, 10, 0.5)
    measured = report.data.measured
    assert measured is not None
    optimized = replace(measured.optimized, python=(both, again, decoy))
    report.data = replace(report.data, measured=replace(measured, optimized=optimized))
    _, none = report.to_json()["boundaries"][:2]
    assert none["written"] is None
    assert none["run"] == {"rows_in": None, "rows_out": 10, "sent_bytes": 20, "seconds": 1.0}


def test_results_of_other_lengths_are_told_and_nothing_is_divided_by_no_rows() -> None:
    report = Report(MIXED, lambda: Measured(Measurement(4.0, 3, 0), Measurement(1.0, 2, 0)))
    report.measure()
    shown = " ".join(str(report).split())
    assert "times as fast; the result has 3 rows as written and 2 as optimized" in shown


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.0, "< 0.01%"), (0.00004, "< 0.01%"), (0.0001, "about 0.01%"), (0.034, "about 3.4%")],
)
def test_few_rows_are_not_none(share: float, text: str) -> None:
    few = replace(SPLIT, estimated_selectivity=share)
    assert f"  rows kept     {text}\n" in str(Report(ReportData((few,), True, 0.1)))


def test_a_report_alone_cannot_be_measured() -> None:
    with pytest.raises(UsageError, match=r"presieve\.explain"):
        Report(MIXED).measure()


def test_saving_goes_by_suffix(tmp_path: Path) -> None:
    report = Report(MIXED)
    report.save(tmp_path / "r.json")
    assert json.loads((tmp_path / "r.json").read_text()) == report.to_json()
    with pytest.raises(UsageError, match=r"saved as \.html or \.json"):
        report.save(tmp_path / "r.pdf")


def test_attributes() -> None:
    report = Report(MIXED)
    assert report.boundaries == (SPLIT, NONE)
    assert report.changed
    assert not Report(NOTHING).changed
    assert "2 boundaries" in repr(report)


@pytest.mark.parametrize(
    ("constant", "shown"),
    [
        ("a" * 299, "a" * 299),
        ("a" * 300, "a" * 24 + ".."),
        ("\\'" * 300, "\\'" * 24 + ".."),
    ],
)
def test_tables_of_letters_are_cut_off(constant: str, shown: str) -> None:
    compiled = CompiledFunction("expression", f"translate(s, '{constant}', 'it\\'s')", ())
    assert runs_as(compiled) == f"translate(s, '{shown}', 'it\\'s')"
