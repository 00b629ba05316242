"""docs/architecture.md: short, and its table of packages is the contract of the imports."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PACKAGE = ROOT / "src" / "presieve"
WORDS = 1500


def layers() -> list[frozenset[str]]:
    """The packages of each layer, the lowest first."""
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = pyproject["tool"]["importlinter"]["contracts"]
    (contract,) = (c for c in contracts if c["id"] == "layers")
    named = (frozenset(re.findall(r"\w+", layer)) for layer in contract["layers"])
    return list(named)[::-1]


def packages() -> list[str]:
    """The packages that the page lists, in its order."""
    (section,) = re.findall(r"## Packages.*?\n\n(.*?)\n\n", PAGE, re.DOTALL)
    return re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)


def test_a_newcomer_reads_it_in_ten_minutes() -> None:
    assert len(PAGE.split()) <= WORDS


def test_the_packages_are_listed_from_low_to_high() -> None:
    rank = {name: i for i, layer in enumerate(layers()) for name in layer}
    listed = packages()
    assert sorted(listed) == sorted(set(rank) - {"__main__", "submit"})
    assert [rank[name] for name in listed] == sorted(rank[name] for name in listed)


def paths() -> list[str]:
    """The files and folders of the package that the page names."""
    named = re.findall(r"`((?:\w+/)*\w+(?:\.py)?)`", PAGE)
    return sorted({name for name in named if "/" in name})


@pytest.mark.parametrize("path", paths())
def test_what_the_page_names_is_there(path: str) -> None:
    places = (PACKAGE, PACKAGE / "driver" / "stages", ROOT)
    assert any((place / path).exists() for place in places)


def test_the_passes_are_those_of_the_pipeline_in_their_order() -> None:
    from presieve.driver.stages.pipeline import PASSES

    (section,) = re.findall(r"\| pass \|.*?\n\|---.*?\n(.*?)\n\n", PAGE, re.DOTALL)
    listed = re.findall(r"^\| ([^|]+) \|", section, re.MULTILINE)
    assert listed == [p.name for p in PASSES]
