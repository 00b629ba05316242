# SPDX-License-Identifier: Apache-2.0
"""Trusted. Proves that a filter may stand below a window (:mod:`presieve.semantics.windows`)."""

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
from presieve.ir.terms import Scope, Term
from presieve.ir.text import parse_term, print_term
from presieve.ir.wellformed import IllFormed
from presieve.semantics.windows import (
    CURRENT_ROW,
    DISTANCES,
    Bound,
    Distance,
    SortKey,
    Window,
    WindowFrame,
    influence,
    obligations,
)

KIND = "window"


@dataclass(frozen=True, slots=True)
class WindowCertificate(TwoRowClaim):
    """``prefilter`` (over ROW) may stand below the window, where ``where`` (over KEY) stands above
    it and stays there. ``columns`` are the columns that these terms and the window read.
    """

    columns: tuple[Column, ...]
    window: Window
    where: Term
    prefilter: Term

    @property
    def sides(self) -> Sides:
        """The columns of one row, and of the other."""
        return self.columns, self.columns

    def fields(self) -> dict[str, object]:
        """The statement; :func:`parse` reads it."""
        window = self.window
        return {
            "kind": KIND,
            "columns": columns_to_json(self.columns),
            "partition": [print_term(t) for t in window.partition],
            "order": [[print_term(k.value), k.descending, k.nulls_first] for k in window.order],
            "frames": [[_bound_to_json(f.lower), _bound_to_json(f.upper)] for f in window.frames],
            "raises": window.raises,
            "limits": window.limits,
            "wraps": window.wraps,
            "where": print_term(self.where),
            "prefilter": print_term(self.prefilter),
        }

    def conditions(self) -> Iterator[tuple[str, Term]]:
        """Yield the conditions that must hold for any two rows."""
        return obligations(self.window, self.where, self.prefilter)

    def check_form(self) -> None:
        """Raises :class:`presieve.errors.PresieveError` unless these are conditions over existing
        columns. An operator that is not a window and shows its rows as they are has neither frames
        nor keys.
        """
        window = self.window
        of_rows = (*window.partition, *(k.value for k in window.order))
        check_reads(of_rows, (self.columns, Scope.ROW))
        check_conditions((self.prefilter,), (self.columns, Scope.ROW))
        check_conditions((self.where,), (self.columns, Scope.KEY))
        if not window.frames and of_rows:
            raise IllFormed("a window has a frame")
        if window.distances and window.wraps and window.limits is None:
            raise IllFormed("nothing is known of the type of the sort key")
        influence(window)


def parse(data: Mapping[str, Any]) -> WindowCertificate:
    """Read a certificate of this kind. Raises KeyError, TypeError, ValueError or
    :class:`presieve.errors.PresieveError` if ``data`` is malformed.
    """
    limits = data["limits"]
    order = tuple(SortKey(parse_term(v), bool(d), bool(n)) for v, d, n in data["order"])
    window = Window(
        tuple(map(parse_term, data["partition"])),
        order,
        tuple(WindowFrame(*(_parse_bound(x, order) for x in f)) for f in data["frames"]),
        bool(data["raises"]),
        None if limits is None else (int(limits[0]), int(limits[1])),
        bool(data["wraps"]),
    )
    where, prefilter = parse_term(data["where"]), parse_term(data["prefilter"])
    return WindowCertificate(parse_columns(data["columns"]), window, where, prefilter)


_NAMES = {kind.__name__.lower(): kind for kind in DISTANCES.values()}


def _bound_to_json(bound: Bound) -> object:
    """Return None, 0 for the current row, or a number and the unit that it counts."""
    if isinstance(bound, Distance):
        return [bound.number, type(bound).__name__.lower()]
    return None if bound is None else 0


def _parse_bound(data: Any, order: tuple[SortKey, ...]) -> Bound:
    """Inverse of :func:`_bound_to_json`. A number by itself, as older certificates stored it,
    counts in the unit of the sort key.
    """
    if data is None or data == 0:
        return None if data is None else CURRENT_ROW
    if isinstance(data, list):
        number, name = data
        return _NAMES[name](int(number))
    (key,) = order
    return DISTANCES[strip(key.value.sort)](int(data))
