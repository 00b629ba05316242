"""Every code of an assumption has an entry that says what it is, and what to do about it."""

from __future__ import annotations

import re

import pytest
from tests.support.pages import ROOT

from presieve.cli.why import Listed, assumptions
from presieve.driver.fold_inputs import zone_note
from presieve.driver.solve import SOURCE_CLAIMS
from presieve.ir.sorts import TIMESTAMP
from presieve.ir.terms import Lit
from presieve.semantics.assumptions import ABOUT_CODE, CONDITIONS, OPTIONAL, SENTENCES

ENTRIES = list(assumptions())
PARTS = ["Assumed", "Fails", "By default", "What to change"]

each = pytest.mark.parametrize("entry", ENTRIES, ids=lambda e: e.code)


def test_every_code_has_an_entry_and_every_entry_a_code() -> None:
    (zone,) = zone_note(Lit(TIMESTAMP, 0))
    codes = {*CONDITIONS, *(s.code for s in SENTENCES), zone["code"], SOURCE_CLAIMS}
    assert sorted(e.code for e in ENTRIES) == sorted(codes)


@each
def test_an_entry_has_its_four_parts(entry: Listed) -> None:
    assert re.findall(r"^\*\*(.+?)\.\*\* \S", entry.text, re.M) == PARTS


@each
def test_links_lead_somewhere(entry: Listed) -> None:
    for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", entry.text):
        assert (ROOT / "docs" / link).exists(), link


def test_what_becomes_of_each_by_default() -> None:
    """As the driver decides it."""
    by_default = {e.code: e.text.partition("**By default.** ")[2].split("\n\n")[0] for e in ENTRIES}
    without = {c for c, text in by_default.items() if "the search goes on without it" in text}
    assert without == OPTIONAL
    accepted = {c for c, text in by_default.items() if text.startswith("Accepted")}
    assert accepted == ABOUT_CODE | {"declared", "computed", "session-timezone"}
    guarded = {c for c, text in by_default.items() if "checked or guarded" in text}
    assert guarded == CONDITIONS.keys() - accepted
