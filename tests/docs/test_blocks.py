"""The Python blocks of the documentation run, and print what the pages show."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.pages import Page, PageFails, as_readers_have_it, page, pages, run

import presieve
from presieve.driver.options import Options

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOT_RUN = 1
"""How many blocks may say that they are not run."""


def named(found: list[Page]) -> list[object]:
    """Parameters, with names of pages."""
    return [pytest.param(p, id=p.name) for p in found]


ELSEWHERE = "docs/declined/"
"""Pages that ``test_declined_advice.py`` runs."""

WITH_CODE = [p for p in pages() if p.python and not p.name.startswith(ELSEWHERE)]
WITHOUT_SPARK = [p for p in WITH_CODE if not p.needs_spark]
ON_SPARK = [p for p in WITH_CODE if p.needs_spark]


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """These count their budget on the clock: a busy machine must not make a page wrong."""
    initialize: Any = Options.__init__
    _, *others = initialize.__defaults__
    monkeypatch.setattr(initialize, "__defaults__", (120.0, *others))
    optimize: Any = inspect.unwrap(presieve.optimize)
    monkeypatch.setitem(optimize.__kwdefaults__, "budget", 120.0)


@pytest.mark.costly
@pytest.mark.parametrize("found", named(WITHOUT_SPARK))
def test_page(found: Page, tmp_path: Path) -> None:
    run(found, tmp_path)


@pytest.mark.classic("paths below the working folder are those of this process")
@pytest.mark.parametrize("found", named(ON_SPARK))
def test_page_on_spark(found: Page, tmp_path: Path, spark: SparkSession) -> None:
    with as_readers_have_it(spark, tmp_path):
        run(found, tmp_path, spark=spark)


def test_few_blocks_are_not_run() -> None:
    reasons = [b.note for p in pages() for b in p.blocks if b.role == "not run"]
    assert len(reasons) == NOT_RUN, reasons


def test_blocks_have_a_language() -> None:
    """So that no block escapes by its name."""
    known = {"python", "text", "sql", "sh", "console", "json", "toml", "yaml"}
    known |= {"{eval-rst}", "{commands}", ""}
    others = {b.language for p in pages() for b in p.blocks} - known
    assert not others


# ---------------------------------------------------------------- the runner itself


def written(folder: Path, text: str) -> Page:
    path = folder / "sample.md"
    path.write_text(text)
    return page(path)


def test_functions_of_a_page_are_read_where_they_stand(tmp_path: Path) -> None:
    """Text that is no Python stands between them; one redefines the other."""
    text = (
        "# It isn't Python\n\n```python\nimport presieve\n\ndef best(x):\n    return x > 1\n```\n"
        "\nDon't.\n\n1. In a list:\n\n   ```python\n   def best(x):\n       return x > 2\n\n\n"
        '   found = presieve.synthesize(best, "best", schema="x bigint", mode="row",\n'
        '                               returns="best boolean")\n   ```\n'
    )
    names = run(written(tmp_path, text), tmp_path)
    assert "2" in names["found"].prefilter
    assert names["best"].__code__.co_firstlineno == 15


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ("x = 1\nassert x == 2", r"sample\.md:5: assert x == 2\nAssertionError"),
        ("x = 1\nx = = 2", r"sample\.md:5: x = = 2\nSyntaxError"),
        ("def f():\n    raise ValueError('no')\nf()", r"sample\.md:5: raise .*\nValueError: no"),
        ("raise SystemExit(0)", r"sample\.md:4: .*\nSystemExit"),
    ],
)
def test_failures_name_page_and_line(tmp_path: Path, block: str, message: str) -> None:
    with pytest.raises(PageFails, match=message):
        run(written(tmp_path, f"# Page\n\n```python\n{block}\n```\n"), tmp_path)


def test_output_is_compared(tmp_path: Path) -> None:
    text = "```python\nprint('seconds 1.25')\n```\n\n<!-- output -->\n```text\nseconds {}\n```\n"
    run(written(tmp_path, text.format("...")), tmp_path)
    with pytest.raises(PageFails, match=re.escape("sample.md:7: the page shows other output")):
        run(written(tmp_path, text.format("1.3")), tmp_path)


def test_blocks_that_are_not_run_say_why(tmp_path: Path) -> None:
    text = "<!-- not run: needs a cluster -->\n```python\nraise ValueError\n```\n"
    found = written(tmp_path, text)
    run(found, tmp_path)
    assert [b.note for b in found.blocks] == ["needs a cluster"]
