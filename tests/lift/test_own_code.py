"""Functions, methods and classes of the user's own give what Python gives; what is not certain
is declined.
"""

from __future__ import annotations

import pytest
from tests.lift import own_folds, own_refused, record_folds, record_refused, unrolled_folds
from tests.lift.agreement import Case, assert_agrees
from tests.lift.lifting import columns, declined, request

from presieve.lift import Form, RowClass, SeriesFunction

CASES = [
    Case(own_folds.largest, "n int NOT NULL", "best int"),
    Case(own_folds.Methods, "n int", "best int, middle bigint"),
    Case(own_folds.Changed, "n int", "small bigint, middle bigint, big bigint, none bigint"),
    Case(own_folds.Fresh, "n int", "total bigint, count bigint"),
    Case(own_folds.Raising, "n int, s string", "total bigint"),
    Case(own_folds.Alias, "n int", "total bigint"),
    Case(own_folds.mean_or_none, "x double", "mean double"),
    Case(record_folds.Pairs, "n int", "low int, high int"),
    Case(record_folds.Bests, "n int", "value int, times bigint"),
    Case(record_folds.Tallies, "n int", "count bigint, nones bigint, last int"),
    Case(record_folds.Spans, "n int", "first int, last int"),
    Case(record_folds.Plain, "n int", "o bigint"),
    Case(record_folds.Absent, "n int, s string", "times bigint"),
    Case(
        record_folds.Compared,
        "a tinyint NOT NULL, b tinyint NOT NULL",
        "low bigint, high bigint, equal bigint",
    ),
    Case(unrolled_folds.Histogram, "n int", "a bigint, b bigint, c bigint"),
    Case(unrolled_folds.Labels, "n int", "low bigint, steps bigint, last int"),
    Case(
        unrolled_folds.Weighted,
        "s string, n int",
        "total bigint, seen boolean, every boolean, several bigint",
    ),
    Case(unrolled_folds.Lazy, "s string, n int", "o bigint"),
    Case(unrolled_folds.Matched, "s string, n int, f boolean", "state string, count bigint"),
    Case(unrolled_folds.Prefixes, "s string, t string NOT NULL", "a bigint, b bigint, c bigint"),
    Case(unrolled_folds.RaisingPrefix, "s string", "n bigint"),
    Case(
        unrolled_folds.Ends,
        "n bigint, x double",
        "low bigint, high bigint, least double, most double",
    ),
    Case(unrolled_folds.in_function, "n int NOT NULL", "o bigint"),
    Case(record_folds.summary, "n int NOT NULL", "o bigint"),
]


def form_of(case: Case) -> Form:
    """A class of rows, or a function of its columns."""
    if isinstance(case.obj, type):
        return RowClass()
    return SeriesFunction(tuple(c.name for c in columns(case.schema)))


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_fold_agrees_with_python(case: Case) -> None:
    assert_agrees(case, form_of(case))


@pytest.mark.parametrize(
    ("obj", "code", "words"),
    [*own_refused.REFUSED, *record_refused.REFUSED],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_declined_with_a_reason(obj: object, code: str, words: str) -> None:
    found = declined(obj, request("n int, s string", "o bigint"), RowClass())
    assert (found.code, words in found.reason) == (code, True), str(found)
    assert found.span is not None
