"""Reasons are sentences that a data engineer understands, and say what to change."""

from __future__ import annotations

import functools
import importlib
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pyspark.sql.types import DoubleType
from tests.support.lifting import declined, request

from presieve.lift.codes import CODES
from presieve.lift.reason_words import add_advice

pandas_udf: Any = importlib.import_module("pyspark.sql.functions").pandas_udf

OUTSIDE: dict[str, Any] = {}


class Fold:
    """The smallest fold; the cases below have a ``reduce`` of their own."""

    def zero(self) -> Any:
        return 0


class Formatted(Fold):
    def reduce(self, acc: Any, row: Any) -> Any:
        return acc + 1 if f"{row['name']:>3}" == "a" else acc


class Imports(Fold):
    def reduce(self, acc: Any, row: Any) -> Any:
        import csv

        return acc + csv.reader(row["score"])


class Opens(Fold):
    def reduce(self, acc: Any, row: Any) -> Any:
        with OUTSIDE["lock"]:
            return acc + 1


class Remainder(Fold):
    def reduce(self, acc: Any, row: Any) -> Any:
        return acc + 1 if row["score"] % -2.0 == 0.0 else acc


class Mistyped(Fold):
    def reduce(self, acc: Any, row: Any) -> Any:
        return acc + 1 if row["scor"] > 1.0 else acc


class NoSuchColumn(Fold):
    def reduce(self, acc: Any, row: Any) -> Any:
        return acc + 1 if row.qty > 1.0 else acc


class Either(Fold):
    def reduce(self, acc: Any, row: Any) -> Any:
        return row["name"] if row["score"] > 1.0 else acc


class Repeats(Fold):
    def reduce(self, acc: Any, row: Any) -> Any:
        while acc < row["n"]:
            acc = acc + 1
        return acc


class Measures(Fold):
    def reduce(self, acc: Any, row: Any) -> Any:
        return acc + 1 if len(row["score"]) > 3 else acc


def first_high(score: Any) -> Any:
    found = 0
    for x in score:
        if x > 90.0:
            found = 1
            break
    return found


def last_high(score: Any) -> Any:
    for x in score:
        if x > 90.0:
            last = 1
    return last


def of_arrays(score: Any) -> Any:
    n = 0
    for x in score.to_numpy():
        n = n + 1 if x > 90.0 else n
    return n


def limited(score: Any, limit: float) -> Any:
    return len(score)


def median(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"o": [np.median(pdf["n"])]})


def doubled(score: pd.Series) -> pd.Series:
    return score * 2.0


@pytest.mark.parametrize(
    ("fold", "code", "parts"),
    [
        (Formatted, "unsupported-expression", ["a format", "is not read", "in a column below"]),
        (Imports, "unsupported-statement", ["importing csv inside the function", "outside"]),
        (Opens, "unsupported-statement", ["a with block"]),
        (Remainder, "unsupported-operation", ["% is unsupported on floats", "column below"]),
        (Mistyped, "unknown-column", ["no column scor: is score meant?"]),
        (NoSuchColumn, "unknown-column", ["no column qty: there are name, score, n"]),
        (Either, "mixed-types", ["string", "int", "initialize it with None"]),
        (Repeats, "nested-loop", ["while", "loop over the rows"]),
        (Measures, "unsupported-operation", ["the length of a value of type float", "column"]),
        (first_high, "early-exit", ["let the loop run to its end"]),
        (last_high, "maybe-unbound", ["last may not have a value here", "assign it first"]),
        (of_arrays, "unknown-loop", [".to_numpy()", "itertuples(index=False)"]),
        (
            functools.partial(limited, limit=5.0),
            "not-a-function",
            ["functools.partial is not a function", "def"],
        ),
        (
            pandas_udf(doubled, DoubleType()),
            "unsupported-form",
            ["a value for each row", "mode='row'"],
        ),
    ],
    ids=lambda x: getattr(x, "__name__", None),
)
def test_a_reason_names_the_thing_and_the_remedy(fold: Any, code: str, parts: list[str]) -> None:
    columns = "name string NOT NULL, score double NOT NULL, n bigint NOT NULL"
    found = declined(fold, request(columns, "o bigint"))
    assert found.code == code, str(found)
    assert [p for p in parts if p not in found.reason] == [], found.reason
    assert "\n" not in found.reason
    # Names of Python's own classes for syntax, and Spark's numbers for kinds of UDFs
    assert not re.search(r"JoinedStr|FloorDiv|\bMod\b|of kind|evaluation type", found.reason)


def test_what_cannot_be_declared_is_not_to_be_declared() -> None:
    """``pure=`` is about calls in the loop over the rows alone."""
    found = declined(median, request("n bigint NOT NULL", "o bigint"))
    assert found.code == "unknown-call"
    assert "column below the function" in found.reason
    assert "pure" not in found.reason


@pytest.mark.parametrize("code", CODES)
def test_advice_is_given_once(code: str) -> None:
    told = add_advice(code, "this is in the way")
    assert told.startswith("this is in the way")
    assert add_advice(code, told) == told
    assert add_advice(code, "this is in the way: do that") == "this is in the way: do that"
    with_name = add_advice(code, "variable best: this is in the way")
    assert with_name == told.replace("this", "variable best: this", 1)
