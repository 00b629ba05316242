"""Reports on Spark's plans say whether a function's result depends on the order of rows."""

from __future__ import annotations

import pandas as pd
import pytest
from tests.support.games import udfs
from tests.support.games.pipelines import TOP2, agg
from tests.support.games.tables import Tables

from presieve.driver import reports
from presieve.driver.optimize import explain, optimize
from presieve.driver.row_order import Question
from presieve.errors import PresieveError
from presieve.report.row_order import Order


def test_the_latest_depends_on_the_order(tables: Tables) -> None:
    """Its witness is run through the function itself."""
    report = explain(agg(tables.plain, "latest", "double", "score").filter("m >= 90"))
    (boundary,) = report.boundaries
    assert boundary.order is not None
    assert boundary.order.status == "dependent"
    witness = boundary.order.witness
    assert witness is not None
    assert set(witness.rows[0]) == {"team", "score"}
    shown = []
    for rows, result in (
        (witness.rows, witness.result),
        (witness.permuted, witness.permuted_result),
    ):
        latest = udfs.latest(pd.Series([r["score"] for r in rows], dtype="float64"))
        kept = [{"m": latest}] if latest >= 90 else []
        assert isinstance(result, list)
        assert [{"m": r["m"]} for r in result] == kept
        shown.append(kept)
    assert shown[0] != shown[1]
    assert report.to_json()["boundaries"][0]["order"] == boundary.order.to_json()
    assert "row order     the result depends on the order of rows" in str(report)


def test_the_highest_does_not(tables: Tables) -> None:
    (boundary,) = explain(agg(tables.plain, "top", "double", "score").filter("m >= 90")).boundaries
    assert boundary.order is not None
    assert boundary.order.status == "independent"
    groups = tables.plain.groupBy("team").applyInPandas(udfs.top2, TOP2)
    (boundary,) = explain(groups.filter("first >= 90 AND second >= 90")).boundaries
    assert boundary.order is not None
    assert boundary.order.status == "independent"


def test_of_what_is_declined_nothing_is_told(tables: Tables) -> None:
    (boundary,) = explain(agg(tables.plain, "clock", "double", "v").filter("m >= 90")).boundaries
    assert boundary.declined
    assert boundary.order is None


def test_optimizing_does_not_ask(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reports, "order_of", None)
    df = agg(tables.plain, "top", "double", "score").filter("m >= 90")
    assert optimize(df) is not df
    with pytest.raises(TypeError):
        explain(df)


def test_a_bug_of_ours_does_not_stop_the_report(
    tables: Tables, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(question: Question) -> Order:
        raise PresieveError("a bug")

    monkeypatch.setattr(Question, "_decide", fails)
    report = explain(agg(tables.plain, "top", "double", "score").filter("m >= 90"))
    (boundary,) = report.boundaries
    assert boundary.kind == "exact"
    assert boundary.order is not None
    assert boundary.order.status == "unknown"
    assert "please report it" in caplog.text
