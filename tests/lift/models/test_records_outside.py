"""Records that constant dicts and lists outside hold, and lists that a dict holds while a loop over
rows fills them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest

import presieve


class Rate(NamedTuple):
    base: float
    factor: float


@dataclass(frozen=True)
class Band:
    name: str
    least: int


RATES = {"a": Rate(1.0, 2.0), "b": Rate(0.0, 1.0)}
BANDS = (Band("low", 0), Band("middle", 5), Band("high", 9))


def cost(x: Any, s: Any) -> Any:
    rate = RATES.get(s)
    if rate is None or x is None:
        return None
    return rate.base + rate.factor * x


def band(n: Any) -> Any:
    return None if n is None or not 0 <= n < 3 else BANDS[n].least


CASES = (
    (cost, "x double, s string", "r > 21 AND s = 'a'", "x > 10 AND s = 'a'", "x > 11 AND s = 'a'"),
    (cost, "x double, s string", "r < 10 AND s = 'b'", "x < 10 AND s = 'b'", "x < 9 AND s = 'b'"),
    (band, "n int", "r >= 5", "n = 1 OR n = 2", "n = 2"),
)


@pytest.mark.parametrize(("function", "schema", "where", "prefilter", "wrong"), CASES)
def test_a_record_is_chosen_by_its_key(
    function: Any, schema: str, where: str, prefilter: str, wrong: str
) -> None:
    known: dict[str, Any] = {"schema": schema, "returns": "r double", "mode": "row"}
    if function is band:
        known["returns"] = "r int"
    assert presieve.synthesize(function, where, **known).prefilter != "true"
    verdict = presieve.verify(function, where, prefilter=prefilter, residual="true", **known)
    assert verdict.status == "proved", verdict
    assert presieve.verify(function, where, prefilter=wrong, **known).status == "refuted"
