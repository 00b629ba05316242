"""Functions of batches: rows that are passed on, and what makes it matter how batches are cut."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import logging
import re
from random import Random
from types import FunctionType
from typing import Any

import pytest
from tests.dataflow.grammar import NAMES
from tests.dataflow.trial import table, wrong_rows
from tests.support.frame_runs import outcome, row_that_matters

from presieve.dataflow.analysis import Dataflow, dataflow
from presieve.dataflow.context import Request

LOG = logging.getLogger(__name__)
LIMITS = [10, 20, 30, 40, 50, 60, 70]
RATES = {"a": 1.5, "b": 2.5}


def constants(batches):
    for pdf in batches:
        pdf["m"] = pdf["y"] * RATES["a"] + LIMITS[1]
        yield pdf


def set_up_before(batches):
    rate = RATES["b"] + RATES.get("c", 1.0)
    for pdf in batches:
        pdf["m"] = pdf["y"] * rate
        yield pdf


def _matching(letter: re.Pattern[str]) -> Any:
    def logged(batches):
        for pdf in batches:
            LOG.debug("%d rows", len(pdf))
            print(len(pdf))
            yield pdf[pdf["s"].str.contains(letter, na=False)]

    return logged


def by_size(batches):
    for pdf in batches:
        pdf["m"] = LIMITS[len(pdf)]
        yield pdf


def counted(batches):
    n = 0
    for pdf in batches:
        n = n + 1
        pdf["m"] = n
        yield pdf


def in_a_list(batches):
    seen = [0]
    for pdf in batches:
        pdf["m"] = seen[0]
        seen[0] = 1
        yield pdf


def first_only(batches):
    first = True
    for pdf in batches:
        if first:
            yield pdf
        first = False


def stopped(batches):
    for pdf in batches:
        yield pdf
        break


KEEPING = (constants, set_up_before, _matching(re.compile("^[a-z]")))
SPOILED = (by_size, counted, in_a_list, first_only, stopped)


def _said(function: Any) -> Dataflow:
    assert isinstance(function, FunctionType)
    return dataflow(Request(function, "batches", NAMES))


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
