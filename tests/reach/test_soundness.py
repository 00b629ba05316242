"""What the analysis says of each function holds when it is run on random tables."""

from __future__ import annotations

import random as python_random
from functools import partial
from random import Random

import numpy as np
import pandas as pd
import pytest
from tests.reach.collection import TABLES, answer
from tests.reach.entries import Entry, names_of
from tests.reach.tables import again, batches, group, pool
from tests.support.frame_runs import Group, column_that_matters, lost_key, outcome, row_that_matters

from presieve.sql.ddl import parse_schema

TRIES = 40
RUN = [e for e in TABLES if not e.analysed_only]
GROUPS = pytest.mark.parametrize("entry", [e for e in RUN if e.by], ids=str)
BATCHES = pytest.mark.parametrize("entry", [e for e in RUN if not e.by], ids=str)


def _groups(entry: Entry) -> list[Group]:
    random = Random(str(entry))
    return [group(entry, random) for _ in range(TRIES)]


@pytest.fixture(autouse=True)
def _same_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """A function that draws at random draws the same in each run."""
    run = Group.result

    def seeded(self: Group, table: pd.DataFrame) -> object:
        python_random.seed(5)
        np.random.seed(5)
        return run(self, table)

    monkeypatch.setattr(Group, "result", seeded)


@pytest.mark.costly
@GROUPS
def test_functions_work(entry: Entry) -> None:
    """On a third of the tables at least, with the columns that are declared."""
    results = [g.result(g.table) for g in _groups(entry)]
    tables = [r for r in results if isinstance(r, pd.DataFrame)]
    assert len(tables) > TRIES // 3
    assert any(len(t) for t in tables)
    declared = set(names_of(entry.returns))
    assert all(set(t.columns) == declared for t in tables if len(t))


@pytest.mark.costly
@GROUPS
def test_keys_are_in_every_row(entry: Entry) -> None:
    for one in _groups(entry):
        assert lost_key(answer(entry), one) is None


@pytest.mark.costly
@GROUPS
def test_columns_that_are_not_read_do_not_matter(entry: Entry) -> None:
    for one in _groups(entry):
        assert column_that_matters(answer(entry), one, entry.grouping[0]) is None


@pytest.mark.costly
@GROUPS
def test_expected_keys_and_columns_are_true(entry: Entry) -> None:
    """What a person expects holds, too; else a miss is none."""
    said = answer(entry)
    person = type(said)(entry.expected_keys, entry.expected_reads, None, {}, (), ())
    for one in _groups(entry):
        assert lost_key(person, one) is None
        assert column_that_matters(person, one, entry.grouping[0]) is None


@pytest.mark.costly
@BATCHES
def test_batches_work(entry: Entry) -> None:
    random = Random(str(entry))
    results = []
    for _ in range(TRIES):
        tables = batches(entry, random)
        results.append(outcome(lambda: list(entry.function(iter(tables)))))  # noqa: B023
    made = [r for r in results if r is not None]
    assert len(made) > TRIES // 3
    declared = set(names_of(entry.returns))
    assert all(set(t.columns) == declared for r in made for t in r)


@pytest.mark.costly
@BATCHES
def test_rows_that_are_passed_on(entry: Entry) -> None:
    """Both what the analysis says and what a person expects."""
    random = Random(str(entry))
    types = {c.name: c for c in parse_schema(entry.schema)}
    passed = {**entry.expected_passes, **(answer(entry).passes or {})}
    for pair in passed.items():
        for _ in range(TRIES // 2):
            value = random.choice(pool(entry, types[pair[1]]))
            wrong = row_that_matters(
                entry.function, batches(entry, random), pair, value, partial(again, entry.schema)
            )
            assert wrong is None


@pytest.mark.costly
@BATCHES
def test_columns_of_batches_that_are_not_read_do_not_matter(entry: Entry) -> None:
    random, whole = Random(str(entry)), partial(again, entry.schema)
    for table in [b for _ in range(TRIES) for b in batches(entry, random)]:
        one = Group(
            {}, table, lambda pdf: pd.concat(list(entry.function(iter([pdf])))), whole, True
        )
        assert column_that_matters(answer(entry), one, entry.columns[0]) is None
