"""Functions, methods and classes of the user's own give what Python gives; what is not certain
is declined.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.lift.execution import misleading_folds, record_folds, record_refused, unrolled_folds
from tests.lift.execution.agreement import Case, assert_agrees
from tests.lift.python import outside_folds, outside_refused, own_folds, own_refused
from tests.support.lifting import columns, declined, request

from presieve.backend.problems.pickled import loads
from presieve.lift import Form, RowClass, SeriesFunction


def by_value(cls: object) -> object:
    """What workers get of a class if its module goes by value. Some modules change what they have
    defined, which is not read of what is imported again.
    """
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(misleading_folds)  # type: ignore[no-untyped-call]
    try:
        return loads(cloudpickle.dumps(cls))  # type: ignore[no-untyped-call]
    finally:
        cloudpickle.unregister_pickle_by_value(misleading_folds)  # type: ignore[no-untyped-call]


CASES = [
    Case(own_folds.largest, "n int NOT NULL", "best int"),
    Case(own_folds.passes_an_object, "n int", "o bigint"),
    Case(own_folds.reads_a_number, "n int", "o bigint"),
    Case(own_folds.Inner, "n int", "total bigint, low bigint"),
    Case(own_folds.Methods, "n int", "best int, middle bigint"),
    Case(own_folds.Changed, "n int", "small bigint, middle bigint, big bigint, none bigint"),
    Case(own_folds.ChangesUnderCondition, "n int", "total bigint"),
    Case(own_folds.ChangesInChoice, "n int", "total bigint"),
    Case(own_folds.ChangesInChain, "n int", "total bigint"),
    Case(own_folds.Fresh, "n int", "total bigint, count bigint"),
    Case(own_folds.Raising, "n int, s string", "total bigint"),
    Case(own_folds.Alias, "n int", "total bigint"),
    Case(own_folds.mean_or_none, "x double", "mean double"),
    Case(own_folds.one_more, "n int NOT NULL", "o bigint"),
    Case(own_folds.Starred, "n int", "o bigint"),
    Case(record_folds.Pairs, "n int", "low int, high int"),
    Case(record_folds.Bests, "n int", "value int, times bigint"),
    Case(record_folds.Tallies, "n int", "count bigint, nones bigint, last int"),
    Case(record_folds.Inherited, "n int", "count bigint, nones bigint, last int"),
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
    Case(misleading_folds.InnerBox, "n tinyint", "o bigint"),
    Case(misleading_folds.InnerLoop, "n tinyint NOT NULL", "o bigint"),
    Case(misleading_folds.InnerGuard, "n tinyint NOT NULL", "o bigint"),
    Case(misleading_folds.LastRound, "n int", "o bigint"),
    Case(misleading_folds.AnyOrder, "f boolean", "a bigint, b bigint"),
    Case(misleading_folds.SubjectBox, "n tinyint", "o bigint"),
    Case(misleading_folds.NestedPairs, "n tinyint", "o bigint"),
    Case(by_value(misleading_folds.Defaults), "n int", "o bigint"),
    Case(by_value(misleading_folds.FieldDefaults), "n int", "o bigint"),
    Case(misleading_folds.IsNone, "n int", "o bigint"),
    Case(misleading_folds.Private, "n int", "o bigint"),
    Case(outside_folds.Weights, "s string", "o bigint"),
    Case(outside_folds.Strict, "s string NOT NULL", "o bigint"),
    Case(
        outside_folds.OtherKeys,
        "n tinyint, s string, f boolean, x double",
        "level string, at string, pairs bigint, total double",
    ),
    Case(outside_folds.Lists, "n tinyint, s string, f boolean", "total bigint, name string"),
    Case(outside_folds.OfClass, "s string, f boolean", "o bigint"),
    Case(outside_folds.Named, "n tinyint, s string", "o bigint"),
    Case(outside_folds.Truths, "n tinyint, s string, f boolean", "o bigint"),
    Case(outside_folds.Errors, "n tinyint, s string", "o bigint"),
    Case(outside_folds.Floats, "x double", "count bigint, most double"),
    Case(outside_folds.WholeQuotients, "x double NOT NULL", "steps bigint, odd bigint"),
    Case(
        outside_folds.Extremes,
        "n tinyint, m tinyint NOT NULL",
        "most bigint, least bigint, last bigint",
    ),
    Case(outside_folds.ExtremeOfNone, "n tinyint", "o bigint"),
    Case(outside_folds.ExtremeFloats, "x double NOT NULL, y double", "most double, least double"),
]


def form_of(case: Case) -> Form:
    """A class of rows, or a function of its columns."""
    if isinstance(case.obj, type):
        return RowClass()
    return SeriesFunction(tuple(c.name for c in columns(case.schema)))


@pytest.mark.costly
@pytest.mark.random
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


@pytest.mark.parametrize("function", own_refused.CAPTURING, ids=lambda f: f.__name__)
def test_objects_that_the_loop_does_not_name(function: Callable[..., object]) -> None:
    found = declined(function, request("n int", "o bigint"), SeriesFunction(("n",)))
    assert (found.code, "as an argument" in found.reason) == ("mutation", True), str(found)
    assert found.span is not None


ODD = [
    (misleading_folds.InnerOwn, "maybe-unbound", "y may not have a value"),
    (misleading_folds.InnerChange, "mutation", "a call changes an object"),
    (misleading_folds.ListLoop, "mutation", "changes in a loop over it"),
    (misleading_folds.CountedLoop, "mutation", "changes in a loop over it"),
    (misleading_folds.ItemLoop, "mutation", "changes in a loop over it"),
    (misleading_folds.OneOfTwoLists, "mixed-types", "in one variable"),
    (misleading_folds.GrowingLoop, "mutation", "changes in a loop over it"),
    (misleading_folds.LastKey, "unsupported-expression", "the order of a dict's keys"),
    (misleading_folds.OtherOrder, "unsupported-expression", "the order of a dict's keys"),
    (misleading_folds.BranchOrder, "unsupported-expression", "the order of a dict's keys"),
    (misleading_folds.StateOrder, "unsupported-expression", "the order of a dict's keys"),
    (misleading_folds.EqualsNone, "unsupported-operation", "its own __eq__"),
    (misleading_folds.EqualsTuple, "unsupported-operation", "its own __eq__"),
    (misleading_folds.EqualsAmong, "unsupported-operation", "comparing"),
    (misleading_folds.OtherName, "unknown-call", "nothing is known of again"),
    (misleading_folds.Huge, "too-large", "iterations"),
    (misleading_folds.HugeText, "too-large", "a string of"),
    (outside_refused.ChangesDict, "mutation", "changed in place"),
    (outside_refused.ChangesAlias, "mutation", "changed in place"),
    (outside_refused.ChangesList, "mutation", "changes the object NAMES"),
    (outside_refused.InState, "row-in-state", "kept from one row to the next"),
    (outside_refused.SometimesNamed, "unsupported-expression", "whether := is evaluated"),
    (outside_refused.NamedInside, "unsupported-expression", "whether := is evaluated"),
    (outside_refused.ListKey, "unsupported-operation", "a list as a key"),
    (outside_refused.OwnError, "unsupported-statement", "plain subclasses"),
    (misleading_folds.PrivateOfOther, "unknown-name", "no field _PrivateOfOther__n"),
]


@pytest.mark.parametrize(("obj", "code", "words"), ODD, ids=lambda x: getattr(x, "__name__", ""))
def test_odd_code_is_declined(obj: object, code: str, words: str) -> None:
    found = declined(obj, request("n tinyint, s string, f boolean", "o bigint"), RowClass())
    assert (found.code, words in found.reason) == (code, True), str(found)
    assert found.span is not None
