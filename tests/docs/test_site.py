"""The site is built without a warning, and asks nobody else for anything."""

from __future__ import annotations

import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from tests.support.browser import running_browser
from tests.support.pages import ROOT

pytestmark = pytest.mark.slow

LOADED = {
    ("audio", "src"),
    ("embed", "src"),
    ("iframe", "src"),
    ("img", "src"),
    ("img", "srcset"),
    ("link", "href"),
    ("object", "data"),
    ("script", "src"),
    ("source", "src"),
    ("source", "srcset"),
    ("video", "src"),
}


class Read(HTMLParser):
    """What a page loads, what it links to, and its anchors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if (tag, name) in LOADED and value:
                self.loads.append(value)
            if (tag, name) == ("a", "href") and value:
                self.links.append(value)
            if name == "id" and value:
                self.anchors.add(value)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-n", "-E", "-c", "docs"]
    command += ["-d", str(out / "doctrees"), ".", str(out / "html")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-5000:]
    return out / "html"


@pytest.fixture(scope="module")
def read(site: Path) -> dict[Path, Read]:
    return {p: Read(p.read_text(encoding="utf-8")) for p in site.rglob("*.html")}


def is_elsewhere(address: str) -> bool:
    return bool(urlsplit(address).netloc) or urlsplit(address).scheme not in {"", "data"}


def test_pages_load_nothing_from_elsewhere(read: dict[Path, Read]) -> None:
    assert len(read) > 40
    assert any(page.loads for page in read.values())
    assert not [(p.name, a) for p, page in read.items() for a in page.loads if is_elsewhere(a)]


def test_styles_load_nothing_from_elsewhere(site: Path) -> None:
    styles = list(site.rglob("*.css"))
    assert styles
    for style in styles:
        text = style.read_text(encoding="utf-8").replace(" ", "")
        for begin in ("url(http", "url('http", 'url("http', "url(//", "@importurl(//", "@import'h"):
            assert begin not in text, style


def test_links_within_the_site_lead_somewhere(read: dict[Path, Read]) -> None:
    missing = []
    for path, page in read.items():
        if path.name in {"genindex.html", "search.html"}:
            continue
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchors = read[target].anchors if target in read else set()
            if not target.exists() or (
                parts.fragment and target in read and unquote(parts.fragment) not in anchors
            ):
                missing.append((path.name, link))
    assert not missing


def test_every_page_is_in_the_contents(site: Path, read: dict[Path, Read]) -> None:
    """The side bar of the start page leads to every page."""
    start = site / "docs/index.html"
    paths = [unquote(urlsplit(link).path) for link in read[start].links]
    reached = {(start.parent / p).resolve() for p in paths} | {start, site / "index.html"}
    made_by_sphinx = {site / f"{n}.html" for n in ("genindex", "search", "py-modindex")}
    assert not set(read) - reached - made_by_sphinx


def test_search_finds_how_to_pages_before_decisions(site: Path) -> None:
    with running_browser() as browser:
        for word in ("cache", "policy"):
            page = browser.new_page()
            page.goto(f"{(site / 'search.html').as_uri()}?q={word}")
            page.wait_for_selector("#search-results li a[href*='/adr/']", state="attached")
            links = page.query_selector_all("#search-results li > a")
            pages = [link.get_attribute("href") for link in links]
            how = next(i for i, name in enumerate(pages) if "/howto/" in name)
            why = next(i for i, name in enumerate(pages) if "/adr/" in name)
            assert how < why, pages
