"""Lifting reads the user's objects through its gate, ``lift/python/shipped.py``, and where it is
known why it need not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

LIFT = Path(__file__).parent.parent.parent / "src/presieve/lift"
GATE = {
    *("shipped", "shipping", "imported", "classes", "enumerations", "outer_objects", "bindings"),
}
READS = {"__globals__", "__closure__", "__defaults__", "__kwdefaults__", "cell_contents"}
CALLS = {"getattr_static", "vars", "getclosurevars"}
ALLOWED = {
    "python/names.names_of": "cells go by value; globals are handed to the gate",
    "entry/group_fold.group_fold_under": "cells go by value",
    "execution/opaque_calls._parts": "compared with what was declared, which is not read",
    "python/source.parse_function": "asks for a mark that declines",
    "python/record_classes.kind_of": "of a class that has passed",
    "python/record_classes._has_plain_fields": "of a class that has passed",
    "builtins/user_records.attribute": "of a class that has passed",
    "entry/udtf._check_class": "of a class that has passed",
    "entry/row_class.is_row_class": "only says as what it is lifted",
    "python/source._read_lines": "for the loader of the module's file",
    "lift/api._function_under": "only for telling",
    "execution/expressions._explain_member": "only for telling",
    "python/positions.definition_of": "only for telling",
    "python/returned_iterators._means_builtin": "a name that is there declines",
    "python/receivers.split_receiver": "only says what is called",
    "lift/api._form_of": "a mark that pyspark makes",
    "lift/api._unwrap": "a mark that pyspark makes",
}


def test_every_read_passes_the_gate() -> None:
    files = [file for file in LIFT.rglob("*.py") if file.stem not in GATE]
    found = {f"{file.parent.name}/{place}" for file in files for place in reads(file)}
    assert found - ALLOWED.keys() == set()


def test_a_read_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "new.py"
    file.write_text("def read(f):\n    return f.__globals__\n\ndef also(c):\n    return vars(c)\n")
    assert set(reads(file)) == {"new.read", "new.also"}


def reads(file: Path) -> Iterator[str]:
    """The functions of the file that read what the gate is for."""
    for outer in ast.walk(ast.parse(file.read_text())):
        if not isinstance(outer, ast.FunctionDef):
            continue
        for n in ast.walk(outer):
            match n:
                case ast.Attribute(_, name) if name in READS:
                    yield f"{file.stem}.{outer.name}"
                case ast.Call(ast.Name(name) | ast.Attribute(_, name)) if name in CALLS:
                    yield f"{file.stem}.{outer.name}"
