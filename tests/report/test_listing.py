"""The user's source in a report: numbers, and places that are in the way."""

from __future__ import annotations

import html
import inspect
import re
from pathlib import Path

import pytest
from tests.report.examples import NONE, SPLIT
from tests.report.pages import outline

from presieve.errors import Declined, Span
from presieve.records import replace
from presieve.report import html as pages
from presieve.report.report import Report
from presieve.report.report_data import ReportData
from presieve.report.report_text import render_boundary
from presieve.report.source import highlight, listing

TEXT = '''\
import random

def around(x):
    return x


@decorated("a",
           "b")
def bad(pdf):
    """Text over
    two lines, with <tags> & more."""
    if pdf:
    \tname = "Zoë"; total = random.random()
    return name
'''


def top_two(scores: list[float]) -> tuple[float, float]:
    first = second = 0.0
    for score in scores:
        if score > first:
            first, second = score, first
    return first, second


class Highest:
    def zero(self) -> float:
        return 0.0

    def reduce(self, best: float, row: tuple[float]) -> float:
        return max(best, row[0])


def listed() -> listing.Listing:
    code = top_two.__code__
    span = Span(code.co_filename, code.co_firstlineno, 1)
    found = listing.of_function(span, inspect.getsource(top_two))
    assert found is not None
    return found


@pytest.fixture
def bad(tmp_path: Path) -> Span:
    file = tmp_path / "jobs.py"
    file.write_text(TEXT, encoding="utf-8")
    line = TEXT.splitlines()[12]
    return Span(str(file), 13, line.index("random.random") + 1)


def test_a_function_has_the_numbers_of_its_file() -> None:
    found = listed()
    lines, first = inspect.getsourcelines(top_two)
    assert found.lines[0].number == first
    assert found.text == "".join(lines).rstrip("\n")


def test_text_shows_what_is_in_the_way_alone(bad: Span) -> None:
    place = listing.of_place(Declined("impure-random", "it is random", bad))
    assert place is not None
    told = render_boundary(replace(SPLIT, listings=(listed(), place)))
    assert "top_two(scores" not in told
    assert "total = random.random()" in told


def test_a_class_is_shown_where_its_step_was_read() -> None:
    code = Highest.reduce.__code__
    span = Span(code.co_filename, code.co_firstlineno, 5)
    text = "\n".join(inspect.getsource(m) for m in (Highest.zero, Highest.reduce))
    found = listing.of_function(span, text)
    assert found is not None
    assert found.lines[0].text == "class Highest:"
    assert "return max(best, row[0])" in [x.text.strip() for x in found.lines]


def test_what_was_read_is_shown_where_the_file_has_changed_since(tmp_path: Path) -> None:
    file = tmp_path / "f.py"
    file.write_text("def f(x):\n    return x + 2\n")
    found = listing.of_function(Span(str(file), 1), "def f(x):\n    return x + 1\n")
    assert found is not None
    assert [x.text for x in found.lines] == ["def f(x):", "    return x + 1"]
    gone = listing.of_function(Span("<stdin>", 5), "def f(x):\n    return x\n")
    assert gone is not None
    assert [x.number for x in gone.lines] == [5, 6]
    assert listing.of_function(Span("<stdin>", 5), "") is None


def test_a_place_in_the_way_is_marked_with_a_caret(bad: Span) -> None:
    found = listing.of_place(Declined("impure-random", "it is random", bad))
    assert found is not None
    assert found.lines[0].text == '@decorated("a",'
    shown = list(found.marked_lines())
    at = next(i for i, line in enumerate(shown) if line.startswith(">"))
    assert shown[at].index("random.random") == shown[at + 1].index("^")
    assert shown[at][: shown[at].index("random")].count("\t") == shown[at + 1].count("\t") == 1
    assert [line.strip() for line in shown] == [
        "...",
        '11      two lines, with <tags> & more."""',
        "12      if pdf:",
        '> 13      \tname = "Zoë"; total = random.random()',
        "^",
        "14      return name",
    ]


def test_a_place_outside_of_functions_or_files_is_no_reason_to_fail(bad: Span) -> None:
    top = listing.of_place(Declined("x", "why", Span(bad.file, 1)))
    assert top is not None
    assert [x.text for x in top.lines] == ["import random"]
    assert listing.of_place(Declined("x", "why", Span(bad.file, 999))) is None
    assert listing.of_place(Declined("x", "why", Span("/nowhere.py", 1))) is None
    assert listing.of_place(Declined("x", "why")) is None
    Path(bad.file).write_text("def f(:\n    pass\n")
    broken = listing.of_place(Declined("x", "why", Span(bad.file, 2)))
    assert broken is not None
    assert [x.text for x in broken.lines] == ["pass"]


def test_of_a_long_function_only_a_piece_is_shown(tmp_path: Path) -> None:
    file = tmp_path / "long.py"
    file.write_text("def f(x):\n" + "    x += 1\n" * 500)
    found = listing.of_place(Declined("x", "why", Span(str(file), 300, 5)))
    assert found is not None
    assert (found.lines[0].number, found.lines[-1].number) == (270, 330)
    assert [x.number for x in found.lines if x.note] == [300]


def test_the_page_shows_lines_and_reasons(bad: Span) -> None:
    why = Declined("impure-random", "random <is> random", bad)
    place = listing.of_place(why)
    assert place is not None
    data = ReportData(
        (replace(SPLIT, listings=(listed(),)), replace(NONE, listings=(place,))), True, 1
    )
    page = pages.page("t", [pages.Section(data)])
    shown = "".join(outline(page).text)
    for line in (*listed().lines, *place.lines):
        assert f"{line.number}{line.text}\n" in shown
    assert "^\nrandom <is> random" in shown
    rows = re.findall(r'class="row( stop)?"><span class="no">(\d+)', page)
    assert [int(n) for stop, n in rows if stop] == [13]


def test_json_has_the_lines() -> None:
    plain = Report(ReportData((replace(SPLIT, listings=(listed(),)),), True, 1)).to_json()
    (found,) = plain["boundaries"][0]["listings"]
    assert found["first"] == top_two.__code__.co_firstlineno
    assert found["text"].startswith("def top_two")


def test_colours_change_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def plain(lines: list[str]) -> list[str]:
        return [html.unescape(re.sub("<[^>]*>", "", line)) for line in lines]

    for text in (TEXT, "\n\n" + TEXT + "\n\n", "x = '<b>'", "", "def f(:"):
        assert plain(highlight.python_lines(text)) == text.split("\n")
    assert any('class="py-k"' in line for line in highlight.python_lines(TEXT))

    def missing(name: str) -> object:
        raise ImportError(name)

    monkeypatch.setattr(highlight, "import_module", missing)
    assert plain(highlight.python_lines(TEXT)) == TEXT.split("\n")
