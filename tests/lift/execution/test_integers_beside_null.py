"""Beside a NULL pandas holds integers as doubles: also where a function has tested that its own one
is there, nothing that shows the type may be read.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from tests.support.lifting import lifted, request

from presieve.lift import Lifted, lift

NULLABLE = "g int NOT NULL, a int"
RETURNS = "text string, number int"


def _frame(text: object, number: object) -> pd.DataFrame:
    return pd.DataFrame({"text": [text], "number": [number]})


def by_str(pdf):
    text, number = None, None
    for row in pdf.itertuples(index=False):
        if row.a <= 1 and str(row.a) == "0":
            text, number = "zero", row.a
    return _frame(text, number)


def by_f_string(pdf):
    text, number = None, None
    for row in pdf.itertuples(index=False):
        if not pd.isna(row.a) and f"{row.a}!" == "0!":
            text, number = "zero", row.a
    return _frame(text, number)


def by_state(pdf):
    number = None
    for row in pdf.itertuples(index=False):
        if row.a >= 0:
            number = row.a
    return _frame(None if number is None else str(number), number)


def by_format(pdf):
    text, number = None, None
    for row in pdf.itertuples(index=False):
        if row.a >= 0 and "%s" % row.a == "0":  # noqa: UP031
            text, number = "zero", row.a
    return _frame(text, number)


def by_join(pdf):
    text, number = None, None
    for row in pdf.itertuples(index=False):
        if row.a >= 0 and "-".join([str(row.a), "x"]) == "0-x":
            text, number = "zero", row.a
    return _frame(text, number)


def by_the_larger_one(pdf):
    text, number = None, None
    for row in pdf.itertuples(index=False):
        if row.a >= 0 and str(max(row.a, 0)) == "0":
            text, number = "zero", row.a
    return _frame(text, number)


def by_choice(pdf):
    text, number = None, None
    for row in pdf.itertuples(index=False):
        if row.a >= 0:
            text, number = str(row.a if row.a < 5 else 5), row.a
    return _frame(text, number)


def by_abs(pdf):
    text, number = None, None
    for row in pdf.itertuples(index=False):
        if row.a >= -1 and str(abs(row.a)) == "0":
            text, number = "zero", row.a
    return _frame(text, number)


def by_int(pdf):
    text, number = None, None
    for row in pdf.itertuples(index=False):
        if row.a >= 0 and str(int(row.a)) == "0":
            text, number = "zero", row.a
    return _frame(text, number)


SHOWING = (
    *(by_str, by_f_string, by_state, by_format, by_join, by_the_larger_one, by_choice, by_abs),
)


def _given(function: Any, *numbers: int | None) -> list[Any]:
    table = function(pd.DataFrame({"g": 1, "a": numbers}))
    return [None if pd.isna(v) else v for v in table.iloc[0]]


@pytest.mark.parametrize("function", SHOWING)
def test_the_type_of_integers_is_not_read(function: Any) -> None:
    assert _given(function, 0) != _given(function, None, 0)
    answer = lift(function, None, request(NULLABLE, RETURNS, "g"))
    if isinstance(answer, Lifted):  # then it rests on there being no NULL
        assert "no-null" in [a.code for a in answer.assumptions]
    else:
        assert answer.code == "unsupported-operation"
    lifted(function, request("g int NOT NULL, a int NOT NULL", RETURNS, "g"))


def test_the_integer_itself_is_read() -> None:
    assert _given(by_int, 0) == _given(by_int, None, 0) == ["zero", 0]
    answer = lifted(by_int, request(NULLABLE, RETURNS, "g"))
    assert "no-null" not in [a.code for a in answer.assumptions]
