"""Windows run on small tables: what each function's frame holds, as Spark says it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cmp_to_key
from typing import Any, TypeAlias

Row: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class By:
    """A sort key: a column."""

    name: str
    descending: bool = False
    nulls_first: bool = True


@dataclass(frozen=True, slots=True)
class Over:
    """A frame: of ``rows``, or of values. None is no bound."""

    lower: int | None
    upper: int | None
    rows: bool = False


def compared(one: Any, other: Any) -> int:
    """-1, 0 or 1, as Spark sorts: NaN is the largest, and the zeros are equal."""
    nans = [isinstance(x, float) and math.isnan(x) for x in (one, other)]
    if any(nans):
        return nans[0] - nans[1]
    return int(one > other) - int(one < other)


def order(keys: Sequence[By]) -> Callable[[Row, Row], int]:
    """Compares two rows."""

    def compare(a: Row, b: Row) -> int:
        for key in keys:
            x, y = a[key.name], b[key.name]
            if x is None or y is None:
                found = (x is None) - (y is None)
                found = -found if key.nulls_first else found
            else:
                found = -compared(x, y) if key.descending else compared(x, y)
            if found:
                return found
        return 0

    return compare


def frames(
    rows: Sequence[Row], partition: Sequence[str], keys: Sequence[By], over: Sequence[Over]
) -> list[tuple[Row, tuple[tuple[int, ...], ...]]]:
    """Each row with the ``id`` of those in each of its frames. Peers stay in the order in which
    they come.
    """
    classes: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        classes.setdefault(tuple(row[name] for name in partition), []).append(row)
    found = []
    for members in classes.values():
        members.sort(key=cmp_to_key(order(keys)))
        for place, row in enumerate(members):
            held = (_held(members, place, one, keys) for one in over)
            found.append((row, tuple(tuple(m["id"] for m in h) for h in held)))
    return found


def _held(members: Sequence[Row], place: int, over: Over, keys: Sequence[By]) -> list[Row]:
    if over.rows:
        low = 0 if over.lower is None else max(0, place + over.lower)
        high = len(members) if over.upper is None else max(0, place + over.upper + 1)
        return list(members[low:high])
    compare, row = order(keys), members[place]

    def moved(by: int) -> Row:
        key = keys[0]
        value = row[key.name]
        if value is None or not by:
            return row
        return {**row, key.name: value - by if key.descending else value + by}

    held = list(members)
    if over.lower is not None:
        held = [m for m in held if compare(moved(over.lower), m) <= 0]
    if over.upper is not None:
        held = [m for m in held if compare(m, moved(over.upper)) <= 0]
    return held
