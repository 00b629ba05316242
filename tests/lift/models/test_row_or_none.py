"""Functions of a group that return a table of one row or of none, on thousands of tables."""

from __future__ import annotations

import random
import warnings
from typing import Any

import pandas as pd
import pytest
from tests.lift.models.pandas_agreement import table
from tests.support.amount import amount
from tests.support.lifting import assumed, declined, interpreted, lifted, request, run_frame

from presieve.ir.terms import FALSE, TRUE
from presieve.lift.entry.guards import add_row_flag
from presieve.semantics.interpret import Raised
from presieve.semantics.values import same

TABLES = amount(2000, 20)
SCHEMA = "v double, n bigint, s string, t timestamp"
ROW = "v double, s string"


def largest_of_some(pdf: pd.DataFrame) -> pd.DataFrame:
    pdf = pdf[pdf["v"] > 0]
    return pdf.sort_values("v", kind="stable").tail(1)[["v", "s"]]


def first_of_some(pdf: pd.DataFrame) -> pd.DataFrame:
    return pdf.dropna(subset=["s"]).head(1)[["s", "v"]].reset_index(drop=True)


def latest_by_two(pdf: pd.DataFrame) -> pd.DataFrame:
    pdf = pdf[pdf["t"].notna()]
    return pdf.sort_values(["t", "s"]).tail(1)[["v", "s"]]


def first_by_two(pdf: pd.DataFrame) -> pd.DataFrame:
    return pdf.sort_values(["s", "v"], ascending=[False, True]).head(1)[["v", "s"]]


def last_by_two_of_some(pdf: pd.DataFrame) -> pd.DataFrame:
    return pdf[pdf["v"] < 5].sort_values(by=["v", "s"], ascending=False).tail(1)[["v", "s"]]


def last_by_three(pdf: pd.DataFrame) -> pd.DataFrame:
    out = pdf.sort_values(["s", "t", "v"], ascending=[True, False, True])
    return out.iloc[[-1]][["v", "s"]]


def position_in_some(pdf: pd.DataFrame) -> pd.DataFrame:
    """Without a row, pandas raises."""
    return pdf[pdf["v"] > 0].iloc[[0]][["v", "s"]]


def nothing_if_empty(pdf: pd.DataFrame) -> pd.DataFrame:
    pdf = pdf[pdf["v"] > 0]
    if pdf.empty:
        return pd.DataFrame(columns=["v", "s"])
    return pd.DataFrame({"v": [pdf["v"].max()], "s": ["some"]})


def nothing_if_few(pdf: pd.DataFrame) -> pd.DataFrame:
    if len(pdf) < 2 or pdf["v"].isna().all():
        return pd.DataFrame()
    if pdf["s"].notna().any():
        return pd.DataFrame([{"v": pdf["v"].min(), "s": "texts"}])
    return pd.DataFrame([], columns=["s", "v"])


def doubles_if_empty(pdf: pd.DataFrame) -> pd.DataFrame:
    """Without a row, its columns are of doubles, which Spark does not convert to texts."""
    if not (pdf["v"] > 1).any():
        return pd.DataFrame({"v": [], "s": []})
    return pd.DataFrame({"v": [pdf["v"].max()], "s": ["some"]})


def best_of_a_loop(pdf: pd.DataFrame) -> pd.DataFrame:
    best = None
    for v in pdf["v"]:
        if v == v and (best is None or v > best):
            best = v
    if best is None:
        return pd.DataFrame(columns=["v", "s"])
    return pd.DataFrame([{"v": best, "s": None}])


FUNCTIONS = (
    largest_of_some,
    first_of_some,
    latest_by_two,
    first_by_two,
    last_by_two_of_some,
    last_by_three,
    position_in_some,
    nothing_if_empty,
    nothing_if_few,
    doubles_if_empty,
    best_of_a_loop,
)
ALWAYS = (first_by_two, last_by_three, position_in_some)


def fewer_numbers(pdf: pd.DataFrame) -> pd.DataFrame:
    if not (pdf["v"] > 1).any():
        return pd.DataFrame({"v": [], "n": []})
    return pd.DataFrame({"v": [pdf["v"].max()], "n": [len(pdf)]})


CASES = [*((f, ROW) for f in FUNCTIONS), (fewer_numbers, "v double, n bigint")]


@pytest.mark.costly
@pytest.mark.random
@pytest.mark.parametrize(("function", "returns"), CASES, ids=lambda c: getattr(c, "__name__", ""))
def test_rows_are_those_that_pandas_gives(function: Any, returns: str) -> None:
    asked = request(SCHEMA, returns)
    found = lifted(function, asked)
    assert found.kept != FALSE
    assert (found.kept == TRUE) == (function in ALWAYS)
    flagged, _ = add_row_flag(found, "function")
    dice, seen = random.Random(function.__name__), set()
    for _ in range(TABLES):
        rows = [r for r in table(dice, asked) if assumed(found, r, {})]
        if not rows:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            real = run_frame(function, asked, False, rows)
        model = interpreted(flagged, rows, {})
        assert isinstance(real, Raised) == isinstance(model, Raised), (rows, model, real)
        if isinstance(model, Raised):
            seen.add("raises")
            continue
        assert isinstance(real, tuple)
        seen.add("a row" if real else "none")
        assert model[-1] is bool(real), (rows, model, real)
        assert not real or same(model[:-1], real), (rows, model, real)
    raises = function in (position_in_some, doubles_if_empty)
    otherwise = {"raises"} if raises else set() if function in ALWAYS else {"none"}
    assert seen == {"a row", *otherwise}


def test_columns_of_an_empty_table_are_those_that_are_declared() -> None:
    def other_columns(pdf: pd.DataFrame) -> pd.DataFrame:
        if pdf["v"].isna().all():
            return pd.DataFrame(columns=["v", "other"])
        return pd.DataFrame({"v": [pdf["v"].max()], "s": ["some"]})

    assert declined(other_columns, request(SCHEMA, ROW)).code == "return-shape"


def test_several_rows_by_two_columns_are_not_read() -> None:
    def three(pdf: pd.DataFrame) -> pd.DataFrame:
        top = pdf.sort_values(["t", "s"]).head(3)
        return pd.DataFrame({"v": [top["v"].sum()], "s": ["some"]})

    assert declined(three, request(SCHEMA, ROW))


def two_orders(pdf: pd.DataFrame) -> pd.DataFrame:
    up = pdf.sort_values(["n", "s"], ascending=[True, True])
    down = pdf.sort_values(["n", "s"], ascending=[False, True])
    return pd.DataFrame({"v": [down["v"].iloc[0]], "s": [up["s"].iloc[-1]], "w": [up["v"].iloc[0]]})


@pytest.mark.costly
@pytest.mark.random
@pytest.mark.parametrize("function", [two_orders], ids=lambda f: f.__name__)
def test_orders_by_the_same_columns_are_apart(function: Any) -> None:
    asked = request("v double, n bigint NOT NULL, s string", "v double, s string, w double")
    found, dice = lifted(function, asked), random.Random(7)
    for _ in range(TABLES):
        rows = [r for r in table(dice, asked) if assumed(found, r, {})]
        if not rows:
            continue
        real, model = run_frame(function, asked, False, rows), interpreted(found, rows, {})
        assert isinstance(real, tuple)
        assert isinstance(model, tuple)
        assert same(model, real), (rows, model, real)


def test_a_number_of_rows_of_another_class_is_not_read() -> None:
    def by_truth(pdf: pd.DataFrame) -> pd.DataFrame:
        return pdf.head(True)[["v", "s"]]

    assert declined(by_truth, request(SCHEMA, ROW))
