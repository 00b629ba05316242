"""The answers are those that a person expects, but for the misses that are listed."""

from __future__ import annotations

import pytest
from tests.reach.collection import QUESTIONS, ROWS, TABLES, answer, as_expected, kinds, solved
from tests.reach.entries import Entry, Question, RowEntry
from tests.reach.jobs import FOLDER, job


@pytest.mark.parametrize("entry", TABLES, ids=str)
def test_answers_are_expected_or_listed_as_misses(entry: Entry) -> None:
    missed: set[Question] = {q for q in QUESTIONS if not as_expected(entry, q)}
    assert missed == set(entry.misses)


@pytest.mark.parametrize("entry", [e for e in TABLES if e.misses], ids=str)
def test_misses_are_on_the_safe_side(entry: Entry) -> None:
    """Fewer keys, more columns, fewer rows passed on, more effects than a person expects."""
    said, reads = answer(entry), entry.expected_reads
    assert said.keys.items() <= entry.expected_keys.items()
    assert said.reads is None or (reads is not None and said.reads >= reads)
    assert (said.passes or {}).items() <= entry.expected_passes.items()
    assert kinds(said) >= entry.expected_effects


@pytest.mark.parametrize("entry", ROWS, ids=str)
def test_filters_of_values_are_found_or_listed_as_misses(entry: RowEntry) -> None:
    found = solved(entry).prefilter != "true"
    assert found == (entry.useful and not entry.missed), solved(entry).prefilter


def test_every_function_of_the_files_is_asked() -> None:
    """But for helpers, which others call."""
    asked = {*map(str, TABLES), *map(str, ROWS)}
    assert len(asked) == len(TABLES) + len(ROWS) >= 100
    helpers = {"iqr_bounds", "make_hampel", "make_converter", "with_margin", "only_priced"}
    helpers |= {"shipping_cost"}
    for path in FOLDER.glob("*.py"):
        scope = vars(job(path.stem))
        own = {n for n, f in scope.items() if getattr(f, "__module__", "") == "__main__"}
        own -= {"hampel", "convert_currency"}
        assert own <= asked | helpers, own - asked
