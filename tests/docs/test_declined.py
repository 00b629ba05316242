"""Every decline code has a page that says what it means, shows it, and says what to change."""

from __future__ import annotations

import re

import pytest
from tests.docs.declined import CODE, GROUPS, INDEX, Page, blocks, codes, index, pages

PAGES = pages()

NOT_SHOWN: dict[str, str] = {
    "no-returns": "without a pipeline it is an error in the call; pipelines always declare them",
}
"""Pages whose example runs without the code coming out of it, and why."""

each = pytest.mark.parametrize("page", PAGES, ids=lambda p: p.code)


def test_every_page_has_a_code() -> None:
    assert {page.code for page in PAGES} <= set(codes())
    assert {code for group in GROUPS.values() for code in group} <= set(codes())


@each
def test_a_page_has_its_three_parts(page: Page) -> None:
    assert page.path.stem == page.code
    assert CODE.fullmatch(page.code)
    assert page.headings[:1] == ["Example"]
    assert "What to change" in page.headings
    what = page.text.partition("\n")[2].partition("\n## ")[0]
    assert len(what.split()) >= 15, "says too little of what it means"
    assert page.part("What to change").strip()


@each
def test_the_example_shows_the_code(page: Page) -> None:
    shown = "\n".join(blocks(page.part("Example")))
    assert "assert" in shown
    assert (f'"{page.code}"' not in shown) == (page.code in NOT_SHOWN)


@each
def test_links_lead_somewhere(page: Page) -> None:
    for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.text):
        assert (page.path.parent / link).exists(), link


def test_the_index_lists_the_pages() -> None:
    """``python -m tests.docs.declined`` writes it."""
    assert INDEX.read_text(encoding="utf-8") == index()
