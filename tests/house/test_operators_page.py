"""The page of operators names tests that are there and run in the sessions that it says."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
ROWS = [r for r in (ROOT / "docs/operators.md").read_text().splitlines() if "::" in r]
NAME = re.compile(r"`(test_\w+\.py)::(test_\w+)`")
NAMED = sorted(set(NAME.findall("\n".join(ROWS))))


def parsed(file: str) -> ast.Module:
    """The file of that name, which there is once."""
    (path,) = (ROOT / "tests/backend").rglob(file)
    return ast.parse(path.read_text())


def functions(file: str) -> dict[str, ast.FunctionDef]:
    return {node.name: node for node in parsed(file).body if isinstance(node, ast.FunctionDef)}


def is_classic(file: str, name: str) -> bool:
    """Whether the test, or its module, is marked so."""
    assigned = [n for n in parsed(file).body if isinstance(n, ast.Assign)]
    marks = {ast.unparse(n.targets[0]): ast.unparse(n.value) for n in assigned}
    own = [ast.unparse(d) for d in functions(file)[name].decorator_list]
    of_test = [marks.get(text, text) for text in own]
    return any("classic" in text.lower() for text in (marks.get("pytestmark", ""), *of_test))


@pytest.mark.parametrize(("file", "name"), NAMED)
def test_named_tests_are_there(file: str, name: str) -> None:
    assert name in functions(file)


@pytest.mark.parametrize("row", ROWS)
def test_tests_run_where_the_page_says_so(row: str) -> None:
    _, _, classic, connect, works, declined, _ = (c.strip() for c in row.split("|"))
    if (classic, connect) == ("works", "works"):
        shown = NAME.findall(works)
        assert shown
        assert not any(is_classic(*one) for one in shown)
    if connect.startswith("declined"):
        shown = NAME.findall(declined)
        assert shown
        assert not any(is_classic(*one) for one in shown)
