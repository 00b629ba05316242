# SPDX-License-Identifier: Apache-2.0
"""Trusted. The vocabulary for pushdowns: the search finds them, certificates claim them."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from presieve.ir.ops import sql_conjuncts
from presieve.ir.terms import Term

Kind: TypeAlias = Literal["exact", "split", "partial", "empty", "none"]
"""exact: the residual is true; split: strictly weaker than the filter; partial: the filter itself;
empty: the filter can never hold; none: nothing to push."""

Strength: TypeAlias = Literal["optimal", "regions", "universe"]
"""optimal: no correct pre-filter keeps fewer rows, since each kept row changes the result of one of
the witnesses' tables; regions: every kept region of rows, as the search tells rows apart, has a
witness, so no correct pre-filter drops one of these regions; universe: strongest among the
candidates tried."""


ResidualStrength: TypeAlias = Literal["needed", "unshown"]
"""needed: without any one conjunct of the residual the pushdown is wrong, and a table shows it;
unshown: this is not shown for all conjuncts."""


class Witness(Struct, frozen=True):
    """Why the pre-filter cannot be stronger on one region of rows.

    ``rows`` are an input table of one group; without the row at ``index`` the original pipeline
    gives another result. ``region`` is a predicate: the rows that the witness speaks for. For the
    claim "optimal" the witness speaks for every row that changes the result when it takes the place
    of the row at ``index``, in a group of any key.
    """

    region: Term
    key: tuple[Term, ...]
    rows: tuple[tuple[Term, ...], ...]
    index: int


class ResidualWitness(Struct, frozen=True):
    """Why the residual cannot do without one of its conjuncts.

    ``rows`` are an input table of one group, which the filter rejects. The residual without its
    conjunct number ``conjunct`` (from 0, in order) accepts the rows that the pre-filter keeps.
    """

    conjunct: int
    key: tuple[Term, ...]
    rows: tuple[tuple[Term, ...], ...]


def residual_conjuncts(kind: Kind, residual: Term) -> tuple[Term, ...]:
    """The conjuncts that a residual checks: none if the filter can never hold."""
    return () if kind == "empty" else sql_conjuncts(residual)


def residual_strength(
    kind: Kind, residual: Term, witnesses: tuple[ResidualWitness, ...]
) -> ResidualStrength:
    """Whether there is a witness for every conjunct."""
    witnessed = {w.conjunct for w in witnesses}
    every = range(len(residual_conjuncts(kind, residual)))
    return "needed" if witnessed >= set(every) else "unshown"


class Pushdown(Struct, frozen=True):
    """``prefilter`` and ``residual`` may replace the filter, because ``invariant`` relates the
    original run (ACC) and the run over the pre-filtered rows (TWIN) at every moment.
    """

    kind: Kind
    strength: Strength
    prefilter: Term
    residual: Term
    invariant: tuple[Term, ...]
    witnesses: tuple[Witness, ...] = ()
    residual_witnesses: tuple[ResidualWitness, ...] = ()
