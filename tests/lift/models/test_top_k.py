"""The first few rows of what is sorted: what pandas gives, what is refused, what may be dropped."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from tests.lift.models import ranked_refused
from tests.lift.models.pandas_agreement import agrees
from tests.support.lifting import declined, request

from presieve.driver.synthesize import synthesize
from presieve.driver.verify import verify

pytestmark = pytest.mark.random

_TYPES = {
    "double": ("v double, w double NOT NULL, s string", "double"),
    "bigint": ("v bigint, w bigint NOT NULL, s string", "bigint"),
    "timestamp": ("v timestamp, w timestamp NOT NULL, s string", "timestamp"),
}
_SELECTED = (
    "pdf.{}.nlargest(2)",
    "pdf.{}.nsmallest(n=3, keep='first')",
    "pdf.{}.sort_values(ascending=False).head(2)",
    "pdf[pdf.s == 'a'].{}.nlargest(3)",
    "pdf.sort_values('{}').{}.head(3)",
    "pdf.sort_values('v', ascending=False, kind='stable').head(2).{}",
    "pdf[pdf.s == 'a'].sort_values('w', kind='stable').head(3)['{}']",
    "pdf.nlargest(1, 'v').{}",
)


@pytest.mark.costly
@pytest.mark.parametrize("type_", _TYPES)
@pytest.mark.parametrize("selected", _SELECTED)
def test_places_are_what_pandas_gives(type_: str, selected: str) -> None:
    schema, returns = _TYPES[type_]
    for column in ("v", "w"):
        rows = selected.format(column, column)
        cells = {"a": "top.min()", "b": "top.max()", "n": "len(top)"}
        types = {"a": returns, "b": returns, "n": "bigint"}
        if type_ != "timestamp":
            cells |= {"c": "top.sum()", "d": "top.mean()", "m": "top.count()"}
            types |= {"c": returns, "d": "double", "m": "bigint"}
        agrees([f"top = {rows}"], cells, schema, types)
        places = {"a": "top.iloc[0]", "b": "top.iloc[-1]", "c": "top.tolist()[0]"}
        agrees([f"top = {rows}"], places, schema, dict.fromkeys(places, returns))
        if "nlargest(1" not in rows:
            second = {"a": "top.iloc[1]", "b": "top.tolist()[1]"}
            agrees([f"top = {rows}"], second, schema, dict.fromkeys(second, returns))
            some = {"a": "top.iloc[-1] if len(top) > 1 else top.iloc[0]"}
            agrees([f"top = {rows}"], some, schema, {"a": returns})


@pytest.mark.parametrize("column", ["v", "w"])
@pytest.mark.parametrize("key", ["v", "w"])
def test_columns_beside_the_largest(column: str, key: str) -> None:
    schema, cells = _TYPES["double"][0], {"a": "top.min()", "b": "top.max()", "c": "top.count()"}
    types = {"a": "double", "b": "double", "c": "bigint"}
    for select in (f"nlargest(2, '{key}')", f"nsmallest(3, columns=['{key}'])"):
        agrees([f"top = pdf.{select}.{column}"], cells, schema, types)


def test_tables_of_the_largest() -> None:
    cells, types = {"a": "len(top)", "b": "top.empty"}, {"a": "bigint", "b": "boolean"}
    for table_ in ("pdf", "pdf[pdf.w > 1]"):
        agrees([f"top = {table_}.nlargest(3, 'v')"], cells, _TYPES["double"][0], types)


@pytest.mark.parametrize(("name", "code"), ranked_refused.CODES)
def test_refused(name: str, code: str) -> None:
    schema = "v double, n bigint NOT NULL, s string"
    found = declined(getattr(ranked_refused, name), request(schema, "o double"))
    assert found.code == code, str(found)
    assert found.span is not None


# --- what may be dropped --------------------------------------------------------------------------

SCHEMA = "g string, v double, w bigint NOT NULL"


def third(pdf: pd.DataFrame) -> pd.DataFrame:
    top = pdf["v"].nlargest(3)
    worst = top.min() if len(top) == 3 else None
    return pd.DataFrame({"g": [pdf["g"].iloc[0]], "worst": [worst]})


def runner_up(pdf: pd.DataFrame) -> pd.DataFrame:
    top = pdf["w"].nlargest(2)
    return pd.DataFrame({"g": [pdf["g"].iloc[0]], "second": [top.iloc[-1]]})


def _asked(returns: str) -> dict[str, Any]:
    return {"schema": SCHEMA, "returns": f"g string, {returns}", "keys": "g"}


def test_three_above_a_limit() -> None:
    found = synthesize(third, "worst > 90", **_asked("worst double"))
    assert (found.kind, found.prefilter) == ("split", "v > 90.0D")


def test_the_last_of_fewer_is_another_one() -> None:
    """Of 95 and 10 the second is 10; of what passes it is 95."""
    found = verify(runner_up, "second > 90", prefilter="w > 90", **_asked("second bigint"))
    assert found.status == "refuted"
    assert found.counterexample is not None
    assert found.counterexample.original != found.counterexample.optimized
