"""Untrusted. The user's source as it is shown: with line numbers, and the lines that matter."""

from __future__ import annotations

import ast
import linecache
import textwrap
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

from presieve.errors import Declined, Span
from presieve.report.source.slices import Definition, lines_for


@dataclass(frozen=True, slots=True)
class Line:
    """One line: whether it ``matters``, and what is said of it, if it is in the way: ``column``
    (from 1, in characters of ``text``; 0: unknown) is where.
    """

    number: int
    text: str
    matters: bool = False
    column: int = 0
    note: str = ""

    @property
    def caret(self) -> str:
        """What stands below the line to point at its column; empty where that is unknown."""
        before = self.text[: max(self.column - 1, 0)]
        return "".join("\t" if c == "\t" else " " for c in before) + "^" if self.column else ""


@dataclass(frozen=True, slots=True)
class Listing:
    """A function or a class, or a piece of one, dedented; ``lines`` are numbered as in ``file``.

    The lines that matter are those that what the filter reads depends on.
    """

    file: str
    lines: tuple[Line, ...]

    @property
    def text(self) -> str:
        """The source alone."""
        return "\n".join(line.text for line in self.lines)

    def to_json(self) -> dict[str, Any]:
        """In JSON's types."""
        return {
            "file": self.file,
            "first": self.lines[0].number,
            "text": self.text,
            "matter": [line.number for line in self.lines if line.matters],
        }

    def marked_lines(self) -> Iterator[str]:
        """For text: the lines that matter or are in the way, with their neighbours for these; a
        mark in front, a caret below a place, and dots for what is left out.
        """
        keep = {line.number for line in self.lines if line.matters or line.note}
        noted = [line.number for line in self.lines if line.note]
        keep |= {n + d for n in noted for d in (-2, -1, 1)}
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


def of_function(span: Span, text: str, wanted: Set[str], outputs: Sequence[str]) -> Listing | None:
    """The function or class that begins at ``span``, with the lines that the ``wanted`` of its
    ``outputs`` depend on. ``text`` is what was read of it; where the file has something else by
    now, ``text`` is shown, and no line is said to matter. None where there is nothing to show.
    """
    found = _definition(span, exact=True)
    read = {line.strip() for line in text.splitlines()}
    lines = _lines(span.file)
    if found is not None:
        first, last = _extent(found)
        whole = lines[first - 1 : last]
        if read <= {line.strip() for line in whole}:
            return _listing(span.file, first, whole, lines_for(found, wanted, outputs))
    return _listing(span.file, span.line, text.splitlines(), frozenset()) if text else None


_MOST = 60
"""Lines of a function that are shown around a place in it."""


def of_place(why: Declined) -> Listing | None:
    """What stands around a place that is in the way: the innermost function, or some lines of it.
    None where there is no place, or the file cannot be read.
    """
    span = why.span
    lines = _lines(span.file) if span is not None else []
    if span is None or not 1 <= span.line <= len(lines):
        return None
    found = _definition(span, exact=False)
    first, last = _extent(found) if found is not None else (span.line, span.line)
    first = max(first, span.line - _MOST // 2)
    last = min(last, span.line + _MOST // 2)
    return noted(_listing(span.file, first, lines[first - 1 : last], frozenset()), why)


def noted(listing: Listing, why: Declined) -> Listing:
    """The listing with a reason at its place."""
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
    """Whether a place is in it."""
    first, last = listing.lines[0].number, listing.lines[-1].number
    return span.file == listing.file and first <= span.line <= last


def _listing(file: str, first: int, lines: Sequence[str], matter: Set[int]) -> Listing:
    texts = textwrap.dedent("\n".join(line.rstrip() for line in lines)).split("\n")
    numbered = enumerate(texts, first)
    return Listing(file, tuple(Line(n, text, n in matter) for n, text in numbered))


def _lines(file: str) -> list[str]:
    linecache.checkcache(file)
    return [line.rstrip("\n") for line in linecache.getlines(file)]


def _definition(span: Span, *, exact: bool) -> Definition | None:
    """The function or class that begins in this line, or the innermost function around it."""
    try:
        tree = ast.parse("\n".join(_lines(span.file)))
    except (SyntaxError, ValueError, RecursionError):
        return None
    found: list[Definition] = []
    owners: dict[ast.AST, ast.ClassDef] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            owners |= dict.fromkeys(node.body, node)
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda):
            first, last = _extent(node)
            starts = span.line in (first, node.lineno)
            if starts if exact else (first <= span.line <= last):
                found.append(node)
    functions = [n for n in found if isinstance(n, ast.FunctionDef)]
    chosen = functions or found
    if not chosen:
        return None
    inner = max(chosen, key=lambda n: n.lineno)
    owner = owners.get(inner)
    return owner if exact and owner is not None and _is_fold(owner, inner) else inner


def _is_fold(owner: ast.ClassDef, method: ast.AST) -> bool:
    """Whether a method is the step of a fold that the class is."""
    return isinstance(method, ast.FunctionDef) and method.name in ("reduce", "eval")


def _extent(node: Definition) -> tuple[int, int]:
    """The first line, of decorators too, and the last."""
    decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
    return min([node.lineno, *(d.lineno for d in decorators)]), node.end_lineno or node.lineno
