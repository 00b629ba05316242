"""Decline codes as the source raises them, their pages, and the index of these.

``python -m tests.docs.declined`` writes the index, ``docs/declined/README.md``, anew.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from presieve.lift.codes import CODES

ROOT = Path(__file__).parent.parent.parent
SOURCES = ROOT / "src" / "presieve"
PAGES = ROOT / "docs" / "declined"
INDEX = PAGES / "README.md"
TITLE = re.compile(r"# `([a-z-]+)`: (.+)")
CODE = re.compile(r"[a-z]+(-[a-z]+)*")

RAISED_BY = {"Declined": 0, "DeclineSignal": 0}
"""What is made with a code, and the position of the code among the arguments."""

GROUPS: dict[str, set[str]] = {
    "Plans: the operators around the function": {
        "aggregate-expression",
        "ambiguous-name",
        "argument-expression",
        "cached",
        "eval-type",
        "grouping-expression",
        "grouping-sets",
        "keys-only",
        "native-aggregate",
        "no-aggregate",
        "no-function",
        "no-path",
        "not-grouped",
        "nondeterministic",
        "nondeterministic-udf",
        "operator",
        "outer-join",
        "part-of-group",
        "plan-depth",
        "plan-shape",
        "residual-column",
        "source",
        "spark-internals",
        "spark-version",
        "sql-text",
        "streaming",
        "text-encoding",
        "unread-raises",
        "view",
        "window-frame",
    },
    "SQL: the filter": {
        "ambiguous-column",
        "catalyst",
        "inexpressible",
        "no-text",
        "read-back",
        "sql-literal",
        "sql-syntax",
        "sql-types",
        "sql-unsupported",
    },
    "Settings: the session and the options": {
        "assumption",
        "conf",
        "may-add-error",
        "may-erase-error",
        "timezone",
    },
    "Search: no result, no proof, or no gain": {
        "check",
        "cost",
        "filter-size",
        "internal",
        "no-proof",
        "premises",
        "space",
    },
}
"""The codes under the headings of the index; all others are of Python code and its types."""

PYTHON = "Python: the function and the types of its columns"

HEAD = """\
# Why nothing was pushed

If presieve cannot prove a rewrite, it changes nothing and says why: a code in square brackets, a
sentence, and the line if there is one. Each code has a page with an example and what to change.
In a terminal, `presieve why CODE` shows the page.
"""


@dataclass(frozen=True, slots=True)
class Page:
    """A page by its file; ``title`` is the part after the code."""

    path: Path
    text: str
    code: str
    title: str

    @property
    def headings(self) -> list[str]:
        """The headings below the title, in order, without what looks like one in code."""
        prose = re.sub(r"^```.*?^```", "", self.text, flags=re.DOTALL | re.MULTILINE)
        return re.findall(r"^## (.+)$", prose, flags=re.MULTILINE)

    def part(self, heading: str) -> str:
        """The text below a heading."""
        _, _, rest = self.text.partition(f"\n## {heading}\n")
        return re.split(r"^## ", rest, maxsplit=1, flags=re.MULTILINE)[0]


def blocks(text: str) -> list[str]:
    """The Python blocks of a text."""
    return re.findall(r"^```python\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)


def pages() -> list[Page]:
    """All pages, in the order of their names."""
    found = []
    for path in sorted(PAGES.glob("*.md")):
        if path == INDEX:
            continue
        text = path.read_text(encoding="utf-8")
        title = TITLE.fullmatch(text.split("\n", 1)[0])
        assert title, f"{path.name} begins with '# `CODE`: short title'"
        found.append(Page(path, text, title[1], title[2]))
    return found


@cache
def codes() -> dict[str, list[str]]:
    """Every code that the source declines with, and the places that do: those of the lifter's own
    list, some of which it takes from tables, and those that stand in calls.
    """
    trees = {p: ast.parse(p.read_text()) for p in sorted(SOURCES.rglob("*.py"))}
    named = dict(pair for tree in trees.values() for pair in _constants(tree))
    raised_by = RAISED_BY | dict(pair for tree in trees.values() for pair in _helpers(tree))
    found: dict[str, list[str]] = {code: [] for code in CODES}
    for path, tree in trees.items():
        for call, code in _codes(tree, raised_by, named):
            place = f"{path.relative_to(SOURCES)}:{call.lineno}"
            found.setdefault(code, []).append(place)
    return found


def _constants(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """``NAME = "text"`` of a module, ``Final`` ones too."""
    for node in tree.body:
        if isinstance(node, ast.Assign):
            targets: list[ast.expr] = node.targets
        elif isinstance(node, ast.AnnAssign):
            targets = [node.target]
        else:
            continue
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            for target in targets:
                if isinstance(target, ast.Name):
                    yield target.id, node.value.value


def _helpers(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Functions with a parameter ``code`` that they decline with: name and position."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name != "__init__":
            names = [a.arg for a in node.args.args if a.arg not in ("self", "cls")]
            calls = [c for c in ast.walk(node) if isinstance(c, ast.Call)]
            if "code" in names and any(
                _name(c) in RAISED_BY and c.args and ast.unparse(c.args[0]) == "code" for c in calls
            ):
                yield node.name, names.index("code")


def _codes(
    tree: ast.Module, raised_by: dict[str, int], named: dict[str, str]
) -> Iterator[tuple[ast.Call, str]]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or _name(node) not in raised_by:
            continue
        position = raised_by[_name(node)]
        given = [k.value for k in node.keywords if k.arg == "code"]
        for arg in [*node.args[position : position + 1], *given]:
            yield from ((node, code) for code in _values(arg, named))


def _values(arg: ast.expr, named: dict[str, str]) -> Iterator[str]:
    """The constants that an argument may be."""
    if isinstance(arg, ast.Constant) and isinstance(arg.value, str):
        if CODE.fullmatch(arg.value):  # another helper of this name may take a sentence there
            yield arg.value
    elif isinstance(arg, ast.Name) and arg.id in named:
        yield named[arg.id]
    elif isinstance(arg, ast.IfExp):
        yield from _values(arg.body, named)
        yield from _values(arg.orelse, named)


def _name(call: ast.Call) -> str:
    function = call.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def index() -> str:
    """What the index says."""
    by_code = {p.code: p for p in pages()}
    grouped = {code for group in GROUPS.values() for code in group}
    python = {code for code in by_code if code not in grouped}
    parts = [HEAD]
    for heading, group in {PYTHON: python, **GROUPS}.items():
        listed = [by_code[code] for code in sorted(group) if code in by_code]
        lines = [f"- [`{p.code}`]({p.path.name}): {p.title}" for p in listed]
        if lines:
            parts.append("\n".join([f"## {heading}", "", *lines]) + "\n")
    return "\n".join(parts)


if __name__ == "__main__":
    INDEX.write_text(index(), encoding="utf-8")
