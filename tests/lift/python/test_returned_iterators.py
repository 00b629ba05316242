"""Functions that return an iterator are read as functions that yield its items."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from presieve.errors import DeclineSignal
from presieve.lift.python.source import parse_function

LIMIT = 2


def doubled(n: int) -> int:
    return n * 2


def chosen(items: Iterator[int]) -> Iterator[int]:
    """With a statement before."""
    least = LIMIT - 1
    return (n + least for n in items if n > least if n < 9)


def pairs(items: Iterator[int]) -> Iterator[tuple[int, int]]:
    return ((n, m) for n in items if n for m in range(n) if m)


def mapped(items: Iterator[int]) -> Iterator[int]:
    return map(doubled, items)


def mapped_lambda(items: Iterator[int]) -> Iterator[int]:
    item = 3
    return map(lambda n: n * item, items)  # noqa: C417


written = lambda items: (n * 2 for n in items)  # noqa: E731


def own_variable(items: Iterator[int]) -> Iterator[int]:
    n = 5

    def added(m: int) -> int:
        return m + n

    return (added(n) for n in items)


def same_name(items: Any) -> Iterator[int]:
    return (doubled(items) for items in items)


def early(items: Iterator[int]) -> Iterator[int]:
    if LIMIT > 5:
        return items
    return (n for n in items)


def as_they_come(items: Iterator[int]) -> Iterator[int]:
    return items


def two_lists(items: Iterator[int]) -> Iterator[int]:
    return map(max, items, [1, 2, 3])


def own_map(items: Iterator[int]) -> Iterator[int]:
    def map(f: Callable[[int], int], numbers: Iterator[int]) -> Iterator[int]:
        return (f(n) + 1 for n in numbers)

    return map(doubled, items)


@pytest.mark.parametrize("function", [chosen, pairs, mapped, mapped_lambda, written])
def test_items_are_yielded(function: Any) -> None:
    node = parse_function(function, generator=True).node
    node.name, node.returns = "function", None
    for argument in node.args.args:
        argument.annotation = None
    scope: dict[str, Any] = {"doubled": doubled, "LIMIT": LIMIT}
    exec(compile(ast.Module([ast.fix_missing_locations(node)], []), "<yielding>", "exec"), scope)
    numbers = [0, 1, 2, 3, 5, 9, 12]
    assert list(scope["function"](iter(numbers))) == list(function(iter(numbers)))


@pytest.mark.parametrize(
    "function", [own_variable, same_name, early, as_they_come, two_lists, own_map]
)
def test_other_iterators_are_declined(function: Any) -> None:
    with pytest.raises(DeclineSignal) as declined:
        parse_function(function, generator=True)
    assert declined.value.declined.code == "not-a-function"
    assert "with yield" in declined.value.declined.reason


def test_a_fold_that_returns_a_generator_is_no_batch_function() -> None:
    function: Any = mapped
    node = parse_function(function).node
    assert isinstance(node.body[-1], ast.Return)
