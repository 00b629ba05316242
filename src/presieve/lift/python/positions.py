# SPDX-License-Identifier: Apache-2.0
"""Trusted. Positions in the user's files, counted as editors do: from line 1, column 1."""

from __future__ import annotations

import ast
import inspect
import re
from abc import ABCMeta
from collections.abc import Sequence
from contextlib import suppress
from types import CodeType

from presieve.errors import Span
from presieve.lift.python.typed_lines import PROMPTS, read_typed

_DEFINITION = r"\s*(?:async\s+)?(?:def|class)\s+{name}\b"


def span_of(node: ast.AST, file: str, lines: Sequence[str]) -> Span:
    """Return the position of a node that has one. The tree counts bytes of UTF-8, editors count
    characters; a tab is one.
    """
    line: int = getattr(node, "lineno", 0)
    offset: int = getattr(node, "col_offset", 0)
    before = lines[line - 1].encode()[:offset] if 0 < line <= len(lines) else b" " * offset
    return Span(file, line, len(before.decode(errors="replace")) + 1)


def place_of(code: CodeType) -> Span:
    """Return the first line of a function, with its decorators; only for messages."""
    return Span(_lines_around(code)[0], code.co_firstlineno)


def _lines_around(code: CodeType) -> tuple[str, Sequence[str]]:
    """Return the function's file, and its lines if it was typed at a prompt."""
    if code.co_filename in PROMPTS:
        with suppress(OSError):
            typed = read_typed(code)
            return typed.file, typed.lines
    return code.co_filename, ()


def definition_of(obj: object) -> Span | None:
    """Return where a function, the function under a wrapper, or the class of an object is defined,
    if that is known. Only for messages: the code there is not compared with the code that runs.
    """
    if isinstance(obj, type):
        cls = obj
    else:
        obj = inspect.getattr_static(obj, "__wrapped__", obj)
        code = getattr(obj, "__code__", None)
        if isinstance(code, CodeType):
            return _find_definition(obj, code.co_name, code) or place_of(code)
        cls = type(obj)
    # A user's metaclass could answer anything.
    return _find_definition(cls, cls.__name__, None) if type(cls) in (type, ABCMeta) else None


def _find_definition(obj: object, name: str, code: CodeType | None) -> Span | None:
    """Return the position of ``def`` or ``class``, which stands below the decorators."""
    file, lines = _lines_around(code) if code else ("", ())
    start = code.co_firstlineno - 1 if code else 0
    try:
        if not lines:
            lines, start = inspect.findsource(obj)  # type: ignore[arg-type]
        file = file or inspect.getsourcefile(obj) or ""  # type: ignore[arg-type]
    except (OSError, TypeError, SyntaxError, ValueError, IndexError):
        return None
    pattern = re.compile(_DEFINITION.format(name=re.escape(name)))
    for number in range(start, len(lines)):
        if pattern.match(lines[number]):
            indent = len(lines[number]) - len(lines[number].lstrip())
            return Span(file, number + 1, indent + 1)
    return None
