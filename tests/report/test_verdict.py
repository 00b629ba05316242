"""Verdicts for people: text, page and JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.report.pages import outline

from presieve.errors import Span, UsageError
from presieve.report.trace import TableRun
from presieve.report.verdict import Verdict
from presieve.report.verdict_model import Blame, ClaimedPushdown, Counterexample, Repair

NO_NAN = {"code": "no-nan", "text": "column score holds no NaN"}
CLAIM = ClaimedPushdown(
    "top_two", "first >= 90 AND second >= 90", "score > 91", None, span=Span("t.py", 12)
)
ROWS: list[dict[str, object]] = [
    {"team": "<b>", "score": 100.0, "note": None},
    {"team": "<b>", "score": 91.0, "note": None},
]
WRITTEN = TableRun("as written", ROWS, {"first": 100.0, "second": 91.0}, "kept")
PUSHED = TableRun("as pushed", ROWS[:1], {"first": 100.0, "second": None}, "filtered out")
DROPS = Counterexample(
    ROWS,
    [{"team": "<b>", "first": 100.0, "second": 91.0}],
    [],
    [True, False],
    WRITTEN,
    PUSHED,
    "prefilter",
    ("team", "score"),
)
REPAIR = Repair("split", "score >= 90.0D", "second IS NOT NULL", [NO_NAN])
REFUTED = Verdict("refuted", counterexample=DROPS, claim=CLAIM, _find_repair=lambda: REPAIR)
UNKNOWN = Verdict("unknown", reason="time.time() is not known", remedy="leave it", claim=CLAIM)


def test_text_of_a_refutation() -> None:
    assert str(REFUTED) == (
        "Refuted: the pre-filter drops too much.\n"
        "\n"
        "  function      top_two (t.py:12)\n"
        "  filter        first >= 90 AND second >= 90\n"
        "  pre-filter    score > 91\n"
        "  residual      the filter, unchanged\n"
        "\n"
        "  A table of 2 rows:\n"
        "    team   score  pre-filter\n"
        "    '<b>'  100.0  keeps\n"
        "    '<b>'  91.0   drops\n"
        "\n"
        "  What the function returns, and what remains (* differs):\n"
        "                first  second  then\n"
        "    as written  100.0  91.0    the filter keeps it\n"
        "    as pushed   100.0  NULL *  the filter rejects it *\n"
        "\n"
        "  Without the dropped rows, second differs, and a result row is missing.\n"
        "\n"
        "  This pushdown is proved (the strongest that presieve finds):\n"
        "  pre-filter    score >= 90.0D\n"
        "  residual      second IS NOT NULL\n"
        "  assuming      column score holds no NaN [no-nan]"
    )


def test_text_of_what_is_not_known() -> None:
    assert str(UNKNOWN).splitlines()[-2:] == [
        "  why           time.time() is not known",
        "  what to do    leave it",
    ]


def refuted(written: TableRun, pushed: TableRun, blame: Blame) -> str:
    found = Counterexample(ROWS, [], [], [True, False], written, pushed, blame, ("score",))
    return str(Verdict("refuted", counterexample=found))


def run(label: str, m: object, result: str) -> TableRun:
    return TableRun(label, ROWS, {"m": m, "n": m}, result)


@pytest.mark.parametrize(
    ("written", "pushed", "blame", "told"),
    [
        (
            run("as written", 1, "kept"),
            TableRun("as pushed", [], None, "no group"),
            "prefilter",
            "dropped rows, no row is left, and a result row is missing.",
        ),
        (
            run("as written", 1, "kept"),
            TableRun("as pushed", [], None, "raises"),
            "prefilter",
            "the function raises an error, which it does not as written.",
        ),
        (
            run("as written", 2, "filtered out"),
            run("as pushed", 1, "kept"),
            "prefilter",
            "m and n differ, and the result has an extra row.",
        ),
        (
            run("as written", 2, "kept"),
            run("as pushed", 1, "kept"),
            "prefilter",
            "m and n differ in the result.",
        ),
        (
            run("as written", 2, "filtered out"),
            run("as pushed", 2, "kept"),
            "residual-accepts",
            "The filter rejects this output of the function; the residual keeps it.",
        ),
        (
            run("as written", 2, "kept"),
            run("as pushed", 2, "filtered out"),
            "residual-rejects",
            "The filter keeps this output of the function; the residual rejects it.",
        ),
    ],
)
def test_what_goes_wrong_is_said(
    written: TableRun, pushed: TableRun, blame: Blame, told: str
) -> None:
    text = refuted(written, pushed, blame)
    assert told in text
    assert "presieve finds no pre-filter for this filter" in text


def test_rows_too_wide_for_a_table_are_told_line_by_line() -> None:
    wide: list[dict[str, object]] = [{f"column_{i}": i for i in range(20)}]
    found = Counterexample(wide, [], [], [False], WRITTEN, PUSHED, "prefilter")
    lines = str(Verdict("refuted", counterexample=found)).splitlines()
    (told,) = [x for x in lines if "column_19" in x]
    assert told.startswith("    drops (column_0 0, column_1 1,")


@pytest.mark.parametrize("verdict", [REFUTED, UNKNOWN, Verdict("proved")])
def test_page_and_fragment_are_well_formed(verdict: Verdict, tmp_path: Path) -> None:
    verdict.save(tmp_path / "v.html")
    whole = outline((tmp_path / "v.html").read_text(encoding="utf-8"))
    part = outline(verdict._repr_html_())
    assert {"html", "body", "main"} <= whole.tags
    assert not {"html", "body", "b>"} & part.tags - {"b"}
    for parsed in (whole, part):
        assert "script" not in parsed.tags


def test_the_page_marks_what_differs_and_what_is_dropped() -> None:
    page = REFUTED._repr_html_()
    assert "<mark>NULL</mark>" in page
    assert "<mark>the filter rejects it</mark>" in page
    assert '<tr class="dropped">' in page
    shown = " ".join(outline(page).text)
    for text in ("'<b>'", CLAIM.where, REPAIR.prefilter, REPAIR.residual, NO_NAN["text"]):
        assert text in shown


def test_json_has_only_plain_types(tmp_path: Path) -> None:
    plain = REFUTED.to_json()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["counterexample"]["kept"] == [True, False]
    assert plain["counterexample"]["differs"] == ["second"]
    assert plain["counterexample"]["blame"] == "prefilter"
    assert plain["repair"]["prefilter"] == "score >= 90.0D"
    assert plain["claim"]["line"] == 12
    REFUTED.save(tmp_path / "v.json")
    assert json.loads((tmp_path / "v.json").read_text()) == plain
    with pytest.raises(UsageError, match=r"saved as \.html or \.json"):
        REFUTED.save(tmp_path / "v.pdf")
