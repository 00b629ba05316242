# SPDX-License-Identifier: Apache-2.0
"""Trusted. Symbolic values of pyarrow in a function of the group: arrays, tables, scalars, keys."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from presieve.ir.terms import Term


class ArrowColumnV(Struct, frozen=True):
    """A column of the whole group as an array of pyarrow; it counts as read only if it is used."""

    name: str


class ArrayV(Struct, frozen=True):
    """A ``pyarrow.Array`` or ``ChunkedArray``: ``term`` is its element in the current row (none if
    it is null), if the row is one of ``rows``; ``type`` is Spark's name of its type.
    """

    term: Term
    rows: Term
    type: str


class BatchV(Struct, frozen=True):
    """A ``pyarrow.Table`` or ``RecordBatch``: the rows that satisfy ``rows``, in these columns."""

    columns: tuple[str, ...]
    rows: Term


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
