"""The page has the totals of the record."""

from __future__ import annotations

from tests.corpus.document import DOCUMENT, RECORD, document, record


def test_page_has_the_totals_of_the_record() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == document(), "python -m tests.corpus.document"


def test_record_has_every_function() -> None:
    """Of filters, the other tests of this folder compare each line."""
    assert RECORD.read_text(encoding="utf-8") == record(("no id",))
