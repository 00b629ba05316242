"""Trusted. The forms in which a fold is written, and what lifting takes and gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from presieve.ir.fold import Assumption, Fold
from presieve.semantics.types import SchemaColumn


@dataclass(frozen=True, slots=True)
class RowClass:
    """An ``Aggregator``-shaped class or instance: it sees rows of Python values, NULL is None."""


@dataclass(frozen=True, slots=True)
class SeriesFunction:
    """The function under a grouped-aggregate pandas UDF: parameter i is the Series ``columns[i]``.

    It returns one value, the one output column.
    """

    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FrameFunction:
    """The function of ``applyInPandas``: ``f(pdf)``, or ``f(key, pdf)`` with ``takes_key``. ``key``
    are the columns that the key consists of, where some are no grouping columns of the request
    (since their types are not known, and a group's rows may differ in them).

    ``pdf`` has every column of the schema, the keys among them. It returns one row.
    """

    takes_key: bool = False
    key: tuple[str, ...] | None = None


Form: TypeAlias = RowClass | SeriesFunction | FrameFunction


@dataclass(frozen=True, slots=True)
class Request:
    """All that lifting needs to know besides the code.

    ``schema`` are the input columns in order, keys included where the rows hold them; ``keys`` the
    names of the grouping columns; ``returns`` the declared output columns in order; ``timezone``
    the session's time zone (an IANA name).
    """

    schema: tuple[SchemaColumn, ...]
    keys: tuple[str, ...]
    returns: tuple[SchemaColumn, ...]
    timezone: str = "UTC"


@dataclass(frozen=True, slots=True)
class Lifted:
    """The fold, what its meaning rests on, and the user's source text of the function or class."""

    fold: Fold
    assumptions: tuple[Assumption, ...]
    source: str
