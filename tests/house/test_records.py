"""Immutable records are structs, unless they hold records of their own kind."""

from __future__ import annotations

import ast
import inspect
import pydoc
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import presieve
from presieve.records import is_record
from presieve.report import lineage, report_data

SOURCE = Path(str(presieve.__file__)).parent

SHOWN = {"LineageSource", "Measured"}
"""Public records whose types are loaded for type checkers only: help() could not show structs."""


def _definitions() -> Iterator[ast.ClassDef | ast.AnnAssign]:
    """Yield classes and type aliases of the package."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef | ast.AnnAssign):
                yield node


def _names(node: ast.expr) -> Iterator[str]:
    """Yield the names in an annotation, which may be written as a string."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield part.id
        elif isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield from re.findall(r"\w+", part.value)


def _held() -> tuple[dict[str, set[str]], set[str], set[str]]:
    """What classes and aliases hold, by name; the names of structs; and those of aliases."""
    held: dict[str, set[str]] = defaultdict(set)
    structs, aliases = {"Struct"}, set()
    for node in _definitions():
        if isinstance(node, ast.AnnAssign):
            if isinstance(node.target, ast.Name) and ast.unparse(node.annotation) == "TypeAlias":
                assert node.value is not None
                aliases.add(node.target.id)
                held[node.target.id] |= {*_names(node.value)}
            continue
        bases = {name for base in node.bases for name in _names(base)}
        if bases & structs:
            structs.add(node.name)
        for base in bases - {"Struct", "Generic", "Protocol"}:
            held[base].add(node.name)
        for field in node.body:
            if isinstance(field, ast.AnnAssign):
                held[node.name] |= {*_names(field.annotation)}
    return held, structs - {"Struct"}, aliases


def _holds_its_kind(name: str, held: dict[str, set[str]], through: set[str]) -> bool:
    """Whether a record may be inside of another of its class, ``through`` records and aliases."""
    reached: set[str] = set()
    waiting = [name]
    while waiting:
        for inner in held.get(waiting.pop(), set()) - reached:
            reached.add(inner)
            if inner in through:
                waiting.append(inner)
    return name in reached


def test_no_struct_holds_its_own_kind() -> None:
    """The hash of nested structs is computed without a limit of recursion: Python would crash. That
    of data classes is a function of Python, which has one.
    """
    held, structs, aliases = _held()
    assert len(structs) > 300
    assert [n for n in sorted(structs) if _holds_its_kind(n, held, structs | aliases)] == []
    held["Loss"].add("Objection")
    held["Objection"].add("Loss")
    assert _holds_its_kind("Loss", held, structs | aliases)


def test_immutable_records_are_structs() -> None:
    """Data classes remain where nothing else will do."""
    held, structs, aliases = _held()
    plain = []
    for node in _definitions():
        if isinstance(node, ast.ClassDef) and _may_be_a_struct(node):
            if not _holds_its_kind(node.name, held, structs | aliases | {node.name}):
                plain.append(node.name)
    assert set(plain) == SHOWN


@pytest.mark.parametrize("module", [presieve, lineage, report_data], ids=lambda m: m.__name__)
def test_help_shows_public_records(module: ModuleType) -> None:
    """The signature of a struct can be read only if all of its types are loaded."""
    names = getattr(module, "__all__", vars(module))
    names = [name for name in names if _is_public(name, getattr(module, name))]
    assert names
    for name in names:
        record = getattr(module, name)
        assert str(inspect.signature(record)).startswith("(")
        assert name in pydoc.render_doc(record)


def _is_public(name: str, value: object) -> bool:
    """Whether it is a public class of records."""
    return isinstance(value, type) and not name.startswith("_") and is_record(value)


def test_fields_are_of_the_kind_of_their_record() -> None:
    """``field`` of msgspec means nothing to a data class, and mypy does not see it."""
    wrong = []
    for path in sorted(SOURCE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imports = (n for n in tree.body if isinstance(n, ast.ImportFrom))
        of_structs = any(n.module == "msgspec" and "field" in map(_name, n.names) for n in imports)
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and "= field(" in ast.unparse(node):
                is_struct = not any("dataclass" in ast.unparse(d) for d in node.decorator_list)
                if is_struct is not of_structs:
                    wrong.append(node.name)
    assert wrong == []


def _name(alias: ast.alias) -> str:
    return alias.name


def _may_be_a_struct(node: ast.ClassDef) -> bool:
    """Whether it is an immutable data class without special fields and bases."""
    if [ast.unparse(d) for d in node.decorator_list] != ["dataclass(frozen=True, slots=True)"]:
        return False
    return not re.search(r"= field\(|: FunctionType|def __\w+__|Claim\)", ast.unparse(node))
