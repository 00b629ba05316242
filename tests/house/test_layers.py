"""The linter of layers accepts the tree as it is, and rejects what it is there to reject."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def lint(tree: Path) -> tuple[int, str]:
    """Exit code and output of import-linter over the package in ``tree``."""
    tool = "from importlinter.cli import lint_imports; import sys; sys.exit(lint_imports())"
    done = subprocess.run(
        [sys.executable, "-c", tool],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree / "src")},
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for folder in ("src", "benchmarks"):
        without = shutil.ignore_patterns("__pycache__", "*.pyc", "*.svg", "*.jsonl")
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=without)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_the_tree_keeps_its_layers(tree: Path) -> None:
    code, out = lint(tree)
    assert code == 0, out
    assert " 0 broken" in out


@pytest.mark.costly
@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        ("ir/terms.py", "import presieve.driver.solve", "Layers, high to low"),
        (
            "certificate/__init__.py",
            "import presieve.synthesis",
            "The checker shares nothing with the search",
        ),
        (
            "certificate/__init__.py",
            "import presieve.universe",
            "The checker shares nothing with the search",
        ),
        (
            "backend/__init__.py",
            "import presieve.synthesis",
            "Plans and backends do not know the search",
        ),
        ("driver/__init__.py", "import z3", "z3 in one file"),
        ("smt/__init__.py", "import cvc5", "cvc5 in one file"),
        ("semantics/__init__.py", "import pyspark", "pyspark in backend, demo, bench and spark"),
        ("ir/fold.py", "import rich", "Terminal and page libraries stay at the edge"),
        ("cli/bench.py", "import benchmarks", "The package does not know its benchmarks"),
    ],
)
def test_a_planted_import_is_rejected(tree: Path, module: str, line: str, contract: str) -> None:
    path = tree / "src" / "presieve" / module
    path.write_text(path.read_text() + f"\n{line}\n")
    code, out = lint(tree)
    assert code == 1, out
    assert f"{contract} BROKEN" in out


def test_a_package_outside_the_layers_is_rejected(tree: Path) -> None:
    package = tree / "src" / "presieve" / "stray"
    package.mkdir()
    (package / "__init__.py").write_text("")
    code, out = lint(tree)
    assert code == 1
    assert "Layers, high to low" in out
