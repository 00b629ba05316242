"""Classes of results: what a function returns is of one of them, whatever it is called with."""

from __future__ import annotations

import ast
import datetime as dt
import heapq
import inspect
import itertools
import math
import re
import textwrap
from collections.abc import Callable
from typing import Any

import pytest

from presieve.lift.entry.item_classes import Classes
from presieve.lift.entry.result_classes import classes_of_results
from presieve.lift.python.names import names_of
from presieve.lift.python.zones import Zone
from presieve.semantics.types import SchemaColumn

HOLIDAYS = {dt.date(2024, 1, 1)}
RATES = {"a": 1.5, "b": 2.0}
MIXED = {"a": 1.5, "b": 2}
LEAST = 3
HALVES = [1, 0.5]


class Hostile:
    """Nobody may ask what it equals."""

    def __call__(self, v: Any) -> Any:
        return v

    def __eq__(self, other: object) -> bool:
        raise AssertionError

    def __hash__(self) -> int:
        raise AssertionError


TYPES = {"s": "string", "v": "bigint", "x": "double", "d": "date", "b": "boolean"}
VALUES: dict[str, list[Any]] = {
    "s": ["", "a", "b", "12", " b ", "a-1-2", "2024-05-06", "x"],
    "v": [0, -3, 7, 2**40],
    "x": [0.0, -2.5, 1e300, float("nan"), float("inf")],
    "d": [dt.date(2024, 1, 1), dt.date(1999, 12, 31)],
    "b": [True, False],
}


def year(s: Any) -> Any:
    if not s:
        return None
    return int(s[:4])


def half(v: Any, x: Any) -> Any:
    y = v / 2
    y += x
    return y if x > 0 else x**2 - abs(x)


def part(s: Any) -> Any:
    first = s.split("-")[0].strip().upper()
    return first + s[1:] + f"{s}!" + str(len(s))


def late(d: Any) -> Any:
    return (dt.date(2024, 6, 1) - d).days + d.weekday() * LEAST


def workday(d: Any) -> Any:
    return d.weekday() < 5 and d not in HOLIDAYS


def parsed(s: Any) -> Any:
    try:
        return dt.datetime.strptime(s, "%Y-%m-%d").date()
    except ValueError:
        return None


def instant(v: Any) -> Any:
    if v is None:
        return None
    return dt.datetime.fromtimestamp(v / 1000.0)


def day_of(v: Any) -> Any:
    return dt.date.fromtimestamp(v)


def next_day(d: Any) -> Any:
    return d + dt.timedelta(days=1)


def rate(s: Any) -> Any:
    return RATES.get(s, 0.0)


def rounded(x: Any) -> Any:
    return math.floor(x) if x < 10 else round(x)


def to_places(x: Any) -> Any:
    return round(x, 1)


def several(v: Any) -> Any:
    n = 0
    while n < v and n < 3:
        n = n + 1
    return min(n, v, 2)


def truth(b: Any, v: Any) -> Any:
    return not b or (b & (v == 1)) or v is None


def octets(s: Any) -> Any:
    parts = s.split("-")
    if len(parts) != 3 or not all(p.isdigit() for p in parts[1:]):
        return False
    a, b = int(parts[1]), int(parts[2])
    return a == 10 or (a == 1 and 0 <= b <= 31)


def checksum(s: Any) -> Any:
    digits = [int(c) for c in s if c.isdigit()]
    total = 0
    for i, d in enumerate(reversed(digits)):
        if i % 2 == 1:
            d *= 2
        total += d
    return total


def even_checksum(s: Any) -> Any:
    return checksum(s) % 2 == 0


def longest(s: Any) -> Any:
    best = ""
    for word in s.split("-"):
        if len(word) > len(best):
            best = word
    return best


def lengths(s: Any) -> Any:
    found = []
    for word in s.split("-"):
        found.append(len(word))
    return sum(found) if found[0] else max(found)


def digits_in(s: Any) -> Any:
    m = re.search("([0-9]+)", s)
    return m.group(1).strip() if m else None


def second(s: Any) -> Any:
    head, _, tail = s.partition("-")
    return tail or head


def named(s: Any) -> Any:
    for name, least in RATES.items():
        if s.startswith(name) and least > 1:
            return name
    return sorted(RATES)[0]


def ranked(s: Any) -> Any:
    pairs = sorted(zip(s, range(9), strict=False), key=lambda pair: pair[1])
    return pairs[0][1]


KNOWN = [
    (octets, {bool}),
    (checksum, {int}),
    (even_checksum, {bool}),
    (longest, {str}),
    (lengths, {int}),
    (digits_in, {str}),
    (second, {str}),
    (named, {str}),
    (ranked, {int}),
    (year, {int}),
    (half, {float}),
    (part, {str}),
    (late, {int}),
    (workday, {bool}),
    (parsed, {dt.date}),
    (instant, {dt.datetime}),
    (day_of, {dt.date}),
    (next_day, {dt.date}),
    (rate, {float}),
    (rounded, {int}),
    (to_places, {float}),
    (several, {int}),
    (truth, {bool}),
]


def number_or_default(s: Any) -> Any:
    return MIXED.get(s, 0.5)


def whole_or_half(v: Any) -> Any:
    return v / 2 if v % 2 else v // 2


def power(v: Any) -> Any:
    return v**-1 if v else v**2


def places(x: Any, v: Any) -> Any:
    return round(x, None if v else 1)


def changed_inside(v: Any) -> Any:
    n = 1

    def change() -> None:
        nonlocal n
        n = 0.5  # type: ignore[assignment]

    if v:
        change()
    return n


def in_a_loop(v: Any) -> Any:
    for n in (1, 0.5):
        if v:
            return n
    return n


def formatted(v: Any) -> Any:
    return "%s" % None if v else 1  # noqa: UP031


def of_none(v: Any) -> Any:
    x = None
    return x.__repr__() if v else 1


def gathered(*v: Any) -> Any:
    return v[0] if v[0] else 0.5


def added_to_an_alias(v: Any) -> Any:
    numbers: list[Any] = [1, 2]
    others = numbers
    others.append(0.5)
    return numbers[-1] if v else numbers[0]


def extended(v: Any) -> Any:
    numbers: list[Any] = [1, 2]
    numbers.extend([0.5])
    return numbers[2] if v else numbers[0]


def grown_in_place(v: Any) -> Any:
    numbers: list[Any] = [1, 2]
    others = numbers
    others += [0.5]
    return numbers[2] if v else numbers[0]


def item_written(v: Any) -> Any:
    numbers: list[Any] = [1, 2]
    numbers[0] = 0.5
    return numbers[0] if v else numbers[1]


def slice_written(v: Any) -> Any:
    numbers: list[Any] = [1, 2]
    numbers[0:1] = [0.5]
    return numbers[0] if v else numbers[1]


def added_by_reference(v: Any) -> Any:
    numbers: list[Any] = [1, 2]
    add = numbers.append
    add(0.5)
    return numbers[2] if v else numbers[0]


def added_by_a_function(v: Any) -> Any:
    numbers: list[Any] = [1, 2]
    _add_half(numbers)
    return numbers[2] if v else numbers[0]


def added_by_a_library(v: Any) -> Any:
    numbers: list[Any] = [1, 2]
    heapq.heappush(numbers, 0.5)
    return numbers[0] if v else numbers[1]


def added_inside(v: Any) -> Any:
    numbers: list[Any] = [1, 2]

    def add(v: Any) -> None:
        numbers.append(v)

    add(0.5)
    return numbers[2] if v else numbers[0]


def added_by_a_key(v: Any) -> Any:
    numbers: list[Any] = [1, 2]
    sorted([0.5], key=lambda v: numbers.append(v) or 0)  # type: ignore[func-returns-value]
    return numbers[2] if v else numbers[0]


class Tracker:
    """Its method is called as that of a container."""

    def add(self, numbers: list[Any]) -> None:
        numbers.append(0.5)


TRACKER = Tracker()


def added_by_an_object(v: Any) -> Any:
    numbers: list[Any] = [1, 2]
    TRACKER.add(numbers)
    return numbers[2] if v else numbers[0]


def loop_writes_item(v: Any) -> Any:
    numbers: list[Any] = [1, 2]
    for numbers[0] in (0.5,):
        pass
    return numbers[0] if v else numbers[1]


def of_pairs_of_two(v: Any) -> Any:
    for a, b in ((1, 0.5), (2, 0.25)):
        if v or a > 2:
            return b
    return a


def mixed_constants(v: Any) -> Any:
    return HALVES[0] if v else HALVES[1]


def key_or_value(v: Any) -> Any:
    pair = next(iter(MIXED.items()))
    return pair[0] if v else pair[1]


def of_a_branch(v: Any) -> Any:
    return _half_or_none(v) or 1


def summed(v: Any) -> Any:
    return sum([0.5] if v else [])


def starred(v: Any) -> Any:
    first, *others = (1, 0.5)
    return first if v else others[0]


def _add_half(numbers: list[Any]) -> None:
    numbers.append(0.5)


def _half_or_none(v: Any) -> Any:
    return 0.5 if v else None


MANY = [
    *(added_to_an_alias, extended, grown_in_place, item_written, slice_written, starred),
    *(added_by_reference, added_by_a_function, added_by_a_library, added_inside, added_by_a_key),
    *(
        added_by_an_object,
        loop_writes_item,
        of_pairs_of_two,
        mixed_constants,
        key_or_value,
        of_a_branch,
        summed,
    ),
    *(number_or_default, whole_or_half, power, places, changed_inside, in_a_loop, gathered),
    *(formatted, of_none),
]
"""Functions whose results have several classes."""


def _classes(function: Callable[..., Any]) -> Classes | None:
    (node,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    assert isinstance(node, ast.FunctionDef)
    names = names_of(function, Zone("UTC"))  # type: ignore[arg-type]
    inputs = [(p, SchemaColumn(p, TYPES[p])) for p in _parameters(function)]
    return classes_of_results(node, inputs, names)


def _parameters(function: Callable[..., Any]) -> list[str]:
    return [p for p in inspect.signature(function).parameters if p in TYPES]


def _results(function: Callable[..., Any]) -> set[type]:
    found = set()
    for values in itertools.product(*([*VALUES[p], None] for p in _parameters(function))):
        try:
            found.add(type(function(*values)))
        except (
            TypeError,
            ValueError,
            AttributeError,
            OverflowError,
            ZeroDivisionError,
            KeyError,
            IndexError,
        ):
            continue
    return found


@pytest.mark.parametrize(("function", "expected"), KNOWN)
def test_results_are_of_these_classes(function: Callable[..., Any], expected: set[type]) -> None:
    found = _classes(function)
    assert found is not None
    assert found - {type(None)} == expected
    assert _results(function) - {type(None)} == expected


def test_nothing_of_the_users_is_compared() -> None:
    hostile = Hostile()

    def called(v: Any) -> Any:
        return hostile(v)

    assert _classes(called) is None


@pytest.mark.parametrize("function", MANY, ids=lambda f: f.__name__)
def test_results_of_several_classes_are_not_taken_for_one(function: Callable[..., Any]) -> None:
    real = _results(function) - {type(None)}
    assert len(real) > 1
    found = _classes(function)
    assert found is None or found >= real
