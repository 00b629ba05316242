"""Untrusted. The base class of a fold that is written as a class."""

from __future__ import annotations

from typing import Any


class Aggregator:
    """A fold over the rows of one group: ``finish(reduce(... reduce(zero(), row1) ..., rown))``.

    Inheriting is optional: any class or instance with ``zero`` and ``reduce`` is accepted. The
    accumulator is a plain value or a tuple of plain values; it is returned, never changed in
    place. NULL is ``None``.

    >>> class Best(Aggregator):
    ...     def zero(self):
    ...         return None
    ...     def reduce(self, acc, row):
    ...         return row["score"] if acc is None or row["score"] > acc else acc
    """

    def zero(self) -> Any:
        """The accumulator of a group before its first row."""
        raise NotImplementedError("an Aggregator needs zero()")

    def reduce(self, acc: Any, row: Any) -> Any:
        """The accumulator after one more row: ``row["x"]``, ``row.x`` or ``row[0]``."""
        raise NotImplementedError("an Aggregator needs reduce(acc, row)")

    def merge(self, a: Any, b: Any) -> Any:
        """Two partial accumulators as one. Optional: proofs speak of the rows in any order."""
        raise NotImplementedError("this Aggregator has no merge(a, b)")

    def finish(self, acc: Any) -> Any:
        """The output: one value, or a tuple with one value for each output column."""
        return acc
