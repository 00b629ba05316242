"""Integers beside a NULL of the same batch are of a type of pandas' own if a text is sent along and
compare with NaN in another way: whether one is there must not decide about a row.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.support.pandas_batches import arrow_columns, as_struct

from presieve.errors import Declined
from presieve.lift import lift
from presieve.lift.forms import LiftRequest, RowsFunction
from presieve.semantics.types import SchemaColumn
from presieve.sql.ddl import parse_returns

TYPES = {"s": "string", "x": "double", "i": "int", "n": "bigint"}
ROW = {"s": None, "x": float("nan"), "i": 7, "n": 0}
OTHER = {"s": "a", "x": 1.0, "i": None, "n": None}
"""A row with NULL among the integers, which decides what is made of the other row."""


def below(pdf):
    return pdf["x"] <= pdf["i"]


def unlike(pdf):
    return pdf["s"].str.len() != pdf["n"]


def looked_up(pdf):
    return pdf["s"].map({"a": 1}) >= pdf["i"]


def filled(pdf):
    return pdf["x"] != pdf["i"].fillna(0)


def sum_of_both(pdf):
    return pdf["i"].fillna(0) + pdf["x"] != 1.0


def either_mask(pdf):
    return pdf["s"].str.startswith("a") | pdf["n"].isin([0, 1])


def neither(pdf):
    return pdf["s"].str.startswith("a") | ~pdf["n"].isin([1])


def filled_and_compared(pdf):
    return pdf["s"].str.startswith("a") | (pdf["n"].fillna(0) < 1)


OF_BATCHES = [below, unlike, looked_up, filled, sum_of_both, either_mask, neither]
OF_BATCHES += [filled_and_compared]


def among_rows(function: Any, *rows: dict[str, Any]) -> object:
    """What the function makes of the first row, beside the others."""
    result = function(as_struct(arrow_columns(rows, TYPES), list(TYPES))).tolist()
    return None if result[0] is None or result[0] is np.nan else str(result[0])


@pytest.mark.parametrize("function", OF_BATCHES, ids=lambda f: f.__name__)
def test_what_another_row_decides_is_declined(function: Any) -> None:
    assert among_rows(function, ROW) != among_rows(function, ROW, OTHER)
    assert isinstance(_lifted(function), Declined)


def not_less(pdf):
    return pdf["i"] >= pdf["n"]


def of_one_kind(pdf):
    return (pdf["n"] > 3) | pdf["i"].isin([7, 8])


def present(pdf):
    return pdf["i"].fillna(0) != 5


@pytest.mark.parametrize("function", [not_less, of_one_kind, present], ids=lambda f: f.__name__)
def test_what_no_other_row_decides_is_read(function: Any) -> None:
    for row in (ROW, OTHER, {**ROW, "n": None}, {**ROW, "i": None}):
        assert among_rows(function, row) == among_rows(function, row, OTHER)
    assert not isinstance(_lifted(function), Declined)


def _lifted(function: Any) -> object:
    loop = "def rows(batches):\n    for pdf in batches:\n"
    source = f"{loop}        yield pdf.assign(r={_body(function)})\n"
    scope: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(source, _file(source), "exec"), scope)
    schema = tuple(SchemaColumn(n, t, True) for n, t in TYPES.items())
    returns = parse_returns("s string, x double, i int, n bigint, r boolean", "rows")
    request = LiftRequest(schema, tuple(TYPES), returns)
    return lift(scope["rows"], RowsFunction(batches=True), request)


def _body(function: Any) -> str:
    import inspect

    return inspect.getsource(function).partition("return ")[2].strip()


def _file(source: str) -> str:
    import linecache

    name = f"<extension types {hash(source)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    return name
