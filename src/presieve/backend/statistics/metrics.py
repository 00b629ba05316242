"""Untrusted. What Spark's metrics say of a DataFrame that was run. Nothing depends on it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Measurement:
    """One run of a DataFrame.

    Attributes:
        seconds: Wall-clock time, including planning.
        rows: Rows of the result.
        scanned: Rows out of all scans. Skipped row groups and pages contribute none.
    """

    seconds: float
    rows: int
    scanned: int
