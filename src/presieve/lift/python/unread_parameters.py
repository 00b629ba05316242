# SPDX-License-Identifier: Apache-2.0
"""Trusted. Find the parameters that the code of a function never mentions, and the only fields that
it reads of a parameter.

Whatever such an argument or another field is, the function does the same, unless somebody looks at
its variables by name. Source: the Python library reference, ``dis``.
"""

from __future__ import annotations

import ast
import dis
from collections.abc import Iterator, Sequence
from types import CodeType, FunctionType

from presieve.lift.python.shipped import function_source

_LOOKS_AT_VARIABLES = frozenset(
    (
        *("locals", "vars", "dir", "eval", "exec", "_getframe", "currentframe", "stack", "trace"),
        *("f_locals", "tb_frame", "gi_frame", "f_back", "__traceback__"),
    )
)


def unread_parameters(function: FunctionType) -> frozenset[int]:
    """Return the numbers of the positional parameters that the function's code never mentions."""
    code = function.__code__
    if _LOOKS_AT_VARIABLES & set(_global_names(code)):
        return frozenset()
    mentioned = set(_mentioned_names(code))
    names = code.co_varnames[: code.co_argcount]
    return frozenset(i for i, name in enumerate(names) if name not in mentioned)


def _global_names(code: CodeType) -> Iterator[str]:
    """Yield the names of globals and attributes that the code, or code inside of it, uses."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _global_names(constant)


def _mentioned_names(code: CodeType) -> Iterator[str]:
    """Yield the names in the instructions; a variable that an inner function uses is a cell."""
    yield from code.co_cellvars
    for instruction in dis.get_instructions(code):
        names = instruction.argval
        yield from (n for n in (names if isinstance(names, tuple) else (names,)) if type(n) is str)


def fields_read(
    function: FunctionType, number: int, fields: Sequence[str], *, is_table: bool
) -> frozenset[str] | None:
    """Return the fields that a function reads of the row or table in a positional parameter, as
    ``row["a"]``, or as ``row.a`` if that is no name that a row has for something else; None if it
    does anything else with it. Declines as :func:`function_source`.
    """
    code = function.__code__
    if _LOOKS_AT_VARIABLES & set(_global_names(code)) or number >= code.co_argcount:
        return None
    name, node = code.co_varnames[number], function_source(function).node
    mentions = [n for n in ast.walk(node) if isinstance(n, ast.Name) and n.id == name]
    declared = [n for n in ast.walk(node) if isinstance(n, ast.arg) and n.arg == name]
    scoped = [n for n in ast.walk(node) if isinstance(n, ast.Nonlocal) and name in n.names]
    of_fields = {
        id(n.value): field
        for n in ast.walk(node)
        if isinstance(n, ast.Subscript | ast.Attribute)
        and (field := _field(n, attributes=not is_table)) in fields
    }
    if len(declared) != 1 or scoped or not all(id(n) in of_fields for n in mentions):
        return None
    return frozenset(str(of_fields[id(n)]) for n in mentions)


def _field(node: ast.AST, *, attributes: bool) -> object:
    """Return the name in ``row["a"]`` and ``row.a``, which are read; None for other expressions."""
    match node:
        case ast.Subscript(slice=ast.Constant(name), ctx=ast.Load()):
            return name
        case ast.Attribute(attr=name, ctx=ast.Load()) if attributes:
            return None if name in OF_ROWS or name.startswith("_") else name
    return None


OF_ROWS = frozenset({*dir(tuple), "asDict"})
"""Names that a ``Row`` has for other things than its fields."""
