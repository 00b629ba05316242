"""Arguments that say what is the default anyway."""

from __future__ import annotations

import pytest
from tests.lift.models.pandas_agreement import agrees, refused

pytestmark = pytest.mark.random

SCHEMA = "v double, w double, n bigint NOT NULL, s string"


def test_defaults_change_nothing() -> None:
    cells = {
        "a": "pdf.v.max(skipna=True)",
        "b": "pdf.v.sum(skipna=True)",
        "c": "pdf.v.fillna(value=0).min()",
        "d": "pdf.s.fillna(value='x').eq('x').sum()",
        "e": "len(pdf.dropna(subset=['v', 's'], how='any'))",
        "f": "len(pdf.dropna(how='any'))",
        "g": "pdf.v.std(skipna=True)",
        "h": "pdf.loc[pdf.n.idxmax(skipna=True), 'v']",
    }
    types = dict.fromkeys(cells, "double") | dict.fromkeys(("d", "e", "f"), "bigint")
    agrees([], cells, SCHEMA, types, tables=300)


@pytest.mark.parametrize(
    "cell",
    [
        "pdf.v.max(skipna=False)",
        "pdf.v.sum(skipna=False)",
        "pdf.v.sum(skipna=True, min_count=1)",
        "pdf.v.max(0, skipna=True)",
        "len(pdf.dropna(how='all')) / 2",
        "len(pdf.dropna(thresh=1)) / 2",
        "pdf.v.fillna(value=0, limit=1).min()",
    ],
)
def test_anything_else_is_refused(cell: str) -> None:
    assert refused([], cell, SCHEMA, "double").code == "unknown-call"
