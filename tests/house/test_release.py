"""What files at the root say of the release is what ``pyproject.toml`` says."""

from __future__ import annotations

import re
import runpy
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.mark.parametrize(
    ("file", "said", "expected"),
    [
        ("CHANGELOG.md", r"^## ([\d.]+)", PROJECT["version"]),
        ("CITATION.cff", r"^version: (.+)$", PROJECT["version"]),
        ("CITATION.cff", r"^license: (.+)$", PROJECT["license"]),
        ("README.md", r"^Python .* · ([\d.]+),", PROJECT["version"]),
        ("README.md", r"^Python .* · (\S+) · [\d.]+,", PROJECT["license"]),
        ("README.md", r"^Python ([\d.]+) or later", PROJECT["requires-python"].removeprefix(">=")),
    ],
)
def test_the_release_is_the_same_everywhere(file: str, said: str, expected: str) -> None:
    found = re.search(said, (ROOT / file).read_text(encoding="utf-8"), re.M)
    assert found is not None
    assert found[1] == expected


def test_only_cvc5s_own_extra_asks_for_it() -> None:
    """It is large, and one command needs it; tests compare both solvers."""
    extras = PROJECT["optional-dependencies"]
    asking = {n for n, needs in extras.items() if any(x.startswith("cvc5") for x in needs)}
    assert asking == {"cvc5"}
    assert not any(x.startswith("cvc5") for x in PROJECT["dependencies"])
    assert any(x.startswith("presieve[") and "cvc5" in x for x in extras["test"])


TOLD = ("src", "docs", "scripts", "benchmarks", "examples")
"""Folders whose files tell people what to install."""


def test_nobody_is_told_to_install_presieve_by_its_name() -> None:
    """It is on no package index: whoever takes that name there would be installed."""
    files = [p for d in TOLD for p in (ROOT / d).rglob("*") if p.suffix in {".py", ".md", ".sh"}]
    by_name = re.compile(r"""pip3? install (?:-\S+ )*['"]?presieve(?![\w./-])""")
    assert by_name.search('pip install "presieve[spark]"')
    assert by_name.search("pip install presieve")
    assert not by_name.search("pip install presieve-0.1.0-py3-none-any.whl")
    texts = {p: p.read_text(encoding="utf-8") for p in [*files, *ROOT.glob("*.md")]}
    assert not [p.name for p, text in texts.items() if by_name.search(text)]


def test_packages_are_described_by_the_readme_without_links_to_files(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """``make wheel`` looks at what is built. Hatchling is there only when packages are built."""
    interface = ModuleType("hatchling.metadata.plugin.interface")
    interface.MetadataHookInterface = object  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, interface.__name__, interface)
    by_itself = runpy.run_path(str(ROOT / "hatch_build.py"))["by_itself"]
    text = by_itself((ROOT / "README.md").read_text(encoding="utf-8"))
    assert "](" not in text
    assert "<!--" not in text
    assert "    presieve run JOB.py" in text
    assert by_itself("[a](b.md#c) ![d](e.png)\n\n[f](https://example.org)").startswith(
        "a [f](https://example.org)"
    )


def test_the_readme_comes_to_the_point() -> None:
    """A reader sees a command after 120 words at most, those of the example counted."""
    before, found, _ = (ROOT / "README.md").read_text(encoding="utf-8").partition("    pip install")
    assert found
    assert len(before.split()) <= 120
