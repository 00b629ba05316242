"""Functions of batches: rows that are passed on, and what makes it matter how batches are cut."""

from __future__ import annotations

from random import Random
from types import FunctionType
from typing import Any

import pandas as pd
import pytest
from tests.dataflow.batch_idioms import KEEPING, SPOILED, by_label
from tests.dataflow.batch_readers import READERS
from tests.dataflow.grammar import NAMES
from tests.dataflow.trial import table, wrong_rows
from tests.support.frame_runs import outcome, row_that_matters

from presieve.dataflow.analysis import Dataflow, dataflow
from presieve.dataflow.context import AnalysisRequest


def _said(function: Any) -> Dataflow:
    assert isinstance(function, FunctionType)
    return dataflow(AnalysisRequest(function, "batches", NAMES))


@pytest.mark.parametrize("function", KEEPING)
def test_rows_are_passed_on(function: Any) -> None:
    said = _said(function)
    assert said.passes == {n: n for n in NAMES}
    assert wrong_rows(function, said, Random(1)) is None


@pytest.mark.parametrize("function", SPOILED)
def test_how_batches_are_cut_matters(function: Any) -> None:
    """The function really gives something else for rows that are filtered first."""
    assert not _said(function).passes
    random = Random(3)
    for _ in range(100):
        batches = [table(random, "k0", random.randint(0, 4)) for _ in range(2)]
        if outcome(lambda: list(function(iter(b.copy() for b in batches)))) is None:  # noqa: B023
            continue
        if row_that_matters(function, batches, ("t", "t"), random.choice([0, 1, 2])):
            return
    raise AssertionError("it is the same however batches are cut")


def test_labels_of_rows_depend_on_the_batch() -> None:
    """Spark numbers the rows of a batch anew if a filter comes first."""
    assert not _said(by_label).passes


@pytest.mark.parametrize("function", READERS)
def test_columns_that_are_not_read_are_not_missed(function: Any) -> None:
    """The function gives the same for batches that have only the columns that it reads."""
    reads = _said(function).reads
    columns = list(NAMES if reads is None else reads)
    random = Random(7)
    batches = [table(random, "k0", count) for count in (3, 2)]
    of_all, of_some = (
        pd.concat(function(iter([b[names].copy() for b in batches])))
        for names in (list(NAMES), sorted(columns, key=NAMES.index))
    )
    pd.testing.assert_frame_equal(of_all, of_some)
