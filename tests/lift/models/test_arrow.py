"""Functions for pyarrow as folds: what pyarrow gives on thousands of tables, what is refused."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.lift.models import arrow_folds, arrow_refused
from tests.support.amount import amount
from tests.support.lifting import (
    assumed,
    declined,
    interpreted,
    lifted,
    request,
    run_array,
    run_array_batches,
    run_series_batches,
    run_table,
)

from presieve.lift import ArrayFunction, Lifted, LiftRequest, SeriesFunction, TableFunction
from presieve.semantics.interpret import Raised
from presieve.semantics.types import SchemaColumn
from presieve.semantics.values import Value, same

TABLES = amount(600, 6)

_POOLS: dict[str, list[Value]] = {
    "double": [0.0, -0.0, 1.0, 1.5, -1.5, 10.0, 1e308, float("inf"), float("-inf"), float("nan")],
    "int": [0, 1, -1, 2, -3, 7, 2**31 - 1, -(2**31)],
    "bigint": [0, 1, -1, 2, -3, 7, 2**31, 2**53 + 1, -(2**53) - 1, 2**63 - 1],
    "string": ["", "a", "b", "é", "z"],
    "boolean": [True, False],
    "date": [0, 18321, 18320],
}

ARRAYS: list[tuple[str, str, str]] = [
    ("highest", "v double", "o double"),
    ("highest", "v bigint", "o bigint"),
    ("highest", "v int", "o bigint"),
    ("highest", "v bigint", "o int"),
    ("highest", "v bigint", "o double"),
    ("highest", "v string NOT NULL", "o string"),
    ("highest_python", "v double", "o double"),
    ("least_of_high", "v double", "o double"),
    ("least_of_high", "v bigint", "o bigint"),
    ("loop_of_scalars", "v double", "o double"),
    ("loop_of_scalars", "v bigint NOT NULL", "o bigint"),
    ("loop_of_scalars", "v string", "o string"),
    ("loop_of_values", "n bigint", "o bigint"),
    ("loop_of_values", "n int", "o int"),
    ("valid_only", "n bigint", "o bigint"),
    ("two_columns", "v double, s string", "o int"),
    ("count_of", "v double", "o bigint"),
    ("sum_of", "n int", "o bigint"),
    ("sum_of", "n bigint NOT NULL", "o bigint"),
    ("mean_of", "n int", "o double"),
    ("sum_plus", "n int", "o bigint"),
    ("any_high", "n bigint", "o boolean"),
    ("all_high", "n int NOT NULL", "o boolean"),
    ("kleene", "n bigint, s string", "o boolean"),
    ("strict_logic", "n bigint, s string", "o boolean"),
    ("latest", "d date", "o date"),
    ("longest", "s string", "o string"),
]
TABLE_CASES: list[tuple[str, str, str, str]] = [
    (
        "summary",
        "v double, n int, s string",
        "rows bigint, high bigint, best double, total bigint, word string",
        "",
    ),
    ("of_key", "k string, v double", "k string, best double", "k"),
    ("of_key", "k bigint NOT NULL, v double", "k bigint, best double", "k"),
    ("of_rows", "n bigint", "last bigint, many boolean", ""),
    ("typed", "v double, n bigint", "best double, last int", ""),
    ("typed", "v double, n int NOT NULL", "best double, last int", ""),
]


def _table(dice: random.Random, asked: LiftRequest) -> list[dict[str, Value]]:
    """A group of up to six rows; in some groups a column has one value, or NULL only."""
    columns = {c.name: _column(dice, c) for c in asked.schema}
    rows = [{n: dice.choice(p) for n, p in columns.items()} for _ in range(dice.randint(1, 6))]
    return [{**r, **{k: rows[0][k] for k in asked.keys}} for r in rows]


def _column(dice: random.Random, column: SchemaColumn) -> list[Value]:
    values = _POOLS[column.type]
    pool = dice.sample(values, dice.randint(1, min(4, len(values))))
    if column.nullable and dice.random() < 0.6:
        pool += [None]
        if dice.random() < 0.15:
            pool = [None]
    return pool


def _check(found: Lifted, real: object, model: object, rows: list[dict[str, Value]]) -> int:
    if isinstance(model, Raised) and any(a.code == "int-range" for a in found.assumptions):
        return 0  # the table breaks the assumption
    if isinstance(real, Raised) or isinstance(model, Raised):
        assert isinstance(real, Raised), f"only the model raises; pyarrow gives {real} on {rows}"
        assert isinstance(model, Raised), f"only pyarrow raises; the model gives {model} on {rows}"
        return 1
    assert isinstance(real, tuple)
    assert isinstance(model, tuple)
    assert same(_unsigned(model), _unsigned(real)), f"model {model}, pyarrow {real} on {rows}"
    return 1


def _unsigned(cells: tuple[Value, ...]) -> tuple[Value, ...]:
    """Zeros without sign: pyarrow leaves open which zero is the least or greatest."""
    return tuple(0.0 if type(c) is float and c == 0.0 else c for c in cells)


@pytest.mark.random
@pytest.mark.parametrize(("name", "schema", "returns"), ARRAYS)
def test_fold_is_what_arrays_give(name: str, schema: str, returns: str) -> None:
    function: Any = getattr(arrow_folds, name)
    asked = request(schema, returns)
    chosen = tuple(c.name for c in asked.schema)
    found = lifted(function, asked, ArrayFunction(chosen))
    dice = random.Random(f"{name} {schema}")
    checked = 0
    while checked < TABLES:
        rows = [r for r in _table(dice, asked) if assumed(found, r, {})]
        if rows:
            real = run_array(function, asked, chosen, rows)
            checked += _check(found, real, interpreted(found, rows, {}), rows)


@pytest.mark.random
@pytest.mark.parametrize(("name", "schema", "returns", "keys"), TABLE_CASES)
def test_fold_is_what_tables_give(name: str, schema: str, returns: str, keys: str) -> None:
    function: Any = getattr(arrow_folds, name)
    asked = request(schema, returns, keys)
    found = lifted(function, asked, TableFunction(takes_key=bool(keys)))
    dice = random.Random(f"{name} {schema}")
    checked = 0
    while checked < TABLES:
        rows = _table(dice, asked)
        key = {k: rows[0][k] for k in asked.keys}
        rows = [r for r in rows if assumed(found, r, key)]
        if rows:
            real = run_table(function, asked, bool(keys), rows)
            checked += _check(found, real, interpreted(found, rows, key), rows)


SCHEMA = "v double, n bigint, s string, f boolean, t timestamp"


@pytest.mark.parametrize(("name", "chosen", "type_", "code"), arrow_refused.CODES)
def test_refused_arrays(name: str, chosen: str, type_: str, code: str) -> None:
    asked = request(SCHEMA, f"o {type_}")
    found = declined(getattr(arrow_refused, name), asked, ArrayFunction(tuple(chosen.split(","))))
    assert found.code == code, str(found)
    assert found.span is not None


@pytest.mark.parametrize(("name", "code"), arrow_refused.TABLE_CODES)
def test_refused_tables(name: str, code: str) -> None:
    asked = request(SCHEMA, "o int")
    found = declined(getattr(arrow_refused, name), asked, TableFunction())
    assert found.code == code, str(found)
    assert found.span is not None


def test_an_arrow_udf_says_what_it_is() -> None:
    """An arrow_udf is found out to be one; a filter on its result goes below."""
    from pyspark.sql.pandas.functions import arrow_udf
    from pyspark.sql.types import DoubleType

    from presieve.driver.synthesize import synthesize

    make: Any = arrow_udf
    fold = make(arrow_folds.highest_python, DoubleType(), functionType=252)
    found = synthesize(fold, "highest_python > 90", schema="v double")
    assert found.kind == "exact"
    assert found.prefilter == "v > 90.0D"


def test_annotations_say_what_comes() -> None:
    """``pa.Table`` is a function of applyInArrow; ``pa.Array`` one of an Arrow UDF."""
    asked = request("v double, n int, s string", "o double")
    table = request(
        "v double, n int, s string",
        "rows bigint, high bigint, best double, total bigint, word string",
    )
    assert lifted(arrow_folds.summary, table) == lifted(arrow_folds.summary, table, TableFunction())
    assert lifted(arrow_folds.annotated, asked) == lifted(
        arrow_folds.annotated, asked, ArrayFunction(("v",))
    )


BATCHES = [
    ("best_of_batches", "v double", "o double"),
    ("best_of_batches", "v bigint", "o bigint"),
    ("rows_of_batches", "v double", "o bigint"),
    ("share_of_batches", "v double, s string", "o bigint"),
    ("series_of_batches", "v double", "o double"),
]


@pytest.mark.random
@pytest.mark.parametrize(("name", "schema", "returns"), BATCHES)
def test_a_group_in_batches_is_one_fold(name: str, schema: str, returns: str) -> None:
    """However the group is cut."""
    function: Any = getattr(arrow_folds, name)
    asked = request(schema, returns)
    chosen = tuple(c.name for c in asked.schema)
    pandas = name == "series_of_batches"
    form = SeriesFunction(chosen, True) if pandas else ArrayFunction(chosen, True)
    found = lifted(function, asked, form)
    dice = random.Random(f"{name} {schema}")
    checked = 0
    while checked < TABLES:
        rows = [r for r in _table(dice, asked) if assumed(found, r, {})]
        if rows:
            cuts = sorted(dice.sample(range(1, len(rows)), dice.randrange(len(rows))))
            bounds = list(zip([0, *cuts], [*cuts, len(rows)], strict=True))
            run = run_series_batches if pandas else run_array_batches
            real = run(function, asked, chosen, [rows[a:b] for a, b in bounds])
            checked += _check(found, real, interpreted(found, rows, {}), rows)


@pytest.mark.parametrize(("name", "chosen", "code"), arrow_refused.BATCH_CODES)
def test_refused_batches(name: str, chosen: str, code: str) -> None:
    asked = request(SCHEMA, "o bigint")
    form = ArrayFunction(tuple(chosen.split(",")), batches=True)
    found = declined(getattr(arrow_refused, name), asked, form)
    assert found.code == code, str(found)
    assert found.span is not None
