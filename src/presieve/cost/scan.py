"""Untrusted. A scan of local Parquet files below a boundary: what a backend says of it. Data only,
but for one question that the backend answers.

``Estimate`` is what the other modules make of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from presieve.ir.terms import SQL_TRUE, Term, Var


@dataclass(frozen=True, slots=True)
class Scan:
    """``files`` are paths of this machine. ``columns`` are the names in the files of the variables
    of which ``prefilter`` and ``keys`` speak, the grouping columns of the boundary, and ``given``:
    what the filters say, as far as it is understood, that stand between the scan and the boundary.
    ``skips`` says which share of the rows the scan skips by the pre-filter, by all that it goes by;
    None where that is not known.
    """

    files: tuple[str, ...]
    columns: Mapping[Var, str]
    prefilter: Term
    given: Term = SQL_TRUE
    keys: tuple[Term, ...] = ()
    skips: Callable[[], float | None] = lambda: None


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


@dataclass(frozen=True, slots=True)
class Reads:
    """What a reader decodes of files that were looked at: ``read`` of the ``rows``, in
    ``groups_read`` of the row ``groups``. ``used``: it makes use of the filters that it has.
    """

    rows: int = 0
    read: int = 0
    groups: int = 0
    groups_read: int = 0
    used: bool = True

    def __add__(self, other: Reads) -> Reads:
        return Reads(
            self.rows + other.rows,
            self.read + other.read,
            self.groups + other.groups,
            self.groups_read + other.groups_read,
            self.used and other.used,
        )

    @property
    def skipped(self) -> float:
        """The share of rows that are not decoded."""
        return 1 - self.read / self.rows if self.rows else 0.0
