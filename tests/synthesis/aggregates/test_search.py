"""Which folds are aggregates of Spark's, as the search finds them, and which it declines."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from benchmarks.suite import Family, load
from tests.support.aggregates import Rows, by_aggregates, by_fold, claim, searched
from tests.support.group_folds import GROUPS, Fold, Refuses, rows

from presieve.certificate.checker import Verified, check
from presieve.errors import Declined
from presieve.semantics.interpret import Raised
from presieve.synthesis.aggregates.aggregate_invariant import Aggregates

FAMILIES = {f.name: f for f in load(Path(__file__).parents[3] / "benchmarks" / "families")}

FOUND = {
    "20Nov": "max",
    "Ada1": "count_if count_if",
    "Ada3": "min min",
    "AggregationQuerySuite": "",
    "Basket": "count_if",
    "Chicago": "bool_or bool_or",
    "DurationMin": "",
    "EventAggregationUdf": "count_if count_if max min",
    "Flaredown1": "bool_or bool_or",
    "HighLowAggregator": "",
    "Jdata": "max",
    "KeepRowWithMaxAge": "",
    "KeepRowWithMaxQuality": "",
    "MinPooling": "min min min",
    "MyAvg": "",
    "PointAttributionScalaUdaf": "sum",
    "PreprocCSVTable": "count_if",
    "ReturnPriceAggregator": "",
    "RoaringBitmapUDAF": "max max max",
    "SnapshotAggregator": "",
    "SparkDataFrameUDFApp": "sum sum",
    "TPCHUDAF": "count_if",
    "Top2": "list",
    "UDAF": "",
    "UDAF2": "",
    "UserDefinedAggregationFunctionTest": "max min",
}
"""By family, the functions that are found, sorted, and whether there is a list; of nothing the fold
is no aggregate.
"""


def test_the_table_is_of_all_families() -> None:
    assert set(FOUND) == set(FAMILIES)


def of_family(family: Family) -> Aggregates | Declined:
    return searched(family.fold, family.schema, family.returns)


@pytest.mark.costly
@pytest.mark.parametrize("name", FOUND)
def test_published_folds(name: str) -> None:
    started = time.process_time()
    found = of_family(FAMILIES[name])
    assert time.process_time() - started < 10
    if not FOUND[name]:
        assert isinstance(found, Declined)
        assert found.code == "no-aggregate"
        return
    assert isinstance(found, Aggregates), found
    functions = [*sorted(c.function for c in found.calls), *("list" for _ in found.lists)]
    assert functions == FOUND[name].split()
    assert isinstance(check(claim(found)), Verified)


# --- what depends on order ------------------------------------------------------------------------


class Last(Fold):
    def reduce(self, acc, row):  # type: ignore[no-untyped-def]
        return row.v


class First(Fold):
    start = (False, None)

    def reduce(self, acc, row):  # type: ignore[no-untyped-def]
        return acc if acc[0] else (True, row.v)

    def finish(self, acc):  # type: ignore[no-untyped-def]
        return acc[1]


class LastThere(Fold):
    def reduce(self, acc, row):  # type: ignore[no-untyped-def]
        return acc if row.v is None else row.v


class RowOfBest(Fold):
    """Of several rows of the best value, the first."""

    start = (None, None)

    def reduce(self, acc, row):  # type: ignore[no-untyped-def]
        if row.v is None:
            return acc
        return (row.v, row.s) if acc[0] is None or row.v > acc[0] else acc

    def finish(self, acc):  # type: ignore[no-untyped-def]
        return acc[1]


class Joined(Fold):
    start = ""

    def reduce(self, acc, row):  # type: ignore[no-untyped-def]
        return acc if row.s is None else acc + row.s


class Average(Fold):
    start = (0.0, 0)

    def reduce(self, acc, row):  # type: ignore[no-untyped-def]
        return acc if row.x is None else (acc[0] + row.x, acc[1] + 1)

    def finish(self, acc):  # type: ignore[no-untyped-def]
        return acc[0] / acc[1] if acc[1] > 0 else None


class Difference(Fold):
    start = 0

    def reduce(self, acc, row):  # type: ignore[no-untyped-def]
        return acc if row.v is None else row.v - acc


class UpTo(Fold):
    """A sum that stops growing: where it stops depends on order."""

    start = 0

    def reduce(self, acc, row):  # type: ignore[no-untyped-def]
        return acc if row.v is None or acc > 10 else acc + row.v


class Rising(Fold):
    """How often a value is greater than the one before it."""

    start = (0, None)

    def reduce(self, acc, row):  # type: ignore[no-untyped-def]
        up = row.v is not None and acc[1] is not None and row.v > acc[1]
        return (acc[0] + 1 if up else acc[0], row.v)

    def finish(self, acc):  # type: ignore[no-untyped-def]
        return acc[0]


class Greedy(Fold):
    """NaN that comes first stays."""

    def reduce(self, acc, row):  # type: ignore[no-untyped-def]
        if row.x is None:
            return acc
        return row.x if acc is None or row.x > acc else acc


ORDERED: dict[type[Fold], tuple[str, str, Rows]] = {
    Last: ("v bigint", "m bigint", rows([1, 2])),
    First: ("v bigint", "m bigint", rows([1, 2])),
    LastThere: ("v bigint", "m bigint", rows([1, 2])),
    RowOfBest: (
        "v bigint, s string",
        "m string",
        [{"v": 1, "s": "a"}, {"v": 1, "s": "b"}],
    ),
    Joined: ("s string", "m string", rows(["a", "b"], "s")),
    Average: ("x double", "m double", rows([0.1, 0.2, 0.3], "x")),
    Difference: ("v bigint", "m bigint", rows([1, 2])),
    UpTo: ("v bigint", "m bigint", rows([11, 1])),
    Rising: ("v bigint", "m bigint", rows([1, 2])),
    Greedy: ("x double", "m double", rows([float("nan"), 1.0], "x")),
}


@pytest.mark.parametrize("fold", ORDERED)
def test_what_depends_on_order_is_declined(fold: type[Fold]) -> None:
    schema, returns, table = ORDERED[fold]
    found = searched(fold, schema, returns, codes="")
    assert isinstance(found, Declined), found
    assert found.code == "no-aggregate"
    orders = {repr(run(fold, order)) for order in (table, table[::-1])}
    assert len(orders) == 2, "it does not depend on order"


def run(fold: Any, table: Rows) -> Any:
    """By Python."""
    made = fold()
    acc = made.zero()
    for row in table:
        acc = made.reduce(acc, _Row(row))
    return made.finish(acc)


class _Row:
    def __init__(self, values: dict[str, Any]) -> None:
        self.__dict__.update(values)


# --- folds that no order changes ------------------------------------------------------------------


class Below(Fold):
    start = -3

    def reduce(self, acc, row):  # type: ignore[no-untyped-def]
        return acc if row.v is None else min(acc, row.v)


class From(Fold):
    start = 7

    def reduce(self, acc, row):  # type: ignore[no-untyped-def]
        return acc if row.v is None else max(acc, row.v)


class Refused(Refuses):
    """With more to say than that it raises."""

    def finish(self, acc):  # type: ignore[no-untyped-def]
        return acc + 1


@pytest.mark.parametrize("fold", [From, Below])
def test_extremes_from_a_number_on(fold: type[Fold]) -> None:
    found_and_right(fold)


@pytest.mark.parametrize("fold", [Refuses, Refused])
def test_folds_that_raise_on_a_row(fold: type[Fold]) -> None:
    raising = found_and_right(fold)
    assert raising > 0


def found_and_right(fold: type[Fold]) -> int:
    """It is found, accepted and right; how many groups raise."""
    certificate = claim(searched(fold, "v bigint", "m bigint"))
    verdict = check(certificate)
    assert isinstance(verdict, Verified), verdict
    given = [by_fold(certificate.problem, rows(group)) for group in GROUPS]
    made = [by_aggregates(certificate, rows(group)) for group in GROUPS]
    assert made == given
    return sum(isinstance(g, Raised) for g in given)
