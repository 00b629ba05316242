# SPDX-License-Identifier: Apache-2.0
"""Untrusted. The result of a search."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from presieve.errors import Declined
from presieve.ir.fold import Problem
from presieve.ir.pushdown import Pushdown
from presieve.synthesis.sampling.concrete_tables import NeededRow
from presieve.universe.boxes import Cell


class SearchResult(Struct, frozen=True):
    """The result of a search. ``pushdown`` is None if nothing can be pushed.

    ``cells`` are the regions that rows can be in, ``needs`` those that must stay as far as runs
    have shown, ``witnesses`` the runs that show it.
    """

    problem: Problem
    pushdown: Pushdown | None
    declined: tuple[Declined, ...]
    solver_calls: int
    seconds: float
    cells: frozenset[Cell] = frozenset()
    needs: frozenset[Cell] = frozenset()
    witnesses: Mapping[Cell, NeededRow] = field(default_factory=dict)
