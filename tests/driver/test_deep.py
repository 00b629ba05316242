"""Functions and filters that are nested deeper than anything that walks terms can go."""

from __future__ import annotations

from typing import Any

import pytest

import presieve


class Deep:
    """Each value goes through 80 additions and as many halvings."""

    def zero(self) -> Any:
        return 0.0

    def reduce(self, acc: Any, row: Any) -> Any:
        x = row["v"]
        for i in range(80):
            x = (x + i) * 0.5
        return x if x > acc else acc


ASKED: dict[str, Any] = {"schema": "v double NOT NULL", "returns": "m double"}


def test_a_function_that_is_nested_too_deeply() -> None:
    found = presieve.synthesize(Deep, "m > 3", **ASKED)
    assert found.kind == "none"
    assert found.declined[0]["code"] == "too-large"
    told = presieve.verify(Deep, "m > 3", prefilter="v > 3", **ASKED)
    assert told.status == "unknown"
    assert "nested" in told.reason


@pytest.mark.parametrize("depth", [20, 90, 300])
def test_a_filter_that_is_nested(depth: int) -> None:
    """Whatever the answer, there is one."""
    text = "m" + " + 1" * depth
    found = presieve.synthesize(Shallow, f"({text}) > 3", **ASKED)
    assert found.kind in ("exact", "split", "partial", "none")


class Shallow:
    def zero(self) -> Any:
        return 0.0

    def reduce(self, acc: Any, row: Any) -> Any:
        return max(acc, row["v"])
