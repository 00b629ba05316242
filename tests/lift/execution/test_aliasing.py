"""Tables and columns that are changed in place: only where nothing else sees it."""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.lift.python import shared_setattr
from tests.support import shared_tables
from tests.support.lifting import (
    assumed,
    declined,
    interpreted,
    lifted,
    request,
    run_frame,
    run_series,
    series_of,
)

from presieve.dataflow.analysis import dataflow
from presieve.dataflow.context import AnalysisRequest as FlowRequest
from presieve.errors import Declined, DeclineSignal
from presieve.lift import FrameFunction, Lifted, LiftRequest, SeriesFunction, lift
from presieve.lift.forms import RowsFunction
from presieve.lift.models.registry import FUNCTIONS, METHODS
from presieve.semantics.interpret import Raised, evaluate, key_env, run_fold
from presieve.semantics.values import Value, same

SCHEMA = "x double, y bigint NOT NULL"
GROUP = request(SCHEMA, "o double")
ROWS = request(SCHEMA, "x double, y bigint", "x,y")
BATCHES = RowsFunction(batches=True)
_X = [0.0, -0.0, 1.0, 2.5, 3.0, 13.0, -95.0, 1e308, float("inf"), float("nan"), None]
_Y = [0, 1, 2, 3, -1, 2**53 + 1, 2**63 - 1]


@pytest.fixture(params=[False, True], ids=["views", "copy-on-write"])
def copy_on_write(request: pytest.FixtureRequest) -> Iterator[bool]:
    """Both ways in which pandas 2 may share values; pandas 3 has the second one only."""
    with pd.option_context("mode.copy_on_write", request.param), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield request.param


def _names(functions: list[Any]) -> list[str]:
    return [f.__name__ for f in functions]


def _rows(dice: random.Random) -> list[dict[str, Value]]:
    return [{"x": dice.choice(_X), "y": dice.choice(_Y)} for _ in range(dice.randint(1, 6))]


def _frame(rows: list[dict[str, Value]]) -> Any:
    return pd.concat(series_of(ROWS, rows), axis=1)


# --- what is lifted is what pandas does -----------------------------------------------------------


@pytest.mark.costly
@pytest.mark.parametrize("function", shared_tables.MAPS, ids=_names(shared_tables.MAPS))
def test_rows(function: Any, copy_on_write: bool) -> None:
    found = lift(function, BATCHES, ROWS)
    assert isinstance(found, Lifted), str(found)
    if copy_on_write and function is shared_tables.map_marked:
        pytest.skip("the columns that Spark makes cannot be written to then: pandas raises")
    dice = random.Random(function.__name__)
    kept = 0
    for _ in range(150):
        rows = [r for r in _rows(dice) if assumed(found, {}, r)]
        if not rows:
            continue
        (table,) = function(iter([_frame(rows)]))
        real = sorted(repr(_cells(x, y)) for x, y in zip(table.x, table.y, strict=True))
        model = sorted(repr(r) for row in rows for r in _model(found, row))
        assert real == model, rows
        kept += len(real)
    assert kept > 20


def _cells(x: Any, y: Any) -> tuple[Value, Value]:
    return None if pd.isna(x) else float(x), int(y)


def _model(found: Lifted, row: dict[str, Value]) -> list[tuple[Value, Value]]:
    if evaluate(found.kept, key_env(row)) is not True:
        return []
    result = run_fold(found.fold, [{}], row)
    assert not isinstance(result, Raised)
    by_name = dict(zip((o.name for o in found.fold.outputs), result, strict=True))
    return [(by_name["x"], by_name["y"])]


ALONE: list[tuple[Any, Any]] = [
    *((f, FrameFunction()) for f in shared_tables.GROUPS),
    *((f, SeriesFunction(("x", "y"))) for f in shared_tables.SERIES),
]


@pytest.mark.costly
@pytest.mark.parametrize(("function", "form"), ALONE, ids=_names([f for f, _ in ALONE]))
def test_groups(function: Any, form: Any, copy_on_write: bool) -> None:
    found = lifted(function, GROUP, form)
    dice = random.Random(function.__name__)
    for _ in range(150):
        rows = [r for r in _rows(dice) if assumed(found, r, {})]
        if not rows:
            continue
        if isinstance(form, FrameFunction):
            real = run_frame(function, GROUP, False, rows)
        else:
            real = run_series(function, GROUP, ["x", "y"], rows)
        model = interpreted(found, rows, {})
        assert isinstance(model, tuple)
        assert isinstance(real, tuple)
        assert same(model, real), rows


# --- what is not lifted ---------------------------------------------------------------------------


@pytest.mark.parametrize("function", shared_tables.MAPS_SEEN, ids=_names(shared_tables.MAPS_SEEN))
def test_rows_that_something_else_sees(function: Any) -> None:
    found = lift(function, BATCHES, ROWS)
    assert isinstance(found, Declined), "it was lifted"
    assert found.code == "mutation", str(found)
    assert found.span is not None


@pytest.mark.parametrize("function", shared_tables.MAPS_OTHER, ids=_names(shared_tables.MAPS_OTHER))
def test_other_ways_to_change_a_table(function: Any) -> None:
    found = lift(function, BATCHES, ROWS)
    assert isinstance(found, Declined), "it was lifted"
    assert found.code in ("mutation", "unknown-call", "unsupported-expression", "not-a-fold")


def test_setattr() -> None:
    assert isinstance(lift(shared_setattr.map_setattr, BATCHES, ROWS), Declined)


SEEN: list[tuple[Any, Any]] = [
    *((f, FrameFunction()) for f in shared_tables.GROUPS_SEEN),
    *((f, SeriesFunction(("x", "y"))) for f in shared_tables.SERIES_SEEN),
    *((f, SeriesFunction(("x", "x"))) for f in shared_tables.SERIES_SEEN),
]


@pytest.mark.parametrize(("function", "form"), SEEN)
def test_groups_that_something_else_sees(function: Any, form: Any) -> None:
    found = declined(function, GROUP, form)
    assert found.code in ("mutation", "mixed-types"), str(found)
    assert found.span is not None


@pytest.mark.parametrize("function", shared_tables.KEYED, ids=_names(shared_tables.KEYED))
def test_columns_that_hold_the_key(function: Any) -> None:
    """A claim that a column holds the group's key is true of what the function gives."""
    try:
        held = dataflow(FlowRequest(function, "group", ("y", "w", "x"), ("y",))).keys
    except DeclineSignal:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = function(pd.DataFrame({"y": [3, 3], "w": [-7, 9], "x": [1.0, 2.0]}))
    assert len(found) > 0
    for column in held:
        assert list(found[column]) == [3] * len(found)


def test_the_batches_of_a_column() -> None:
    def highest(batches: Any) -> float:
        best = 0.0
        for x in batches:
            x += 1
            for v in x:
                best = max(best, v)
        return best

    asked: LiftRequest = request("x double NOT NULL", "o double")
    assert isinstance(declined(highest, asked, SeriesFunction(("x",), batches=True)), Declined)


# --- what the gate rests on -----------------------------------------------------------------------

_CALLS: dict[str, Any] = {
    **{n: lambda s, n=n: getattr(s, n)(2.0) for n in ("gt", "ge", "lt", "le", "eq", "ne")},
    **{n: lambda s, n=n: getattr(s, n)() for n in ("isna", "isnull", "notna", "notnull")},
    **{n: lambda s, n=n: getattr(s, n)() for n in ("abs", "copy", "dropna", "sort_values")},
    "isin": lambda s: s.isin([1.0]),
    "between": lambda s: s.between(0.0, 9.0),
    "fillna": lambda s: s.fillna(0.0),
    "where": lambda s: s.where(s > 0, 0.0),
    "mask": lambda s: s.mask(s < 0, 0.0),
    "clip": lambda s: s.clip(0.0, 99.0),
    "astype": lambda s: s.astype(float),
    "round": lambda s: s.round(1),
    "replace": lambda s: s.replace(9.0, 8.0),
    "rename": lambda s: s.to_frame("x").rename(columns={"x": "y"})["y"],
    "drop": lambda s: s.to_frame("x").assign(y=1.0).drop(columns=["y"])["x"],
    "dt.day_name": lambda s: s.astype("datetime64[ns]").dt.day_name(),
    "dt.month_name": lambda s: s.astype("datetime64[ns]").dt.month_name(),
    "str.extract": lambda s: s.astype(str).str.extract(r"(\d)", expand=False),
    "str.get": lambda s: s.astype(str).str.get(0),
    "str.slice": lambda s: s.astype(str).str.slice(0, 1),
    **{
        f"str.{n}": lambda s, n=n: getattr(s.astype(str).str, n)("1")
        for n in ("match", "fullmatch", "find", "rfind", "count", "removesuffix")
    },
    **{
        f"str.{n}": lambda s, n=n: getattr(s.astype(str).str, n)()
        for n in (
            *("capitalize", "casefold", "swapcase", "title", "isdigit", "isdecimal", "isnumeric"),
            *("isalpha", "isalnum", "isspace", "islower", "isupper"),
        )
    },
    "str.zfill": lambda s: s.astype(str).str.zfill(2),
    **{f"str.{n}": lambda s, n=n: getattr(s.astype(str).str, n)(9) for n in ("ljust", "rjust")},
    "str.pad": lambda s: s.astype(str).str.pad(9),
    "str.cat": lambda s: s.astype(str).str.cat(s.astype(str)),
    **{
        f"str.{n}": lambda s, n=n: getattr(s.astype(str).str, n)(".")[0]
        for n in ("partition", "rpartition")
    },
    "dt.strftime": lambda s: s.astype("datetime64[ns]").dt.strftime("%Y"),
    "dt.total_seconds": lambda s: s.astype("timedelta64[ns]").dt.total_seconds(),
    "combine_first": lambda s: s.combine_first(s * 2),
    **{
        n: lambda s, n=n: getattr(s, n)(1.0)
        for n in ("add", "sub", "mul", "div", "truediv", "floordiv", "mod", "pow")
    },
    **{f"numpy.{f.__name__}": f for f in (np.floor, np.ceil, np.trunc)},
    "numpy.clip": lambda s: np.clip(s, 0.0, 99.0),
    "numpy.digitize": lambda s: np.digitize(s, [1.5, 2.5]),
    "numpy.searchsorted": lambda s: np.searchsorted([1.5, 2.5], s),
    "numpy.select": lambda s: np.select([s > 0], [s], default=0.0),
    "numpy.round": lambda s: np.round(s, 1),
    "numpy.sqrt": np.sqrt,
    "pandas.concat": lambda s: pd.concat([s.to_frame("x"), s.to_frame("x")[:0]])["x"],
    **{n: lambda s, n=n: getattr(s, n)(lambda x: x) for n in ("apply", "map")},
    **{
        f"str.{n}": lambda s, n=n: getattr(s.astype(str).str, n)("1")
        for n in ("startswith", "endswith", "contains", "removeprefix", "strip", "lstrip", "rstrip")
    },
    **{
        f"str.{n}": lambda s, n=n: getattr(s.astype(str).str, n)()
        for n in ("lower", "upper", "len")
    },
    "str.replace": lambda s: s.astype(str).str.replace("1", "2"),
    "assign": lambda s: s.to_frame("x").assign(x=s)["x"],
    "query": lambda s: s.to_frame("x").query("x > 0")["x"],
    "numpy.where": lambda s: np.where(s > 0, s, s),
    "numpy.maximum": lambda s: np.maximum(s, 0.5),
    "numpy.minimum": lambda s: np.minimum(s, 99.0),
    "numpy.abs": np.abs,
    "numpy.absolute": np.absolute,
    "numpy.isnan": np.isnan,
    "pandas.isna": pd.isna,
    "pandas.isnull": pd.isnull,
    "pandas.notna": pd.notna,
    "pandas.notnull": pd.notnull,
}
_TABLES = ("copy", "dropna", "sort_values", "assign", "query", "rename", "drop")


_FRESH = {name for (_, name), entry in METHODS.items() if entry.fresh}
_FRESH |= {path for path, entry in FUNCTIONS.items() if entry.fresh}


@pytest.mark.parametrize("name", sorted(_FRESH))
def test_what_counts_as_new_shares_nothing(name: str, copy_on_write: bool) -> None:
    """A change of the result is not seen in what it was made of, and the other way round."""
    s = pd.Series([1.0, 2.0, 3.0])
    made = _CALLS[name](s)
    before = list(made)
    made[:] = made[::-1]
    assert list(s) == [1.0, 2.0, 3.0]
    made = _CALLS[name](s)
    s[:] = 7.0
    assert list(made) == before


@pytest.mark.parametrize("name", _TABLES)
def test_new_tables_share_nothing(name: str, copy_on_write: bool) -> None:
    arguments: dict[str, Any] = {"sort_values": ["x"], "query": ["x > 0"]}
    named: dict[str, Any] = {"assign": {"z": 1.0}, "rename": {"columns": {"z": "w"}}}
    named["drop"] = {"columns": ["z"]}
    for other in ("double", "bigint"):
        table = _frame([{"x": float(i), "y": i} for i in (1, 2, 3)])
        table["y"] = table.y.astype(float if other == "double" else int)
        table["z"] = 0.0
        made = [getattr(table, name)(*arguments.get(name, ()), **named.get(name, {}))]
        made += [table[["x", "y"]], table[["x"]], table[table.x > 0], table.loc[table.x > 0]]
        for one in made:
            assert one is not table
            one.loc[one.x > 0, "x"] = -1.0
        assert list(table.x) == [1.0, 2.0, 3.0]


def test_what_is_put_into_a_table_is_copied(copy_on_write: bool) -> None:
    table = _frame([{"x": float(i), "y": i} for i in (1, 2, 3)])
    old, twice, array = table["x"], table.x * 2, np.where(table.x > 1, 1.0, 2.0)
    table["x"], table["a"], table["b"] = 0.0, twice, array
    assert list(old) == [1.0, 2.0, 3.0]
    twice += 1
    array += 1
    assert list(table.a) == [2.0, 4.0, 6.0]
    assert list(table.b) == [2.0, 1.0, 1.0]
