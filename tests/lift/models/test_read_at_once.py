"""Generators and ``map`` that are read to their end at once, and constants of one key of a dict."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import presieve
from presieve.driver.fold_inputs import Inputs, read_inputs
from presieve.errors import Declined
from presieve.ir.sorts import Option
from presieve.ir.terms import Scope, Var
from presieve.semantics.interpret import evaluate, holds
from presieve.semantics.types import row_sort_of
from presieve.sql.parse import parse_predicate

VERSION = re.compile(r"(\d+)\.(\d+)")
PLACES = {"a": (52.5, 13.4), "b": (48.8, 2.4), "c": (40.7, -74.0)}


def at_least(s: Any) -> Any:
    found = VERSION.search(s or "")
    return found is not None and tuple(int(x) for x in found.groups()) >= (3, 1)


def by_map(s: Any) -> Any:
    found = VERSION.search(s or "")
    if found is None:
        return False
    major, minor = map(int, found.groups())
    return major > 3 or (major == 3 and minor >= 1)


def sorted_texts(s: Any) -> Any:
    return sorted(p for p in (s, "b"))[0] if s is not None else None


def halves(s: Any) -> Any:
    first, second = map(lambda x: x * 2 + 1, (len(s), 3))  # noqa: C417
    return first > second


def total_of_place(s: Any) -> Any:
    place = PLACES.get(s)
    if place is None:
        return None
    north, east = place
    return north * 2 + east


TEXTS = (None, "", "a", "b", "c", "d", "3.0", "3.1", "x2.9y", "x3.5y", "10.0", "3.", "abcd")
CASES = (
    (at_least, "boolean", "r", "NOT contains(s, 'x')"),
    (by_map, "boolean", "r", "NOT contains(s, 'x')"),
    (halves, "boolean", "r", "length(s) > 4"),
    (total_of_place, "double", "r > 60", "s = 'a'"),
)


@pytest.mark.parametrize("function", [at_least, by_map, sorted_texts, halves, total_of_place])
def test_they_are_lists(function: Callable[..., Any]) -> None:
    type_ = {sorted_texts: "string", total_of_place: "double"}.get(function, "boolean")
    inputs = read_inputs(function, "s string", f"r {type_}", (), "row")
    assert isinstance(inputs, Inputs), inputs
    (output,) = inputs.fold.outputs
    for text in TEXTS:
        at = {(Scope.KEY, "s"): text}
        if evaluate(inputs.fold.finish_raises, at):
            with pytest.raises(TypeError):
                function(text)
            continue
        assert evaluate(output.term, at) == function(text), text


@pytest.mark.parametrize(("function", "returns", "where", "wrong"), CASES)
def test_filters_keep_their_rows_and_twins_do_not(
    function: Callable[..., Any], returns: str, where: str, wrong: str
) -> None:
    how: dict[str, Any] = {"schema": "s string", "returns": f"r {returns}", "mode": "row"}
    prefilter = presieve.synthesize(function, where, **how).prefilter
    sort = row_sort_of("string")
    assert sort is not None
    kept, twin = (
        parse_predicate(t, {"s": Var(Scope.KEY, "s", Option(sort))}, "UTC")
        for t in (prefilter, wrong)
    )
    assert not isinstance(kept, Declined)
    assert not isinstance(twin, Declined)
    lost = 0
    for text in TEXTS[1:]:
        value = function(text)
        wanted = value is not None and (value is True or (value is not False and value > 60))
        at = {(Scope.KEY, "s"): text}
        assert holds(kept, at) or not wanted, text
        lost += wanted and not holds(twin, at)
    assert lost
    assert presieve.verify(function, where, prefilter=wrong, **how).status != "proved"


def stopping(x: Any) -> Any:
    if x == "a":
        raise StopIteration
    return x


def ended_by_its_function(s: Any) -> Any:
    return len(list(map(stopping, (s, "b"))))


def ended_in_a_lambda(s: Any) -> Any:
    return len(list(map(lambda x: stopping(x), (s, "b"))))  # noqa: C417


def with_a_further_parameter(s: Any) -> Any:
    k = 100
    return sum(tuple(map(lambda x, *, k=3: x + k, (len(s), k))))  # type: ignore[misc]


def with_further_arguments(s: Any) -> Any:
    rest = (1, 2, 3)  # noqa: F841
    return sum(tuple(map(lambda x, *rest: x + len(rest), (len(s), 3))))


def of_a_function_that_is_not_there(s: Any) -> Any:
    return len(list(map({"a": len}[s], ())))


@pytest.mark.parametrize(
    "function",
    [
        *(ended_by_its_function, ended_in_a_lambda, of_a_function_that_is_not_there),
        *(with_a_further_parameter, with_further_arguments),
    ],
)
def test_what_map_does_besides_is_not_lost(function: Callable[..., Any]) -> None:
    inputs = read_inputs(function, "s string NOT NULL", "r int", (), "row")
    if not isinstance(inputs, Inputs):
        return
    (output,) = inputs.fold.outputs
    for text in ("a", "b", ""):
        at = {(Scope.KEY, "s"): text}
        if evaluate(inputs.fold.finish_raises, at):
            with pytest.raises(KeyError):
                function(text)
        else:
            assert evaluate(output.term, at) == function(text)


def left_over(s: Any) -> Any:
    items = map(len, (s, "b"))
    return list(items) == list(items)


def test_an_iterator_that_is_kept_is_no_list() -> None:
    assert not isinstance(read_inputs(left_over, "s string", "r boolean", (), "row"), Inputs)
    assert left_over("a") is False
