"""Untrusted. A scan of local Parquet files below a boundary: what a backend says of it. Data only.

``Estimate`` is what the other modules make of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from presieve.ir.terms import SQL_TRUE, Term, Var


@dataclass(frozen=True, slots=True)
class Scan:
    """``files`` are paths of this machine. ``columns`` are the names in the files of the variables
    of which ``prefilter`` and ``keys`` speak, the grouping columns of the boundary, and ``given``:
    what the filters say, as far as it is understood, that stand between the scan and the boundary.
    """

    files: tuple[str, ...]
    columns: Mapping[Var, str]
    prefilter: Term
    given: Term = SQL_TRUE
    keys: tuple[Term, ...] = ()


@dataclass(frozen=True, slots=True)
class Estimate:
    """Shares of the rows that arrive at the boundary: ``kept`` by the pre-filter, ``least`` of them
    that are kept as far as a sample of this size can tell, and ``skipped`` by the scan, in whole
    row groups. ``rows`` is the size of the sample.
    """

    kept: float
    least: float
    skipped: float
    rows: int
