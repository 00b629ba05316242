"""Links between pages lead to a file and to a heading of it, as a code host shows them."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt
from tests.support.pages import ROOT

FOLDERS = ("docs", "examples", "proofs", "benchmarks/results", ".github")
PAGES = [*ROOT.glob("*.md"), *(p for f in FOLDERS for p in sorted((ROOT / f).rglob("*.md")))]


@cache
def anchors_of(path: Path) -> frozenset[str]:
    """The anchors of a page's headings, with a number where a heading is there twice."""
    tokens = MarkdownIt("commonmark").parse(path.read_text(encoding="utf-8"))
    headings = [text for start, text in pairwise(tokens) if start.type == "heading_open"]
    anchors: list[str] = []
    count: Counter[str] = Counter()
    for heading in headings:
        words = "".join(t.content for t in heading.children or ())
        anchor = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
        anchors.append(f"{anchor}-{count[anchor]}" if count[anchor] else anchor)
        count[anchor] += 1
    return frozenset(anchors)


def links(path: Path) -> list[str]:
    """The addresses of links and pictures, without those of other sites."""
    tokens = MarkdownIt("commonmark").enable("table").parse(path.read_text(encoding="utf-8"))
    inline = [t for token in tokens for t in token.children or ()]
    addresses = [str(t.attrs.get("href") or t.attrs.get("src") or "") for t in inline]
    return [a for a in addresses if a and not re.match(r"\w+:", a)]


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(path: Path) -> None:
    missing = []
    for link in links(path):
        name, _, anchor = unquote(link).partition("#")
        target = (path.parent / name).resolve() if name else path
        if not target.exists() or (anchor and anchor not in anchors_of(target)):
            missing.append(link)
    assert not missing


def test_wrong_links_are_seen(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# One\n\n## Two `a` words\n\n## One\n\n[x](no.md), ![y](page.md#one-1)\n")
    assert anchors_of(page) == {"one", "two-a-words", "one-1"}
    assert links(page) == ["no.md", "page.md#one-1"]
