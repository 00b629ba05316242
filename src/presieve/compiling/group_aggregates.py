# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Aggregates of rows, and terms computed from them, as expressions of Spark SQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from presieve.compiling.row_expressions import Text, Writer
from presieve.errors import DeclineSignal
from presieve.ir.inner_names import HELD, ROW
from presieve.ir.sorts import INT, strip
from presieve.ir.terms import Scope, Term, Var
from presieve.ir.walk import variables
from presieve.lift.values.ranges import Interval, field_ranges
from presieve.records import replace
from presieve.semantics.aggregates import AggregateColumn, ListColumn
from presieve.semantics.smart_constructors import get
from presieve.semantics.types import MAX_DIGITS
from presieve.semantics.values import INT_RANGES
from presieve.sql.quoted_names import InexpressibleError, quote

_ROOM = 10
"""Digits that Spark's sum of decimals has in addition to theirs (``Sum.resultType``)."""


@dataclass(slots=True)
class AggregateWriter:
    """Writes aggregates over ``rows``, for groups of at most ``most`` rows, and terms over the
    aggregates' columns. It records the columns' types, and the greatest magnitude of the values
    that are ``summed``.
    """

    rows: Writer
    most: int
    names: dict[Var, str] = field(default_factory=dict)
    types: dict[Var, str] = field(default_factory=dict)
    intervals: dict[str, Interval] = field(default_factory=dict)
    summed: dict[str, int] = field(default_factory=dict)

    def call(self, column: AggregateColumn) -> str:
        """Write the call of an aggregate function. Raises :class:`DeclineSignal`."""
        try:
            argument = self._write_argument(column)
            if column.by is not None:
                argument = f"{argument}, {self._ordering(column.by)}"
        except InexpressibleError as error:
            raise DeclineSignal("no-text", str(error)) from None
        self.names[column.result] = quote(column.name)
        return f"{column.function}({argument})"

    def fold(self, column: ListColumn) -> str:
        """Write a fold of the list of all rows. Raises :class:`DeclineSignal`."""
        try:
            return self._fold(column)
        except InexpressibleError as error:
            raise DeclineSignal("no-text", str(error)) from None

    def over(self) -> Writer:
        """A writer of terms over the aggregates' columns and the grouping columns."""
        ranges = replace(self.rows.ranges, fields=self.intervals)
        names = {**self.rows.names, **self.names}
        return Writer(names, {**self.rows.types, **self.types}, ranges)

    def _fold(self, column: ListColumn) -> str:
        own = set(column.results)
        taken = name_taken(column)
        ranges = field_ranges(column.fields, self.rows.ranges)
        self.intervals |= ranges.fields
        field_names = dict(zip(column.results, name_held(column), strict=True))
        names = {v: f"{ROW}.{name}" for v, name in taken.items()}
        names |= {v: f"{HELD}.{name}" for v, name in field_names.items()}
        integers = {v: "bigint" for v in own if strip(v.sort) == INT}
        self.types |= integers
        self.names |= {v: f"{quote(column.name)}.{name}" for v, name in field_names.items()}
        step = Writer({**self.rows.names, **names}, {**self.rows.types, **integers}, ranges)
        rows = [f"{self.rows.names[v]} AS {name}" for v, name in taken.items()] or ["1 AS c0"]
        zero = self._struct(step, column, [f.init for f in column.fields])
        merge = self._struct(step, column, [f.step for f in column.fields])
        listed = f"collect_list(struct({', '.join(rows)}))"
        return f"aggregate({listed}, {zero}, ({HELD}, {ROW}) -> {merge})"

    def _struct(self, writer: Writer, column: ListColumn, terms: Sequence[Term]) -> str:
        """Write a struct with these terms as its fields."""
        parts = []
        for name, type_, term in zip(name_held(column), column.types, terms, strict=True):
            if not type_:
                raise InexpressibleError("values of its type are not kept in a list's fold")
            if strip(term.sort) == INT and writer.is_wide(term):
                raise InexpressibleError("an integer of more than 64 bits in a list's fold")
            sql = writer.output(term, type_)
            parts.append(f"'{name}', CAST({sql} AS {type_.upper()})")
        return f"named_struct({', '.join(parts)})"

    def _write_argument(self, column: AggregateColumn) -> str:
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
        return text.sql if column.function != "sum" else self._sum_argument(column, text, low, high)

    def _ordering(self, by: Term) -> str:
        """Write the value by which a row is chosen."""
        if strip(by.sort) != INT:
            return self.rows.text(by).sql
        return self.rows.whole(by, self.rows.is_wide(by)).sql

    def _sum_argument(self, column: AggregateColumn, text: Text, low: int, high: int) -> str:
        """Write the argument of a sum in a type whose sums do not overflow."""
        self.summed[column.name] = max(-low, high)
        most = max(-low, high) * self.most
        self.intervals[column.name] = (min(low, 0) * self.most, max(high, 0) * self.most)
        if text.type == "bigint" and most <= INT_RANGES["bigint"][1]:
            return text.sql
        digits = max(len(str(most)), len(str(max(-low, high))) + _ROOM, 20 + _ROOM)
        if digits > MAX_DIGITS:
            raise InexpressibleError("a sum of more than 38 digits")
        self.types[column.result] = f"DECIMAL({digits},0)"
        return f"CAST({text.sql} AS DECIMAL({digits - _ROOM},0))"


def name_held(column: ListColumn) -> list[str]:
    """Name the fields of the struct that the fold of a list holds."""
    return [f"f{i}" for i in range(len(column.fields))]


def name_taken(column: ListColumn) -> dict[Var, str]:
    """Name the fields of the structs in a list, by the column that each has the value of."""
    own = set(column.results)
    read = [v for v in variables(*(f.step for f in column.fields)) if v not in own]
    return {v: f"c{i}" for i, v in enumerate(read) if v.scope is Scope.ROW}
