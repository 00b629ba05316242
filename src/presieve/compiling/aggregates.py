"""Untrusted. Aggregates of rows, and what is computed of them, as expressions of Spark SQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from presieve.compiling.expressions import Text, Writer
from presieve.errors import DeclineSignal
from presieve.ir.sorts import INT, strip
from presieve.ir.terms import Var
from presieve.lift.values.ranges import Interval
from presieve.semantics.aggregates import AggregateColumn
from presieve.semantics.build import get
from presieve.semantics.types import MAX_DIGITS
from presieve.semantics.values import INT_RANGES
from presieve.sql.names import InexpressibleError

_ROOM = 10
"""Digits that Spark's sum of decimals has more than they have (``Sum.resultType``)."""


@dataclass(slots=True)
class AggregateWriter:
    """Writes aggregates over ``rows``, of groups of which none has more rows than ``most``, and
    terms over their columns. What is written says which types the columns have.
    """

    rows: Writer
    most: int
    types: dict[Var, str] = field(default_factory=dict)
    intervals: dict[str, Interval] = field(default_factory=dict)

    def call(self, column: AggregateColumn) -> str:
        """The call of an aggregate function. Raises :class:`DeclineSignal`."""
        try:
            argument = self._argument(column)
        except InexpressibleError as error:
            raise DeclineSignal("no-text", str(error)) from None
        return f"{column.function}({argument})"

    def over(self, columns: Sequence[AggregateColumn]) -> Writer:
        """What writes terms over the aggregates' columns and the grouping columns."""
        names = {c.result: c.name for c in columns}
        ranges = replace(self.rows.ranges, fields=self.intervals)
        return Writer({**self.rows.names, **names}, {**self.rows.types, **self.types}, ranges)

    def _argument(self, column: AggregateColumn) -> str:
        if column.function in ("count", "count_if"):
            self.types[column.result] = "bigint"
            self.intervals[column.name] = (0, self.most)
            return self.rows.text(get(column.argument)).sql
        if strip(column.argument.sort) != INT:
            return self.rows.text(column.argument).sql
        low, high = self.rows.interval(column.argument)
        wide = self.rows.is_wide(column.argument)
        text = self.rows.whole(column.argument, wide)
        self.types[column.result] = text.type
        self.intervals[column.name] = (low, high)
        return text.sql if column.function != "sum" else self._summed(column, text, low, high)

    def _summed(self, column: AggregateColumn, text: Text, low: int, high: int) -> str:
        """What is summed, as a type of which no sum overflows."""
        most = max(-low, high) * self.most
        self.intervals[column.name] = (min(low, 0) * self.most, max(high, 0) * self.most)
        if text.type == "bigint" and most <= INT_RANGES["bigint"][1]:
            return text.sql
        digits = max(len(str(most)), len(str(max(-low, high))) + _ROOM, 20 + _ROOM)
        if digits > MAX_DIGITS:
            raise InexpressibleError("a sum of more than 38 digits")
        self.types[column.result] = f"DECIMAL({digits},0)"
        return f"CAST({text.sql} AS DECIMAL({digits - _ROOM},0))"
