"""The recipe of CONTRIBUTING.md for an operator: its rule, and filters move past it."""

from __future__ import annotations

import pytest
from tests.support.games import udfs
from tests.support.games.tables import Tables
from tests.support.running import rewritten
from tests.support.traps.checks import agg

from presieve.backend.catalyst import operators
from presieve.backend.catalyst.boundary import LOGICAL
from presieve.driver.optimize import optimize

SAMPLE = LOGICAL + "Sample"


def test_a_planted_operator_is_passed(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sample of all rows renames nothing and drops nothing."""
    df = agg(tables.plain, udfs.top, "double", "score").sample(False, 1.0, 1).filter("m >= 90")
    assert optimize(df, cost="always") is df
    monkeypatch.setitem(operators.RULES, SAMPLE, operators.RULES[operators.SUBQUERY_ALIAS])
    assert rewritten(df).prefilter
