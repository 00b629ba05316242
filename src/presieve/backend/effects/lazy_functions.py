# SPDX-License-Identifier: Apache-2.0
"""Trusted. Determine which functions that are evaluated on demand are certainly evaluated.

If the original job is certain to fail, any rewrite is allowed; so the failure must be certain. A
filter forces the evaluation of a function if its truth depends on the function's result: whatever
Spark makes of the filter then reads the result (``ConstantPropagation``, ``BooleanSimplification``
and others may make it read less than is written). If Spark need not read a function's result,
nobody knows whether it calls the function.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from presieve.certificate.checker import make_solver
from presieve.ir.fold import Problem
from presieve.ir.ops import sql_conjunction
from presieve.ir.terms import FALSE, Scope, Term
from presieve.ir.walk import variables
from presieve.plan.product import Component, called_alone, product, quiet
from presieve.records import replace
from presieve.smt.smtlib import s_xor
from presieve.smt.solver import Effort, Sat
from presieve.smt.two_runs import Runs


class Called(Struct, frozen=True):
    """The ``problem``, and ``others``: the same problem if some functions are not called. A
    solution must solve all of them. ``open``: some function may or may not be called.
    """

    problem: Problem
    others: tuple[Problem, ...] = ()
    open: bool = False


def problems_on_demand(
    problem: Problem,
    parts: tuple[Component, ...],
    live: set[str],
    beside: Sequence[Term],
    single: bool,
) -> Called:
    """Return the problems that a solution on demand must solve. ``beside`` are the conditions of
    the filters above that stay. With ``single``, each row is a group, and its errors do not depend
    on other rows.

    Lemma: if some functions are evaluated and none raises, the outcome is right by the problem of
    the functions that are certainly called, and the result of each other function by the problem of
    these and that function.
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
    """Whether there are two rows of outputs that differ only in the outputs of the part, and only
    one of them passes the filters.
    """
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
