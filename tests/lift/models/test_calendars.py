"""``column.dt.month`` and the like, and ``pandas.to_datetime``, against pandas; time zones."""

from __future__ import annotations

from typing import Any, TypeGuard

import pandas as pd
import pytest
from tests.lift.models.pandas_agreement import agrees, refused
from tests.support.lifting import declined, request

from presieve.driver.synthesize import synthesize
from presieve.driver.verify import verify
from presieve.ir.terms import App, Lit, Op, Term, int_lit
from presieve.ir.walk import literals, subterms
from presieve.lift import Lifted, lift

pytestmark = pytest.mark.random

_OPS = ("==", "!=", "<", "<=", ">", ">=")
_SCHEMAS = (
    "t timestamp, v double",
    "t timestamp NOT NULL, v double",
    "t timestamp_ntz, v double",
    "t timestamp_ntz NOT NULL, v double",
)


@pytest.mark.costly
@pytest.mark.parametrize("schema", _SCHEMAS)
@pytest.mark.parametrize("op", _OPS)
def test_years_and_dates_are_what_pandas_gives(op: str, schema: str) -> None:
    part = f"part = pdf[pdf.t.dt.year {op} 1970]"
    cells = {
        "a": f"(pdf.t.dt.year {op} 2020).sum()",
        "b": f"(1970 {op} pdf.t.dt.year).any()",
        "c": f"(pdf['t'].dt.date {op} dt.date(2020, 1, 1)).sum()",
        "d": f"pdf.loc[pdf['t'].dt.date {op} dt.date(2019, 12, 31), 'v'].max()",
        "e": f"(part.t.dt.date {op} dt.date(1969, 12, 31)).all()",
    }
    types = {"a": "bigint", "b": "boolean", "c": "bigint", "d": "double", "e": "boolean"}
    agrees([part], cells, schema, types, tables=60)


@pytest.mark.costly
@pytest.mark.parametrize("schema", _SCHEMAS)
@pytest.mark.parametrize(
    ("name", "value"), [("day_name", "Sunday"), ("day_name", "Thursday"), ("month_name", "January")]
)
def test_names_of_days_and_months_are_what_pandas_gives(name: str, value: str, schema: str) -> None:
    cells = {
        "a": f"(pdf.t.dt.{name}() == '{value}').sum()",
        "b": f"(pdf['t'].dt.{name}() != '{value}').any()",
        "c": f"pdf.loc[pdf.t.dt.{name}().isin(['{value}', 'Monday', 'May']), 'v'].max()",
        "d": f"pdf.t.dt.{name}().notna().sum()",
    }
    types = {"a": "bigint", "b": "boolean", "c": "double", "d": "bigint"}
    agrees([], cells, schema, types, tables=60)


@pytest.mark.costly
@pytest.mark.parametrize("schema", _SCHEMAS)
@pytest.mark.parametrize(
    "name", ["month", "quarter", "day", "dayofweek", "hour", "minute", "second"]
)
def test_numbers_of_times_are_what_pandas_gives(name: str, schema: str) -> None:
    cells = {
        "a": f"(pdf.t.dt.{name} >= 5).sum()",
        "b": f"(0 != pdf['t'].dt.{name}).all()",
        "c": f"pdf.loc[pd.to_datetime(pdf.t).dt.{name} == 1, 'v'].max()",
        "d": f"(pdf.t.dt.{name} == 2020.0).sum()",
        "e": f"pdf.t.dt.{name}.max()",
        "f": f"(pdf.t.dt.{name} < pdf.t.dt.year).sum()",
    }
    number = "bigint" if "NOT NULL" in schema else "double"
    types = {"a": "bigint", "b": "boolean", "c": "double", "d": "bigint", "e": number}
    agrees([], cells, schema, {**types, "f": "bigint"}, tables=60)


@pytest.mark.costly
@pytest.mark.parametrize("schema", _SCHEMAS)
@pytest.mark.parametrize("period", ["month", "quarter", "year"])
def test_ends_of_periods_are_what_pandas_gives(period: str, schema: str) -> None:
    cells = {
        "a": f"pdf.t.dt.is_{period}_start.sum()",
        "b": f"pdf[pdf.t.dt.is_{period}_end].v.max()",
    }
    agrees([], cells, schema, {"a": "bigint", "b": "double"}, tables=60)


@pytest.mark.costly
@pytest.mark.parametrize("schema", ["d date, v double", "d date NOT NULL, v double"])
def test_times_of_dates_are_what_pandas_gives(schema: str) -> None:
    """Dates beyond a 64-bit number of nanoseconds raise."""
    near = "pd.to_datetime(pdf[(pdf.d > dt.date(1800, 1, 1)) & (pdf.d < dt.date(2200, 1, 1))].d)"
    cells = {
        "a": "(pd.to_datetime(pdf.d).dt.dayofweek >= 5).sum()",
        "b": "(pd.to_datetime(pdf['d']).dt.year == 2020).any()",
        "c": "(pd.to_datetime(pdf.d) >= '2020-01-01').sum()",
        "d": "(pd.to_datetime(pdf.d).dt.hour == 0).all()",
    }
    types = {"a": "bigint", "b": "boolean", "c": "bigint", "d": "boolean"}
    agrees([], cells, schema, types, tables=60)
    if "NOT NULL" in schema:
        agrees(
            [],
            {c: t.replace("pd.to_datetime(pdf.d)", near) for c, t in cells.items()},
            schema,
            types,
            tables=60,
        )


@pytest.mark.parametrize(
    ("cell", "code"),
    [
        ("(pdf.t.dt.dayofyear == 4).sum()", "unsupported-expression"),
        ("(pdf.t.dt.microsecond == 0).sum()", "unsupported-expression"),
        ("(pdf.t.dt.date == pd.Timestamp('2020-01-01')).sum()", "unsupported-operation"),
        ("(pdf.d.dt.year == 2020).sum()", "unsupported-operation"),
        ("(pd.to_datetime(pdf.s).dt.year == 2020).sum()", "unknown-call"),
        ("(pd.to_datetime(pdf.t, utc=True).dt.year == 2020).sum()", "unknown-call"),
    ],
)
def test_refused(cell: str, code: str) -> None:
    found = refused([], cell, "t timestamp, d date, s string, n bigint NOT NULL", "bigint")
    assert found.code == code, str(found)


def test_texts_take_the_format_of_the_first() -> None:
    found = refused([], "(pd.to_datetime(pdf.s).dt.year == 2020).sum()", "s string", "bigint")
    assert "in the format of the first one" in str(found)


# --- what may be dropped --------------------------------------------------------------------------


def this_year(pdf: pd.DataFrame) -> pd.DataFrame:
    part = pdf[pdf["t"].dt.year == 2024]
    return pd.DataFrame({"g": [pdf["g"].iloc[0]], "n": [len(part)]})


def by_hour(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"g": [pdf["g"].iloc[0]], "n": [len(pdf[pdf["t"].dt.hour == 5])]})


def is_shown(term: Term) -> TypeGuard[App]:
    return isinstance(term, App) and term.op is Op.WALL_TIME


SCHEMA, RETURNS = "g string, t timestamp", "g string, n bigint"
_ASKED: dict[str, Any] = {"schema": SCHEMA, "returns": RETURNS, "keys": "g"}


def test_a_year_is_an_interval_of_times() -> None:
    found = synthesize(this_year, "n >= 3", **_ASKED)
    interval = "t >= TIMESTAMP '2024-01-01 00:00:00Z' AND t < TIMESTAMP '2025-01-01 00:00:00Z'"
    assert (found.kind, found.prefilter) == ("partial", interval)


def test_the_last_day_is_of_the_year() -> None:
    early = "t >= TIMESTAMP '2024-01-01 00:00:00Z' AND t < TIMESTAMP '2024-12-31 00:00:00Z'"
    found = verify(this_year, "n >= 1", prefilter=early, **_ASKED)
    assert found.status == "refuted"
    assert found.counterexample is not None
    assert found.counterexample.original != found.counterexample.optimized


def test_years_are_those_of_the_sessions_clocks() -> None:
    begins = 1704067200_000_000
    found = lift(by_hour, None, request(SCHEMA, RETURNS, "g", "+05:30"))
    assert isinstance(found, Lifted)
    shown = [x for f in found.fold.fields for x in subterms(f.step) if is_shown(x)]
    assert {x.args[1] for x in shown} == {int_lit(19_800_000_000)}
    for zone, ahead in (("UTC", 0), ("+02:00", 2), ("-05:30", -5.5)):
        found = lift(this_year, None, request(SCHEMA, RETURNS, "g", zone))
        assert isinstance(found, Lifted)
        steps = [x for f in found.fold.fields for x in literals(f.step)]
        times = {x.value for x in steps if isinstance(x, Lit)}
        assert begins - int(ahead * 3600) * 1_000_000 in times
    asked = request(SCHEMA, RETURNS, "g", "America/New_York")
    assert declined(this_year, asked).code == "timestamp-zone"
    assert declined(by_hour, asked).code == "timestamp-zone"
