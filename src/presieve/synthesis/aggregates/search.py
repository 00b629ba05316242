"""Untrusted. The search for aggregates of Spark's that give what a fold gives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from presieve.errors import Declined
from presieve.ir.fold import Fold, Problem
from presieve.ir.terms import Scope, Term, Var
from presieve.ir.walk import variables
from presieve.semantics.aggregates import AggregateColumn
from presieve.smt.side_by_side import SideBySide, with_raised
from presieve.smt.solver import Sat
from presieve.synthesis.aggregates.candidates import (
    Candidate,
    between,
    candidates,
    facts,
    links,
    starts,
    values,
)
from presieve.synthesis.aggregates.invariant import (
    Aggregates,
    ask,
    declined,
    holds,
    invariant,
    is_reordered,
    without_negative_zero,
)
from presieve.synthesis.aggregates.lists import as_list

MAX_CANDIDATES = 60
"""More than this many are not tried: folds of so many fields are rare."""


@lru_cache(maxsize=256)
def aggregates_of(problem: Problem, prefix: str = "a") -> Aggregates | Declined:
    """Aggregates that give what the problem's fold gives, in whatever order rows come: functions of
    Spark's where there are some, else a fold of the list of all rows. The names of their columns
    begin with ``prefix``.
    """
    found = _aggregates(problem, prefix, reverse=False)
    if isinstance(found, Declined) and is_reordered(problem):
        # What keeps the first of several equal rows keeps one of two zeros, too.
        rows = [problem.fold.column(c.name) for c in problem.fold.columns]
        for assuming in dict.fromkeys((problem, without_negative_zero(problem, rows))):
            other = _aggregates(assuming, prefix, reverse=True)
            if isinstance(other, Aggregates):
                return other
    if isinstance(found, Aggregates):
        return found
    return as_list(problem, prefix, _candidates(problem, prefix, reverse=False)) or found


def _aggregates(problem: Problem, prefix: str, *, reverse: bool) -> Aggregates | Declined:
    """Functions of Spark's, over the rows from the first to the last or in reverse."""
    tried = _candidates(problem, prefix, reverse=reverse)
    if len(tried) > MAX_CANDIDATES:
        return declined(f"it has more than {MAX_CANDIDATES} candidates for aggregates")
    found: Aggregates | Declined = declined("it has no fields")
    for linked in (False, True):
        found = _Search(problem, tried).run(linked=linked)
        if isinstance(found, Aggregates):
            return _in_any_order(found)
    return found


def _candidates(problem: Problem, prefix: str, *, reverse: bool) -> tuple[Candidate, ...]:
    """What fields may be, and what no two rows refute."""
    fold, reordered = with_raised(problem.fold), is_reordered(problem)
    every = candidates(fold, prefix, reordered=reordered, reverse=reverse)
    return tuple(c for c in every if _may_hold(problem, c))


def _may_hold(problem: Problem, candidate: Candidate) -> bool:
    """Whether no two rows refute a candidate."""
    calls = _calls([candidate])
    claim = candidate.claim(with_raised(problem.fold))
    return not isinstance(ask(SideBySide.of(problem, calls).second([claim])), Sat)


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
        about = [*values(self.fold), *starts(self.fold), *facts(calls), *between(self.fold, calls)]
        about += links(calls) if linked else ()
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
                return declined(f"{_shown(v)} is no aggregate of Spark's over the rows")
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
        fields = [f for call in calls for f in call.fold.fields]
        known = {Var(Scope.ACC, f.name, f.sort) for f in fields}
        known |= {c.field for c in chosen}
        about = [t for t in about if known.issuperset(_fields(t))]
        claims = [c.claim(self.fold) for c in chosen]
        kept = invariant(self.problem, calls, (*about, *claims))
        if not set(claims) <= set(kept):
            return declined("the aggregates of its fields hold together alone")
        images = {c.field: c.image for c in chosen}
        return Aggregates(self.problem, tuple(kept), images, calls)


def _shown(field: Var) -> str:
    return "what it keeps" if field.name == "acc" else f"what it keeps as {field.name}"


def _calls(chosen: Iterable[Candidate]) -> tuple[AggregateColumn, ...]:
    return tuple(dict.fromkeys(c.call for c in chosen if c.call is not None))


def _fields(*terms: Term) -> tuple[Var, ...]:
    return tuple(v for v in variables(*terms) if v.scope is Scope.ACC)


def _in_any_order(found: Aggregates) -> Aggregates | Declined:
    """The same, assuming that there is no negative zero where a maximum would depend on which zero
    comes first.
    """
    problem = found.problem
    if is_reordered(problem):
        return found
    for call in found.calls:
        if not holds(SideBySide(problem).of_two_rows(call)):
            problem = without_negative_zero(problem, variables(call.argument))
            if not holds(SideBySide(problem).of_two_rows(call)):
                return declined("which of several equal values comes first makes a difference")
    return replace(found, problem=problem)
