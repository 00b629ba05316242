# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Listings of the user's source, with line numbers and what is in the way."""

from __future__ import annotations

import ast
import linecache
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from msgspec import Struct

from presieve.errors import Declined, Span
from presieve.records import replace

Definition: TypeAlias = ast.FunctionDef | ast.ClassDef | ast.Lambda


class Line(Struct, frozen=True):
    """A line, with a ``note`` if it is declined, at ``column`` of ``text`` (from 1; 0: unknown)."""

    number: int
    text: str
    column: int = 0
    note: str = ""

    @property
    def caret(self) -> str:
        """The text below the line that points at its column; empty if the column is unknown."""
        before = self.text[: max(self.column - 1, 0)]
        return "".join("\t" if c == "\t" else " " for c in before) + "^" if self.column else ""


class Listing(Struct, frozen=True):
    """A function, a class, or a piece of one, dedented; ``lines`` are numbered as in ``file``."""

    file: str
    lines: tuple[Line, ...]

    @property
    def text(self) -> str:
        """The source text."""
        return "\n".join(line.text for line in self.lines)

    def to_json(self) -> dict[str, Any]:
        """As JSON types."""
        return {"file": self.file, "first": self.lines[0].number, "text": self.text}

    def marked_lines(self) -> Iterator[str]:
        """For text output: the lines with notes and their neighbours; a mark before a note's line,
        a caret below a place, and dots for omitted lines.
        """
        keep = {x.number + d for x in self.lines if x.note for d in (-2, -1, 0, 1)}
        width = len(str(self.lines[-1].number))
        before = self.lines[0].number - 1
        for line in self.lines:
            if line.number not in keep:
                continue
            if line.number > before + 1:
                yield " " * (width + 2) + "..."
            mark = ">" if line.note else " "
            yield f"{mark} {line.number:>{width}}  {line.text}".rstrip()
            if line.column:
                yield " " * (width + 4) + line.caret
            before = line.number
        if before < self.lines[-1].number:
            yield " " * (width + 2) + "..."


def of_function(span: Span, text: str) -> Listing | None:
    """List the function or class that begins at ``span``. ``text`` is the source that was read, and
    is shown if the file has changed since. None if there is nothing to show.
    """
    definition = _definition(span, exact=True)
    read = {line.strip() for line in text.splitlines()}
    lines = _lines(span.file)
    if definition is not None:
        first, last = _first_and_last_line(definition)
        file_lines = lines[first - 1 : last]
        if read <= {line.strip() for line in file_lines}:
            return _listing(span.file, first, file_lines)
    return _listing(span.file, span.line, text.splitlines()) if text else None


_MOST = 60
"""The number of lines of a function that are shown around a place in it."""


def of_place(why: Declined) -> Listing | None:
    """List the source around a declined place: the innermost function, or some lines of it. None if
    there is no place, or the file cannot be read.
    """
    span = why.span
    lines = _lines(span.file) if span is not None else []
    if span is None or not 1 <= span.line <= len(lines):
        return None
    definition = _definition(span, exact=False)
    first, last = (
        _first_and_last_line(definition) if definition is not None else (span.line, span.line)
    )
    first = max(first, span.line - _MOST // 2)
    last = min(last, span.line + _MOST // 2)
    return add_note(_listing(span.file, first, lines[first - 1 : last]), why)


def add_note(listing: Listing, why: Declined) -> Listing:
    """Add a reason to the listing, at its place."""
    span = why.span
    if span is None or span.file != listing.file:
        return listing
    lines = tuple(_with_note(x, why, span) if x.number == span.line else x for x in listing.lines)
    return replace(listing, lines=lines)


def _with_note(line: Line, why: Declined, span: Span) -> Line:
    full = linecache.getline(span.file, span.line).rstrip()
    column = span.column - (len(full) - len(line.text)) if span.column else 0
    return replace(line, note=why.reason, column=column if 0 < column <= len(line.text) else 0)


def holds(listing: Listing, span: Span) -> bool:
    """Whether the listing contains a place."""
    first, last = listing.lines[0].number, listing.lines[-1].number
    return span.file == listing.file and first <= span.line <= last


def _listing(file: str, first: int, lines: Sequence[str]) -> Listing:
    texts = textwrap.dedent("\n".join(line.rstrip() for line in lines)).split("\n")
    return Listing(file, tuple(Line(n, text) for n, text in enumerate(texts, first)))


def _lines(file: str) -> list[str]:
    linecache.checkcache(file)
    return [line.rstrip("\n") for line in linecache.getlines(file)]


def _definition(span: Span, *, exact: bool) -> Definition | None:
    """The definition that begins in this line (``exact``), or the innermost one around it."""
    try:
        tree = ast.parse("\n".join(_lines(span.file)))
    except (SyntaxError, ValueError, RecursionError):
        return None
    definitions: list[Definition] = []
    owners: dict[ast.AST, ast.ClassDef] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            owners |= dict.fromkeys(node.body, node)
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda):
            first, last = _first_and_last_line(node)
            starts = span.line in (first, node.lineno)
            if starts if exact else (first <= span.line <= last):
                definitions.append(node)
    functions = [n for n in definitions if isinstance(n, ast.FunctionDef)]
    chosen = functions or definitions
    if not chosen:
        return None
    inner = max(chosen, key=lambda n: n.lineno)
    owner = owners.get(inner)
    is_step = isinstance(inner, ast.FunctionDef) and inner.name in ("reduce", "eval")
    return owner if exact and owner is not None and is_step else inner


def _first_and_last_line(node: Definition) -> tuple[int, int]:
    """The first line, including decorators, and the last."""
    decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
    return min([node.lineno, *(d.lineno for d in decorators)]), node.end_lineno or node.lineno
