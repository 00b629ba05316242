"""Reductions of pandas as folds: what pandas gives on thousands of tables, what is refused."""

from __future__ import annotations

import random
import warnings
from typing import Any

import pytest
from tests.lift.models import pandas_folds, pandas_refused
from tests.support.amount import amount
from tests.support.lifting import (
    assumed,
    declined,
    interpreted,
    lifted,
    request,
    run_frame,
    run_series,
)

from presieve.lift import Lifted, LiftRequest
from presieve.semantics.interpret import Raised
from presieve.semantics.types import SchemaColumn
from presieve.semantics.values import Value, same

TABLES = amount(1000, 10)

_POOLS: dict[str, list[Value]] = {
    "double": [0.0, -0.0, 1.0, 1.5, -1.5, 10.0, 10.5, 1e308, float("inf"), float("-inf")],
    "int": [0, 1, -1, 2, -3, 7, 2**31 - 1, -(2**31)],
    "bigint": [0, 1, -1, 2, -3, 7, 2**31, 2**53, -(2**53) - 1, 2**63 - 1],
    "string": ["", "a", "b", "c", "z", "A", " a", "a.\t"],
    "boolean": [True, False],
    "timestamp": [0, 1577836800000000, 1577836799999999, 1600000000000000],
    "timestamp_ntz": [0, 1577836800000000, 1577836799999999, 1600000000000000],
    "date": [0, 18321, 18320],
}
_POOLS["double"] += [float("nan")] * 3

CASES: list[tuple[Any, str, str]] = [
    (
        pandas_folds.plain,
        "v double, n int",
        "rows bigint, present bigint, low double, high double, total bigint, least int, most int, "
        "some boolean, every boolean, shape bigint, size bigint",
    ),
    (
        pandas_folds.plain,
        "v double NOT NULL, n bigint NOT NULL",
        "rows bigint, present bigint, low double, high double, total bigint, least bigint, "
        "most bigint, some boolean, every boolean, shape bigint, size bigint",
    ),
    *(
        (
            pandas_folds.masked,
            schema,
            f"good bigint, low double, high double, n {n}, few {n}, count bigint, share double, "
            "other double, filled double, nulls bigint, none boolean, half bigint",
        )
        for schema, n in (
            ("v double, n int, s string", "int"),
            ("v double, n bigint, s string NOT NULL", "bigint"),
            ("v double, n bigint NOT NULL, s string", "bigint"),
        )
    ),
    *(
        (
            pandas_folds.extracted,
            schema,
            "first bigint, second boolean, none bigint, named bigint, spaced bigint, "
            "replaced bigint, swapped boolean, counted bigint, most bigint",
        )
        for schema in ("s string", "s string NOT NULL")
    ),
    *(
        (
            pandas_folds.spelled,
            schema,
            "lower bigint, upper bigint, strip bigint, inner bigint, cut bigint, rest bigint, "
            "end bigint, has bigint, dot bigint, long bigint, other bigint, bare bigint, "
            "none bigint, title bigint, head bigint, swap boolean, zeros bigint, tail bigint, "
            "place bigint, last bigint, letters bigint, lowered bigint",
        )
        for schema in ("s string", "s string NOT NULL")
    ),
    (
        pandas_folds.compared,
        "v double, n int, s string",
        "kind string, high int, one boolean",
    ),
    (
        pandas_folds.compared,
        "v double NOT NULL, n bigint NOT NULL, s string NOT NULL",
        "kind string, high bigint, one boolean",
    ),
    (
        pandas_folds.ends,
        "v double, n int, s string, t timestamp",
        "a double, b double, c string, d int, e timestamp",
    ),
    (
        pandas_folds.ends,
        "v double NOT NULL, n bigint NOT NULL, s string NOT NULL, t timestamp_ntz NOT NULL",
        "a double, b double, c string, d bigint, e timestamp_ntz",
    ),
    (pandas_folds.ends_of_part, "v double, s string", "a double, b string"),
    (pandas_folds.first_where_any, "v double", "a double, b string"),
    (pandas_folds.arg_max, "v double, s string", "v double, s string"),
    (pandas_folds.arg_max, "v bigint, s string", "v bigint, s string"),
    (pandas_folds.arg_max, "v timestamp, s string", "v timestamp, s string"),
    (pandas_folds.arg_min, "n int, s string, v double", "s string, w double"),
    (
        pandas_folds.attributes_of_best,
        "n int, v double, t timestamp_ntz",
        "n int, v double, t timestamp_ntz",
    ),
    (pandas_folds.attributes_of_best, "n int, v double, t date", "n int, v double, t date"),
    (pandas_folds.texts, "s string", "a string, b string"),
    (
        pandas_folds.times,
        "t timestamp, d date",
        "first timestamp, last timestamp, n bigint, d date, x boolean",
    ),
    (
        pandas_folds.times,
        "t timestamp_ntz, d date",
        "first timestamp_ntz, last timestamp_ntz, n bigint, d date, x boolean",
    ),
    (pandas_folds.mean_of_positive, "n int", "m double"),
    (pandas_folds.mean_of_positive, "n smallint NOT NULL", "m double"),
    (pandas_folds.per_column, "v double, s string", "o double"),
    (
        pandas_folds.required,
        "v double NOT NULL, n int NOT NULL, f boolean NOT NULL",
        "mean double, flags bigint, share double, spread bigint, clip double, product double, "
        "ratio double, with bigint, top double",
    ),
    (
        pandas_folds.written,
        "v double, s string",
        "big bigint, w double, x double, ones bigint, far double, hits bigint, pre double",
    ),
    *(
        (
            pandas_folds.in_sequence,
            schema,
            "total double, good double, mean double, few double, std double, var double, "
            "middle double, third double, square double, filled double, there double, half double",
        )
        for schema in (
            "v double, n int, s string",
            "v double NOT NULL, n bigint NOT NULL, s string",
        )
    ),
    (pandas_folds.weighted, "v double, s string", "kind string, total double"),
    *(
        (getattr(pandas_folds, name), schema, returns)
        for name in ("first_row", "last_row", "earliest", "latest", "highest", "lowest", "labels")
        for schema, returns in (
            ("t timestamp, v double, n int, s string", "t timestamp, v double, n int, s string"),
            (
                "t bigint NOT NULL, v double NOT NULL, n bigint, s string NOT NULL",
                "t bigint, v double, n bigint, s string",
            ),
        )
    ),
    (pandas_folds.ends_by, "t date, v double, s string", "a double, b string, c string"),
    (pandas_folds.nullable_mask, "v double, f boolean", "n bigint, top double"),
    (pandas_folds.number_of, "n int", "o int"),
    (pandas_folds.number_of, "n bigint NOT NULL", "o bigint"),
]
_POOLS["smallint"] = [0, 1, -1, 5, 2**15 - 1, -(2**15)]


def _table(dice: random.Random, asked: LiftRequest) -> list[dict[str, Value]]:
    """A group of up to six rows; in some groups a column has one value, or NULL only."""
    columns = {c.name: _column(dice, c) for c in asked.schema}
    return [{n: dice.choice(p) for n, p in columns.items()} for _ in range(dice.randint(1, 6))]


def _column(dice: random.Random, column: SchemaColumn) -> list[Value]:
    values = _POOLS[column.type]
    pool = dice.sample(values, dice.randint(1, min(4, len(values))))
    if column.nullable and dice.random() < 0.6:
        pool += [None]
        if dice.random() < 0.15:
            pool = [None]
    return pool


def _check(function: Any, asked: LiftRequest, found: Lifted, rows: list[dict[str, Value]]) -> int:
    is_table = function is not pandas_folds.per_column and function is not pandas_folds.number_of
    rows = [r for r in rows if assumed(found, r, {})]
    if not rows:
        return 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if is_table:
            real = run_frame(function, asked, False, rows)
        else:
            real = run_series(function, asked, [c.name for c in asked.schema], rows)
    model = interpreted(found, rows, {})
    if isinstance(model, Raised) and any(a.code == "int-range" for a in found.assumptions):
        return 0  # the table breaks the assumption
    if isinstance(real, Raised) or isinstance(model, Raised):
        assert isinstance(real, Raised), f"only the model raises; pandas gives {real} on {rows}"
        assert isinstance(model, Raised), f"only pandas raises; the model gives {model} on {rows}"
        return 1
    assert isinstance(real, tuple)
    assert same(_unsigned(model), _unsigned(real)), f"model {model}, pandas {real} on {rows}"
    return 1


def _unsigned(cells: tuple[Value, ...]) -> tuple[Value, ...]:
    """Zeros without sign: NumPy leaves open which zero is the least or greatest."""
    return tuple(0.0 if type(c) is float and c == 0.0 else c for c in cells)


@pytest.mark.costly
@pytest.mark.random
@pytest.mark.parametrize(("function", "schema", "returns"), CASES)
def test_fold_is_what_pandas_gives(function: Any, schema: str, returns: str) -> None:
    asked = request(schema, returns)
    found = lifted(function, asked)
    dice = random.Random(f"{function.__name__} {schema}")
    checked = 0
    while checked < TABLES:
        checked += _check(function, asked, found, _table(dice, asked))


@pytest.mark.parametrize(("name", "code"), pandas_refused.CODES)
def test_refused(name: str, code: str) -> None:
    schema = "v double, n bigint NOT NULL, s string, f boolean, t timestamp"
    found = declined(getattr(pandas_refused, name), request(schema, "o double"))
    assert found.code == code, str(found)
    assert found.span is not None
