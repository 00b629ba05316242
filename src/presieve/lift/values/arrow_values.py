# SPDX-License-Identifier: Apache-2.0
"""Trusted. Symbolic values of pyarrow in a function of the group: arrays, tables, scalars, keys."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from presieve.ir.terms import Term


class ArrowColumnV(Struct, frozen=True):
    """A column of the whole group as an array of pyarrow; it counts as read only if it is used.
    ``chunked``: it is that of a ``Table``.
    """

    name: str
    chunked: bool = False


class ArrayV(Struct, frozen=True):
    """A ``pyarrow.Array`` or ``ChunkedArray``: ``term`` is its element in the current row (none if
    it is null), if the row is one of ``rows``; ``type`` is Spark's name of its type. ``chunked``:
    it is a ``ChunkedArray``, which no ``RecordBatch`` takes.
    """

    term: Term
    rows: Term
    type: str
    chunked: bool = False

    def computed(self, term: Term, type_: str, *others: ArrayV) -> ArrayV:
        """Return an array of elements that are computed from those of this one, and others."""
        chunked = self.chunked or any(a.chunked for a in others)
        return ArrayV(term, self.rows, type_, chunked)


class BatchV(Struct, frozen=True):
    """A ``RecordBatch``, or with ``table`` a ``pyarrow.Table``: the rows that satisfy ``rows``, in
    these columns. ``made`` are those that are computed, or another column of the group under a new
    name; the others are columns of the group.
    """

    columns: tuple[str, ...]
    rows: Term
    table: bool = False
    made: tuple[tuple[str, ArrayV | ArrowColumnV], ...] = ()

    def column(self, name: str) -> ArrayV | ArrowColumnV:
        """Return one of the columns."""
        return dict(self.made).get(name) or ArrowColumnV(name, self.table)


class CellV(Struct, frozen=True):
    """A ``pyarrow.Scalar``: an object that wraps a value, which ``.as_py()`` returns. It has a
    ``type`` (Spark's name) even if it is null.
    """

    term: Term
    type: str


class ArrowKeyV(Struct, frozen=True):
    """The tuple of a group's key as scalars of pyarrow."""

    names: tuple[str, ...]


class ArrowTypeV(Struct, frozen=True):
    """A type of pyarrow, by its name in Spark."""

    type: str


ArrowV: TypeAlias = ArrowColumnV | ArrayV | BatchV | CellV | ArrowKeyV | ArrowTypeV
