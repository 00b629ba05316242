"""``column.dt.year`` and ``.dt.date`` against constants: what pandas gives, in which time zone."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from tests.lift.models.pandas_agreement import agrees, refused
from tests.support.lifting import declined, request

from presieve.driver.synthesize import synthesize
from presieve.driver.verify import verify
from presieve.ir.terms import Lit
from presieve.ir.walk import literals
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


@pytest.mark.parametrize(
    ("cell", "code"),
    [
        ("(pdf.t.dt.hour >= 22).sum()", "unsupported-expression"),
        ("(pdf.t.dt.month == 12).sum()", "unsupported-expression"),
        ("(pdf.t.dt.dayofweek > 4).sum()", "unsupported-expression"),
        ("pdf.t.dt.year.max()", "unknown-call"),
        ("(pdf.t.dt.year == 2020.0).sum()", "unsupported-operation"),
        ("(pdf.t.dt.year == 100000).sum()", "unsupported-constant"),
        ("(pdf.t.dt.date == pd.Timestamp('2020-01-01')).sum()", "unsupported-operation"),
        ("(pdf.t.dt.year == pdf.n.max()).sum()", "unsupported-operation"),
        ("(pdf.t.dt.year == pdf.t.dt.year).sum()", "unsupported-operation"),
        ("(pdf.d.dt.year == 2020).sum()", "unsupported-operation"),
    ],
)
def test_refused(cell: str, code: str) -> None:
    found = refused([], cell, "t timestamp, d date, n bigint NOT NULL", "bigint")
    assert found.code == code, str(found)


# --- what may be dropped --------------------------------------------------------------------------


def this_year(pdf: pd.DataFrame) -> pd.DataFrame:
    part = pdf[pdf["t"].dt.year == 2024]
    return pd.DataFrame({"g": [pdf["g"].iloc[0]], "n": [len(part)]})


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
    for zone, ahead in (("UTC", 0), ("+02:00", 2), ("-05:30", -5.5)):
        found = lift(this_year, None, request(SCHEMA, RETURNS, "g", zone))
        assert isinstance(found, Lifted)
        steps = [x for f in found.fold.fields for x in literals(f.step)]
        times = {x.value for x in steps if isinstance(x, Lit)}
        assert begins - int(ahead * 3600) * 1_000_000 in times
    asked = request(SCHEMA, RETURNS, "g", "America/New_York")
    assert declined(this_year, asked).code == "timestamp-zone"
