"""Each record of a decision has a context, a decision and consequences, and is listed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "adr"
RECORDS = sorted(FOLDER.glob("0*.md"))


@pytest.mark.parametrize("path", RECORDS, ids=lambda p: p.stem)
def test_a_record_has_its_three_parts(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    parts = re.findall(r"^\*\*(Context|Decision|Consequences)\.\*\*", text, re.M)
    assert parts == ["Context", "Decision", "Consequences"]


def test_the_list_has_all_titles() -> None:
    titles = [re.match(r"# (\d+)\. (.+)", p.read_text(encoding="utf-8")) for p in RECORDS]
    lines = [f"{t[1]}. [{t[2]}]({p.name})" for t, p in zip(titles, RECORDS, strict=True) if t]
    listed = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^\d+\. \[.+\]\(.+\)$", listed, re.M) == lines
