"""Untrusted. What Spark's metrics say of a DataFrame that was run. Nothing depends on it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Measurement:
    """``seconds`` on the clock, planning among them; ``rows`` of the result; ``scanned`` are the
    rows that came out of all scans together. A scan that skips row groups, or pages of them, gives
    fewer rows than there are.
    """

    seconds: float
    rows: int
    scanned: int
