"""What ``print`` and a notebook show of a synthesis."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from tests.driver import folds

import presieve
from presieve.driver.synthesize import Synthesis


class Late:
    def zero(self) -> float:
        return 0.0

    def reduce(self, acc: float, row: dict[str, Any]) -> float:
        return acc + time.time()  # <here>


def found(fold: object = folds.Maximum, where: str = "m > 100 AND m < '<b>'") -> Synthesis:
    return presieve.synthesize(fold, where, schema="v bigint", returns="m bigint")


def test_what_was_found_is_text() -> None:
    text = str(found(where="m > 100"))
    lines = text.splitlines()
    assert lines[0].split()[:2] == ["kind", "exact."]
    assert "  pre-filter    v > 100" in lines
    assert "  residual      true" in lines
    assert "\n  strength      optimal: every row that it keeps matters in some table" in text
    assert "solver calls" in lines[-1]
    assert "Synthesis(" not in text
    assert repr(found(where="m > 100")).startswith("Synthesis(kind='exact'")


def test_what_is_declined_shows_its_line_and_column() -> None:
    text = str(found(Late))
    lines = text.splitlines()
    at = next(i for i, line in enumerate(lines) if "# <here>" in line)
    assert lines[at].lstrip().startswith("> ")
    assert lines[at + 1].index("^") == lines[at].index("time.time()")
    assert "pre-filter" not in text
    assert Path(__file__).name in text


def test_a_notebook_shows_the_same_and_other_peoples_text_is_escaped() -> None:
    page = found(Late)._repr_html_()
    assert "# &lt;here&gt;" in page
    assert "<here>" not in page
    assert "v &gt; 100" in found(where="m > 100")._repr_html_()
    assert "<script" not in page


def test_without_a_place_there_are_no_lines() -> None:
    made = found(where="m > 100")
    lost = Synthesis(
        "none", "true", "m > 1", "", "universe", None,
        declined=[{"code": "no-source", "reason": "none", "line": 3, "column": 1,
                   "file": "/nowhere/at/all.py"},
                  {"code": "sql", "reason": "no"}],
    )  # fmt: skip
    text = str(lost)
    assert "[no-source] none (/nowhere/at/all.py:3:1)" in text
    assert "[sql] no" in text
    assert "^" not in text
    assert str(made) != text
