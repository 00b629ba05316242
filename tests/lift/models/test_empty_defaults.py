"""Lists and dicts without elements in place of arrays and maps that are missing."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple

import pytest

import presieve

ARRAYS: list[list[str] | None] = [None, [], ["a"], ["b"], ["b", "a"], ["a", "b", "a"]]
MAPS: list[dict[str, str] | None] = [None, {}, {"a": "b"}, {"b": "a"}, {"a": "x", "b": "b"}]
NUMBERS = [None, 0, 1, 2]


def default(v: Any, _: Any) -> bool:
    return len(v or []) > 1


def default_of_map(v: Any, _: Any) -> bool:
    return bool((v or {}).get("a") == "b")


def replaced(v: Any, n: Any) -> bool:
    if v is None:
        v = []
    return "a" in v and n != 2


def chosen(v: Any, n: Any) -> bool:
    v = v if v is not None else ()
    return len(v) > 1 and n is not None


def emptied(v: Any, n: Any) -> bool:
    if v is None or n == 1:
        v = []
    return "a" in v


def emptied_twice(v: Any, n: Any) -> bool:
    v = v or []
    if n == 1:
        v = []
    return bool(v) and v[0] == "b"


def first(v: Any, _: Any) -> bool:
    v = v or []
    return bool(v[0] == "a") if v else False


def asked(v: Any, n: Any) -> bool:
    if n == 1:
        v = {}
    return v is not None and "a" in v


class Case(NamedTuple):
    """A function, the type of its first argument, and a filter on it in SQL and in Python."""

    function: Callable[[Any, Any], bool]
    type: str
    prefilter: str
    meaning: Callable[[Any, Any], bool]


ARRAY, MAP = "array<string>", "map<string,string>"
CASES = (
    Case(default, ARRAY, "array_size(v) > 1", lambda v, _: v is not None and len(v) > 1),
    Case(
        default_of_map,
        MAP,
        "try_element_at(v, 'a') = 'b'",
        lambda v, _: v is not None and v.get("a") == "b",
    ),
    Case(
        replaced,
        ARRAY,
        "array_position(v, 'a') > 0 AND (n <> 2 OR n IS NULL)",
        lambda v, n: v is not None and "a" in v and n != 2,
    ),
    Case(
        chosen,
        ARRAY,
        "n IS NOT NULL AND array_size(v) > 1",
        lambda v, n: v is not None and len(v) > 1 and n is not None,
    ),
    Case(
        emptied,
        ARRAY,
        "(n <> 1 OR n IS NULL) AND array_position(v, 'a') > 0",
        lambda v, n: v is not None and "a" in v and n != 1,
    ),
    Case(
        emptied_twice,
        ARRAY,
        "(n <> 1 OR n IS NULL) AND get(v, 0) = 'b'",
        lambda v, n: v is not None and v[:1] == ["b"] and n != 1,
    ),
    Case(first, ARRAY, "get(v, 0) = 'a'", lambda v, _: v is not None and v[:1] == ["a"]),
    Case(
        asked,
        MAP,
        "(n <> 1 OR n IS NULL) AND array_position(map_keys(v), 'a') > 0",
        lambda v, n: v is not None and "a" in v and n != 1,
    ),
)
every_case = pytest.mark.parametrize("case", CASES, ids=lambda c: c.function.__name__)


def _asked(type_: str) -> dict[str, Any]:
    return {"schema": f"v {type_}, n int", "returns": "r boolean", "mode": "row"}


@every_case
def test_the_filter_is_exact(case: Case) -> None:
    known = _asked(case.type)
    assert presieve.synthesize(case.function, "r", **known).kind == "exact"
    verdict = presieve.verify(
        case.function, "r", prefilter=case.prefilter, residual="true", **known
    )
    assert verdict.status == "proved", verdict
    for v, n in product(MAPS if case.type == MAP else ARRAYS, NUMBERS):
        assert case.function(v, n) == case.meaning(v, n), (v, n)


@every_case
@pytest.mark.parametrize("twin", ["v IS NULL", "n = 2", "array_size({0}) > 2"])
def test_another_filter_is_not_proved(case: Case, twin: str) -> None:
    wrong = twin.format("map_keys(v)" if case.type == MAP else "v")
    verdict = presieve.verify(case.function, "r", prefilter=wrong, **_asked(case.type))
    assert verdict.status != "proved"


def of_none_or_map(v: Any, n: Any) -> bool:
    x: Any = None
    if n == 1:
        x = v
    return bool(x["a"] == "b")


def test_an_item_of_what_may_be_none_ends_no_search() -> None:
    known = _asked(MAP)
    assert presieve.synthesize(of_none_or_map, "r", **known).kind == "exact"
    verdict = presieve.verify(of_none_or_map, "r", prefilter="n = 1 AND v['a'] = 'x'", **known)
    assert verdict.status != "proved"


def shared(v: Any, n: Any) -> bool:
    other = empty = []
    if n == 1:
        other = v
    empty.append(1)
    return len(other) > 0


def appended(v: Any, n: Any) -> bool:
    v = v or []
    v.append(n)
    return len(v) > 1


@pytest.mark.parametrize("function", [shared, appended])
def test_lists_that_change_are_not_read(function: Callable[..., bool]) -> None:
    assert presieve.synthesize(function, "r", **_asked(ARRAY)).declined


def of_list_in_map(v: Any, _: Any) -> bool:
    return "a" in ((v or {}).get("a") or [])


def of_list_in_map_that_may_be_missing(v: Any, _: Any) -> bool:
    held = v.get("a") if v is not None else None
    return held is not None and "a" in held


@pytest.mark.parametrize("function", [of_list_in_map, of_list_in_map_that_may_be_missing])
def test_missing_lists_inside_of_maps_end_no_search(function: Callable[..., bool]) -> None:
    found = presieve.synthesize(function, "r", **_asked("map<string,array<string>>"))
    assert not found.declined
