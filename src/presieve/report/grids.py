"""Untrusted. Small tables for people, with cells that are marked: as text, and for page and
terminal, which have marks of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from presieve.report.rows import value_text

Mark: TypeAlias = Literal["", "differs", "dropped", "kept"]
"""What a cell is shown as; text marks those that differ, with a star."""

_LONGEST = 60


@dataclass(frozen=True, slots=True)
class Cell:
    """A text, and what it is shown as."""

    text: str
    mark: Mark = ""

    @property
    def starred(self) -> str:
        """The text, with a star where it differs: colours do not reach everybody."""
        return f"{self.text} *" if self.mark == "differs" else self.text


@dataclass(frozen=True, slots=True)
class Grid:
    """``head`` and every row of ``body`` have as many cells."""

    title: str
    head: tuple[str, ...]
    body: tuple[tuple[Cell, ...], ...]

    def lines(self) -> Iterator[str]:
        """Columns side by side, the head first."""
        rows = [self.head, *([c.starred for c in row] for row in self.body)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            yield "  ".join(f"{text:<{w}}" for text, w in zip(row, widths, strict=True)).rstrip()

    @property
    def heading(self) -> str:
        """The title, and what a star means where there is one."""
        stars = any(c.mark == "differs" for row in self.body for c in row)
        return f"{self.title} (* differs)" if stars else self.title


def value_cell(value: object, mark: Mark = "") -> Cell:
    """A value, cut where it is long."""
    return Cell(cut(value_text(value)), mark)


def cut(text: str, longest: int = _LONGEST) -> str:
    """The text, without its end where it is long."""
    return text if len(text) <= longest else text[: longest - 3] + "..."
