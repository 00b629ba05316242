"""``value_counts()`` of constants: what pandas gives, what is refused, what may be dropped."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from tests.lift.models.pandas_agreement import agrees, refused

from presieve.driver.synthesize import synthesize
from presieve.driver.verify import verify

pytestmark = pytest.mark.random

_SCHEMAS = {
    "may be missing": "v double, s string, b boolean, n bigint, d date, w double",
    "are there": "v double NOT NULL, s string NOT NULL, b boolean NOT NULL, n bigint NOT NULL, "
    "d date NOT NULL, w double NOT NULL",
}
_CONSTANTS = {"v": "1.5", "s": "'a'", "b": "True", "n": "5", "d": "dt.date(1970, 1, 1)"}


@pytest.mark.costly
@pytest.mark.parametrize("schema", _SCHEMAS)
@pytest.mark.parametrize("column", _CONSTANTS)
@pytest.mark.parametrize("table", ["pdf", "pdf[pdf.w > 1]"])
def test_counts_are_what_pandas_gives(schema: str, column: str, table: str) -> None:
    key, lines = _CONSTANTS[column], [f"counts = {table}.{column}.value_counts()"]
    cells = {
        "a": f"counts.get({key}, 0)",
        "b": f"counts.get({key})",
        "c": f"counts.get({key}, default=-1)",
        "d": f"{key} in counts",
        "e": f"int(counts.get({key}, 0)) * 2 if {key} not in counts else 1",
    }
    types = {"a": "bigint", "b": "bigint", "c": "int", "d": "boolean", "e": "bigint"}
    agrees(lines, cells, _SCHEMAS[schema], types)
    agrees(lines, {"a": f"counts[{key}]"}, _SCHEMAS[schema], {"a": "bigint"})
    lines = [f"counts = {table}.{column}.value_counts(normalize=True, sort=False)"]
    cells = {
        "a": f"counts.get({key}, 0)",
        "b": f"counts.get({key}, 0.0)",
        "c": f"counts.get({key})",
    }
    agrees(lines, cells, _SCHEMAS[schema], dict.fromkeys(cells, "double"))


def test_labels_are_looked_up() -> None:
    agrees(["c = pdf.s.value_counts()"], {"a": "c.loc['a']"}, "s string", {"a": "bigint"})
    found = refused(["c = pdf.b.value_counts()"], "c.loc[True]", "b boolean", "bigint")
    assert found.code == "unsupported-operation"


@pytest.mark.parametrize(
    "cell",
    [
        "counts.max()",
        "counts.iloc[0]",
        "counts.index[0]",
        "counts.get(pdf.s.max(), 0)",
        "counts.get(1, 0)",
        "counts.size",
    ],
)
def test_counts_of_all_values_are_refused(cell: str) -> None:
    found = refused(["counts = pdf.s.value_counts()"], cell, "s string", "bigint")
    assert found.code == "not-a-fold", str(found)
    assert "value_counts()" in found.reason


def test_values_that_are_missing_are_not_counted() -> None:
    found = refused([], "pdf.s.value_counts(dropna=False).get('a', 0)", "s string", "bigint")
    assert found.code == "unknown-call"


# --- what may be dropped --------------------------------------------------------------------------


def errors(pdf: pd.DataFrame) -> pd.DataFrame:
    counts = pdf["level"].value_counts()
    return pd.DataFrame({"g": [pdf["g"].iloc[0]], "errors": [counts.get("error", 0)]})


_ASKED: dict[str, Any] = {
    "schema": "g string, level string",
    "returns": "g string, errors bigint",
    "keys": "g",
}


def test_only_what_is_counted_is_needed() -> None:
    found = synthesize(errors, "errors >= 3", **_ASKED)
    assert (found.kind, found.prefilter) == ("partial", "level = 'error'")


def test_groups_without_what_is_counted_are_kept() -> None:
    assert synthesize(errors, "errors < 3", **_ASKED).kind == "none"
    found = verify(errors, "errors < 3", prefilter="level = 'error'", **_ASKED)
    assert found.status == "refuted"
    assert found.counterexample is not None
    assert found.counterexample.original != found.counterexample.optimized
