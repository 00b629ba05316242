# SPDX-License-Identifier: Apache-2.0
"""Pictures of pages for the documentation: reports of real runs, and a verdict.

    python scripts/screenshots.py [--rows N] [--out docs/images]

Reports a pipeline of the demo on N rows, with both runs measured, and one whose function is
refused; verifies a pushdown that is wrong; and photographs the saved pages with Chromium, which has
to be installed. Nothing else is shown than what a user gets, but for the folder of this checkout.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd
from playwright.sync_api import FloatRect, Page, sync_playwright

import presieve
from presieve.demo.data import generate
from presieve.demo.demo_session import session
from presieve.demo.pipelines import PIPELINES

ROOT = Path(__file__).resolve().parents[1]
MOST = 300_000
"""Bytes of a picture: they lie in the repository."""

SHOTS = {
    "report-1280": ("report", 1280, None, "figure.picture"),
    "report-390": ("report", 390, None, "figure.picture"),
    "boundary-1280": ("report", 1280, ".card", ".card"),
    "refused-1280": ("refused", 1280, None, ".card"),
    "verdict-1280": ("verdict", 1280, None, ".card"),
}
"""The page, its width in pixels, and the elements with which the picture begins and ends."""
_AROUND = 16


def overdue(pdf: pd.DataFrame) -> pd.DataFrame:
    """A function that is refused: what it returns depends on when it is called."""
    late = 0
    for row in pdf.itertuples(index=False):
        if row.score < time.time():
            late += 1
    return pd.DataFrame({"team": [pdf["team"].iloc[0]], "late": [late]})


def reports(folder: Path, rows: int) -> None:
    """Save the two reports."""
    top_two = PIPELINES[0]
    with session() as spark:
        table = spark.read.parquet(str(generate(folder, rows)[top_two.table]))
        presieve.explain(top_two.build(table))  # the first one starts solvers, and checks the data
        report = presieve.explain(top_two.build(table))
        report.measure()  # the first run starts Python's workers
        report.measure()
        report.save(folder / "report.html")
        counted = table.groupBy("team").applyInPandas(overdue, "team string, late bigint")
        presieve.explain(counted.where("late > 5")).save(folder / "refused.html")


def verdict(folder: Path) -> None:
    """Save a verdict: with a bound that is too high, teams are lost."""
    top_two = PIPELINES[0]
    presieve.verify(
        top_two.function,
        top_two.where,
        schema=top_two.schema,
        returns=top_two.returns,
        keys=top_two.key,
        prefilter="score >= 92",
    ).save(folder / "verdict.html")


def photograph(folder: Path, out: Path) -> None:
    """Take every picture. Exits where one is too large."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        sys.exit("screenshots need chromium or google-chrome on PATH")
    out.mkdir(parents=True, exist_ok=True)
    for saved in folder.glob("*.html"):
        saved.write_text(saved.read_text("utf-8").replace(f"{ROOT}/", ""), "utf-8")
    with sync_playwright() as play:
        running = play.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        for name, (saved_as, width, first, last) in SHOTS.items():
            page = running.new_page(viewport={"width": width, "height": 400})
            page.goto((folder / f"{saved_as}.html").as_uri())
            file = out / f"{name}.png"
            area = _area(page, width, first, last)
            page.screenshot(path=file, full_page=True, clip=area)
            page.close()
            print(f"{file}: {file.stat().st_size:,} bytes")
            if file.stat().st_size > MOST:
                sys.exit(f"{file} has more than {MOST:,} bytes")
        running.close()


def _area(page: Page, width: int, first: str | None, last: str) -> FloatRect:
    """From the top of the page, or of an element, to the end of another."""
    end = page.locator(last).first.bounding_box()
    start = page.locator(first).first.bounding_box() if first else None
    assert end is not None
    top = start["y"] - _AROUND if start else 0
    return {"x": 0, "y": top, "width": width, "height": end["y"] + end["height"] + _AROUND - top}


def main() -> None:
    """Make the pages, then the pictures of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "images")
    parser.add_argument("--pages", type=Path, help="where the pages lie already")
    asked = parser.parse_args()
    if asked.pages:
        photograph(asked.pages, asked.out)
        return
    with tempfile.TemporaryDirectory() as folder:
        verdict(Path(folder))
        reports(Path(folder), asked.rows)
        photograph(Path(folder), asked.out)


if __name__ == "__main__":
    main()
