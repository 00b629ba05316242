"""A constant that a worker may see differently is told; a size that explodes is declined."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.lift.lifting import declined, lifted, request

from presieve.errors import Declined
from presieve.lift import SeriesFunction, lift

TEXT = """
import datetime as dt
import decimal
import os
from decimal import Decimal

LIMIT = 5
NAMES = frozenset({"a", "b"})
DAY = dt.date(2020, 1, 31)
PRICE = Decimal("90.50")
OTHER_PRICE = decimal.Decimal(5)
SUM_OF_PRICES = PRICE + OTHER_PRICE
COMPUTED = len(os.name)
TWICE = 1
TWICE = 2
OTHER = 7

def change():
    global OTHER
    OTHER = 8

def limit(n, most=3):
    k = 0
    for x in n:
        if x > LIMIT or x < -most:
            k += 1
    return k

def names(s):
    k = 0
    for x in s:
        if x in NAMES:
            k += 1
    return k

def day(d):
    k = 0
    for x in d:
        if x == DAY:
            k += 1
    return k

def price(p):
    k = 0
    for x in p:
        if OTHER_PRICE < x < PRICE:
            k += 1
    return k

def sum_of_prices(p):
    k = 0
    for x in p:
        if x < SUM_OF_PRICES:
            k += 1
    return k

def computed(n):
    k = 0
    for x in n:
        if x > COMPUTED:
            k += 1
    return k

def twice(n):
    k = 0
    for x in n:
        if x > TWICE:
            k += 1
    return k

def other(n):
    k = 0
    for x in n:
        if x > OTHER:
            k += 1
    return k

def make():
    limit = COMPUTED
    def inner(n):
        k = 0
        for x in n:
            if x > limit:
                k += 1
        return k
    return inner
"""


@pytest.fixture
def module(tmp_path: Path) -> Iterator[Any]:
    found = load(tmp_path / "lifted_constants.py", TEXT)
    sys.modules[found.__name__] = found
    yield found
    del sys.modules[found.__name__]


def load(path: Path, text: str) -> ModuleType:
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def assumed(function: Any) -> list[str]:
    name = function.__code__.co_varnames[0]
    kind = {"n": "bigint NOT NULL", "s": "string", "d": "date", "p": "decimal(5,2) NOT NULL"}[name]
    found = lifted(function, request(f"{name} {kind}", "k bigint"), SeriesFunction((name,)))
    return [a.text for a in found.assumptions if a.code == "constant"]


def test_constants_written_in_the_module_are_certain(module: Any) -> None:
    for function in (module.limit, module.names, module.day, module.price):
        assert assumed(function) == []


def test_constants_that_were_changed_are_told(module: Any) -> None:
    module.LIMIT = 6
    module.limit.__defaults__ = (4,)
    texts = assumed(module.limit)
    assert [t.split(" in the workers")[0] for t in texts] == [
        "the global LIMIT is 6",
        "the default of most in limit is 4",
    ]


@pytest.mark.parametrize("name", ["computed", "twice", "other", "sum_of_prices"])
def test_constants_that_are_not_plain_are_told(module: Any, name: str) -> None:
    assert len(assumed(getattr(module, name))) == 1


def test_what_is_pickled_by_value_is_certain(module: Any) -> None:
    assert assumed(module.make()) == []
    module.LIMIT = 6
    module.limit.__module__ = "__main__"
    assert assumed(module.limit) == []


def test_terms_do_not_explode(tmp_path: Path) -> None:
    lines = ["def grows(n):", "    k = 0", "    for x in n:"]
    text = "\n".join([*lines, *["        if x > k: k = k + x"] * 60, "    return k", ""])
    found = load(tmp_path / "lifted_grows.py", text)
    asked = request("n bigint NOT NULL", "k bigint")
    assert declined(found.grows, asked, SeriesFunction(("n",))).code == "too-large"


def test_deep_expressions_do_not_escape(tmp_path: Path) -> None:
    deep = "(" * 90 + "x" + " + 1)" * 90
    text = f"def deep(n):\n    k = 0\n    for x in n:\n        k = {deep}\n    return k\n"
    found = load(tmp_path / "lifted_deep.py", text)
    asked = request("n bigint NOT NULL", "k bigint")
    old = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(len_of_stack() + 150)
        result = lift(found.deep, SeriesFunction(("n",)), asked)
    finally:
        sys.setrecursionlimit(old)
    assert isinstance(result, Declined)


def len_of_stack() -> int:
    frame, count = sys._getframe(), 0
    while frame.f_back is not None:
        frame, count = frame.f_back, count + 1
    return count
