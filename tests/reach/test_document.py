"""The page is what the functions give today, and every construct is used by one of them."""

from __future__ import annotations

from tests.reach.collection import ROWS, TABLES
from tests.reach.constructs import OF_TABLES, OF_VALUES, constructs
from tests.reach.document import DOCUMENT, document
from tests.reach.entries import Entry, RowEntry


def test_page_is_up_to_date() -> None:
    assert DOCUMENT.read_text() == document(), "python -m tests.reach.document"


def test_constructs_are_used() -> None:
    entries: list[Entry | RowEntry] = [*TABLES, *ROWS]
    used = {c for e in entries for c in constructs(e)}
    assert used == OF_TABLES.keys() | OF_VALUES.keys()
