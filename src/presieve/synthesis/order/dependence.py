# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Decides whether the result of a pipeline depends on the order of a group's rows.

For most folds that depend on it, running finds a table; for most others, the solver's first
question gives a proof. The remaining folds take a relation between two runs, or bounded model
checking.
"""

from __future__ import annotations

from itertools import islice
from random import Random

from msgspec import Struct

from presieve.ir.fold import Problem
from presieve.ir.ops import sql_conjuncts
from presieve.ir.terms import Scope, Term
from presieve.ir.walk import variables
from presieve.smt.solver import Effort
from presieve.smt.z3_solver import Z3Solver
from presieve.synthesis import clock
from presieve.synthesis.order.commute import Relation, only_live, steps_commute
from presieve.synthesis.order.permute import CAUSES, Exchange, Orders, clearest
from presieve.synthesis.sampling.concrete_tables import explore
from presieve.synthesis.sampling.space import Space
from presieve.synthesis.witness.bmc import TableQuery, exchanged_table

_QUICK = 60
_WALKS = 120
_LENGTHS = range(2, 5)


class Independent(Struct, frozen=True):
    """Proved: every order of every table yields the same."""


def decide(problem: Problem, budget: float) -> Exchange | Independent | None:
    """Find a table whose order matters, or a proof that there is none, within ``budget`` seconds;
    None if neither is found.

    Tables obey the problem's assumptions, and a proof rests on them.
    """
    deadline = clock.now() + budget

    def effort() -> Effort:
        return Effort(seconds=clock.guard(max(0.05, deadline - clock.now())))

    live = only_live(problem)
    space = Space(live, chosen=_groups(live))
    if not space.is_inhabited:
        return None
    orders = Orders(space)
    random = Random(0)
    tables = orders.tables(random)
    exchange = orders.search(random, islice(tables, _QUICK), deadline)
    if exchange is None and steps_commute(space.problem, Z3Solver(), effort()):
        return Independent()
    if exchange is None or exchange.cause != CAUSES[0]:
        exchange = clearest(exchange, orders.search(random, tables, deadline))
    if exchange is not None:
        return exchange
    accepted = explore(space, Random(0), deadline).accepted
    exchange = orders.search(random, accepted, deadline)
    if exchange is not None or clock.now() > deadline:
        return exchange
    walks = [
        t
        for t in (*islice(orders.tables(Random(2)), _WALKS), *accepted)
        if orders.all_admissible(*t)
    ]
    if Relation(space, walks, Z3Solver, effort()).proves():
        return Independent()
    return _model_check(orders, effort())


def _groups(problem: Problem) -> tuple[Term, ...]:
    """The conjuncts of the filter that choose groups by their key alone."""
    conjuncts = sql_conjuncts(problem.where)
    return tuple(c for c in conjuncts if {v.scope for v in variables(c)} == {Scope.KEY})


def _model_check(orders: Orders, effort: Effort) -> Exchange | None:
    """A short table from the solver, if it holds when it is run."""
    for rows in _LENGTHS:
        table = exchanged_table(TableQuery(orders.space, rows, Z3Solver(), effort))
        exchange = table and orders.exchange(*table)
        if exchange:
            return exchange
    return None
