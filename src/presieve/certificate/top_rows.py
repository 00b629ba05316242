# SPDX-License-Identifier: Apache-2.0
"""Trusted. Proves that a filter may stand below ORDER BY ... LIMIT n, if the query computes its
bound (:func:`presieve.semantics.windows.top_rows_obligations`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from presieve.certificate.two_rows import (
    Sides,
    TwoRowClaim,
    check_conditions,
    check_reads,
    columns_to_json,
    parse_columns,
)
from presieve.ir.fold import Column
from presieve.ir.sorts import strip
from presieve.ir.terms import Lit, Scope, Term, Var
from presieve.ir.text import parse_term, print_term
from presieve.ir.wellformed import IllFormed
from presieve.semantics.windows import SortKey, top_rows_obligations

KIND = "top-rows"


@dataclass(frozen=True, slots=True)
class TopRowsCertificate(TwoRowClaim):
    """``below`` (over the sort key in ROW and the bound in KEY) may stand below the first n rows
    in the order of ``key`` (over ROW), whatever n is. ``columns`` are the sort key and the bound,
    which is ``end`` if there are too few rows.
    """

    columns: tuple[Column, Column]
    key: SortKey
    below: Term
    end: Lit

    @property
    def sides(self) -> Sides:
        """The columns of a row beside the bound, and of another row."""
        return self.columns, self.columns[:1]

    def fields(self) -> dict[str, object]:
        """The statement; :func:`parse` reads it."""
        key = self.key
        return {
            "kind": KIND,
            "columns": columns_to_json(self.columns),
            "order": [print_term(key.value), key.descending, key.nulls_first],
            "below": print_term(self.below),
            "end": print_term(self.end),
        }

    def conditions(self) -> Iterator[tuple[str, Term]]:
        """Yield the conditions that must hold for any two rows."""
        return top_rows_obligations(self.key, self._bound, self.below, self.end)

    @property
    def _bound(self) -> Var:
        bound = self.columns[1]
        return Var(Scope.KEY, bound.name, bound.sort)

    def check_form(self) -> None:
        """Raises :class:`presieve.errors.PresieveError` unless the filter compares the sort key
        with the bound, and these have one type.
        """
        of_row, bound = ((column,) for column in self.columns)
        check_reads((), (self.columns, Scope.KEY))
        check_reads((self.key.value,), (of_row, Scope.ROW))
        check_conditions((self.below,), (of_row, Scope.ROW), (bound, Scope.KEY))
        sorts = {strip(s) for s in (self.key.value.sort, self._bound.sort, self.end.sort)}
        if len(sorts) != 1:
            raise IllFormed("the bound is of another type than the sort key")


def parse(data: Mapping[str, Any]) -> TopRowsCertificate:
    """Read a certificate of this kind. Raises KeyError, TypeError, ValueError or
    :class:`presieve.errors.PresieveError` if ``data`` is malformed.
    """
    key, bound = parse_columns(data["columns"])
    value, descending, nulls_first = data["order"]
    end = parse_term(data["end"])
    if not isinstance(end, Lit) or not {descending, nulls_first} <= {True, False}:
        raise ValueError("the end is no constant, or a direction is no truth value")
    order = SortKey(parse_term(value), descending, nulls_first)
    return TopRowsCertificate((key, bound), order, parse_term(data["below"]), end)
