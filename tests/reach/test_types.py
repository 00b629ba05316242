"""Types that pandas chooses for a whole batch: integers beside NULL are doubles, or ``Int64`` where
a field of the batch is a text.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import Any

import pandas as pd
import pytest
from tests.reach.tables import again, frame
from tests.support.frame_runs import Group, column_that_matters, row_that_matters

from presieve.dataflow.analysis import Dataflow, dataflow
from presieve.dataflow.context import AnalysisRequest
from presieve.sql.ddl import parse_schema

SCHEMA = "id bigint, n bigint, s string"
ROWS: list[list[object]] = [[1, 5, "a"], [2, None, "b"]]


def as_text(batches):
    for pdf in batches:
        yield pd.DataFrame({"id": pdf["id"], "n": pdf["n"].astype(str)})


def known(batches):
    for pdf in batches:
        yield pd.DataFrame({"id": pdf["id"], "n": (pdf["n"] == 5).map(str)})


def beside(batches):
    for pdf in batches:
        pdf["text"] = pdf["n"].astype(str)
        yield pdf


def _said(function: Any) -> Dataflow:
    assert isinstance(function, FunctionType)
    return dataflow(AnalysisRequest(function, "batches", ("id", "n", "s")))


def _batch(*names: str) -> pd.DataFrame:
    """Some columns of a batch of two rows; the second one has a NULL."""
    whole = frame(parse_schema(SCHEMA), ROWS, batch=True)
    return again(SCHEMA, whole[list(names)])


def _table(function: Callable[..., Any]) -> Callable[[pd.DataFrame], Any]:
    return lambda pdf: pd.concat(list(function(iter([pdf]))))


def test_a_row_whose_text_depends_on_others_is_not_passed_on() -> None:
    """``text`` is ``5`` alone, and ``5.0`` beside a NULL."""
    assert not _said(beside).passes
    batches = [_batch("id", "n")]
    assert row_that_matters(beside, batches, ("id", "id"), 1, partial(again, SCHEMA)) is not None


@pytest.mark.xfail(strict=True, reason="without types: problems/column_pruning.py keeps a text")
@pytest.mark.parametrize("function", [as_text, known])
def test_a_column_that_is_not_read_may_be_left_out(function: Callable[..., Any]) -> None:
    """``n`` is ``Int64`` beside a text, and holds doubles without it."""
    group = Group({}, _batch("id", "n", "s"), _table(function), partial(again, SCHEMA), True)
    assert column_that_matters(_said(function), group, "id") is None
