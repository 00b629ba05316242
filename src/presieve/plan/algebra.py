# SPDX-License-Identifier: Apache-2.0
"""Trusted. The relational operators that may stand between a filter and a fold. Data only.

An attribute is identified by an integer (Catalyst's ``exprId``), never by its name. A path is the
chain of operators above a fold, from the fold upwards. It ends at the first operator outside of the
union below, because only these operators have a rule (unknown means stop).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from msgspec import Struct

from presieve.errors import Declined
from presieve.ir.sorts import Option, Sort
from presieve.ir.terms import Scope, Term, Var
from presieve.semantics.types import sort_of
from presieve.sql.case_values import Value
from presieve.sql.catalyst import as_term

NO_PATH = "no-path"
"""Code of the reason that a conjunct reads other rows than those of a boundary."""


class Attribute(Struct, frozen=True):
    """A column of a relation. ``type`` is Spark's simple name of any type, supported or not."""

    id: int
    name: str
    type: str
    nullable: bool = True


MOST_FIELDS = 10_000
"""More than the number of fields that a struct may have here."""


def field_id(struct: int, place: int) -> int:
    """Return the number of a field of a struct attribute.

    It is computed from the struct's number and the field's place. It is negative, so no other
    attribute has it.
    """
    return -(struct * MOST_FIELDS + place + 1)


def struct_id(number: int) -> int:
    """Return the number of the struct to which a field belongs; otherwise the attribute's own."""
    return number if number >= 0 else (-number - 1) // MOST_FIELDS


def field_place(number: int) -> int:
    """Return the place of a field in its struct."""
    return (-number - 1) % MOST_FIELDS


class Expr:
    """An expression: its meaning over attribute variables, or why it has none here.

    ``refs`` are the attributes that it reads; they are known even if the meaning is not. The
    meaning may be given as a function, which is called on demand: most columns of a large plan are
    read by no filter.
    """

    __slots__ = ("_value", "refs")

    def __init__(
        self, value: Value | Declined | Callable[[], Value | Declined], refs: frozenset[int]
    ) -> None:
        self._value = value
        self.refs = refs

    @property
    def value(self) -> Value | Declined:
        """The meaning, which may depend on conditions."""
        if callable(self._value):
            self._value = self._value()
        return self._value

    @property
    def term(self) -> Term | Declined:
        """The meaning as one term; CASE has none."""
        return as_term(self.value)


class Filter(Struct, frozen=True):
    """Keeps the rows on which every conjunct is true. All conjuncts are deterministic."""

    conjuncts: tuple[Expr, ...]


class ProjectColumn(Struct, frozen=True):
    """A column of a projection. ``plain`` columns pass an attribute on, perhaps renamed."""

    id: int
    expr: Expr
    plain: bool


class Project(Struct, frozen=True):
    """One row out for each row in. All expressions are deterministic."""

    columns: tuple[ProjectColumn, ...]


class Alias(Struct, frozen=True):
    """A name for a relation (``SubqueryAlias``); rows and attributes stay as they are."""


class Reordered(Struct, frozen=True):
    """The same rows in another order, or in other partitions.

    ``reads`` are the attributes that determine it.
    """

    reads: frozenset[int]


class _JoinSide(Struct, frozen=True):
    """A join, seen from one of its sides.

    ``columns`` are the attributes of the rows, ``reads`` all attributes that the operator reads.
    ``on`` are conditions that hold for each row of this side that has influence: parts of the
    join's condition, and conditions on columns of the other side that equal some of this one.
    ``equal`` are these pairs of equal columns, of a row and each of its partners: attributes of the
    other side and columns of this one, whose types have no distinguishable equal values. It is
    empty if rows have influence without a partner.
    """

    columns: frozenset[int]
    reads: frozenset[int]
    on: tuple[Expr, ...] = ()
    equal: tuple[tuple[int, Var], ...] = ()


class JoinPreserved(_JoinSide, frozen=True):
    """Each row occurs any number of times, beside columns of something else.

    This is a join, seen from a side that is never NULL because of a missing partner; or a
    generator.
    """


class JoinNullable(_JoinSide, frozen=True):
    """A join, seen from a side that is NULL if a row of the other side finds no partner."""


class JoinExistence(_JoinSide, frozen=True):
    """A join that shows no column of this side: a semi or anti join, seen from the right."""


class Partitioned(Struct, frozen=True):
    """An operator on classes of rows that are equal in ``columns``: windows, aggregates, DISTINCT.

    The result for each class depends only on that class, and has the class's values there.
    ``columns`` are pairs of attributes, above and below, whose types have no distinguishable equal
    values. ``outputs`` are the attributes above; None if all attributes from below are among them.
    """

    columns: tuple[tuple[int, int], ...]
    reads: frozenset[int]
    outputs: frozenset[int] | None = None


class Union(Struct, frozen=True):
    """A union, seen from one of its inputs; ``columns`` are attributes, above and below."""

    columns: tuple[tuple[int, int], ...]


Join: TypeAlias = JoinPreserved | JoinNullable | JoinExistence
Operator: TypeAlias = Filter | Project | Alias | Reordered | Join | Partitioned | Union
Path: TypeAlias = tuple[Operator, ...]


def attribute_var(id_: int, sort: Sort) -> Var:
    """Return the variable that represents an attribute in the expressions of a path."""
    return Var(Scope.OUT, f"#{id_}", sort)


def attribute_id(var: Var) -> int:
    """Inverse of :func:`attribute_var`."""
    return int(var.name.removeprefix("#"))


def variable_of(attribute: Attribute) -> Var | None:
    """Return the attribute's variable; None if the IR does not have its type."""
    base = sort_of(attribute.type)
    if base is None:
        return None
    return attribute_var(attribute.id, Option(base) if attribute.nullable else base)
