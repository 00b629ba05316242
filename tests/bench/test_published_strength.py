"""Pre-filters that are not certified as optimal keep no row that the published ones drop.

Under GROUP BY no other needs a comparison: what is certified keeps no row without need.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.suite import Benchmark, benchmarks, load
from benchmarks.synth.run import search

from presieve.driver.fold_inputs import TIMEZONE
from presieve.errors import Declined
from presieve.ir.fold import Problem
from presieve.ir.terms import Term, Var
from presieve.smt.smtlib import s_not
from presieve.smt.solver import Effort, Unsat
from presieve.smt.two_runs import Runs
from presieve.smt.z3_solver import Z3Solver
from presieve.sql.parse import parse_predicate

KNOWN = "red IS NOT NULL AND green IS NOT NULL AND blue IS NOT NULL"
SEASONS = "month BETWEEN 5 AND 10 OR month BETWEEN 4 AND 9"
PUBLISHED = {
    **{f"MinPooling_{i}": KNOWN for i in (3, 6, 7)},
    **{f"MyAvg_{i}": "reading IS NOT NULL" for i in (1, 4, 5)},
    **{f"SparkDataFrameUDFApp_{i}": SEASONS for i in (1, 2, 3, 4, 5)},
    **{f"UDAF_{i}": "amount > 500" for i in (1, 2, 3)},
    **{f"UDAF2_{i}": "amount > 400" for i in (1, 2, 4, 6)},
}
"""As Spark SQL, in the names of benchmarks/families; from the pipelines in the paper's artifact."""

FAMILIES = Path(__file__).parents[2] / "benchmarks" / "families"
BY_NAME: dict[str, Benchmark] = {b.name: b for b in benchmarks(load(FAMILIES))}


def implies(problem: Problem, stronger: Term, weaker: Term) -> bool:
    """Whether every row that the one keeps is kept by the other."""
    runs = Runs(problem, [stronger, weaker])
    row = runs.row("r")
    runs.encoder.fact(runs.is_true(stronger, row))
    runs.encoder.fact(s_not(runs.is_true(weaker, row)))
    solver = Z3Solver()
    solver.add(runs.encoder.take())
    return isinstance(solver.check([], Effort()), Unsat)


@pytest.mark.costly
@pytest.mark.parametrize("name", PUBLISHED)
def test_no_weaker_than_published(name: str) -> None:
    found = search(BY_NAME[name], "grouped").certificate
    assert found is not None
    fold = found.problem.fold
    names: dict[str, Var] = {c.name: fold.column(c.name) for c in fold.columns}
    published = parse_predicate(PUBLISHED[name], names, TIMEZONE)
    assert not isinstance(published, Declined)
    assert implies(found.problem, found.prefilter, published)


def test_a_comparison_that_is_too_strong_fails() -> None:
    found = search(BY_NAME["UDAF_1"], "grouped").certificate
    assert found is not None
    fold = found.problem.fold
    names = {c.name: fold.column(c.name) for c in fold.columns}
    stronger = parse_predicate("amount > 501", names, TIMEZONE)
    assert not isinstance(stronger, Declined)
    assert not implies(found.problem, found.prefilter, stronger)
