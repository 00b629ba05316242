"""Trusted. The words for what a pushdown is: found by the search, claimed by certificates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from presieve.ir.terms import Term

Kind: TypeAlias = Literal["exact", "split", "partial", "empty", "none"]
"""exact: the residual is true; split: strictly weaker than the filter; partial: the filter itself;
empty: the filter can never hold; none: nothing to push."""

Strength: TypeAlias = Literal["strongest", "regions", "universe"]
"""strongest: no right pre-filter keeps fewer rows, since each row that is kept changes the result
of one of the witnesses' tables; regions: every region of rows that is kept has a witness, so that
none keeps fewer of them; universe: strongest among the candidates tried."""


@dataclass(frozen=True, slots=True)
class Witness:
    """Why the pre-filter cannot be stronger on one region of rows.

    ``rows`` are an input table of one group; without the row at ``index`` the original pipeline
    gives another result. ``region`` is a predicate: the rows that the witness speaks for. Where the
    claim is "strongest" it speaks for every row that tells in the place of that at ``index``, in a
    group of whatever key.
    """

    region: Term
    key: tuple[Term, ...]
    rows: tuple[tuple[Term, ...], ...]
    index: int


@dataclass(frozen=True, slots=True)
class Pushdown:
    """``prefilter`` and ``residual`` may replace the filter, because ``invariant`` relates the
    original run (ACC) and the run over the pre-filtered rows (TWIN) at every moment.
    """

    kind: Kind
    strength: Strength
    prefilter: Term
    residual: Term
    invariant: tuple[Term, ...]
    witnesses: tuple[Witness, ...] = ()
