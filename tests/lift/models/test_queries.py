"""``table.query(...)``: what pandas selects, what is refused, what may be dropped."""

from __future__ import annotations

import pandas as pd
import pytest
from tests.lift.models.pandas_agreement import agrees, refused

from presieve.driver.synthesize import synthesize

pytestmark = pytest.mark.random

_SCHEMAS = {
    "may be missing": "v double, w double, s string, n bigint, i int, t timestamp",
    "are there": "v double NOT NULL, w double NOT NULL, s string NOT NULL, n bigint NOT NULL, "
    "i int NOT NULL, t timestamp_ntz NOT NULL",
}
_VARIABLES = ["limit = 1.5", "k = 1", "z = 'a'", "names = ['a', 'b']"]
_QUERIES = (
    *("v > 1", "v > 1 and s == 'a'", "v > 1 or s == 'a' and not (w <= 1)", "not v > 1"),
    *("v > 1 & w < 5", "v > 1 | w < 1", "(v > 1) & (w < 5)", "~(v > 1)", "0 < v < 5", "1 <= w"),
    *("s in ['a', 'b']", "s not in ['a', 'b']", "s == ['a', 'b']", "i != [1, 2]", "n in (1, 2)"),
    *("s != 'a'", "s < 'b'", "s != s", "v != v", "v == v", "v > w", "'a' == s", 's == "a"'),
    *("n >= -1", "n == 1.5", "i == 2.0", "n > 1 and i < 3", "t > '2020-01-01'"),
    *("v > @limit", "n > @k and s == @z", "s in @names", "not s in @names"),
)


@pytest.mark.costly
@pytest.mark.parametrize("schema", _SCHEMAS)
@pytest.mark.parametrize("query", _QUERIES)
def test_rows_are_what_pandas_selects(schema: str, query: str) -> None:
    lines = [*_VARIABLES, f"part = pdf.query({query!r})"]
    cells = {"n": "len(part)", "m": "part.v.max()", "s": "part.s.isna().sum()"}
    types = {"n": "bigint", "m": "double", "s": "bigint"}
    agrees(lines, cells, _SCHEMAS[schema], types, tables=30)


def test_truth_values_are_masks() -> None:
    for query in ("b", "not b", "b == True", "b and v > 1"):
        lines, cells = [f"part = pdf[pdf.v > 0].query('{query}')"], {"n": "len(part)"}
        agrees(lines, cells, "v double, b boolean NOT NULL", {"n": "bigint"})
    found = refused([], "len(pdf.query('b'))", "v double, b boolean", "bigint")
    assert found.code == "unsupported-expression"


LIMIT = 3.0


@pytest.mark.parametrize(
    "query",
    [
        *("v + w > 1", "v.isna()", "v > @LIMIT", "v > @unknown", "x > 1", "v >", "v > 1 == True"),
        *("s not in ('a')", "`v` > 1", "v > 1\nand w > 1", "v > 1 # why", "index > 1", "v = 1"),
        "s.str.startswith('a')",
    ],
)
def test_what_is_not_followed_is_refused(query: str) -> None:
    found = refused([], f"len(pdf.query({query!r}))", "v double, w double, s string", "bigint")
    assert found.code == "unsupported-expression", str(found)


def test_texts_that_depend_on_rows_are_refused() -> None:
    found = refused(["k = pdf.v.max()"], "len(pdf.query(f'v > {k}'))", "v bigint", "bigint")
    assert found.code == "unsupported-operation", str(found)


def above_ten(pdf: pd.DataFrame) -> pd.DataFrame:
    limit = 10
    part = pdf.query(f"amount > {limit}")
    return pd.DataFrame({"g": [pdf["g"].iloc[0]], "n": [len(part)]})


def test_a_text_that_is_made_of_constants() -> None:
    schema, returns = "g string, amount bigint", "g string, n bigint"
    found = synthesize(above_ten, "n > 0", schema=schema, returns=returns, keys="g")
    assert found.prefilter == "amount > 10"


def paid(pdf: pd.DataFrame) -> pd.DataFrame:
    part = pdf.query("state == 'paid' and amount > 10")
    return pd.DataFrame({"g": [pdf["g"].iloc[0]], "top": [part["amount"].max()]})


def test_a_query_is_a_condition_on_rows() -> None:
    found = synthesize(
        paid,
        "top > 90",
        schema="g string, state string, amount double",
        returns="g string, top double",
        keys="g",
    )
    assert (found.kind, found.prefilter) == (
        "exact",
        "amount > 90.0D AND NOT isnan(amount) AND state = 'paid'",
    )
