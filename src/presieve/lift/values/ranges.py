# SPDX-License-Identifier: Apache-2.0
"""Trusted. Bounds for the integers of a fold, to know that a result fits its type. Decimals count
as integers in units of their last digit.

One process of 64 bits holds a group; its address space of 2^47 bytes bounds the rows, and the
footers of files may give a lower bound. A field that grows by at most k with each of n rows stays
within its other values plus k * n.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct, field

from presieve.ir.fold import Field
from presieve.ir.sorts import INT, Decimal, strip
from presieve.ir.terms import App, Lit, Op, Scope, Term, Var
from presieve.records import replace
from presieve.semantics.function_meanings import extent_of
from presieve.semantics.types import SchemaColumn, bounds, parts_of
from presieve.semantics.values import MOST_ROWS

Interval: TypeAlias = tuple[int, int]


class Extent(Struct, frozen=True):
    """The maximum number of rows of the input, and bounds for the values of integer columns."""

    rows: int = MOST_ROWS
    values: Mapping[str, Interval] = field(default_factory=dict)


_OF_PYTHON = {
    **dict.fromkeys((Op.DATE_YEAR, Op.DATE_ISO_YEAR), (1, 9999)),
    Op.DATE_DAYS: (-719_162, 2_932_896),
    Op.CLOCK_MICROS: (-62_135_596_800_000_000, 253_402_300_799_999_999),
}
"""Bounds for dates and times that reached a function: Python has no others."""

EVERYTHING = Extent()
"""Bounds that hold for any data."""


class Ranges(Struct, frozen=True):
    """Least and greatest values: of columns by their types, of fields by how they grow.
    ``of_python``: dates and times are those that reached a function.
    """

    columns: Mapping[str, Interval]
    fields: Mapping[str, Interval] = field(default_factory=dict)
    rows: int = MOST_ROWS
    of_python: bool = True

    def fits(self, term: Term, type_: str) -> bool:
        """Return whether the Int or Decimal term is certainly within the Spark type."""
        limits, interval = bounds(type_), self.interval(term)
        if limits is None or interval is None:
            return False
        return limits[0] <= interval[0] and interval[1] <= limits[1]

    def magnitude(self, term: Term) -> int | None:
        """Return a bound on the absolute value of an Int term; None if none is known."""
        interval = self.interval(term)
        return None if interval is None else max(-interval[0], interval[1])

    def interval(self, term: Term) -> Interval | None:
        """Return the interval of an Int or Decimal term's values; None if nothing is known."""
        match term:
            case Lit(_, value):
                return (int(value), int(value)) if isinstance(value, int) else (0, 0)
            case Var(Scope.ACC, name, _):
                return self.fields.get(name)
            case Var(_, name, _):
                return self.columns.get(name)
            case App(Op.GET | Op.SOME, (inner,)):
                return self.interval(inner)
            case App(Op.DECIMAL_WIDEN, (inner, Lit(_, int() as digits))):
                limits = self.interval(inner)
                return None if limits is None else (limits[0] * 10**digits, limits[1] * 10**digits)
            case App(Op.INT_NEG, (inner,)):
                limits = self.interval(inner)
                return None if limits is None else (-limits[1], -limits[0])
            case App(Op.ITE, (_, a, b)):
                x, y = self.interval(a), self.interval(b)
                return None if x is None or y is None else _hull(x, y)
            case App(Op.INT_ADD | Op.INT_SUB | Op.INT_MUL as op, (a, b)):
                x, y = self.interval(a), self.interval(b)
                return None if x is None or y is None else combine(op, x, y)
            case App(Op.INT_MOD, (_, b)):
                y = self.interval(b)  # between zero and the divisor, whatever is divided
                return None if y is None else (min(y[0] + 1, 0), max(y[1] - 1, 0))
            case App(Op.INT_FLOORDIV, (a, Lit(_, int() as divisor))) if divisor:
                x = self.interval(a)
                return None if x is None else _range_of(end // divisor for end in x)
            case App(Op.STRUCT_FIELD | Op.ARRAY_AT | Op.MAP_AT):
                path = _path_of(term)
                return None if path is None else self.columns.get(path)
            case App(op, _):
                return (self.of_python and _OF_PYTHON.get(op)) or extent_of(term)
        return None


def _range_of(numbers: Iterable[int]) -> Interval:
    ends = tuple(numbers)
    return min(ends), max(ends)


def _hull(*intervals: Interval) -> Interval:
    """Return the least interval with all of these in it."""
    return _range_of(end for interval in intervals for end in interval)


def combine(op: Op, x: Interval, y: Interval) -> Interval:
    """Return the interval of the sums, differences or products of two integers."""
    if op is Op.INT_ADD:
        return x[0] + y[0], x[1] + y[1]
    if op is Op.INT_SUB:
        return x[0] - y[1], x[1] - y[0]
    return _range_of(a * b for a in x for b in y)


def column_ranges(schema: Sequence[SchemaColumn], extent: Extent = EVERYTHING) -> Ranges:
    """Bound the columns by their types and by what is known of the data."""
    columns = {name: limits for c in schema for name, limits in _parts(c.name, c.type)}
    columns |= {c.name: extent.values[c.name] for c in schema if c.name in extent.values}
    return Ranges(columns, rows=min(extent.rows, MOST_ROWS))


def _parts(path: str, type_: str) -> Iterator[tuple[str, Interval]]:
    """Yield the bounds of a column, and of integers in it, by their paths."""
    limits, parts = bounds(type_), parts_of(type_)
    if limits is not None:
        yield path, limits
    for part, of_part in (parts[1] if parts is not None else {}).items():
        yield from _parts(f"{path}{_INSIDE}{part}", of_part)


_INSIDE = "\0"
"""Separates the names of parts in a path: no column has it in its name."""


def _path_of(term: Term) -> str | None:
    """Return the path of a part of a column: a field, an element, or the value of a map."""
    match term:
        case Var(Scope.ROW | Scope.KEY, name, _):
            return name
        case App(Op.GET | Op.SOME, (inner,)):
            return _path_of(inner)
        case App(Op.STRUCT_FIELD, (inner, Lit(_, str() as part))):
            pass
        case App(Op.ARRAY_AT, (inner, _)):
            part = "0"
        case App(Op.MAP_AT, (inner, _)):
            part = "1"
        case _:
            return None
    path = _path_of(inner)
    return None if path is None else f"{path}{_INSIDE}{part}"


def field_ranges(fields: Sequence[Field], columns: Ranges) -> Ranges:
    """Bound the fields of a fold as well."""
    ints = [f for f in fields if strip(f.sort) == INT or isinstance(strip(f.sort), Decimal)]
    field_intervals: dict[str, Interval] = {}
    # A field is bounded once all fields that it depends on are.
    for _ in ints:
        for f in ints:
            if f.name not in field_intervals:
                bound = _field_bound(f, replace(columns, fields=field_intervals))
                if bound is not None:
                    field_intervals[f.name] = bound
    return replace(columns, fields=field_intervals)


def _field_bound(f: Field, ranges: Ranges) -> Interval | None:
    """Bound a field by induction: a step adds at most ``growth`` or sets it to one of ``reset``."""
    start, step = ranges.interval(f.init), _growth(f.step, f.name, ranges)
    if start is None or step is None:
        return None
    growth, reset = step
    base = start if reset is None else _hull(start, reset)
    return base[0] + ranges.rows * min(growth[0], 0), base[1] + ranges.rows * max(growth[1], 0)


def _growth(term: Term, name: str, ranges: Ranges) -> tuple[Interval, Interval | None] | None:
    """Return the interval that a step adds, and that of values that it sets; None if unknown."""
    bound = ranges.interval(term)  # None where the term uses the field, which is not known yet
    if bound is not None:
        return (0, 0), bound
    match term:
        case Var(Scope.ACC, var_name, _) if var_name == name:
            return (0, 0), None
        case App(Op.GET | Op.SOME, (inner,)):
            return _growth(inner, name, ranges)
        case App(Op.ITE, (_, a, b)):
            return _either(_growth(a, name, ranges), _growth(b, name, ranges))
        case App(Op.INT_ADD | Op.INT_SUB as op, (a, b)):
            by, step = ranges.interval(b), _growth(a, name, ranges)
            if op is Op.INT_ADD and ranges.interval(a) is not None:
                by, step = ranges.interval(a), _growth(b, name, ranges)
            if by is None or step is None:
                return None
            growth, reset = step
            return combine(op, growth, by), None if reset is None else combine(op, reset, by)
    return None


def _either(
    a: tuple[Interval, Interval | None] | None, b: tuple[Interval, Interval | None] | None
) -> tuple[Interval, Interval | None] | None:
    if a is None or b is None:
        return None
    resets = [reset for _, reset in (a, b) if reset is not None]
    return _hull(a[0], b[0]), _hull(*resets) if resets else None
