"""Sets, dicts, lists and bit flags in the state, by the constants that are asked for."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.answers import (
    Case,
    assert_answer,
    assert_same_results,
    assert_twins_refuted,
    solved,
)

REQUIRED = frozenset({"view", "cart", "buy"})


class Seen:
    """Which events were there."""

    def zero(self) -> Any:
        return set()

    def reduce(self, acc: Any, row: Any) -> Any:
        acc.add(row["event"])
        return acc


class ViewAndBuy(Seen):
    def finish(self, acc: Any) -> Any:
        return ("view" in acc, "buy" in acc)


class Funnel(Seen):
    def finish(self, acc: Any) -> Any:
        return REQUIRED <= acc  # noqa: SIM300 -- as users write it


class FunnelAbove(Seen):
    def finish(self, acc: Any) -> Any:
        return acc.issuperset({"view", "cart", "buy"})


class HowMany(Seen):
    def finish(self, acc: Any) -> Any:
        return len(acc)


class Stages:
    """How many of three stages were reached."""

    def zero(self) -> Any:
        return set()

    def reduce(self, acc: Any, row: Any) -> Any:
        if row["event"] in ("view", "cart", "buy"):
            acc.add(row["event"])
        return acc

    def finish(self, acc: Any) -> Any:
        return len(acc)


class StagesByUnion(Stages):
    """The same without changing anything in place."""

    def zero(self) -> Any:
        return frozenset()

    def reduce(self, acc: Any, row: Any) -> Any:
        return acc | {row["event"]} if row["event"] in REQUIRED else acc


class SeenAndHighest:
    """Whether there was a purchase, and the highest amount."""

    def zero(self) -> Any:
        return (set(), None)

    def reduce(self, acc: Any, row: Any) -> Any:
        seen, high = acc
        seen.add(row["event"])
        if row["x"] is not None and (high is None or row["x"] > high):
            high = row["x"]
        return (seen, high)

    def finish(self, acc: Any) -> Any:
        seen, high = acc
        return ("buy" in seen, high)


class Counts:
    """Counts by event, of two events."""

    def zero(self) -> Any:
        return {"view": 0, "buy": 0}

    def reduce(self, acc: Any, row: Any) -> Any:
        if row["event"] in acc:
            acc[row["event"]] += 1
        return acc

    def finish(self, acc: Any) -> Any:
        return (acc["view"], acc["buy"])


class CountsByGet(Counts):
    """The same, in a dict that is empty at first."""

    def zero(self) -> Any:
        return {}

    def reduce(self, acc: Any, row: Any) -> Any:
        if row["event"] == "view":
            acc["view"] = acc.get("view", 0) + 1
        elif row["event"] == "buy":
            acc["buy"] = acc.get("buy", 0) + 1
        return acc

    def finish(self, acc: Any) -> Any:
        return (acc.get("view", 0), acc.get("buy", 0))


class Record:
    """A dict for a record."""

    def zero(self) -> Any:
        return {"low": None, "high": None, "n": 0}

    def reduce(self, acc: Any, row: Any) -> Any:
        x = row["x"]
        if x is None:
            return acc
        acc["n"] += 1
        if acc["low"] is None or x < acc["low"]:
            acc["low"] = x
        if acc["high"] is None or x > acc["high"]:
            acc["high"] = x
        return acc

    def finish(self, acc: Any) -> Any:
        return (acc["low"], acc["high"])


class Items:
    """A list for a record."""

    def zero(self) -> Any:
        return [0, 0, None]

    def reduce(self, acc: Any, row: Any) -> Any:
        acc[0] += 1
        if row["x"] is not None:
            acc[1] += 1
            acc[2] = row["x"] if acc[2] is None else max(acc[2], row["x"])
        return acc

    def finish(self, acc: Any) -> Any:
        return acc[2]


class Flags:
    """A bit for each event."""

    def zero(self) -> Any:
        return 0

    def reduce(self, acc: Any, row: Any) -> Any:
        if row["event"] == "view":
            acc |= 1
        elif row["event"] == "cart":
            acc |= 1 << 1
        elif row["event"] == "buy":
            acc |= 1 << 2
        return acc


class Bought(Flags):
    def finish(self, acc: Any) -> Any:
        return bool(acc & 4)


class CartAndBuy(Flags):
    def finish(self, acc: Any) -> Any:
        return acc & 6 == 6


class FlagsAndHighest:
    """Bit flags beside a maximum."""

    def zero(self) -> Any:
        return (0, None)

    def reduce(self, acc: Any, row: Any) -> Any:
        flags, top = acc
        if row["event"] == "view":
            flags = flags | 1
        if row["event"] == "buy":
            flags = flags | 4
        x = row["x"]
        if x is not None and (top is None or x > top):
            top = x
        return (flags, top)

    def finish(self, acc: Any) -> Any:
        flags, top = acc
        return (flags & 5 == 5, top)


EVENTS: dict[str, Any] = {
    "schema": "g string, event string",
    "pools": {"event": ["view", "cart", "buy", "other", "", None]},
}
AMOUNTS: dict[str, Any] = {
    "schema": "g string, event string, x bigint",
    "pools": {**EVENTS["pools"], "x": [9, 10, 11, 99, 100, 101, -1, 0, None]},
}
THREE = "event IN ('buy', 'cart', 'view')"
TWO = "event IN ('buy', 'view')"

CASES: tuple[Case, ...] = (
    Case(
        name="two of a set",
        fold=ViewAndBuy,
        where="viewed AND bought",
        returns="viewed boolean, bought boolean",
        kind="partial",
        prefilter=TWO,
        twins=(("event = 'buy'", None), (TWO, "bought")),
        **EVENTS,
    ),
    Case(
        name="one of a set and not another",
        fold=ViewAndBuy,
        where="viewed AND NOT bought",
        returns="viewed boolean, bought boolean",
        kind="partial",
        prefilter=TWO,
        twins=(("event = 'view'", None), (TWO, "viewed")),
        **EVENTS,
    ),
    *(
        Case(
            name=f"superset, {fold.__name__}",
            fold=fold,
            where="ok",
            returns="ok boolean",
            kind="partial",
            prefilter=THREE,
            twins=(("event IN ('buy', 'cart')", None), (THREE, "true")),
            **EVENTS,
        )
        for fold in (Funnel, FunnelAbove)
    ),
    *(
        Case(
            name=f"size, {fold.__name__}",
            fold=fold,
            where="n = 3",
            returns="n bigint",
            kind="split",
            prefilter=THREE,
            residual="n >= 3",
            twins=(("event IN ('buy', 'cart')", None), (THREE, "n >= 2")),
            **EVENTS,
        )
        for fold in (Stages, StagesByUnion)
    ),
    Case(
        name="a set and a maximum",
        fold=SeenAndHighest,
        where="bought AND high > 100",
        returns="bought boolean, high bigint",
        kind="partial",
        prefilter="event = 'buy' OR x > 100",
        twins=(("event = 'buy'", None), ("event = 'buy' AND x > 100", None)),
        **AMOUNTS,
    ),
    Case(
        name="counts by key",
        fold=Counts,
        where="views >= 3 AND buys >= 1",
        returns="views bigint, buys bigint",
        kind="split",
        prefilter=TWO,
        residual="views >= 3 AND buys <> 0",
        twins=(("event = 'view'", None), (TWO, "views >= 2 AND buys <> 0")),
        strength="universe",
        **EVENTS,
    ),
    Case(
        name="counts by get",
        fold=CountsByGet,
        where="views >= 3 AND buys >= 1",
        returns="views bigint, buys bigint",
        kind="split",
        prefilter=TWO,
        residual="views >= 3 AND buys <> 0",
        twins=(("event = 'view'", None), (TWO, "views >= 2 AND buys <> 0")),
        **EVENTS,
    ),
    Case(
        name="a dict for a record",
        fold=Record,
        where="low < 10 AND high > 100",
        returns="low bigint, high bigint",
        kind="partial",
        prefilter="x < 10 OR x > 100",
        twins=(("x > 100", None), ("x < 9 OR x > 100", None)),
        **AMOUNTS,
    ),
    Case(
        name="a list for a record",
        fold=Items,
        where="high > 100",
        returns="high bigint",
        kind="exact",
        prefilter="x > 100",
        residual="true",
        twins=(("x > 101", None), ("x >= 100", "true")),
        **AMOUNTS,
    ),
    Case(
        name="all flags",
        fold=Flags,
        where="flags = 7",
        returns="flags bigint",
        kind="split",
        prefilter=THREE,
        residual="flags >= 7",
        twins=(("event IN ('buy', 'cart')", None), (THREE, "flags >= 6")),
        **EVENTS,
    ),
    Case(
        name="one flag",
        fold=Bought,
        where="bought",
        returns="bought boolean",
        kind="exact",
        prefilter="event = 'buy'",
        residual="true",
        twins=(("event = 'cart'", None), ("true", "true")),
        **EVENTS,
    ),
    Case(
        name="two flags",
        fold=CartAndBuy,
        where="both",
        returns="both boolean",
        kind="partial",
        prefilter="event IN ('buy', 'cart')",
        twins=(("event = 'buy'", None), ("event IN ('buy', 'cart')", "true")),
        **EVENTS,
    ),
    Case(
        name="flags and a maximum",
        fold=FlagsAndHighest,
        where="both AND top > 10",
        returns="both boolean, top bigint",
        kind="partial",
        prefilter="event IN ('buy', 'view') OR x > 10",
        twins=(("event IN ('buy', 'view')", None), ("x > 10", None)),
        **AMOUNTS,
    ),
)
named = pytest.mark.parametrize("case", CASES, ids=str)


@pytest.mark.costly
@named
def test_answer(case: Case) -> None:
    assert_answer(case)


@pytest.mark.costly
@pytest.mark.random
@named
def test_random_tables(case: Case) -> None:
    assert_same_results(case)


@pytest.mark.costly
@named
def test_wrong_twins(case: Case) -> None:
    assert_twins_refuted(case)


def test_the_size_of_a_set_of_anything_is_declined_with_advice() -> None:
    case = Case("", HowMany, "n = 3", "g string, event string", "n bigint", "none")
    found = solved(case)
    assert found.kind == "none"
    (declined,) = found.declined
    assert declined["code"] == "unsupported-operation"
    assert "add a value only if it is one of a few" in str(declined["reason"])
