"""A constant that a worker may see differently is declined, and so is a size that explodes."""

from __future__ import annotations

import datetime as dt
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.support.lifting import declined, request

import presieve
from presieve.dataflow.analysis import dataflow
from presieve.dataflow.context import AnalysisRequest
from presieve.errors import Declined
from presieve.lift import Lifted, SeriesFunction, lift

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
TWICE_LIMIT = 2 * LIMIT
FIRST, SECOND = 10, -10
FROM_OUTSIDE = int(os.environ.get("PRESIEVE_TEST_LIMIT", 5))

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

def twice_limit(n):
    k = 0
    for x in n:
        if x > TWICE_LIMIT:
            k += 1
    return k

def either(n):
    k = 0
    for x in n:
        if x > FIRST or x < SECOND:
            k += 1
    return k

def environment(n):
    k = 0
    for x in n:
        if x > FROM_OUTSIDE:
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


def read(function: Any) -> Lifted | Declined:
    name = function.__code__.co_varnames[0]
    kind = {"n": "bigint NOT NULL", "s": "string", "d": "date", "p": "decimal(5,2) NOT NULL"}[name]
    return lift(function, SeriesFunction((name,)), request(f"{name} {kind}", "k bigint"))


CERTAIN = ["limit", "names", "day", "price", "twice_limit", "either"]


@pytest.mark.parametrize("name", CERTAIN)
def test_constants_written_in_the_module_are_certain(module: Any, name: str) -> None:
    found = read(getattr(module, name))
    assert isinstance(found, Lifted), found
    assert found.assumptions == ()


@pytest.mark.parametrize("change", ["LIMIT", "default", "NAMES", "DAY", "PRICE"])
def test_constants_that_were_changed_are_declined(module: Any, change: str) -> None:
    functions = {"LIMIT": "limit", "default": "limit", "NAMES": "names", "DAY": "day"}
    function = getattr(module, functions.get(change, "price"))
    if change == "default":
        function.__defaults__ = (4,)
    else:
        other = {"LIMIT": True, "NAMES": {"a", "b"}, "DAY": dt.date(2020, 2, 1), "PRICE": 90.5}
        setattr(module, change, other[change])
    found = read(function)
    assert isinstance(found, Declined)
    assert found.code == "by-reference"
    assert found.span is not None
    assert "workers import lifted_constants again" in found.reason


@pytest.mark.parametrize("name", ["computed", "twice", "other", "sum_of_prices", "environment"])
def test_constants_that_are_not_plain_are_declined(module: Any, name: str) -> None:
    found = read(getattr(module, name))
    assert isinstance(found, Declined)
    assert found.code == "by-reference"


def test_what_is_pickled_by_value_is_certain(module: Any) -> None:
    from pyspark import cloudpickle

    from presieve.backend.problems.pickled import loads

    def shipped(function: Any) -> Any:
        return loads(cloudpickle.dumps(function))  # type: ignore[no-untyped-call]

    assert isinstance(read(shipped(module.make())), Lifted)
    module.LIMIT = 6
    assert isinstance(read(shipped(module.limit)), Declined)
    cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]
    try:
        copy = shipped(module.limit)
        assert copy is not module.limit
        found = read(copy)
    finally:
        cloudpickle.unregister_pickle_by_value(module)  # type: ignore[no-untyped-call]
    assert isinstance(found, Lifted)
    assert "6" in str(found.fold)


def test_what_is_declared_pure_is_what_workers_call(tmp_path: Path) -> None:
    """They call the function of the module, whatever the driver has put in its place."""
    text = "\n".join(
        (
            "def weigh(v: float) -> float:",
            "    return float(str(v))",
            "def heaviest(v):",
            "    best = 0.0",
            "    for x in v:",
            "        if weigh(x) > best:",
            "            best = weigh(x)",
            "    return best",
            "",
        )
    )
    found: Any = load(tmp_path / "lifted_pure.py", text)
    sys.modules[found.__name__] = found

    def other(v: float) -> float:
        return float(repr(v))

    asked: dict[str, Any] = {"schema": "v double NOT NULL", "returns": "best double"}
    try:
        kept = presieve.synthesize(found.heaviest, "best > 9", pure=[found.weigh], **asked)
        assert kept.declined == []
        found.weigh = other
        refused = presieve.synthesize(found.heaviest, "best > 9", pure=[other], **asked)
    finally:
        del sys.modules[found.__name__]
    assert refused.declined[0]["code"] == "by-reference"


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


DURATIONS = {
    "pd.Timedelta(minutes=30)": True,
    "pd.Timedelta(30, unit='m')": True,
    "pd.Timedelta('30min')": True,
    "dt.timedelta(hours=1, minutes=-30)": True,
    "dt.timedelta(0, LIMIT)": True,
    "dt.timedelta(**{'hours': 1})": False,
    "pd.Timedelta(minutes=len(os.name))": False,
    "pd.Timestamp.now() - START": False,
    "pd.Timestamp(year=2024, month=1, day=31, hour=hours())": False,
}
SESSIONS = """
import datetime as dt
import os
import pandas as pd

LIMIT = 1800
GAP = {gap}

def sessions(pdf):
    new = (pdf["ts"].diff() > GAP).cumsum()
    return pd.DataFrame({{"k": pdf["k"], "session": new}})
"""


@pytest.mark.parametrize("gap", DURATIONS)
def test_durations_of_a_module(tmp_path: Path, gap: str) -> None:
    """The key passes a function of groups that compares with a duration which its module says."""
    text = SESSIONS.format(gap=gap if DURATIONS[gap] else "None")
    module: Any = load(tmp_path / "durations.py", text)
    if not DURATIONS[gap]:
        text = SESSIONS.format(gap=gap)
        (tmp_path / "durations.py").write_text(text)
        module.GAP = dt.timedelta(minutes=30)
    sys.modules[module.__name__] = module
    try:
        answer = dataflow(AnalysisRequest(module.sessions, "group", ("k", "ts"), ("k",)))
    finally:
        del sys.modules[module.__name__]
    assert (not answer.find_missed_effects() and answer.keys == {"k": "k"}) == DURATIONS[gap]
