"""Characters that a test keeps of a text, as ``re.sub`` of the others."""

from __future__ import annotations

import string
import sys
from collections.abc import Callable
from typing import Any

import pytest
from tests.support.amount import amount

import presieve
from presieve.driver.fold_inputs import Inputs, read_inputs
from presieve.ir.terms import Scope
from presieve.semantics.interpret import evaluate

KEPT = {"-", "+", "ab"}
NOTHING = ""
NEVER: tuple[str, ...] = ()


def digits(s: Any) -> Any:
    return "".join(c for c in s if c.isdigit()) if s is not None else None


def decimals(s: Any) -> Any:
    return "".join([c for c in s if c.isdecimal()])


def numerals(s: Any) -> Any:
    return "".join(filter(str.isnumeric, s))


def letters(s: Any) -> Any:
    return "".join(filter(lambda c: c.isalpha(), s))


def words(s: Any) -> Any:
    return "".join(c for c in s if c.isalnum() or c == "_" or c.isspace())


def no_punctuation(s: Any) -> Any:
    return "".join(c for c in s.lower() if c not in string.punctuation)


def signs(s: Any) -> Any:
    return "".join(c for c in s if c in KEPT and c != "-" and not c.isspace())


def every(s: Any) -> Any:
    return "".join(c for c in s if c not in NOTHING)


def none(s: Any) -> Any:
    return "".join(c for c in s if c in NEVER)


def no_letter_before(s: Any) -> Any:
    return "".join(c for c in s if not (c.isalpha() or c.isdigit()) if c != "x")


every_function = pytest.mark.parametrize(
    "function",
    [
        *(digits, decimals, numerals, letters, words, no_punctuation, signs, every, none),
        no_letter_before,
    ],
)


def _result(function: Callable[..., Any], text: str) -> Any:
    inputs = read_inputs(function, "s string", "r string", (), "row")
    assert isinstance(inputs, Inputs), inputs
    (output,) = inputs.fold.outputs
    return evaluate(output.term, {(Scope.KEY, "s"): text})


@every_function
def test_every_character_is_kept_as_python_keeps_it(function: Callable[..., Any]) -> None:
    characters = [chr(i) for i in range(sys.maxunicode + 1) if not 0xD800 <= i < 0xE000]
    size = 4096
    starts = range(0, len(characters), size)
    for start in starts[:: len(starts) // amount(len(starts), 8)]:
        text = "".join(characters[start : start + size])
        assert _result(function, text) == function(text), hex(start)
    for text in ("", "a-b_c 1²½Ⅷ一", "\n\t\r+-x", "ab\0"):
        assert _result(function, text) == function(text)


def test_a_filter_on_what_is_kept_goes_below() -> None:
    how: dict[str, Any] = {"schema": "s string", "returns": "r string", "mode": "row"}
    found = presieve.synthesize(digits, "r = '12'", **how)
    assert found.prefilter == "contains(s, '1') AND contains(s, '2')"
    verdict = presieve.verify(digits, "r = '12'", prefilter="contains(s, '12')", **how)
    assert verdict.status != "proved"
    assert digits("1-2") == "12"


def with_changes(s: Any) -> Any:
    return "".join(c.upper() for c in s if c.isalpha())


def by_its_place(s: Any) -> Any:
    return "".join(c for i, c in enumerate(s) if i > 2)


def by_another_text(s: Any) -> Any:
    return "".join(c for c in s if c in s[1:])


def between(s: Any) -> Any:
    return "-".join(c for c in s if c.isdigit())


def own_filter(s: Any) -> Any:
    def filter(_: Any, text: Any) -> Any:
        return text

    return "".join(filter(str.isdigit, s))


def in_itself(s: Any) -> Any:
    c = "abc"  # noqa: F841
    return "".join(c for c in s if c in c)


def in_a_list_of_itself(s: Any) -> Any:
    c = "abc"  # noqa: F841
    return "".join(c for c in s if c not in (c, "x"))


def by_a_further_parameter(s: Any) -> Any:
    d = "abc"  # noqa: F841
    return "".join(filter(lambda c, *, d="x": c in d, s))  # type: ignore[arg-type]


class Always(list[str]):
    def __contains__(self, _: object) -> bool:
        return True


ALWAYS = Always(["a"])
BY_SIZE = ("abc", "12")


def in_an_own_list(s: Any) -> Any:
    return "".join(c for c in s if c in ALWAYS)


def where_a_test_may_raise(s: Any) -> Any:
    return "".join(c for c in s if c in BY_SIZE[len(s)])


@pytest.mark.parametrize(
    "function",
    [
        *(with_changes, by_its_place, by_another_text, between, own_filter),
        *(in_itself, in_a_list_of_itself, by_a_further_parameter, in_an_own_list),
    ],
)
def test_others_are_not_taken_for_it(function: Callable[..., Any]) -> None:
    inputs = read_inputs(function, "s string", "r string", (), "row")
    if isinstance(inputs, Inputs) and not inputs.lifted.calls:
        for text in ("a1b", "112", "x", "k", ""):
            assert _result(function, text) == function(text)


def test_a_test_that_may_raise_is_not_read() -> None:
    """Of no character it is not evaluated."""
    inputs = read_inputs(where_a_test_may_raise, "s string", "r string", (), "row")
    assert not isinstance(inputs, Inputs) or inputs.lifted.calls
