"""Filters that compute with an output: the exact threshold goes below, and nothing stronger."""

from __future__ import annotations

import math
from typing import Any

import pytest

from presieve.certificate import Verified, check
from presieve.driver.synthesize import synthesize
from presieve.driver.verify import verify


class Highest:
    def zero(self) -> Any:
        return None

    def reduce(self, acc: Any, row: Any) -> Any:
        return row["v"] if acc is None or row["v"] > acc else acc

    def finish(self, acc: Any) -> Any:
        return acc


DOUBLES: list[tuple[str, str, float]] = [
    ("c - 40 > 2.5", ">", 42.5),
    ("c * 1.8 + 32 > 100", ">", 37.77777777777778),
    ("-c < -5", ">", 5.0),
    ("c / 2 >= 3", ">=", 6.0),
    ("c * 2 > 10", ">", 5.0),
    ("0.1 + c > 0.3", ">=", 0.2),
    ("NOT 40 - c >= -2.5", ">", 42.5),
    ("c / 3 > 0.1", ">", 0.3),
]


@pytest.mark.costly
@pytest.mark.parametrize(("where", "op", "bound"), DOUBLES)
def test_of_doubles(where: str, op: str, bound: float) -> None:
    types: dict[str, Any] = {
        "schema": "v double NOT NULL",
        "returns": "c double",
        "declare": "NOT isnan(v)",
    }
    found = synthesize(Highest, where, **types)
    assert (found.kind, found.prefilter) == ("exact", f"v {op} {bound!r}D")
    assert (found.strength, found.assumptions) == ("optimal", [])
    assert found.certificate is not None
    assert isinstance(check(found.certificate), Verified)
    stronger = math.nextafter(bound, math.inf)
    told = verify(Highest, where, prefilter=f"v {op} {stronger!r}D", **types)
    assert told.status == "refuted"
    weaker = math.nextafter(bound, -math.inf)
    same = verify(Highest, where, prefilter=f"v {op} {weaker!r}D", **types)
    assert same.status == "proved"
    exact = verify(Highest, where, prefilter=f"v {op} {weaker!r}D", residual="true", **types)
    assert exact.status == "refuted"


@pytest.mark.parametrize(
    ("where", "prefilter", "twin"),
    [
        ("c / 2 >= 3", "v >= 6", "v >= 7"),
        ("CAST(c AS DOUBLE) * 3 > 7", "v > 2", "v > 3"),
        ("c > 2.5D", "v > 2", "v > 3"),
        ("c * 1.5D > 3", "v > 2", "v > 3"),
        ("c / -2 < -3", "v > 6", "v > 7"),
        ("CAST(c AS DOUBLE) > 9007199254740992", "v > 9007199254740993L", "v > 9007199254740994L"),
    ],
)
def test_of_integers(where: str, prefilter: str, twin: str) -> None:
    types: dict[str, Any] = {"schema": "v bigint NOT NULL", "returns": "c bigint"}
    found = synthesize(Highest, where, **types)
    assert (found.kind, found.prefilter, found.strength) == ("exact", prefilter, "optimal")
    assert verify(Highest, where, prefilter=twin, **types).status == "refuted"


@pytest.mark.parametrize(
    "where",
    [
        *("abs(c) > 3", "c * 0 > 1", "c * c > 4", "c - c > 4", "c / 0 > 1", "1 / c > 2"),
        *("c % 2 > 1", "round(c) > 2"),
    ],
)
def test_where_no_threshold_is_known_nothing_goes(where: str) -> None:
    found = synthesize(Highest, where, schema="v double NOT NULL", returns="c double")
    assert (found.kind, found.prefilter, found.residual) == ("none", "true", where)


@pytest.mark.parametrize("where", ["c - 40 > 2", "c * 2 > 10", "-c < -5", "c + 1.5 > 2"])
def test_integers_that_may_overflow_are_declined(where: str) -> None:
    found = synthesize(Highest, where, schema="v bigint NOT NULL", returns="c bigint")
    assert found.kind == "none"
    assert [d["code"] for d in found.declined] in (["sql-unsupported"], ["sql-types"])


def test_the_filter_as_it_was_written_stays() -> None:
    class Ends(Highest):
        def zero(self) -> Any:
            return (None, None)

        def reduce(self, acc: Any, row: Any) -> Any:
            low, high = acc
            if low is None:
                return (row["v"], row["v"])
            return (min(low, row["v"]), max(high, row["v"]))

    types: dict[str, Any] = {"schema": "v bigint NOT NULL", "returns": "low bigint, c bigint"}
    found = synthesize(Ends, "c / 2 >= 3", **types)
    assert (found.kind, found.residual) == ("none", "c / 2 >= 3")
    found = synthesize(Ends, "c / 2 >= 3 AND low / 2 < 1", **types)
    assert (found.kind, found.prefilter) == ("partial", "v < 2 OR v >= 6")
    assert found.residual == "c / 2 >= 3 AND low / 2 < 1"
