"""Lists whose length depends on the rows: the fold gives what Python gives, on random tables."""

from __future__ import annotations

import random

import pytest
from tests.lift.execution.agreement import Case, check
from tests.support import list_folds
from tests.support.lifting import columns, lifted, request

from presieve.lift import Form, RowClass, SeriesFunction
from presieve.semantics.values import Value

INFINITE, NAN = float("inf"), float("nan")
VALUES: dict[str, list[Value]] = {
    "double": [None, NAN, 0.0, -0.0, 1.5, 2.5, INFINITE, -INFINITE, 1e308, 3.0, 1.5],
    "bigint": [None, 0, 1, 2, 3, -1, 2**63 - 1, -(2**63)],
    "int": [None, 0, 1, 2, -5],
    "string": [None, "", "a", "b", "c"],
}
LISTS = [
    list_folds.Best,
    list_folds.BestDeleted,
    list_folds.BestCopied,
    list_folds.BestUnpacked,
    list_folds.BestPopped,
    list_folds.BestRaising,
    list_folds.Last,
    list_folds.LastSlice,
    list_folds.First,
    list_folds.Pairs,
    list_folds.ByKey,
]
HEAPS = [list_folds.Heap, list_folds.HeapReplaced, list_folds.HeapPopped]
CASES = [
    *(Case(f, "v double, s string, n int", "first double, second double") for f in LISTS),
    *(Case(f, "v bigint, s string, n int", "first bigint, second bigint") for f in HEAPS),
    Case(list_folds.BestDeleted, "v string", "first string, second string"),
    Case(list_folds.latest, "v double, n int NOT NULL", "o double"),
    Case(list_folds.smallest, "v double", "o double"),
]


def form_of(case: Case) -> Form:
    if isinstance(case.obj, type):
        return RowClass()
    return SeriesFunction(tuple(c.name for c in columns(case.schema)))


@pytest.mark.costly
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_the_fold_gives_what_python_gives(case: Case) -> None:
    asked, form = request(case.schema, case.returns), form_of(case)
    found = lifted(case.obj, asked, form)
    dice = random.Random(case.name)
    choices = {
        c.name: [x for x in VALUES[c.type] if x is not None or c.nullable] for c in asked.schema
    }
    for _ in range(500):
        size = dice.choice([1, 2, 3, 4, 5, 6])
        rows = [{n: dice.choice(xs) for n, xs in choices.items()} for _ in range(size)]
        check(case, asked, form, found, rows)


def test_what_is_sorted_is_assumed_to_hold_no_nan() -> None:
    found = lifted(list_folds.Best, request("v double", "a double, b double"))
    assert [a.code for a in found.assumptions] == ["nan-sorted"]
    last = lifted(list_folds.First, request("v bigint", "a bigint, b bigint"))
    assert not [a for a in last.assumptions if a.code == "nan-sorted"]
