# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Makes a table small for a person: fewer rows, and simpler values.

The caller decides what a table must still show, so nothing here has to be right.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import date, datetime

from presieve.ir.fold import Column
from presieve.ir.sorts import (
    BINARY,
    BOOL,
    DATE,
    FLOAT,
    INT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    Option,
    Sort,
    strip,
)
from presieve.ir.sorts import Decimal as DecimalSort
from presieve.semantics.types import bounds
from presieve.semantics.values import Value, date_of, days_of, microseconds_of, same
from presieve.synthesis.sampling.concrete_tables import Table

MAX_TRIALS = 3000
"""The maximum number of tables that are run to get simpler values for one table. A table with a few
hundred columns keeps the values that come after that.
"""

_NUMBERS = (0, 1, 2, 3, -1, 5, 10, -10, 100, -100, 1000)
_TEXTS = ("a", "b")
_DAY = 86_400_000_000
_UNITS = (_DAY, 3_600_000_000, 60_000_000, 1_000_000)


def minimize_rows(table: Table, still: Callable[[Table], bool]) -> Table:
    """Delta debugging down to single rows: no row can be left out."""
    size = max(1, len(table) // 2)
    while True:
        start = 0
        while start < len(table):
            smaller = table[:start] + table[start + size :]
            if still(smaller):
                table = smaller
            else:
                start += size
        if size == 1:
            return table
        size = max(1, size // 2)


def simplify_values(
    columns: Sequence[Column], table: Table, still: Callable[[Table], bool]
) -> Table:
    """Simplify the values of a table, one cell after the other, as long as ``still`` is true."""
    trials_left = MAX_TRIALS
    for i, row in enumerate(table):
        for j, column in enumerate(columns):
            for value in simpler_values(row[j], column):
                if trials_left == 0:
                    return table
                trials_left -= 1
                changed = (*row[:j], value, *row[j + 1 :])
                trial = (*table[:i], changed, *table[i + 1 :])
                if still(trial):
                    table, row = trial, changed
                    break
    return table


def simpler_values(value: Value, column: Column) -> list[Value]:
    """Values of the column that are simpler than this one, the simplest first: small numbers and
    short texts first, NULL and NaN only as the last resort.
    """
    base = strip(column.sort)
    simpler: list[Value] = []
    for candidate in (*_usual(base), *_rounder(value, base)):
        if value is not None and same(candidate, value):
            break  # the values that follow are less simple
        if _fits(candidate, column) and not any(same(candidate, f) for f in simpler):
            simpler.append(candidate)
    return simpler


def _usual(base: Sort) -> Sequence[Value]:
    if base == INT:
        return _NUMBERS
    if base == FLOAT:
        return [float(n) for n in _NUMBERS]
    if base == BOOL:
        return (False, True)
    if base in (STRING, BINARY):
        return _TEXTS
    if base == DATE:
        return (days_of(date(2024, 1, 1)),)
    if base in (TIMESTAMP, TIMESTAMP_NTZ):
        return (microseconds_of(datetime(2024, 1, 1)),)  # naive ones are read as UTC
    if isinstance(base, DecimalSort):
        return [n * 10**base.scale for n in _NUMBERS]
    return ()


def _rounder(value: Value, base: Sort) -> list[Value]:
    """Values near this one with fewer digits, or an earlier round moment."""
    if isinstance(value, float) and math.isfinite(value):
        return [float(round(value)), float(math.floor(value)), round(value, 1), round(value, 3)]
    if not isinstance(value, int) or isinstance(value, bool):
        return []
    if base == DATE:
        try:
            day = date_of(value)
        except OverflowError:
            return []
        return [days_of(d) for d in (day.replace(month=1, day=1), day.replace(day=1))]
    if base in (TIMESTAMP, TIMESTAMP_NTZ):
        return [value - value % unit for unit in _UNITS]
    if isinstance(base, DecimalSort):
        return [value - value % 10**base.scale]
    return [round(value, -n) for n in range(len(str(abs(value))) - 1, 1, -1)]


def _fits(value: Value, column: Column) -> bool:
    if value is None:
        return isinstance(column.sort, Option)
    limits = bounds(column.type)
    return limits is None or not isinstance(value, int) or limits[0] <= value <= limits[1]
