"""``synthesize`` and ``verify`` for functions of groups that give a row or none."""

from __future__ import annotations

from typing import Any

import pandas as pd

import presieve

SCHEMA, RETURNS = "k string, v double NOT NULL, t timestamp", "k string, v double"


def largest(key: Any, pdf: pd.DataFrame) -> pd.DataFrame:
    pdf = pdf[pdf["v"] > 2]
    if pdf.empty:
        return pd.DataFrame(columns=["k", "v"])
    return pd.DataFrame({"k": [key[0]], "v": [pdf["v"].max()]})


def of_many(key: Any, pdf: pd.DataFrame) -> pd.DataFrame:
    if len(pdf) < 2:
        return pd.DataFrame()
    return pd.DataFrame({"k": [key[0]], "v": [pdf["v"].max()]})


def latest(pdf: pd.DataFrame) -> pd.DataFrame:
    return pdf[pdf["t"].notna()].sort_values(["t", "v"]).tail(1)[["k", "v"]]


def verified(function: Any, where: str, prefilter: str, residual: str | None = None) -> Any:
    return presieve.verify(
        function,
        where,
        prefilter=prefilter,
        residual=residual,
        schema=SCHEMA,
        returns=RETURNS,
        keys="k",
    )


def test_a_filter_on_the_value_is_replaced() -> None:
    found = presieve.synthesize(largest, "v > 7", schema=SCHEMA, returns=RETURNS, keys="k")
    assert (found.kind, found.prefilter, found.residual) == (
        "exact",
        "v > 7.0D AND NOT isnan(v)",
        "true",
    )


def test_a_row_that_is_chosen_by_another_column_is_filtered_above() -> None:
    found = presieve.synthesize(latest, "v > 7", schema=SCHEMA, returns=RETURNS, keys="k")
    assert (found.kind, found.prefilter) == ("partial", "t IS NOT NULL")
    assert found.residual == "v > 7"


def test_no_filter_is_left_where_only_rows_that_there_are_matter() -> None:
    found = presieve.synthesize(largest, "v > 1", schema=SCHEMA, returns=RETURNS, keys="k")
    assert (found.prefilter, found.residual) == ("v > 2.0D AND NOT isnan(v)", "true")
    assert found.kind == "exact"


def test_what_holds_is_proved() -> None:
    assert verified(largest, "v > 7", "v > 7").status == "proved"
    assert verified(largest, "v > 7", "v > 7", "true").status == "proved"
    assert verified(largest, "v > 1", "v > 2", "true").status == "proved"


def test_what_does_not_hold_is_refuted_by_a_table() -> None:
    wrong = verified(of_many, "v > 7", "v > 7")
    assert wrong.status == "refuted"
    rows = wrong.counterexample.rows
    key = (rows[0]["k"],)
    table = pd.DataFrame(rows)
    kept = table[table["v"] > 7]
    with_filter = of_many(key, kept) if len(kept) else pd.DataFrame()
    whole = of_many(key, table)
    assert (len(whole) and whole["v"][0] > 7) != (len(with_filter) and with_filter["v"][0] > 7)
