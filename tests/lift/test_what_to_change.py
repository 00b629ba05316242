"""A reason names the real obstacle, and its advice, followed word by word, works."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import pandas as pd
import pytest
from tests.support.lifting import declined, lifted, request

from presieve.errors import Declined
from presieve.lift import Lifted, lift
from presieve.lift.forms import RowFunction


def logged(func: Any) -> Any:
    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)

    return wrapper


@logged
def label(v):  # type: ignore[no-untyped-def]
    return "high" if v is not None and v > 100 else "low"


def marked(func: Any) -> Any:
    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)

    wrapper.mark = "label"  # type: ignore[attr-defined]
    return wrapper


@marked
def marked_label(v):  # type: ignore[no-untyped-def]
    return "high" if v is not None and v > 100 else "low"


def bare_label(v):  # type: ignore[no-untyped-def]
    return "high" if v is not None and v > 100 else "low"


def any_number(*args):  # type: ignore[no-untyped-def]
    return "high" if args[0] > 100 else "low"


def none_at_all():  # type: ignore[no-untyped-def]
    return "high"


@dataclass(frozen=True)
class Settings:
    limit: float = 100.0
    names: tuple[str, ...] = ()


SETTINGS = Settings()
LIMIT = 100.0


def by_settings(v):  # type: ignore[no-untyped-def]
    return "high" if v is not None and v > SETTINGS.limit else "low"


class Computing:
    limit = 100.0

    def __getattr__(self, name: str) -> float:
        return 0.0


COMPUTING = Computing()


def by_computing(v):  # type: ignore[no-untyped-def]
    return "high" if v is not None and v > COMPUTING.limit else "low"


def by_constant(v):  # type: ignore[no-untyped-def]
    return "high" if v is not None and v > LIMIT else "low"


def read(function: Any) -> Lifted | Declined:
    return lift(function, RowFunction(("v",)), request("v double", "r string"))


REASONS = {
    "a decorator": (
        marked_label,
        "the decorator marked does more than define a function and return it",
    ),
    "no arguments": (none_at_all, "1 arguments are passed, and none_at_all takes 0"),
    "an object": (by_computing, "write the value as a constant of the module, LIMIT = 100.0"),
}


@pytest.mark.parametrize("name", REASONS)
def test_the_reason_names_the_obstacle(name: str) -> None:
    function, words = REASONS[name]
    why = read(function)
    assert isinstance(why, Declined)
    assert words in why.reason
    assert why.span is not None


@pytest.mark.parametrize("function", [label, bare_label, by_constant, any_number, by_settings])
def test_the_advice_works(function: Any) -> None:
    assert isinstance(read(function), Lifted)


def of_chosen_rows(pdf):  # type: ignore[no-untyped-def]
    best = None
    for row in pdf[pdf["v"] > 3].itertuples(index=False):
        if best is None or row.v > best:
            best = row.v
    return pd.DataFrame({"r": [best]})


def chosen_in_the_loop(pdf):  # type: ignore[no-untyped-def]
    best = None
    for row in pdf.itertuples(index=False):
        if row.v > 3 and (best is None or row.v > best):
            best = row.v
    return pd.DataFrame({"r": [best]})


def of_sorted_rows(pdf):  # type: ignore[no-untyped-def]
    last = None
    pdf = pdf.sort_values("v", kind="stable")
    for row in pdf.itertuples(index=False):
        last = row.v
    return pd.DataFrame({"r": [last]})


@pytest.mark.parametrize("function", [of_chosen_rows, of_sorted_rows])
def test_a_loop_over_rows_that_are_made_before_it(function: Any) -> None:
    group = request("v double", "r double")
    why = declined(function, group)
    assert why.code == "unknown-loop"
    assert "sorted, chosen or computed before it" in why.reason
    lifted(chosen_in_the_loop, group)
