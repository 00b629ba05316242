"""How much a test tries of many tables or cases: ``make test`` a part, ``--thorough`` all of them.

Such tests carry the marker ``random``, and ``make slow`` runs them with ``--thorough``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import pytest

Test = TypeVar("Test", bound=Callable[..., None])

_PART = 4
_thorough = False


def be_thorough(asked: bool) -> None:
    """Called once, before any test module is imported."""
    global _thorough
    _thorough = asked


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
