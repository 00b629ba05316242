"""The largest set of edits that can be made together, and that are proved."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from presieve.driver.stages.decisions import Decision
from presieve.driver.stages.replacements import settle_edits
from presieve.errors import Declined

REFUSED, UNPROVED = Declined("plan-shape", "refused"), Declined("no-proof", "unproved")


@pytest.mark.parametrize(
    ("refused", "left"),
    [
        ((), "abc"),
        (("b",), "ac"),
        (("a", "b", "c"), ""),
        (("ab",), "a"),  # each can be made, so the last is taken back: first c, then b
        (("abc",), "ab"),
    ],
)
def test_what_is_refused_is_taken_back(refused: tuple[str, ...], left: str) -> None:
    decided = {i: Decision(name) for i, name in enumerate("abc")}

    def build(planned: Mapping[int, Decision[str]]) -> str | Declined:
        names = "".join(d.site for d in planned.values())
        return REFUSED if any(set(r) <= set(names) for r in refused) else names

    built = settle_edits(decided, build)
    assert (built or "") == "".join(d.site for d in decided.values() if d.is_planned)
    assert {d.declined for d in decided.values()} <= {None, REFUSED}
    assert left == (built or "")


def test_what_is_not_proved_is_taken_back() -> None:
    decided = {i: Decision(name) for i, name in enumerate("abc")}
    built = settle_edits(
        decided,
        lambda planned: "".join(d.site for d in planned.values()),
        lambda d, i, built: d.take_back(UNPROVED) if d.site == "b" else d,
    )
    assert built == "ac"
    assert [d.declined for d in decided.values()] == [None, UNPROVED, None]


def test_a_decision_against_it_stays() -> None:
    decided = {0: Decision("a", UNPROVED)}
    assert settle_edits(decided, lambda planned: "built") is None
    assert decided == {0: Decision("a", UNPROVED)}
