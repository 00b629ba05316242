"""Trusted. The relational operators that may stand between a filter and a fold. Data only.

An attribute is identified by an integer (Catalyst's ``exprId``), never by its name. A path is the
chain of operators above a fold, from the fold upwards; it ends where an operator stands that is
not in the union below, since only for these is there a rule (unknown means stop).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from presieve.errors import Declined
from presieve.ir.sorts import Option, Sort
from presieve.ir.terms import Scope, Term, Var
from presieve.semantics.types import sort_of


@dataclass(frozen=True, slots=True)
class Attribute:
    """A column of a relation: ``type`` is Spark's simple name, of any type, supported or not."""

    id: int
    name: str
    type: str
    nullable: bool = True


@dataclass(frozen=True, slots=True)
class Expr:
    """An expression: its meaning over attribute variables, or why it has none here.

    ``refs`` are the attributes that it reads; they are known even where the meaning is not.
    """

    term: Term | Declined
    refs: frozenset[int]


@dataclass(frozen=True, slots=True)
class Filter:
    """Keeps the rows on which every conjunct is true. All conjuncts are deterministic."""

    conjuncts: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a projection. ``plain`` columns pass an attribute on, perhaps renamed."""

    id: int
    expr: Expr
    plain: bool


@dataclass(frozen=True, slots=True)
class Project:
    """One row out for each row in. All expressions are deterministic."""

    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Alias:
    """A name for a relation (``SubqueryAlias``); rows and attributes stay as they are."""


Operator: TypeAlias = Filter | Project | Alias
Path: TypeAlias = tuple[Operator, ...]


def attribute_var(id_: int, sort: Sort) -> Var:
    """The variable that stands for an attribute in the expressions of a path."""
    return Var(Scope.OUT, f"#{id_}", sort)


def attribute_id(var: Var) -> int:
    """Inverse of :func:`attribute_var`."""
    return int(var.name.removeprefix("#"))


def variable_of(attribute: Attribute) -> Var | None:
    """The attribute's variable, or None where its type is none of the IR's."""
    base = sort_of(attribute.type)
    if base is None:
        return None
    return attribute_var(attribute.id, Option(base) if attribute.nullable else base)
