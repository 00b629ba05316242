"""Every pair that once went wrong, replayed."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fuzz import cases

FILES = sorted(cases.FOLDER.glob("*.json"))


def test_there_are_cases() -> None:
    assert FILES


@pytest.mark.costly
@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_what_once_went_wrong_is_right(path: Path) -> None:
    case = cases.load(path)
    # A crash comes before the first answer; what is right about the pair takes all the budget.
    assert cases.replay(case, 2.0 if case.what == "crashed" else 10.0) is None
