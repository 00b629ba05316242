"""Saved pages in a browser, at the widths of a desk and a phone, in light and dark."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.report.plans import DECLINED, EXACT, LONG, REPLACED, SIMPLE, wordy
from tests.support.browser import running_browser

from presieve.backend.statistics.metrics import Measurement
from presieve.records import replace
from presieve.report import html
from presieve.report.report_data import Measured

WIDTHS = (1280, 390)

OUTSIDE = """() => {
  const wrong = [];
  for (const op of document.querySelectorAll(".tree .op")) {
    const b = op.getBoundingClientRect();
    for (const part of op.querySelectorAll("b, .tag, .part")) {
      const t = part.getBoundingClientRect();
      if (t.left < b.left || t.right > b.right || t.top < b.top || t.bottom > b.bottom)
        wrong.push(`box: ${part.textContent}`);
    }
  }
  for (const tree of document.querySelectorAll(".tree")) {
    const items = [...tree.querySelectorAll(".op, .label")].map(x => x.getBoundingClientRect());
    for (const [i, a] of items.entries())
      for (const b of items.slice(i + 1))
        if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
          wrong.push(`overlap at ${a.top}`);
  }
  return wrong;
}"""

OPENED = """() => [...document.querySelectorAll("details")].map(d => {
  const before = d.open;
  d.querySelector("summary").click();
  return !before && d.open && d.lastElementChild.getBoundingClientRect().height > 0;
})"""
HEADINGS = "() => [...document.querySelectorAll('h1,h2,h3,h4')].map(h => Number(h.tagName[1]))"
UNREACHED = """() => [...document.querySelectorAll("pre")].filter(
  p => p.scrollWidth > p.clientWidth + 1 || p.scrollHeight > p.clientHeight + 1
).filter(p => p.tabIndex < 0).map(p => p.textContent)"""
SMALL = """() => [...document.querySelectorAll("main *")].filter(
  e => e.childElementCount === 0 && e.textContent.trim()
).filter(e => parseFloat(getComputedStyle(e).fontSize) < 12).map(e => e.textContent)"""
SIDEWAYS = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One for all tests."""
    with running_browser() as running:
        yield running


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with a picture of every kind, as the job's page has several."""
    ran = replace(
        SIMPLE, measured=Measured(Measurement(4.0, 3, 200_000), Measurement(1.0, 3, 50_000))
    )
    cases = {"ran": ran, "exact": EXACT, "declined": DECLINED, "long": LONG, "wordy": wordy()}
    cases["replaced"] = REPLACED
    sections = [html.Section(ran), *(html.Section(d, title=name) for name, d in cases.items())]
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(html.page("presieve report", sections), encoding="utf-8")
    return path


@pytest.mark.costly
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_a_page_in_a_browser(browser: Any, saved: Path, width: int, scheme: str) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(saved.as_uri())
    try:
        assert page.evaluate(OUTSIDE) == []
        assert page.evaluate(SIDEWAYS) == 0
        opened = page.evaluate(OPENED)
        assert len(opened) > 10
        assert all(opened)
        assert page.evaluate(SIDEWAYS) == 0
        assert page.evaluate(UNREACHED) == []
        assert page.evaluate(SMALL) == []
        levels = page.evaluate(HEADINGS)
        assert levels[0] == 1
        assert all(b - a <= 1 for a, b in pairwise(levels))
        paper = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, paper[4:-1].split(","))) > 3 * 128) is (scheme == "light")
        assert said == []
        assert asked == [saved.as_uri()]
    finally:
        page.close()


def test_pictures_stand_beside_each_other_where_there_is_room(browser: Any, saved: Path) -> None:
    tops = {}
    for width in WIDTHS:
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.goto(saved.as_uri())
        first, second = page.query_selector_all(".tree")[:2]
        one, other = first.bounding_box(), second.bounding_box()
        page.close()
        tops[width] = other["y"] - one["y"], other["x"] - one["x"]
        assert one["width"] == other["width"]
    assert tops[1280][0] == 0
    assert tops[1280][1] > 400
    assert tops[390][0] > 300
    assert tops[390][1] == 0


def test_three_plans_stand_beside_each_other_where_there_is_room(browser: Any, saved: Path) -> None:
    tops = {}
    for width in WIDTHS:
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.goto(saved.as_uri())
        trees = [tree.bounding_box() for tree in page.query_selector_all(".three .tree")]
        page.close()
        assert len(trees) == 3
        assert len({tree["width"] for tree in trees}) == 1
        tops[width] = len({tree["y"] for tree in trees})
    assert tops == {1280: 1, 390: 3}
