"""Functions that tests name."""

from __future__ import annotations


def half(x: float) -> float:
    """Half of it."""
    return x / 2


def twice(x: float) -> float:
    """Twice as much."""
    return x * 2


def silent(x):  # type: ignore[no-untyped-def]
    """Does not say what it returns."""
    return x
