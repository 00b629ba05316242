"""The pages list the functions and methods that have models: no more, no fewer."""

from __future__ import annotations

import pytest
from tests.docs.understands import OPERATORS, OWNERS, UNDERSTANDS, operators, summary, understands

from presieve.lift.models.registry import FUNCTIONS, METHODS, SYNTAX

ENTRIES = {
    **FUNCTIONS,
    **{f"{path} unevaluated": entry for path, entry in SYNTAX.items()},
    **{f"{owner.__name__}.{name}": entry for (owner, name), entry in METHODS.items()},
}


def test_the_pages_are_up_to_date() -> None:
    """``python -m tests.docs.understands`` writes them."""
    assert UNDERSTANDS.read_text(encoding="utf-8") == understands()
    assert OPERATORS.read_text(encoding="utf-8") == operators()


def test_every_method_is_under_a_heading() -> None:
    listed = {type_ for types in OWNERS.values() for type_ in types}
    assert {type_ for type_, _ in METHODS} == listed


@pytest.mark.parametrize("name", ENTRIES)
def test_a_model_says_what_it_understands(name: str) -> None:
    entry = ENTRIES[name]
    if not entry.refusal:
        assert summary(entry).startswith("`")
        assert summary(entry).endswith((".", ":"))
