"""Pages of what is declined in Python code: each code has one, and its place is told exactly."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.pages import ROOT, Page, page, run

from presieve.lift.codes import CODES
from presieve.records import replace

FOLDER = ROOT / "docs" / "declined"

HERE = "  # declined here"
"""The end of the line that a page says is told."""

PAGES = [page(p) for p in sorted(FOLDER.glob("*.md")) if p.stem in CODES]
FIRST = [replace(p, blocks=tuple(p.python[:1])) for p in PAGES]
EXAMPLES = [p for p in FIRST if p.blocks and not p.needs_spark]


def _code(found: Page) -> str:
    return Path(found.name).stem


ELSEWHERE = {"native-aggregate"}
"""Codes of the lifter that are not about Python."""


def test_every_code_of_python_has_a_page() -> None:
    assert {_code(p) for p in PAGES} >= set(CODES) - ELSEWHERE


def test_most_pages_show_the_place() -> None:
    assert sum(HERE in p.blocks[0].text for p in EXAMPLES) >= 35


@pytest.mark.parametrize("found", EXAMPLES, ids=_code)
def test_the_line_of_the_example_is_told(
    found: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # some pages write files
    block = found.blocks[0]
    marked = [n for n, x in enumerate(block.text.splitlines(), block.line) if x.endswith(HERE)]
    names = run(found, tmp_path)
    if marked:
        (why,) = names["found"].declined
        assert why["code"] == _code(found)
        assert [why["line"]] == marked, why
        assert why["column"] >= 1
