"""Each source file that is shipped, or that builds what is shipped, names its licence.

LICENSE names no holder of the copyright, so there is no line on copyright. Tests, benchmarks and
examples are covered by LICENSE alone: records of some of them have numbers of lines.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LINE = f"SPDX-License-Identifier: {PROJECT['license']}"
NAMED = {
    ".py": f"# {LINE}",
    ".sh": f"# {LINE}",
    ".html": f"{{# {LINE} -#}}",  # of Jinja, which leaves it out of pages
    ".css": f"{{# {LINE} -#}}",
}
WITHOUT_TEXT = {".typed"}
"""Marks without content."""
FILES = [
    p
    for folder in ("src", "scripts")
    for p in sorted((ROOT / folder).rglob("*"))
    if p.is_file() and "__pycache__" not in p.parts
] + [ROOT / "hatch_build.py"]


def test_there_are_files() -> None:
    assert len(FILES) > 500
    assert {p.suffix for p in FILES} == NAMED.keys() | WITHOUT_TEXT


@pytest.mark.parametrize("suffix", NAMED)
def test_each_file_names_its_licence_on_top(suffix: str) -> None:
    unnamed = []
    for path in FILES:
        lines = path.read_text(encoding="utf-8").splitlines()[:2]
        top = lines[1:] if lines and lines[0].startswith("#!") else lines[:1]
        if path.suffix == suffix and top != [NAMED[suffix]]:
            unnamed.append(path.relative_to(ROOT).as_posix())
    assert unnamed == []


def test_the_licence_names_no_holder() -> None:
    """If it does one day, the files should, too."""
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert text.count("Copyright [yyyy] [name of copyright owner]") == 1
