"""The page is what the functions give today, and every construct is used by one of them."""

from __future__ import annotations

from tests.reach.collection import ROWS, TABLES
from tests.reach.constructs import OF_TABLES, OF_VALUES, constructs
from tests.reach.document import DOCUMENT, RECORD, document, record
from tests.reach.entries import Entry, RowEntry


def test_pages_are_up_to_date() -> None:
    command = "python -m tests.reach.document"
    assert DOCUMENT.read_text() == document(), command
    assert RECORD.read_text() == record(), command


def test_constructs_are_used() -> None:
    entries: list[Entry | RowEntry] = [*TABLES, *ROWS]
    used = {c for e in entries for c in constructs(e)}
    assert used == OF_TABLES.keys() | OF_VALUES.keys()
