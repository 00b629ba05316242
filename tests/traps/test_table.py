"""docs/traps.md and the tests name the same traps."""

from __future__ import annotations

import ast
import re
from pathlib import Path

HERE = Path(__file__).parent
PAGE = (HERE.parents[1] / "docs" / "traps.md").read_text()


def names(pattern: str) -> list[str]:
    return [
        node.name.removeprefix("test_")
        for path in sorted(HERE.glob(pattern))
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]


def test_every_trap_has_a_line_and_a_test() -> None:
    listed = re.findall(r"^\| (T\d\d) \|", PAGE, re.MULTILINE)
    assert listed == [f"T{i:02}" for i in range(1, 25)]
    assert {name[:3].upper() for name in names("test_spark_python_pandas.py")} == set(listed)


def test_every_thread_has_a_line_and_a_test() -> None:
    listed = re.findall(r"\| `(\w+)` \|$", PAGE, re.MULTILINE)
    tests = names("test_shipped_*.py")
    assert len(listed) == len(set(listed)) >= 30
    assert [x for x in listed if not any(t.startswith(x) for t in tests)] == []
    assert [t for t in tests if not any(t.startswith(x) for x in listed)] == []
