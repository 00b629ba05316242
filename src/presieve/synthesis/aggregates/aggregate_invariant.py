# SPDX-License-Identifier: Apache-2.0
"""Untrusted. The result of a search for aggregates, and the greatest invariant among candidates.

It consists of the candidates that hold after the first row and that every other row preserves,
given all of them together (Houdini): the greatest set of candidates that is an invariant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from presieve.errors import Declined
from presieve.ir.assumption_codes import ZERO_SIGN
from presieve.ir.fold import Assumption, Problem
from presieve.ir.ops import app, negate
from presieve.ir.sorts import FLOAT, strip
from presieve.ir.terms import Op, Term, Var, float_lit
from presieve.records import replace
from presieve.semantics.aggregates import AggregateColumn, ListColumn
from presieve.semantics.assumptions import REORDERED, assumption_of
from presieve.semantics.smart_constructors import get, is_none, or_, simplify, substitute
from presieve.smt.side_by_side import SideBySide
from presieve.smt.solver import Answer, Effort, Unsat
from presieve.smt.z3_solver import Z3Solver

EFFORT = Effort(seconds=1.0)
"""The limits of each question of the search."""


class Aggregates(Struct, frozen=True):
    """Aggregates, the invariant that relates the fold to them, and for each field of the fold that
    its outputs read, a term over the aggregates' columns. ``problem`` has the assumptions that this
    rests on.
    """

    problem: Problem
    invariant: tuple[Term, ...]
    images: Mapping[Var, Term]
    calls: tuple[AggregateColumn, ...] = ()
    lists: tuple[ListColumn, ...] = ()

    @property
    def columns(self) -> tuple[AggregateColumn | ListColumn, ...]:
        """The columns of all aggregates."""
        return (*self.calls, *self.lists)

    def over_columns(self, term: Term) -> Term:
        """Rewrite a term over the fields of the fold as a term over the aggregates' columns."""
        return simplify(substitute(term, self.images), through=False)


def decline_aggregates(why: str) -> Declined:
    """Decline because no aggregates are found."""
    return Declined("no-aggregate", why)


def ask(script: str) -> Answer:
    """Answer one script in a solver of its own."""
    solver = Z3Solver()
    solver.add(script)
    return solver.check([], EFFORT)


def holds(script: str) -> bool:
    """Whether a script is unsatisfiable."""
    return isinstance(ask(script), Unsat)


def greatest_invariant(
    problem: Problem, columns: Sequence[AggregateColumn | ListColumn], claims: Iterable[Term]
) -> list[Term]:
    """The claims that hold after the first row and that rows preserve, all taken together."""
    both = SideBySide.of(problem, columns)
    candidates = [c for c in dict.fromkeys(claims) if holds(both.first([c]))]
    while True:
        relation = replace(both, invariant=tuple(candidates))
        preserved = [c for c in candidates if holds(relation.next([c]))]
        if len(preserved) == len(candidates):
            return preserved
        candidates = preserved


def is_reordered(problem: Problem) -> bool:
    """Whether the order of rows is assumed to make no difference."""
    return any(REORDERED.says(a) for a in problem.assumptions)


def without_negative_zero(problem: Problem, columns: Iterable[Var]) -> Problem:
    """The problem, assuming that these columns have no negative zeros."""
    doubles = [v for v in columns if strip(v.sort) == FLOAT]
    added = [a for a in map(_no_negative_zero, doubles) if a not in problem.assumptions]
    return replace(problem, assumptions=(*problem.assumptions, *dict.fromkeys(added)))


def _no_negative_zero(column: Var) -> Assumption:
    differs = negate(app(Op.SAME, get(column), float_lit(-0.0)))
    return assumption_of(ZERO_SIGN, or_(is_none(column), differs))
