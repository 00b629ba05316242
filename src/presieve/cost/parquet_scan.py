# SPDX-License-Identifier: Apache-2.0
"""Untrusted. A scan of local Parquet files below a boundary, as a backend describes it. Data only,
except for one question that the backend answers.

``Estimate`` is the result of the other modules.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from presieve.ir.terms import SQL_TRUE, Term, Var


class Scan(Struct, frozen=True):
    """A scan below a boundary.

    ``files`` are paths on this machine. ``columns`` maps the variables in ``prefilter``, ``given``
    and ``keys`` to the files' column names; ``keys`` are the grouping columns of the boundary.
    ``given`` is the part of the filters between the scan and the boundary that is understood, and
    ``is_given_whole`` says that it is all of them.
    ``skips`` returns the share of the rows that the scan skips because of the pre-filter, by all
    that it goes by; None if unknown.
    """

    files: tuple[str, ...]
    columns: Mapping[Var, str]
    prefilter: Term
    given: Term = SQL_TRUE
    keys: tuple[Term, ...] = ()
    skips: Callable[[], float | None] = lambda: None
    is_given_whole: bool = True


class Estimate(Struct, frozen=True):
    """Shares of the rows that arrive at the boundary.

    ``kept`` is the share that the pre-filter keeps, ``least`` its lower bound for a sample of this
    size, and ``skipped`` the share that the scan skips in whole row groups. ``rows`` is the size of
    the sample.
    """

    kept: float
    least: float
    skipped: float
    rows: int


class Reads(Struct, frozen=True):
    """The part of the examined files that a reader decodes: ``read`` of the ``rows``, in
    ``groups_read`` of the row ``groups``. ``used`` says that it uses the filters that it has.
    """

    rows: int = 0
    read: int = 0
    groups: int = 0
    groups_read: int = 0
    used: bool = True

    def __add__(self, more_reads: Reads) -> Reads:
        return Reads(
            self.rows + more_reads.rows,
            self.read + more_reads.read,
            self.groups + more_reads.groups,
            self.groups_read + more_reads.groups_read,
            self.used and more_reads.used,
        )

    @property
    def skipped(self) -> float:
        """The share of rows that are not decoded."""
        return 1 - self.read / self.rows if self.rows else 0.0
