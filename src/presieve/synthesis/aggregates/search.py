"""Untrusted. The search for aggregates of Spark's that give what a fold gives.

Of all candidates those are kept that hold after the first row and that all together are kept by
every other row (Houdini): the greatest set of them that is an invariant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from presieve.errors import Declined
from presieve.ir.fold import Assumption, Fold, Problem
from presieve.ir.ops import app, negate
from presieve.ir.sorts import FLOAT, strip
from presieve.ir.terms import Op, Scope, Term, Var, float_lit
from presieve.ir.walk import variables
from presieve.semantics.aggregates import AggregateColumn
from presieve.semantics.assumptions import assumed
from presieve.semantics.build import get, is_none, or_
from presieve.smt.side_by_side import SideBySide, with_raised
from presieve.smt.solver import Answer, Effort, Sat, Unsat
from presieve.smt.z3_solver import Z3Solver
from presieve.synthesis.aggregates.candidates import Candidate, candidates, facts, links, values

MAX_CANDIDATES = 60
"""More than this many are not tried: folds of so many fields are rare."""

EFFORT = Effort(seconds=1.0)
"""For each question of the search."""


@dataclass(frozen=True, slots=True)
class Aggregates:
    """Aggregates, the invariant that relates the fold to them, and what each field of the fold that
    its outputs read is over their columns. ``problem`` has the assumptions that it rests on.
    """

    problem: Problem
    calls: tuple[AggregateColumn, ...]
    invariant: tuple[Term, ...]
    images: Mapping[Var, Term]


def aggregates_of(problem: Problem, prefix: str = "a") -> Aggregates | Declined:
    """Aggregates that give what the problem's fold gives, in whatever order rows come. The names of
    their columns begin with ``prefix``.
    """
    every = candidates(with_raised(problem.fold), prefix)
    tried = tuple(c for c in every if _may_hold(problem, c))
    if len(tried) > MAX_CANDIDATES:
        return _declined(f"it has more than {MAX_CANDIDATES} candidates for aggregates")
    for linked in (False, True):
        found = _Search(problem, tried).run(linked=linked)
        if isinstance(found, Aggregates):
            return _in_any_order(found)
    return found


def _may_hold(problem: Problem, candidate: Candidate) -> bool:
    """Whether no two rows refute a candidate."""
    calls = _calls([candidate])
    claim = candidate.claim(with_raised(problem.fold))
    return not isinstance(_ask(SideBySide.of(problem, calls).second([claim])), Sat)


def _ask(script: str) -> Answer:
    solver = Z3Solver()
    solver.add(script)
    return solver.check([], EFFORT)


def _declined(why: str) -> Declined:
    return Declined("no-aggregate", why)


@dataclass(frozen=True, slots=True)
class _Search:
    problem: Problem
    tried: tuple[Candidate, ...]

    @property
    def fold(self) -> Fold:
        return with_raised(self.problem.fold)

    def run(self, *, linked: bool) -> Aggregates | Declined:
        missing = self._needed({c.field: c for c in self.tried})
        if isinstance(missing, Declined):
            return missing
        calls = _calls(self.tried)
        about = [*values(self.fold), *facts(calls), *(links(calls) if linked else ())]
        claims = {c: c.claim(self.fold) for c in self.tried}
        kept = set(invariant(self.problem, calls, (*about, *claims.values())))
        holding: dict[Var, Candidate] = {}
        for candidate, claim in claims.items():
            if claim in kept:
                holding.setdefault(candidate.field, candidate)
        needed = self._needed(holding)
        if isinstance(needed, Declined):
            return needed
        return self._smallest([holding[v] for v in needed], about)

    def _needed(self, holding: Mapping[Var, Candidate]) -> list[Var] | Declined:
        """The fields that the outputs read, and those that they depend on, as far as these are
        known.
        """
        fold = self.fold
        steps = {f.name: f.step for f in fold.fields}
        needed = dict.fromkeys(_fields(*(o.term for o in fold.outputs), fold.finish_raises))
        for v in needed:
            if v not in holding:
                return _declined(f"{_shown(v)} is no aggregate of Spark's over the rows")
        for v in (reached := list(needed)):
            more = [w for w in _fields(steps[v.name]) if w in holding and w not in needed]
            needed |= dict.fromkeys(more)
            reached += more
        return list(needed)

    def _smallest(
        self, chosen: Sequence[Candidate], about: Sequence[Term]
    ) -> Aggregates | Declined:
        """The same with the aggregates alone that are used."""
        calls = _calls(chosen)
        known = {v for call in calls for v in _fields(call.state)}
        known |= {c.field for c in chosen}
        about = [t for t in about if known.issuperset(_fields(t))]
        claims = [c.claim(self.fold) for c in chosen]
        kept = invariant(self.problem, calls, (*about, *claims))
        if not set(claims) <= set(kept):
            return _declined("the aggregates of its fields hold together alone")
        images = {c.field: c.image for c in chosen}
        return Aggregates(self.problem, calls, tuple(kept), images)


def _shown(field: Var) -> str:
    return "what it keeps" if field.name == "acc" else f"what it keeps as {field.name}"


def _calls(chosen: Iterable[Candidate]) -> tuple[AggregateColumn, ...]:
    return tuple(dict.fromkeys(c.call for c in chosen if c.call is not None))


def _fields(*terms: Term) -> tuple[Var, ...]:
    return tuple(v for v in variables(*terms) if v.scope is Scope.ACC)


def invariant(
    problem: Problem, calls: Sequence[AggregateColumn], claims: Iterable[Term]
) -> list[Term]:
    """Those of the claims that hold after the first row and that all together are kept."""
    both = SideBySide.of(problem, calls)
    claims = list(dict.fromkeys(claims))
    found = [c for c in claims if isinstance(_ask(both.first([c])), Unsat)]
    while True:
        kept = [
            c
            for c in found
            if isinstance(_ask(replace(both, invariant=tuple(found)).next([c])), Unsat)
        ]
        if len(kept) == len(found):
            return kept
        found = kept


def _in_any_order(found: Aggregates) -> Aggregates | Declined:
    """The same, assuming that there is no negative zero where a maximum would depend on which zero
    comes first.
    """
    problem = found.problem
    for call in found.calls:
        if isinstance(_ask(SideBySide(problem).of_two_rows(call)), Unsat):
            continue
        doubles = [v for v in variables(call.argument) if strip(v.sort) == FLOAT]
        more = [a for a in map(_no_negative_zero, doubles) if a not in problem.assumptions]
        problem = replace(problem, assumptions=(*problem.assumptions, *more))
        if not more or not isinstance(_ask(SideBySide(problem).of_two_rows(call)), Unsat):
            return _declined("which of several equal values comes first makes a difference")
    return replace(found, problem=problem)


def _no_negative_zero(column: Var) -> Assumption:
    differs = negate(app(Op.SAME, get(column), float_lit(-0.0)))
    return assumed("zero-sign", or_(is_none(column), differs))
