"""How much a test tries of many tables or cases: ``make test`` a part, ``make slow`` all of it.

Tests that draw ask ``amount``, and tests of hundreds of cheap cases use ``some``: both go by
``--thorough``. ``--part`` leaves one in six cases of tests on Spark and of tests that are
marked ``costly``, and none of those marked ``second``. All of these carry the marker ``random``, by
which ``make slow`` selects them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar
from zlib import crc32

import pytest

Test = TypeVar("Test", bound=Callable[..., None])

_PART = 4
_SIXTH = 6
_thorough = False


def be_thorough(asked: bool) -> None:
    """Called once, before any test module is imported."""
    global _thorough
    _thorough = asked


def is_thorough() -> bool:
    """Whether everything is tried."""
    return _thorough


def amount(all_of_them: int, of: int = _PART) -> int:
    """So many tables, groups or seconds: each ``of``-th, or all of them."""
    return all_of_them if _thorough else all_of_them // of


def some(
    names: str, cases: Iterable[Any], *, of: int = _PART, first: int = 0, **more: Any
) -> Callable[[Test], Test]:
    """``parametrize`` with each ``of``-th case, from ``first`` on, or all of them; and the marker.

    For many cases of one kind. Tests of the same cases begin at different ones.
    """
    every = list(cases)
    chosen = every if _thorough else every[first::of]

    def decorated(test: Test) -> Test:
        marked: Test = pytest.mark.random(pytest.mark.parametrize(names, chosen, **more)(test))
        return marked

    return decorated


def of_several_cases(items: Iterable[pytest.Item]) -> Iterator[list[pytest.Item]]:
    """The cases of each test that takes long, where there are two or more."""
    by_test = defaultdict(list)
    for item in items:
        if item.get_closest_marker("second"):
            continue
        if item.get_closest_marker("spark") or item.get_closest_marker("costly"):
            by_test[item.nodeid.partition("[")[0]].append(item)
    return (cases for cases in by_test.values() if len(cases) > 1)


def left_to_make_slow(cases: list[pytest.Item]) -> list[pytest.Item]:
    """What ``--part`` does not run: all but one in six, and all but one of fewer than twelve.

    The first that runs depends on the test's name: tests of the same cases begin at different ones.
    """
    step = len(cases) // max(1, len(cases) // _SIXTH)
    first = crc32(cases[0].nodeid.partition("[")[0].encode()) % step
    return [case for place, case in enumerate(cases) if place % step != first]
