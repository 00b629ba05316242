"""The search of a boundary told in a report: only where somebody asks for it."""

from __future__ import annotations

import pytest
from tests.report.examples import MIXED, NONE, SPLIT
from tests.report.pages import outline

from presieve.errors import UsageError
from presieve.report.report import Report
from presieve.report.report_data import ReportData
from presieve.report.trace import Step, Trace


class Search:
    """Counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self) -> Trace:
        self.asked += 1
        return Trace((Step("1", "search", "top_two, <by> group", ("filter first >= 90",)),))


def report(search: Search) -> Report:
    return Report(ReportData((NONE, SPLIT), True, 0.2, searches=(None, search)))


def test_nothing_is_searched_unless_somebody_asks() -> None:
    search = Search()
    found = report(search)
    for shown in (str(found), found._repr_html_(), str(found.to_json())):
        assert "top_two, <by> group" not in shown
    assert "trace" not in found.to_json()["boundaries"][1]
    assert search.asked == 0


def test_a_trace_is_shown_everywhere_once_it_was_asked_for() -> None:
    search = Search()
    found = report(search)
    trace = found.trace(1)
    assert str(trace).startswith("1 search  top_two, <by> group")
    assert found.trace(1) is trace
    assert search.asked == 1
    assert str(found).endswith(str(trace))
    assert "top_two, <by> group" in "".join(outline(found._repr_html_()).text)
    none, split = found.to_json()["boundaries"]
    assert split["trace"] == trace.to_json()
    assert "trace" not in none


@pytest.mark.parametrize(
    ("index", "why"), [(0, "was no search"), (2, "has 2 boundaries"), (-1, "counted from 0")]
)
def test_where_there_is_none(index: int, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        report(Search()).trace(index)


def test_a_report_that_was_not_made_by_a_search_has_none() -> None:
    with pytest.raises(UsageError, match="was no search"):
        Report(MIXED).trace()


def test_the_command_line_asks_for_all_of_them() -> None:
    from presieve.cli.explain import _with_traces

    search = Search()
    data = ReportData((NONE, SPLIT, SPLIT), True, 0.2, searches=(None, search, search))
    told = _with_traces(data)
    assert [b.trace is not None for b in told.boundaries] == [False, True, True]
    assert search.asked == 2
    assert _with_traces(told).boundaries == told.boundaries
    assert search.asked == 2
