"""CONTRIBUTING.md names files that are there, and the limits that tests enforce."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PLACES = (ROOT, ROOT / "src" / "presieve", ROOT / "tests", ROOT / "proofs")


def paths() -> list[str]:
    """The files and folders that the page names, without placeholders in capitals."""
    named = re.findall(r"`((?:[\w.]+/)+[\w.]*)`", TEXT)
    return sorted({name for name in named if not re.search(r"\b[A-Z]+\b", name.split(".")[0])})


@pytest.mark.parametrize("path", paths())
def test_named_files_are_there(path: str) -> None:
    assert any((place / path).exists() for place in PLACES)


def test_files_named_alone_are_there() -> None:
    """``expressions.py`` stands beside a file that is named with its folder."""
    names = set(re.findall(r"`(\w+\.(?:py|v))`", TEXT))
    folders = [p for top in ("src", "tests", "proofs") for p in (ROOT / top).rglob("*")]
    assert names <= {p.name for p in folders}


def test_limits_are_those_of_the_tests() -> None:
    modules = (ROOT / "tests" / "house" / "test_modules.py").read_text(encoding="utf-8")
    (limits,) = re.findall(r"functions of at most (\d+) lines; files under (\d+)", TEXT)
    assert limits == (
        re.findall(r"LONG = (\d+)", modules)[0],
        re.findall(r"LINES = (\d+)", modules)[0],
    )
