"""What a function of this collection is, and what a person expects of its answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, Literal, TypeAlias

from presieve.sql.ddl import parse_schema

Kind: TypeAlias = Literal["applyInPandas", "cogroup", "mapInPandas"]
Question: TypeAlias = Literal["keys", "columns", "rows", "effects"]
ALL = "*"
NOBODY_KNOWS = "?"
"""Earlier groups may have left something behind."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A function of tables, as a user of PySpark writes it, with what a person expects.

    ``schema`` and ``returns`` are its input and output columns in Spark's DDL, ``by`` the grouping
    columns, ``beside`` the columns of the second table of a cogroup. ``keys`` are the result
    columns that hold a grouping column in each row, ``passes`` those that hold an input column of
    the row that they are made of, if rows are treated one by one: ``name``, or ``name=source``.
    ``reads`` are the input columns that the result depends on, ``*`` for all; of a cogroup, those
    of its first table. ``effects`` are kinds of :class:`presieve.dataflow.context.Effect`.
    ``pools`` are values to draw from. ``analysed_only`` says why it cannot be run here. ``misses``
    are the questions whose answers fall short, with the reason.
    """

    function: FunctionType | Any
    what: str
    schema: str
    returns: str
    by: str = ""
    beside: str = ""
    keys: str = ""
    reads: str = ALL
    passes: str = ""
    effects: str = ""
    pools: Mapping[str, Sequence[object]] = field(default_factory=dict, hash=False)
    analysed_only: str = ""
    misses: Mapping[Question, str] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        return str(self.function.__name__)

    @property
    def kind(self) -> Kind:
        """How Spark calls it."""
        return "cogroup" if self.beside else "applyInPandas" if self.by else "mapInPandas"

    @property
    def columns(self) -> tuple[str, ...]:
        """Its input columns, in order."""
        return names_of(self.schema)

    @property
    def grouping(self) -> tuple[str, ...]:
        """Its grouping columns, in order."""
        return tuple(self.by.split())

    @property
    def expected_keys(self) -> dict[str, str]:
        """Result columns with the grouping column that they hold."""
        return _pairs(self.keys)

    @property
    def expected_passes(self) -> dict[str, str]:
        """Result columns with the input column that they pass on."""
        return _pairs(self.passes)

    @property
    def expected_reads(self) -> frozenset[str] | None:
        """The input columns that the result depends on; None where nobody knows them."""
        if self.reads == NOBODY_KNOWS:
            return None
        return frozenset(self.columns if self.reads == ALL else self.reads.split())

    @property
    def expected_effects(self) -> frozenset[str]:
        """The kinds of effects that it has."""
        return frozenset(self.effects.split())


@dataclass(frozen=True, slots=True)
class RowEntry:
    """A scalar UDF. ``parameters`` are its columns in Spark's DDL, ``returns`` the type of its
    result ``c``, ``where`` a natural filter on it. ``useful``: a person sees a filter on the
    parameters that leaves out rows. ``missed`` is why none is found where a person sees one.
    """

    function: FunctionType | Any
    what: str
    parameters: str
    returns: str
    where: str
    useful: bool = True
    pools: Mapping[str, Sequence[object]] = field(default_factory=dict, hash=False)
    missed: str = ""

    def __str__(self) -> str:
        return str(self.function.__name__)


def names_of(ddl: str) -> tuple[str, ...]:
    """The names of columns in Spark's DDL."""
    return tuple(c.name for c in parse_schema(ddl))


def _pairs(text: str) -> dict[str, str]:
    found = [part.partition("=") for part in text.split()]
    return {name: source or name for name, _, source in found}
