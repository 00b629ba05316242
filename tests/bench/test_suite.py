"""The suite of published benchmarks: all there, and what of it is understood."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from statistics import median

import pytest
from benchmarks.suite import (
    ALWAYS_TRUE,
    LOSES_GROUPS,
    UNSATISFIABLE,
    Benchmark,
    benchmarks,
    load,
)

from presieve.driver.fold_inputs import Inputs, read_filter, read_inputs
from presieve.errors import Declined

FAMILIES = load(Path(__file__).parents[2] / "benchmarks" / "families")
ALL = tuple(benchmarks(FAMILIES))


def test_what_was_published() -> None:
    """Counts and times as the paper sums them up: a slip in copying shows here."""
    published = [b.filter.published for b in ALL]
    assert len(FAMILIES) == 26
    assert len(ALL) == 150
    assert Counter(p.kind for p in published) == {"exact": 11, "partial": 52, "split": 87}
    assert median(p.seconds for p in published) == pytest.approx(1.605)
    assert sum(p.seconds for p in published) == pytest.approx(566, abs=1)


def test_names() -> None:
    names = [b.name for b in ALL]
    assert len(set(names)) == len(names)
    assert set(names) >= UNSATISFIABLE | LOSES_GROUPS | ALWAYS_TRUE


@pytest.mark.parametrize("benchmark", ALL, ids=lambda b: b.name)
def test_fold_and_filter_are_read(benchmark: Benchmark) -> None:
    inputs = read_inputs(benchmark.family.fold, benchmark.schema, benchmark.returns, (), "grouped")
    assert isinstance(inputs, Inputs)
    where = read_filter("where", benchmark.filter.where, inputs.output_names())
    assert not isinstance(where, Declined), where
