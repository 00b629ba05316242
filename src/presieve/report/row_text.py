"""Untrusted. Rows of a small table, on one line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import TypeAlias

from presieve.semantics.values import plain

Row: TypeAlias = Mapping[str, object]

_MAX_ROWS = 12


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
