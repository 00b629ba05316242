"""What is listed as reading more are tests, and all others are compared."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.support.reading_more import READING_MORE, why_reading_more

TESTS = Path(__file__).parents[1]
EACH = [(why, test) for why, tests in READING_MORE.items() for test in tests]


@pytest.mark.parametrize(("why", "test"), EACH)
def test_it_is_a_test(why: str, test: str) -> None:
    whole, _, case = test.partition("[")
    file, _, name = whole.partition("::")
    assert re.search(rf"^def {name}\(", (TESTS / file).read_text(encoding="utf-8"), re.M)
    assert why_reading_more(f"tests/{test}") == why
    assert why_reading_more(f"tests/{whole}[another case]") == (None if case else why)


def test_no_other_is_left_out() -> None:
    assert why_reading_more("tests/backend/test_pipelines.py::test_no_test") is None
