"""What is remembered of problems: what was proved, and what a budget was not enough for."""

from __future__ import annotations

from tests.driver import folds

from presieve.driver.cache.checked import Query
from presieve.driver.cache.process import SIZE, Memory
from presieve.driver.fold_inputs import Inputs, read_filter, read_inputs
from presieve.driver.solve import Policy, Solution, solve
from presieve.errors import Declined
from presieve.ir.fold import Problem
from presieve.records import replace


def problem(where: str) -> Problem:
    inputs = read_inputs(folds.Maximum, "k string, v bigint NOT NULL", "m bigint", "k", "grouped")
    assert isinstance(inputs, Inputs)
    term = read_filter("where", where, inputs.output_names())
    assert not isinstance(term, Declined)
    return inputs.problem(term)


def solved(where: str) -> tuple[Problem, Solution]:
    asked = problem(where)
    found = solve(asked, budget=10.0, policy="default")
    assert found.verified is not None
    return asked, found


def query(problem: Problem, left: float, policy: Policy = "default") -> Query:
    return Query(problem, policy, {}, 10.0, left)


def test_what_was_proved_counts_for_every_budget() -> None:
    memory = Memory()
    asked, found = solved("m > 3")
    memory.put(query(asked, 0.5), found)
    assert memory.get(query(problem("m > 3"), 10.0)) is found
    assert memory.get(query(asked, 0.5, "strict")) is None
    assert memory.get(query(asked, 0.5, "assume")) is None
    assert memory.get(query(problem("m > 4"), 0.5)) is None


def test_what_was_not_proved_counts_for_budgets_that_are_not_larger() -> None:
    memory = Memory()
    asked, found = solved("m > 3")
    failed = replace(found, verified=None)
    memory.put(query(asked, 5.0), failed)
    assert memory.get(query(asked, 0.1)) is failed
    assert memory.get(query(asked, 5.1)) is failed, "less what was done before it"
    assert memory.get(query(asked, 10.0)) is None
    memory.put(query(asked, 10.0), found)
    assert memory.get(query(asked, 60.0)) is found


def test_the_oldest_go_first() -> None:
    memory = Memory()
    asked, found = solved("m > 3")
    memory.put(query(asked, 1.0), found)
    for number in range(SIZE):
        assert memory.get(query(asked, 1.0)) is found
        memory.put(query(problem(f"m > {number + 10}"), 1.0), found)
    assert memory.get(query(asked, 1.0)) is found
    assert memory.get(query(problem("m > 10"), 1.0)) is None
