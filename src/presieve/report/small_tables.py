# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Small tables for people: in one line, or with marked cells, for text, page and
terminal, which have their own marks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Literal, TypeAlias

from msgspec import Struct

from presieve.semantics.values import plain

WIDTH = 100
"""The width of text in columns, including labels."""

Mark: TypeAlias = Literal["", "differs", "dropped", "kept"]
"""The mark of a cell; text marks only cells that differ, with a star."""

Row: TypeAlias = Mapping[str, object]

_LONGEST = 60
_MAX_ROWS = 12


class MarkedCell(Struct, frozen=True):
    """A text and its mark."""

    text: str
    mark: Mark = ""

    @property
    def text_with_star(self) -> str:
        """The text, with a star if it differs, for readers who see no colours."""
        return f"{self.text} *" if self.mark == "differs" else self.text


class Grid(Struct, frozen=True):
    """A table: ``head`` and every row of ``body`` have the same number of cells."""

    title: str
    head: tuple[str, ...]
    body: tuple[tuple[MarkedCell, ...], ...]

    def lines(self) -> Iterator[str]:
        """The aligned lines of the table, the head first."""
        rows = [self.head, *([c.text_with_star for c in row] for row in self.body)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            yield "  ".join(f"{text:<{w}}" for text, w in zip(row, widths, strict=True)).rstrip()

    @property
    def heading(self) -> str:
        """The title, with the meaning of a star if there is one."""
        stars = any(c.mark == "differs" for row in self.body for c in row)
        return f"{self.title} (* differs)" if stars else self.title


def value_cell(value: object, mark: Mark = "") -> MarkedCell:
    """A cell for a value, cut if it is long."""
    return MarkedCell(cut(value_text(value)), mark)


def cut(text: str, longest: int = _LONGEST) -> str:
    """Cut off the end of a long text."""
    return text if len(text) <= longest else text[: longest - 3] + "..."


# --- rows and values in one line ------------------------------------------------------------------


def rows_text(rows: Sequence[Row]) -> str:
    """The rows in order, with equal neighbours counted."""
    runs = [(row, sum(1 for _ in same)) for row, same in groupby(map(row_text, rows))]
    texts = [row if n == 1 else f"{row} {n} times" for row, n in runs[:_MAX_ROWS]]
    return ", ".join([*texts, *(["..."] if len(runs) > _MAX_ROWS else [])])


def row_text(row: Row) -> str:
    """The names and values of a row, in parentheses."""
    return "(" + ", ".join(f"{name} {value_text(v)}" for name, v in row.items()) + ")"


def list_texts(texts: Iterable[str]) -> str:
    """The texts as an enumeration in a sentence."""
    *most, last = texts
    return f"{', '.join(most)} and {last}" if most else last


def value_text(value: object) -> str:
    """The value as text: NULL as such, strings in quotes."""
    data = plain(value)
    return "NULL" if data is None else repr(data) if isinstance(value, str) else str(data)
