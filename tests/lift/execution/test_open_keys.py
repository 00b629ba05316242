"""Dicts with keys that are no constants: folds agree with Python, or are declined."""

from __future__ import annotations

import pytest
from tests.lift.execution import open_folds
from tests.lift.execution.agreement import Case, assert_agrees
from tests.support.lifting import declined, request

from presieve import synthesize, verify
from presieve.errors import Declined
from presieve.lift import FrameFunction, RowClass, SeriesFunction, lift
from presieve.lift.forms import RowsFunction

CASES = [
    Case(open_folds.Counts, "s string", "o bigint"),
    Case(open_folds.CountsAsked, "s string, t string", "o bigint"),
    Case(open_folds.Sums, "s string, n tinyint", "a bigint, b bigint, c boolean"),
    Case(open_folds.Spans, "s string, n tinyint", "low bigint, high bigint"),
    Case(open_folds.Raising, "s string", "o bigint"),
    Case(open_folds.Last, "s string, n tinyint", "o bigint"),
    Case(
        open_folds.Constants,
        "s string, t string, f boolean",
        "a bigint, b bigint, total bigint",
    ),
    Case(open_folds.Helper, "s string, t string, f boolean", "o bigint"),
    Case(open_folds.Beside, "s string", "a bigint, total bigint"),
    Case(open_folds.InObject, "s string, n tinyint", "a bigint, rows bigint"),
]


@pytest.mark.costly
@pytest.mark.random
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_fold_agrees_with_python(case: Case) -> None:
    assert_agrees(case, RowClass())


@pytest.mark.random
def test_a_function_of_a_column_agrees_with_python() -> None:
    assert_agrees(Case(open_folds.errors, "s string", "o bigint"), SeriesFunction(("s",)))


_DEPENDS = "it depends on what a dict holds"

REFUSED = [
    (open_folds.Leaks, "mutation", _DEPENDS),
    (open_folds.LeaksOther, "mutation", _DEPENDS),
    (open_folds.LeaksPresence, "mutation", "that depend on each other"),
    (open_folds.LeaksInside, "mutation", _DEPENDS),
    (open_folds.LeaksByReturn, "mutation", _DEPENDS),
    (open_folds.LeaksByContinue, "mutation", _DEPENDS),
    (open_folds.LeaksByBreak, "mutation", _DEPENDS),
    (open_folds.LeaksByValue, "mutation", _DEPENDS),
    (open_folds.MayRaise, "mutation", _DEPENDS),
    (open_folds.Size, "unsupported-operation", "the length of"),
    (open_folds.Any, "mutation", _DEPENDS),
    (open_folds.All, "unsupported-expression", "which keys a dict has"),
    (open_folds.NoneKey, "mutation", "ask first whether it is one of a few"),
    (open_folds.Lists, "mutation", "keep tuples instead"),
    (open_folds.Numbers, "mutation", "ask first whether it is one of a few"),
    (open_folds.BothKeys, "mutation", "that depend on each other"),
    (open_folds.ManyKeys, "too-large", "too many places"),
    (open_folds.Copies, "mutation", "two names"),
]


@pytest.mark.parametrize(
    ("obj", "code", "words"), REFUSED, ids=lambda x: getattr(x, "__name__", "")
)
def test_declined_with_a_reason(obj: object, code: str, words: str) -> None:
    schema = "s string, t string, n tinyint, f boolean"
    found = declined(obj, request(schema, "o bigint"), RowClass())
    assert (found.code, words in found.reason) == (code, True), str(found)
    assert found.span is not None


def test_a_key_outside_of_statements_is_declined() -> None:
    asked = request("s string, n bigint", "o bigint", "s")
    found = declined(open_folds.in_the_head_of_the_loop, asked, FrameFunction(takes_key=True))
    assert (found.code, "ask first" in found.reason) == ("mutation", True), str(found)


@pytest.mark.parametrize("function", [open_folds.by_its_first_text, open_folds.by_a_constant])
def test_a_function_of_tables_with_such_keys_is_declined(function: object) -> None:
    schema = "s string, n double"
    found = lift(function, RowsFunction(), request(schema, schema, "s,n"))
    assert isinstance(found, Declined)


def test_a_count_keeps_the_rows_of_its_key() -> None:
    found = synthesize(open_folds.Counts, "n >= 3", schema="s string", returns="n bigint")
    assert (found.kind, found.prefilter, found.strength) == ("partial", "s = 'a'", "optimal")


def test_the_rows_of_another_key_do_not_do() -> None:
    wrong = verify(
        open_folds.Counts, "n >= 3", schema="s string", returns="n bigint", prefilter="s = 'b'"
    )
    assert wrong.status == "refuted"
    assert wrong.counterexample is not None
    assert wrong.counterexample.original != wrong.counterexample.optimized
