# SPDX-License-Identifier: Apache-2.0
"""Untrusted. The base class for folds that are written as classes."""

from __future__ import annotations

from typing import Any


class Aggregator:
    """A fold over the rows of one group: ``finish(reduce(... reduce(zero(), row1) ..., rown))``.

    Inheriting is optional: any class or instance with ``zero`` and ``reduce`` is accepted. The
    accumulator is a plain value or a tuple of plain values. ``reduce`` returns it and does not
    change it in place. NULL is ``None``. Follows Spark's ``expressions.Aggregator``.

    Example:
        >>> class Best(presieve.Aggregator):
        ...     def zero(self):
        ...         return None
        ...     def reduce(self, acc, row):
        ...         return row["score"] if acc is None or row["score"] > acc else acc
    """

    def zero(self) -> Any:
        """Return the accumulator of a group before its first row."""
        raise NotImplementedError("an Aggregator needs zero()")

    def reduce(self, acc: Any, row: Any) -> Any:
        """Return the accumulator after one more row.

        Args:
            acc: The accumulator before the row.
            row: The row; read its columns as ``row["x"]``, ``row.x`` or ``row[0]``.
        """
        raise NotImplementedError("an Aggregator needs reduce(acc, row)")

    def merge(self, a: Any, b: Any) -> Any:
        """Combine two partial accumulators, as in Spark's own class; presieve does not call it.

        Args:
            a: The accumulator of some rows.
            b: The accumulator of others.
        """
        raise NotImplementedError("this Aggregator has no merge(a, b)")

    def finish(self, acc: Any) -> Any:
        """Return the output: one value, or a tuple with one value for each output column.

        Args:
            acc: The accumulator after the last row.
        """
        return acc
