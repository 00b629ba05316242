# SPDX-License-Identifier: Apache-2.0
"""Trusted. Claims that filters may stand below an operator, decided on two rows.

Each script is the negation of an obligation, for any two rows that the columns' types allow.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from presieve.certificate.claim import ConditionClaim
from presieve.ir.fold import Column, Fold, Mode, Problem
from presieve.ir.sorts import BOOL, strip
from presieve.ir.terms import SQL_TRUE, Scope, Term, Var
from presieve.ir.walk import variables
from presieve.ir.wellformed import IllFormed
from presieve.semantics.types import column
from presieve.smt.two_runs import Runs

Sides: TypeAlias = tuple[tuple[Column, ...], tuple[Column, ...]]


class TwoRowClaim(ConditionClaim):
    """A claim of this kind: conditions over a row of KEY and a row of ROW."""

    __slots__ = ()

    @property
    @abstractmethod
    def sides(self) -> Sides:
        """The columns of KEY and those of ROW."""

    def write_violation(self, wrong: Term) -> str:
        """Build a script that is satisfiable if some two rows make ``wrong`` true."""
        keys, columns = self.sides
        fold = Fold("operator", columns, keys, (), ())
        runs = Runs(Problem(fold, SQL_TRUE, Mode.GROUPED), [wrong])
        runs.encoder.fact(runs.encoder.boolean(wrong, runs.row("other")))
        return runs.encoder.take()


def columns_to_json(columns: Iterable[Column]) -> list[list[object]]:
    """Plain data for ``json``; inverse of :func:`parse_columns`."""
    return [[c.name, c.type, c.sort != strip(c.sort)] for c in columns]


def parse_columns(data: Any) -> tuple[Column, ...]:
    """Inverse of :func:`columns_to_json`. Raises TypeError or ValueError if ``data`` is
    malformed.
    """
    columns = [column(str(name), str(type_), bool(nullable)) for name, type_, nullable in data]
    return tuple(c for c in columns if c is not None)


def check_reads(terms: Iterable[Term], *columns: tuple[Sequence[Column], Scope]) -> None:
    """Raises :class:`IllFormed` if a term reads anything but the columns of these scopes, or two
    columns of a scope have one name: they would be one column.
    """
    for of_scope, _ in columns:
        if len({c.name for c in of_scope}) < len(of_scope):
            raise IllFormed("two columns have one name")
    allowed_variables = {Var(scope, c.name, c.sort) for every, scope in columns for c in every}
    if not allowed_variables.issuperset(variables(*terms)):
        raise IllFormed("a term reads what is no column")


def check_conditions(terms: Sequence[Term], *columns: tuple[Sequence[Column], Scope]) -> None:
    """Check the same, and raise :class:`IllFormed` if one of the terms is not a condition."""
    check_reads(terms, *columns)
    if any(strip(t.sort) != BOOL for t in terms):
        raise IllFormed("a filter is no condition")
