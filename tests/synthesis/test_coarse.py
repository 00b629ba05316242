"""Coarser regions: of columns that are only carried along, and no coarser than the filter asks."""

from __future__ import annotations

from typing import Any

import pytest

from presieve.driver.fold_inputs import read_filter, read_inputs
from presieve.driver.verify import verify
from presieve.errors import Declined
from presieve.ir.fold import Problem
from presieve.ir.terms import Scope, Var
from presieve.semantics.interpret import holds
from presieve.universe.coarse import Coarsening
from presieve.universe.regions import Partition, partition
from presieve.universe.value_classes import Classes

SCHEMA = "a bigint, b bigint, c double, v bigint NOT NULL"
RETURNS = "a bigint, b bigint, c double, total bigint, best bigint"


class Best:
    """What belongs to the greatest ``v``, and a sum beside it."""

    def zero(self) -> Any:
        return None, None, None, 0, 0

    def reduce(self, acc: Any, row: Any) -> Any:
        if row["v"] <= acc[4]:
            return acc
        return row["a"], row["b"], row["c"], acc[3] + row["v"], row["v"]


def problem_of(where: str) -> Problem:
    inputs = read_inputs(Best, SCHEMA, RETURNS, (), "grouped")
    assert not isinstance(inputs, Declined)
    term = read_filter("where", where, inputs.output_names())
    assert not isinstance(term, Declined)
    return inputs.problem(term)


def both(where: str, name: str, extra: str = "") -> tuple[Partition, Partition]:
    """The regions of a column, and the coarser ones."""
    problem = problem_of(where)
    more = (problem_of(extra).where,) if extra else ()
    classes = Classes(problem, more)
    column = next(c for c in problem.fold.columns if c.name == name)
    fine = partition(problem.fold.column(name), column.type, classes, problem)
    return fine, Coarsening(classes, problem, more).coarser(fine)


@pytest.mark.parametrize(
    ("where", "name", "parts"),
    [
        ("a > 1 AND best > 9", "a", 2),
        ("a > 1 AND best > 9", "b", 1),
        ("(a > 1 OR a IS NULL) AND best > 9", "a", 2),
        ("(a > 1 AND a <> 7 OR b = 3) AND best > 9", "a", 2),
        ("NOT (a > 1) AND best > 9", "a", 2),
        ("NOT (a > 1 AND b > 1) AND best > 9", "a", 5),
        ("(a > 1 AND b > 1 OR a > 5 AND b > 5) AND best > 9", "a", 3),
        ("c > 1 AND best > 9", "c", 3),  # one is NaN, which is assumed to be on no row
    ],
)
def test_regions_are_those_that_the_filter_tells_apart(where: str, name: str, parts: int) -> None:
    fine, coarse = both(where, name)
    assert len(coarse.regions) == min(parts, len(fine.regions))
    values = [v for r in fine.regions for v in r.samples]
    assert sorted(map(repr, (v for r in coarse.regions for v in r.samples))) == sorted(
        map(repr, values)
    )
    for value in (v for r in fine.regions if r.possible for v in r.samples):
        env = {(Scope.ROW, name): value}
        here = coarse.locate(value)
        for i in range(len(coarse.regions)):
            assert holds(coarse.member(frozenset([i])), env) == (i == here)


@pytest.mark.parametrize(
    ("where", "name"),
    [
        ("best > 9", "v"),  # the step compares it
        ("total > 9 AND best > 7", "v"),
        ("a > b AND a > 3 AND best > 9", "a"),  # the filter compares it with another one
        ("a = b AND b > 3 AND best > 9", "b"),
    ],
)
def test_what_is_looked_at_otherwise_stays_as_it_is(where: str, name: str) -> None:
    fine, coarse = both(where, name)
    assert coarse is fine


def test_what_further_predicates_speak_of_stays_as_it_is() -> None:
    fine, coarse = both("a > 1 AND best > 9", "a", extra="a > 5")
    assert coarse is fine
    fine, coarse = both("a > 1 AND best > 9", "a", extra="b > 5")
    assert len(coarse.regions) == 2
    assert coarse.variable == Var(Scope.ROW, "a", fine.variable.sort)


def test_a_filter_by_hand_on_a_carried_column_is_refuted() -> None:
    told = verify(
        Best, "a > 1 AND best > 9", schema=SCHEMA, returns=RETURNS, prefilter="v > 9 AND a > 1"
    )
    assert told.status == "refuted"
