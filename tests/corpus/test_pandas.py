"""The functions of the corpus that come from Python: from engines, and from pandas."""

from __future__ import annotations

import pytest
from tests.corpus import engine_folds, pandas_loops, pandas_tables
from tests.corpus.document import key, line, recorded
from tests.corpus.runner import (
    Entry,
    Filter,
    assert_agrees,
    assert_declined,
    assert_explained,
    assert_same_results,
    filters_of,
)

ENTRIES = [*pandas_tables.ENTRIES, *pandas_loops.ENTRIES, *engine_folds.ENTRIES]


@pytest.mark.costly
@pytest.mark.parametrize("entry", [e for e in ENTRIES if not e.declined], ids=str)
@pytest.mark.filterwarnings("ignore")
def test_fold_agrees_with_python(entry: Entry) -> None:
    assert_agrees(entry)


@pytest.mark.parametrize("entry", [e for e in ENTRIES if e.declined], ids=str)
def test_reason_helps(entry: Entry) -> None:
    assert_declined(entry)


@pytest.mark.costly
@pytest.mark.parametrize(("entry", "asked"), filters_of(ENTRIES))
@pytest.mark.filterwarnings("ignore")
def test_prefilter_changes_no_result(entry: Entry, asked: Filter) -> None:
    assert_same_results(entry, asked)
    assert_explained(entry, asked)


@pytest.mark.costly
@pytest.mark.parametrize(("entry", "asked"), filters_of(ENTRIES))
def test_table_is_up_to_date(entry: Entry, asked: Filter) -> None:
    old = recorded()[key(entry, asked)]
    seconds = old.split("|")[-2].strip()
    assert line(entry, asked, seconds) == old
