"""The page is what is expected of the programs, and each program has an expectation."""

from __future__ import annotations

from tests.pandas_api.document import DOCUMENT, RECORD, document, record
from tests.pandas_api.expected import EXPECTED
from tests.pandas_api.programs import PROGRAMS


def test_pages_are_up_to_date() -> None:
    command = "python -m tests.pandas_api.document"
    assert DOCUMENT.read_text(encoding="utf-8") == document(), command
    assert RECORD.read_text(encoding="utf-8") == record(), command


def test_every_program_is_expected_to_become_something() -> None:
    assert list(EXPECTED) == list(PROGRAMS)


def test_outcomes_fit_what_reaches_the_scan() -> None:
    for name, expected in EXPECTED.items():
        assert bool(expected.added) == (expected.outcome == "pushed"), name
        if expected.outcome == "by Spark":
            assert expected.spark, name
        if expected.outcome in ("left", "nothing to gain"):
            assert expected.why, name
