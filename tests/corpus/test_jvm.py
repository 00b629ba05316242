"""The functions of the corpus that come from the JVM."""

from __future__ import annotations

import pytest
from tests.corpus import jvm_counters, jvm_numbers, jvm_states
from tests.corpus.document import key, line, recorded
from tests.corpus.runner import (
    Entry,
    Filter,
    Row,
    assert_agrees,
    assert_declined,
    assert_explained,
    assert_same_results,
    filters_of,
    run,
)

ENTRIES = [*jvm_counters.ENTRIES, *jvm_states.ENTRIES, *jvm_numbers.ENTRIES]


@pytest.mark.costly
@pytest.mark.parametrize("entry", [e for e in ENTRIES if not e.declined], ids=str)
def test_fold_agrees_with_python(entry: Entry) -> None:
    assert_agrees(entry)


@pytest.mark.parametrize("entry", [e for e in ENTRIES if e.declined], ids=str)
def test_reason_helps(entry: Entry) -> None:
    assert_declined(entry)


@pytest.mark.costly
@pytest.mark.parametrize(("entry", "asked"), filters_of(ENTRIES))
def test_prefilter_changes_no_result(entry: Entry, asked: Filter) -> None:
    assert_same_results(entry, asked)
    assert_explained(entry, asked)


@pytest.mark.costly
@pytest.mark.parametrize(("entry", "asked"), filters_of(ENTRIES))
def test_table_is_up_to_date(entry: Entry, asked: Filter) -> None:
    old = recorded()[key(entry, asked)]
    seconds = old.split("|")[-2].strip()
    assert line(entry, asked, seconds) == old


@pytest.mark.parametrize(
    ("times", "with_zero", "without"),
    [((-100, 0, -150, -50, 5), -50, 5), ((-100, 0, -150, -50, 5, 30, 89, 149), 149, 89)],
)
def test_a_zero_can_start_a_burst_anew(
    times: tuple[int, ...], with_zero: int, without: int
) -> None:
    entry = next(e for e in ENTRIES if e.id == "S58")
    rows: list[Row] = [{"g": "a", "ts": t} for t in times]
    assert run(entry, rows) == (with_zero,)
    assert run(entry, [r for r in rows if r["ts"] != 0]) == (without,)
