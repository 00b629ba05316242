"""Trusted. Functions that are evaluated on demand: whose errors a job as written is sure to have.

An error of the job as written licenses anything, so that it must be sure that it occurs. A filter
has a function evaluated where what it says depends on the result: whatever Spark makes of the
filter then reads it (``ConstantPropagation``, ``BooleanSimplification`` and others may make it read
less than is written). Of a function that it need not read nobody knows whether it is called.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from presieve.certificate.check import make_solver
from presieve.ir.fold import Problem
from presieve.ir.ops import sql_conjunction
from presieve.ir.terms import FALSE, Scope, Term
from presieve.ir.walk import variables
from presieve.plan.product import Component, called_alone, product, quiet
from presieve.smt.runs import Runs
from presieve.smt.solver import Effort, Sat
from presieve.smt.text import s_xor


@dataclass(frozen=True, slots=True)
class Called:
    """The ``problem``, and ``others``: the same where some functions are not called, which a
    solution must solve, too. ``open``: whether a function may or may not be called.
    """

    problem: Problem
    others: tuple[Problem, ...] = ()
    open: bool = False


def called(
    problem: Problem,
    parts: tuple[Component, ...],
    live: set[str],
    beside: Sequence[Term],
    single: bool,
) -> Called:
    """What is to be solved of a problem on demand. ``beside`` are conditions of the filters above
    that stay; with ``single`` each row is a group, whose errors do not hang on other rows.

    Lemma: if some functions are evaluated and none raises, the outcome is right by the problem of
    the sure ones, and each other's result by the problem of these and it.
    """
    raising = [i for i, p in enumerate(parts) if _raises(p)]
    sure = {i for i in raising if _is_called(problem, parts[i], beside)}
    unsure = [i for i in raising if i not in sure]
    if not unsure:
        return Called(problem)
    total = set(range(len(parts))) - set(raising)
    if single:
        calm = tuple(quiet(p) if i in unsure else p for i, p in enumerate(parts))
        fold = replace(product(calm, live), keys=problem.fold.keys)
        return Called(replace(problem, fold=fold), open=True)
    others = []
    for extra_calls in [set[int](), *({i} for i in unsure if len(unsure) > 1)]:
        fold = called_alone(parts, live, total | sure | extra_calls)
        others.append(replace(problem, fold=replace(fold, keys=problem.fold.keys)))
    return Called(problem, tuple(others), open=True)


def _raises(part: Component) -> bool:
    return part.fold.step_raises != FALSE or part.fold.finish_raises != FALSE


def _is_called(problem: Problem, part: Component, beside: Sequence[Term]) -> bool:
    """Whether two rows of outputs that differ in those of the part alone, one of which passes."""
    where = sql_conjunction([problem.where, *beside])
    read = {v.name for v in variables(where) if v.scope is Scope.OUT}
    if read.isdisjoint(part.outputs):
        return False
    runs = Runs(problem, [where])
    first, second = runs.any_outputs("o"), runs.any_outputs("p")
    own = {(Scope.OUT, name) for name in part.outputs}
    changed_outputs = {at: second[at] if at in own else value for at, value in first.items()}
    runs.encoder.fact(s_xor(runs.is_true(where, first), runs.is_true(where, changed_outputs)))
    solver = make_solver("z3")
    solver.add(runs.encoder.take())
    return isinstance(solver.check([], Effort(seconds=2.0)), Sat)
