"""The example of each declined code gives that code, and what its page advises gains something."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.docs.declined import PAGES
from tests.support.advice import Answers
from tests.support.pages import Page, as_readers_have_it, page, run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


FOUND = [page(p) for p in sorted(PAGES.glob("*.md")) if p.stem != "README"]
RUN = [p for p in FOUND if p.python]


@pytest.mark.classic("paths below the working folder are those of this process")
@pytest.mark.parametrize("found", [pytest.param(p, id=p.path.stem) for p in RUN])
def test_the_example_is_declined_and_the_advice_gains(
    found: Page, tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, advice = found.path.stem, found.headings["What to change"]
    end = min((n for n in found.headings.values() if n > advice), default=sys.maxsize)
    answers = Answers(spark, tmp_path, advice)
    with as_readers_have_it(spark, tmp_path), answers.listening(monkeypatch):
        run(found, tmp_path, spark=spark)
    before = [a for a in answers.noted if a.line < advice]
    declined = any(code in a.codes for a in before)
    assert declined or any(code in a.in_python for a in before), before
    blocks = [b for b in found.python if advice < b.line < end]
    assert blocks
    for block in blocks:
        lines = range(block.line, block.line + block.text.count("\n") + 1)
        last = [a for a in answers.noted if a.line in lines][-1]
        assert code not in (last.codes if declined else last.in_python), last
        assert last.gains, last
