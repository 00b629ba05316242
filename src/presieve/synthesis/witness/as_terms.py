# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Cells and values as terms."""

from __future__ import annotations

from collections.abc import Sequence

from presieve.ir.ops import sql_conjunction
from presieve.ir.sorts import Sort
from presieve.ir.terms import Term, lit
from presieve.semantics.fast_interpreter import State
from presieve.synthesis.sampling.space import Space
from presieve.universe.boxes import Cell


def region(space: Space, cell: Cell) -> Term:
    """The rows of a cell, as a predicate."""
    sides = zip(space.partitions, cell, strict=True)
    return sql_conjunction(p.member(frozenset([i])) for p, i in sides)


def literals(values: State, sorts: Sequence[Sort]) -> tuple[Term, ...]:
    """Values as terms."""
    return tuple(lit(s, v) for v, s in zip(values, sorts, strict=True))  # type: ignore[arg-type]
