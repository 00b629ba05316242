"""Functions of tables that treat each row by itself: thousands of tables, cut anyhow."""

from __future__ import annotations

import random
from inspect import isgeneratorfunction
from typing import Any

import pyarrow as pa
import pytest
from tests.lift.entry import row_tables
from tests.support.amount import amount
from tests.support.lifting import arrays_of, assumed, request
from tests.support.pandas_batches import as_columns, as_struct

from presieve.driver.fold_inputs import Inputs, read_filter
from presieve.driver.verify import Asked, Verdict
from presieve.errors import Declined
from presieve.ir.fold import Mode
from presieve.lift import lift
from presieve.lift.forms import Lifted, LiftRequest, RowsFunction
from presieve.semantics.interpret import Raised, evaluate, key_env, run_fold
from presieve.semantics.values import Value

TABLES = amount(700, 5)
COLUMNS = "score double, n bigint, level string, d date"
NUMBERS = "score double, n bigint, d date"
REQUIRED = "score double NOT NULL, n bigint NOT NULL, level string NOT NULL, d date"

CASES = [
    ("same", COLUMNS, COLUMNS),
    ("high_scores", COLUMNS, COLUMNS),
    ("put_in", COLUMNS, f"w double, {COLUMNS}"),
    ("assigned", COLUMNS, f"{COLUMNS}, w boolean"),
    ("marked", COLUMNS, COLUMNS),
    ("chosen_columns", COLUMNS, "score double, level string"),
    ("wheres", COLUMNS, f"{COLUMNS}, kind string"),
    ("larger", "n bigint, w bigint NOT NULL", "n bigint, w bigint"),
    ("larger", "n bigint NOT NULL, w bigint", "n bigint, w bigint"),
    ("map_same", COLUMNS, COLUMNS),
    ("map_same", REQUIRED, COLUMNS),
    ("map_from", COLUMNS, COLUMNS),
    ("map_filter", COLUMNS, COLUMNS),
    ("map_assign", COLUMNS, f"{COLUMNS}, w double"),
    ("map_larger", NUMBERS, f"{NUMBERS}, high boolean"),
    ("map_larger", REQUIRED, f"{COLUMNS}, high boolean"),
    ("map_larger", COLUMNS, f"{COLUMNS}, high boolean"),
    ("map_other", COLUMNS, f"{COLUMNS}, high boolean"),
    ("map_other", NUMBERS, f"{NUMBERS}, high boolean"),
    ("map_filled", COLUMNS, f"{COLUMNS}, high boolean"),
    ("map_lambdas", COLUMNS, f"{COLUMNS}, w double, high boolean"),
    ("map_lists", "score double, level string", "score double, w double"),
    ("map_texts", "score double, level string", "level string, w double"),
    ("map_records", "score double, level string", "level string, score double, high boolean"),
    ("map_missing", COLUMNS, f"{COLUMNS}, gone boolean"),
    ("map_missing", NUMBERS, f"{NUMBERS}, gone boolean"),
    ("arrow_same", COLUMNS, COLUMNS),
    ("arrow_filter", COLUMNS, COLUMNS),
    ("arrow_select", COLUMNS, "level string, n bigint"),
    ("arrow_computed", COLUMNS, "level string, total double"),
    ("arrow_computed", REQUIRED, "level string, total double"),
    ("arrow_mixed", COLUMNS, "w double, score double, level string, d date"),
    ("arrow_integers", COLUMNS, "score double, w bigint, level string, d date"),
    ("arrow_integers", REQUIRED, "score double, w bigint, level string, d date"),
    ("arrow_checked", COLUMNS, "n bigint, w bigint, level string"),
    ("arrow_chosen", COLUMNS, "kind string, score double, n bigint"),
    ("arrow_texts", COLUMNS, "score double, n bigint, level string, high boolean"),
    ("arrow_numbers", COLUMNS, "n bigint, score double"),
]

RAISING = ("arrow_computed", "arrow_mixed", "arrow_checked")
"""Functions that raise for integers that are too large."""

_POOLS: dict[str, list[Value]] = {
    "score": [0.0, -0.0, 1.0, 2.5, -1.5, 10.0, 1e308, float("inf"), float("nan")],
    "n": [0, 1, -1, 2, 6, 2**53, 2**53 + 1, 2**63 - 1],
    "w": [0, 1, -1, 2, 6, 2**53, 2**53 + 1, 2**63 - 1],
    "level": ["error", "warn", "", "é"],
    "d": [0, 18321],
}


def asked(schema: str, returns: str) -> LiftRequest:
    """Every column is a key: each row is a group."""
    names = [part.split()[0] for part in schema.split(", ")]
    return request(schema, returns, ",".join(names))


def form_of(name: str) -> RowsFunction:
    function = getattr(row_tables, name)
    takes_key = function.__code__.co_varnames[0] == "key"
    return RowsFunction(takes_key, isgeneratorfunction(function), name.startswith("arrow"))


def _table(dice: random.Random, schema: LiftRequest) -> list[dict[str, Value]]:
    pools = {
        c.name: dice.sample(_POOLS[c.name], 2) + ([None] if c.nullable else [])
        for c in schema.schema
    }
    return [{n: dice.choice(p) for n, p in pools.items()} for _ in range(dice.randint(1, 7))]


def _run(name: str, asked_: LiftRequest, batches: list[list[dict[str, Value]]]) -> list[Any]:
    """The rows that Spark gets, as its worker sends them."""
    from pyspark.sql.conversion import PandasToArrowConversion
    from pyspark.sql.types import StructField, StructType

    function = getattr(row_tables, name)
    form = form_of(name)
    tables = [arrays_of(asked_, rows).combine_chunks().to_batches()[0] for rows in batches]
    if form.arrow:
        return [r for b in function(iter(tables)) for r in _rows(b, asked_)]
    import pandas as pd

    def frame(table: Any) -> Any:
        arrays, names = table.columns, table.schema.names
        return (
            as_struct(arrays, names)
            if form.batches
            else pd.concat(as_columns(arrays, names), axis=1)
        )

    frames = [frame(t) for t in tables]
    fields = [StructField(c.name, _parse(c.type), True) for c in asked_.returns]
    schema = StructType([StructField("_0", StructType(fields))])
    results = function(iter(frames)) if form.batches else _by_group(function, form, frames)
    found: list[Any] = []
    for result in results:
        made = PandasToArrowConversion.convert(
            [result],
            schema,
            timezone="UTC",
            safecheck=True,
            arrow_cast=True,
            assign_cols_by_name=True,
        )
        found += _rows(pa.RecordBatch.from_struct_array(made.column(0)), asked_)
    return found


def _parse(name: str) -> Any:
    from pyspark.sql import types

    return {
        "double": types.DoubleType(),
        "bigint": types.LongType(),
        "string": types.StringType(),
        "date": types.DateType(),
        "boolean": types.BooleanType(),
    }[name]


def _by_group(function: Any, form: RowsFunction, frames: list[Any]) -> list[Any]:
    return [function(("k",), f) if form.takes_key else function(f) for f in frames]


def _rows(batch: Any, asked_: LiftRequest) -> list[Any]:
    lists = [batch.column(batch.schema.names.index(c.name)).to_pylist() for c in asked_.returns]
    return [tuple(map(_shown, row)) for row in zip(*lists, strict=True)]


def _shown(cell: object) -> str:
    import datetime

    if isinstance(cell, datetime.date):
        return repr((cell - datetime.date(1970, 1, 1)).days)
    return repr(cell)


@pytest.mark.costly
@pytest.mark.random
@pytest.mark.parametrize(("name", "schema", "returns"), CASES)
def test_rows_of_a_table_are_those_of_its_rows(name: str, schema: str, returns: str) -> None:
    asked_ = asked(schema, returns)
    found = lift(getattr(row_tables, name), form_of(name), asked_)
    assert isinstance(found, Lifted), str(found)
    assert {o.name for o in found.fold.outputs} == {c.name for c in asked_.returns}
    dice = random.Random(name)
    rows_seen = raised = 0
    for _ in range(TABLES):
        rows = [r for r in _table(dice, asked_) if assumed(found, {}, r)]
        rows, raising = _without_raising(found, rows)
        raised += len(raising)
        for row in raising:
            with pytest.raises(pa.ArrowInvalid):
                _run(name, asked_, [[row]])
        if not rows:
            continue
        cuts = sorted(dice.sample(range(1, len(rows)), dice.randrange(len(rows))))
        bounds = zip([0, *cuts], [*cuts, len(rows)], strict=True)
        real = _run(name, asked_, [rows[a:b] for a, b in bounds])
        model = [r for row in rows for r in _model(found, asked_, row)]
        assert sorted(real) == sorted(model), rows
        rows_seen += len(real)
    assert rows_seen > TABLES // 10
    assert (raised > 0) == (name in RAISING)


def _without_raising(
    found: Lifted, rows: list[dict[str, Value]]
) -> tuple[list[dict[str, Value]], list[dict[str, Value]]]:
    """The rows for which the function raises no error, and those for which it does."""
    raising = [r for r in rows if isinstance(run_fold(found.fold, [{}], r), Raised)]
    return [r for r in rows if r not in raising], raising


def _model(found: Lifted, asked_: LiftRequest, row: dict[str, Value]) -> list[Any]:
    if evaluate(found.kept, key_env(row)) is not True:
        return []
    result = run_fold(found.fold, [{}], row)
    assert not isinstance(result, Raised)
    by_name = dict(zip((o.name for o in found.fold.outputs), result, strict=True))
    return [tuple(repr(by_name[c.name]) for c in asked_.returns)]


@pytest.mark.parametrize("name", ["map_larger", "map_other", "map_filled"])
def test_integers_of_an_unknown_type_are_not_compared(name: str) -> None:
    """Beside an array, it is not known how pyspark sends integers with NULL."""
    function = getattr(row_tables, name)
    schema = "n int, level array<int>"
    found = lift(function, form_of(name), asked(schema, f"{schema}, high boolean"))
    assert isinstance(found, Declined), "it was lifted"
    assert found.code == "column-type", str(found)


@pytest.mark.parametrize(("name", "code"), row_tables.REFUSED)
def test_refused(name: str, code: str) -> None:
    schema = "score double, n bigint NOT NULL, level string"
    found = lift(
        getattr(row_tables, name), form_of(name), asked(schema, schema.replace(" NOT NULL", ""))
    )
    assert isinstance(found, Declined), "it was lifted"
    assert found.code == code, str(found)
    assert found.span is not None


def test_a_wrong_prefilter_is_refuted() -> None:
    """By a row that the function and the filter keep; what it shows is so when it is run."""
    asked_ = asked(COLUMNS, COLUMNS)
    found = lift(row_tables.same, form_of("same"), asked_)
    assert isinstance(found, Lifted)
    inputs = Inputs(found, asked_.schema, asked_.keys, Mode.GROUPED)
    where = read_filter("where", "level = 'error'", inputs.output_names())
    assert not isinstance(where, Declined)

    def against(text: str) -> Verdict:
        term = read_filter("prefilter", text, inputs.input_names())
        assert not isinstance(term, Declined)
        problem = inputs.problem(where, [term])
        return Asked(inputs, problem, (), term, where, 10.0, "default").verdict()

    assert against("level = 'error'").status == "proved"
    wrong = against("level = 'error' AND score > 10")
    assert wrong.status == "refuted"
    assert wrong.counterexample is not None
    import pandas as pd

    table = pd.DataFrame(wrong.counterexample.rows)
    table["score"] = table["score"].astype(float)
    function: Any = row_tables.same
    kept = table[(table["level"] == "error") & (table["score"] > 10)]
    assert len(function(table).query("level == 'error'")) > len(function(kept))


def test_columns_of_other_types() -> None:
    """Arrays may be changed for the sake of others; floats of 32 bits come back as they are."""
    arrays = asked("n bigint, a unsupported:array", "n bigint, a unsupported:array")
    found = lift(row_tables.same, RowsFunction(), arrays)
    assert isinstance(found, Declined)
    floats = asked("n bigint, f unsupported:float", "n bigint, f unsupported:float")
    lifted = lift(row_tables.same, RowsFunction(), floats)
    assert isinstance(lifted, Lifted), str(lifted)
    assert [o.name for o in lifted.fold.outputs] == ["n"]
    assert {a.code for a in lifted.assumptions} == {"exact-int"}
