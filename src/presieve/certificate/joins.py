# SPDX-License-Identifier: Apache-2.0
"""Trusted. Proves that filters may stand below a join's sides (:mod:`presieve.semantics.joins`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from presieve.certificate.two_rows import (
    Sides,
    TwoRowClaim,
    check_conditions,
    columns_to_json,
    parse_columns,
)
from presieve.ir.fold import Column
from presieve.ir.terms import Scope, Term
from presieve.ir.text import parse_term, print_term
from presieve.semantics.joins import Join, obligations

KIND = "join"


@dataclass(frozen=True, slots=True)
class JoinCertificate(TwoRowClaim):
    """``left`` (over KEY) and ``right`` (over ROW) may stand below the join, where ``where`` (over
    both) stands above it and stays there. ``keys`` and ``columns`` are the columns of the left and
    of the right side that these terms read.
    """

    keys: tuple[Column, ...]
    columns: tuple[Column, ...]
    join: Join
    where: Term
    left: Term
    right: Term

    @property
    def sides(self) -> Sides:
        """The columns of both sides."""
        return self.keys, self.columns

    def fields(self) -> dict[str, object]:
        """The statement; :func:`parse` reads it."""
        return {
            "kind": KIND,
            "columns": [columns_to_json(self.keys), columns_to_json(self.columns)],
            "on": print_term(self.join.on),
            "preserved": [self.join.left, self.join.right],
            "raises": self.join.raises,
            "where": print_term(self.where),
            "prefilters": [print_term(self.left), print_term(self.right)],
        }

    def conditions(self) -> Iterator[tuple[str, Term]]:
        """Yield the conditions that must hold for every left row and every right row."""
        return obligations(self.join, self.where, (self.left, self.right))

    def check_form(self) -> None:
        """Raises :class:`presieve.errors.PresieveError` unless these are conditions over the
        columns.
        """
        left, right = (self.keys, Scope.KEY), (self.columns, Scope.ROW)
        check_conditions((self.where, self.join.on), left, right)
        check_conditions((self.left,), left)
        check_conditions((self.right,), right)


def parse(data: Mapping[str, Any]) -> JoinCertificate:
    """Read a certificate of this kind. Raises KeyError, TypeError, ValueError or
    :class:`presieve.errors.PresieveError` if ``data`` is malformed.
    """
    keys, columns = map(parse_columns, data["columns"])
    left, right = map(bool, data["preserved"])
    join = Join(parse_term(data["on"]), left, right, bool(data["raises"]))
    below, beside = map(parse_term, data["prefilters"])
    return JoinCertificate(keys, columns, join, parse_term(data["where"]), below, beside)
