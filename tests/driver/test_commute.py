"""The proof that order does not matter, by itself: it must fail wherever order does matter."""

from __future__ import annotations

from itertools import islice
from random import Random

import pytest
from tests.driver import orders
from tests.driver.order_jobs import DEPENDENT, DOUBLES, INDEPENDENT, INTS, NAMED, Job, synthesized

from presieve.ir.fold import Problem
from presieve.smt.solver import Effort
from presieve.smt.z3_solver import Z3Solver
from presieve.synthesis.order.commute import Relation, only_live, steps_commute
from presieve.synthesis.order.permute import Orders
from presieve.synthesis.sampling.space import Space

EFFORT = Effort(seconds=60.0)


def problem_of(job: Job) -> Problem:
    question = synthesized(job)._question
    assert question is not None
    return only_live(question.problem)


def relation_proves(problem: Problem, longest: int) -> bool:
    """What is tried first is learnt from tables of so many rows at most."""
    space = Space(problem)
    tables = Orders(space).tables(Random(4))
    lawful = [t for t in islice(tables, 120) if Orders(space).all_admissible(*t)]
    short = [(table, key) for table, key in lawful if len(table) <= longest]
    return Relation(space, short, Z3Solver, EFFORT).proves()


@pytest.mark.costly
@pytest.mark.parametrize("job", DEPENDENT, ids=str)
def test_nothing_is_proved_of_what_depends_on_order(job: Job) -> None:
    """Not even where nothing, or too little, was learnt from tables: the solver decides."""
    problem = problem_of(job)
    assert not steps_commute(problem, Z3Solver(), EFFORT)
    for longest in (0, 2, 6):
        assert not relation_proves(problem, longest), longest


@pytest.mark.costly
@pytest.mark.parametrize("job", INDEPENDENT, ids=str)
def test_a_relation_proves_what_does_not(job: Job) -> None:
    assert relation_proves(problem_of(job), 6)


@pytest.mark.parametrize(
    ("fold", "where", "schema", "returns", "commute"),
    [
        (orders.Total, "s > 100", INTS, "s bigint", True),
        (orders.HasSeven, "b", INTS, "b boolean", True),  # the field that nobody sees is left out
        (orders.ArgMaxByName, "best > 5", NAMED, "best bigint, name string", False),
        (orders.FloatMaximum, "m > 1", DOUBLES, "m double", False),  # the zeros stay apart
    ],
)
def test_equality_of_states_is_enough_for_the_simple_ones(
    fold: type, where: str, schema: str, returns: str, commute: bool
) -> None:
    problem = problem_of(Job(fold, where, schema, returns, "independent"))
    assert steps_commute(problem, Z3Solver(), EFFORT) is commute
