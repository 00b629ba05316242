"""Filters on the results of scalar UDFs: what is found changes no result on random rows."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.reach.collection import ROWS, solved
from tests.reach.entries import RowEntry
from tests.reach.tables import POOLS, frame

from presieve.driver.fold_inputs import Inputs, read_filter, read_inputs
from presieve.errors import Declined
from presieve.ir.terms import Scope, Term, Var
from presieve.lift.evaluation_types import evaluation_type
from presieve.semantics.interpret import holds
from presieve.semantics.types import SchemaColumn, row_sort_of, sort_of
from presieve.semantics.values import Value, from_python
from presieve.sql.ddl import parse_schema

TRIES = 600


def _rows(entry: RowEntry) -> list[list[Any]]:
    random = Random(str(entry))
    columns = parse_schema(entry.parameters)
    pools = [entry.pools.get(c.name) or POOLS[c.type] for c in columns]
    return [[random.choice(p) for p in pools] for _ in range(TRIES)]


def _value(value: object, type_: str) -> Value:
    sort = row_sort_of(type_)
    assert sort is not None
    return None if value is None else from_python(value, sort)


def _term(what: str, text: str, names: dict[str, Var]) -> Term:
    term = read_filter(what, text, names)
    assert not isinstance(term, Declined), str(term)
    return term


@pytest.mark.parametrize("entry", ROWS, ids=str)
def test_functions_work(entry: RowEntry) -> None:
    """On some rows at least, with a result of the declared type."""
    results = [_result(entry, row) for row in _rows(entry)]
    made = [r for r in results if not isinstance(r, Exception)]
    assert len(made) > TRIES // 4
    for one in made if sort_of(entry.returns) is not None else ():
        _value(one, entry.returns)


def _result(entry: RowEntry, row: list[Any]) -> object:
    try:
        if hasattr(entry.function, "evalType"):
            return _of_column(entry, row)
        return entry.function(*row)
    except (ValueError, TypeError, ArithmeticError, AttributeError, LookupError) as error:
        return error


def _of_column(entry: RowEntry, row: list[Any]) -> object:
    """What a function of columns gives for a batch of one row."""
    table = frame(parse_schema(entry.parameters), [row])
    columns = tuple(table[c] for c in table.columns)
    udf: Any = entry.function
    kind = evaluation_type(udf.evalType)
    assert kind is not None
    if kind.streamed:
        batch = columns[0] if len(columns) == 1 else columns
        (column,) = udf.func(iter([batch]))
    else:
        column = udf.func(*columns)
    value = pd.Series(column).iloc[0]
    if value is None or value != value:
        return None
    return value.item() if isinstance(value, np.generic) else value


@pytest.mark.parametrize("entry", [e for e in ROWS if e.useful and not e.missed], ids=str)
def test_prefilter_changes_no_result(entry: RowEntry) -> None:
    found = solved(entry)
    returns = f"c {entry.returns}"
    inputs = read_inputs(entry.function, entry.parameters, returns, (), "row", partly=True)
    assert isinstance(inputs, Inputs)
    where = _term("where", entry.where, inputs.output_names())
    below = _term("prefilter", found.prefilter, inputs.input_names())
    above = _term("residual", found.residual, inputs.output_names())
    columns = parse_schema(entry.parameters)
    kept = dropped = 0
    for row in _rows(entry):
        result = _result(entry, row)
        first = holds(below, _env(columns, row))
        dropped += not first
        if isinstance(result, Exception):
            continue
        out = {(Scope.OUT, "c"): _value(result, entry.returns)}
        assert holds(where, out) == (first and holds(above, out)), (row, result)
        kept += holds(where, out)
    assert kept
    assert dropped


def _env(columns: tuple[SchemaColumn, ...], row: list[Any]) -> dict[tuple[Scope, str], Value]:
    pairs = zip(columns, row, strict=True)
    return {(Scope.KEY, c.name): _value(v, c.type) for c, v in pairs}
