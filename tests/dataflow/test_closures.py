"""Functions that use the variables of the function that makes them, and whose calls are not all
followed: nothing is known of the table, then.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import pandas as pd
import pytest
from tests.dataflow.closure_readers import READERS

from presieve.dataflow.analysis import Dataflow, dataflow
from presieve.dataflow.context import AnalysisRequest

TABLE = pd.DataFrame({"k": [1, 1], "v": [2.0, 3.5], "w": [1.0, 2.0]})


NAMES = ("k", "v", "w")


def _analyzed(function: Any) -> Dataflow:
    assert isinstance(function, FunctionType)
    return dataflow(AnalysisRequest(function, "group", NAMES, ("k",)))


@pytest.mark.parametrize("function", READERS)
def test_columns_that_are_not_read_are_not_missed(function: Any) -> None:
    reads = _analyzed(function).reads
    columns = [c for c in NAMES if reads is None or c in {"k", *reads}]
    pd.testing.assert_frame_equal(function(TABLE.copy()), function(TABLE[columns].copy()))


def _changed_by_a_kept_function(pdf: pd.DataFrame) -> pd.DataFrame:
    def change() -> None:
        pdf["k"] = 0

    [change].pop()()
    return pdf[["k", "v"]]


def _changed_by_one_of_two(pdf: pd.DataFrame) -> pd.DataFrame:
    def change() -> None:
        pdf["k"] = 0

    (change if len(pdf) else list)()
    return pdf[["k", "v"]]


def _changed_by_a_decorated_function(pdf: pd.DataFrame) -> pd.DataFrame:
    from functools import cache

    @cache
    def change() -> None:
        pdf["k"] = 0

    change()
    return pdf[["k", "v"]]


@pytest.mark.parametrize(
    "function",
    [_changed_by_a_kept_function, _changed_by_one_of_two, _changed_by_a_decorated_function],
)
def test_a_key_that_such_a_function_changes_is_not_passed_on(function: Any) -> None:
    assert not function(TABLE.copy())["k"].equals(TABLE["k"])
    assert "k" not in _analyzed(function).keys


def _followed(pdf: pd.DataFrame) -> pd.DataFrame:
    rate = 2.0

    def scaled(name: str) -> Any:
        return pdf[name] * rate

    half: Callable[[float], float] = lambda x: x / rate  # noqa: E731
    total = scaled("v").apply(lambda x: half(x) + rate).sum()
    return pd.DataFrame({"k": [pdf["k"].iloc[0]], "m": [total]})


def test_functions_whose_calls_are_followed_spoil_nothing() -> None:
    facts = _analyzed(_followed)
    assert facts.reads == frozenset(("k", "v"))
    assert facts.keys == {"k": "k"}
