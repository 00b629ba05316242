"""Every decline code has a page that says what it means, shows it, and says what to change."""

from __future__ import annotations

import re

import pytest
from tests.docs.declined import CODE, GROUPS, INDEX, Page, blocks, codes, index, pages

PAGES = pages()

CONNECT = "it is declined on Spark Connect only, and the pages run in a classic session"
BUG = "it stands for a bug, of which none is known"
FOREIGN = "it stands for a version or an extension of Spark that is not supported"
AGAIN = "it guards what the search does not do"

MESSAGE_ALONE = {
    "ambiguous-column": CONNECT,
    "catalyst": FOREIGN,
    "check": BUG,
    "internal": BUG,
    "no-path": "it is a verdict inside the plan algebra that reports leave out",
    "nondeterministic-udf": "`nondeterministic` is said of the plan first",
    "part-of-group": AGAIN,
    "read-back": FOREIGN,
    "residual-column": AGAIN,
    "spark-internals": FOREIGN,
    "sql-text": CONNECT,
    "view": CONNECT,
}
"""Pages that show the message alone, and why nothing can be run that ends in it. All others run
(``test_declined_advice.py``).
"""

each = pytest.mark.parametrize("page", PAGES, ids=lambda p: p.code)


def test_every_code_has_a_page_and_every_page_a_code() -> None:
    assert {page.code for page in PAGES} == set(codes())
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
def test_the_example_runs_or_shows_the_message(page: Page) -> None:
    example = page.part("Example")
    assert (page.code in MESSAGE_ALONE) == (not blocks(page.text))
    assert blocks(example) or f"```text\n[{page.code}] " in example


@each
def test_links_lead_somewhere(page: Page) -> None:
    for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.text):
        assert (page.path.parent / link).exists(), link


def test_the_index_lists_the_pages() -> None:
    """``python -m tests.docs.declined`` writes it."""
    assert INDEX.read_text(encoding="utf-8") == index()
