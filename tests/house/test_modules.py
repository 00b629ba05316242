"""Rules that hold for every file of the package and of its benchmarks."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[2]
FAMILIES = ROOT / "benchmarks" / "families"
FILES = {
    path.relative_to(folder.parent).as_posix().removeprefix("presieve/"): path
    for folder in (ROOT / "src" / "presieve", ROOT / "benchmarks")
    for path in sorted(folder.rglob("*.py"))
    if path.parent != FAMILIES  # written as users write
}
LINES = 600
BROAD = {
    "cli/load.py": 1,
    "cli/app.py": 1,
    "cli/job.py": 1,
    "cli/explain.py": 1,
    "backend/statistics/edits.py": 1,
    "driver/running.py": 1,
    "driver/session.py": 1,
    "driver/stages/pipeline.py": 2,
    "driver/stages/prefilters.py": 1,
    "contract.py": 1,
}
"""Where anything may be caught: a user's file or reader may raise it, no crash may read as an
answer, and no bug of ours may stop a job.
"""


def test_there_is_something_to_look_at() -> None:
    assert len(FILES) > 20


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def test_modules_say_on_which_side_of_trust_they_stand() -> None:
    docstrings = {n: ast.get_docstring(parsed(p)) or "" for n, p in FILES.items() if parsed(p).body}
    assert not {n for n, d in docstrings.items() if not d.startswith(("Trusted. ", "Untrusted. "))}


def test_modules_are_about_one_thing() -> None:
    lines = {name: len(path.read_text().splitlines()) for name, path in FILES.items()}
    assert not {name: n for name, n in lines.items() if n > LINES}


def test_exceptions_are_caught_by_name() -> None:
    broad = Counter(
        name
        for name, path in FILES.items()
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.ExceptHandler) and _is_broad(node)
    )
    assert broad == BROAD


def _is_broad(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    names = {n.id for n in ast.walk(handler.type) if isinstance(n, ast.Name)}
    return bool(names & {"Exception", "BaseException"})


LONG = 50


def test_functions_fit_on_a_screen() -> None:
    long = {(n, f.name) for n, f in functions() if (f.end_lineno or 0) - f.lineno + 1 > LONG}
    assert not long


def functions() -> Iterator[tuple[str, ast.FunctionDef]]:
    """All of them, with the names of their files."""
    for name, path in FILES.items():
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.FunctionDef):
                yield name, node


MANY = 5
BY_OPTIONS = ("cli/", "benchmarks/commands/")
"""Commands, whose parameters are their options."""


def test_functions_take_few_parameters() -> None:
    """Positional ones; what stands behind ``*`` names itself where it is called."""
    many = {(n, f.name) for n, f in functions() if len(f.args.posonlyargs + f.args.args) > MANY}
    assert not {(n, f) for n, f in many if not (f == "command" and n.startswith(BY_OPTIONS))}


def test_no_test_imports_from_a_test() -> None:
    """What two of them need stands in a file of its own, or in ``tests/support``."""
    own = {
        f"{path.relative_to(ROOT)}: {node.module}"
        for path in (ROOT / "tests").rglob("*.py")
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tests.")
        if node.module and node.module.rsplit(".", 1)[1].startswith(("test_", "conftest"))
    }
    assert not own


CROWD = 24


def test_folders_are_rooms() -> None:
    """No folder has so many files that nobody knows where the next one goes."""
    folders = Counter(path.parent for path in FILES.values() if path.name != "__init__.py")
    crowded = {str(f.relative_to(ROOT)): n for f, n in folders.items() if n > CROWD}
    assert not crowded


def test_no_import_goes_round() -> None:
    """Imports inside of functions count, those for types alone do not."""
    parts = {path: path.relative_to(ROOT).with_suffix("").parts for path in FILES.values()}
    names = {path: ".".join(p[1:] if p[0] == "src" else p) for path, p in parts.items()}
    known = {name.removesuffix(".__init__") for name in names.values()}
    graph = {name: imported(path, known) - {name} for path, name in names.items()}
    TopologicalSorter(graph).prepare()  # CycleError names the files


def imported(path: Path, known: set[str]) -> set[str]:
    """The files of the package that a file imports, anywhere in it."""
    tree = parsed(path)
    typing = {id(x) for n in ast.walk(tree) if is_for_types(n) for x in ast.walk(n)}
    found: set[str] = set()
    for node in ast.walk(tree):
        if id(node) in typing:
            continue
        if isinstance(node, ast.Import):
            found |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inside = {f"{node.module}.{a.name}" for a in node.names}
            found |= inside & known or {node.module}
    return found & known


def is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
