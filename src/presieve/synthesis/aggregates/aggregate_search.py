# SPDX-License-Identifier: Apache-2.0
"""Untrusted. The search for aggregates of Spark that give the results of a fold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from presieve.errors import Declined
from presieve.ir.fold import Fold, Problem
from presieve.ir.terms import Scope, Term, Var
from presieve.ir.walk import variables
from presieve.records import replace
from presieve.semantics.aggregates import AggregateColumn
from presieve.smt.side_by_side import SideBySide, with_raised
from presieve.smt.solver import Sat
from presieve.synthesis.aggregates.aggregate_invariant import (
    Aggregates,
    ask,
    decline_aggregates,
    greatest_invariant,
    holds,
    is_reordered,
    without_negative_zero,
)
from presieve.synthesis.aggregates.candidates import (
    AggregateClaim,
    candidates,
    facts,
    links,
    range_claims,
    starts,
    values,
)
from presieve.synthesis.aggregates.folds_of_lists import as_list

MAX_CANDIDATES = 60
"""Larger sets of candidates are not tried: folds of so many fields are rare."""


def aggregates_of(problem: Problem, prefix: str = "a") -> Aggregates | Declined:
    """Find aggregates that give the results of the problem's fold, whatever the order of rows:
    functions of Spark if there are some, else a fold of the list of all rows. The names of their
    columns begin with ``prefix``.
    """
    forward = _aggregates(problem, prefix, reverse=False)
    if isinstance(forward, Declined) and is_reordered(problem):
        # A fold that keeps the first of several equal rows keeps one of two zeros, too.
        rows = [problem.fold.column(c.name) for c in problem.fold.columns]
        for assuming in dict.fromkeys((problem, without_negative_zero(problem, rows))):
            backward = _aggregates(assuming, prefix, reverse=True)
            if isinstance(backward, Aggregates):
                return backward
    if isinstance(forward, Aggregates):
        return forward
    return as_list(problem, prefix, _candidates(problem, prefix, reverse=False)) or forward


def _aggregates(problem: Problem, prefix: str, *, reverse: bool) -> Aggregates | Declined:
    """Find functions of Spark, over the rows from the first to the last or in reverse."""
    tried = _candidates(problem, prefix, reverse=reverse)
    if len(tried) > MAX_CANDIDATES:
        return decline_aggregates(f"it has more than {MAX_CANDIDATES} candidates for aggregates")
    answer: Aggregates | Declined = decline_aggregates("it has no fields")
    for linked in (False, True):
        answer = _Search(problem, tried).run(linked=linked)
        if isinstance(answer, Aggregates):
            return _in_any_order(answer)
    return answer


def _candidates(problem: Problem, prefix: str, *, reverse: bool) -> tuple[AggregateClaim, ...]:
    """The candidates for fields that no two rows refute."""
    fold, reordered = with_raised(problem.fold), is_reordered(problem)
    every = candidates(fold, prefix, reordered=reordered, reverse=reverse)
    return tuple(c for c in every if _may_hold(problem, c))


def _may_hold(problem: Problem, candidate: AggregateClaim) -> bool:
    """Whether no two rows refute a candidate."""
    calls = _calls([candidate])
    claim = candidate.claim(with_raised(problem.fold))
    return not isinstance(ask(SideBySide.of(problem, calls).second([claim])), Sat)


class _Search(Struct, frozen=True):
    problem: Problem
    tried: tuple[AggregateClaim, ...]

    @property
    def fold(self) -> Fold:
        return with_raised(self.problem.fold)

    def run(self, *, linked: bool) -> Aggregates | Declined:
        missing = self._needed_fields({c.field: c for c in self.tried})
        if isinstance(missing, Declined):
            return missing
        calls = _calls(self.tried)
        about = [
            *values(self.fold),
            *starts(self.fold),
            *facts(calls),
            *range_claims(self.fold, calls),
        ]
        about += links(calls) if linked else ()
        claims = {c: c.claim(self.fold) for c in self.tried}
        proved = set(greatest_invariant(self.problem, calls, (*about, *claims.values())))
        holding: dict[Var, AggregateClaim] = {}
        for candidate, claim in claims.items():
            if claim in proved:
                holding.setdefault(candidate.field, candidate)
        needed = self._needed_fields(holding)
        if isinstance(needed, Declined):
            return needed
        return self._smallest([holding[v] for v in needed], about)

    def _needed_fields(self, holding: Mapping[Var, AggregateClaim]) -> list[Var] | Declined:
        """The fields that the outputs read, and the known fields that those depend on."""
        fold = self.fold
        steps = {f.name: f.step for f in fold.fields}
        needed = dict.fromkeys(_fields(*(o.term for o in fold.outputs), fold.finish_raises))
        for v in needed:
            if v not in holding:
                return decline_aggregates(
                    f"{_describe(v)} is no aggregate of Spark's over the rows"
                )
        for v in (reached := list(needed)):
            dependencies = [w for w in _fields(steps[v.name]) if w in holding and w not in needed]
            needed |= dict.fromkeys(dependencies)
            reached += dependencies
        return list(needed)

    def _smallest(
        self, chosen: Sequence[AggregateClaim], about: Sequence[Term]
    ) -> Aggregates | Declined:
        """The same with only the aggregates that are used."""
        calls = _calls(chosen)
        fields = [f for call in calls for f in call.fold.fields]
        covered_fields = {Var(Scope.ACC, f.name, f.sort) for f in fields}
        covered_fields |= {c.field for c in chosen}
        about = [t for t in about if covered_fields.issuperset(_fields(t))]
        claims = [c.claim(self.fold) for c in chosen]
        proved = greatest_invariant(self.problem, calls, (*about, *claims))
        if not set(claims) <= set(proved):
            return decline_aggregates("the aggregates of its fields hold together alone")
        images = {c.field: c.image for c in chosen}
        return Aggregates(self.problem, tuple(proved), images, calls)


def _describe(field: Var) -> str:
    return "what it keeps" if field.name == "acc" else f"what it keeps as {field.name}"


def _calls(chosen: Iterable[AggregateClaim]) -> tuple[AggregateColumn, ...]:
    return tuple(dict.fromkeys(c.call for c in chosen if c.call is not None))


def _fields(*terms: Term) -> tuple[Var, ...]:
    return tuple(v for v in variables(*terms) if v.scope is Scope.ACC)


def _in_any_order(aggregates: Aggregates) -> Aggregates | Declined:
    """The same, assuming that there is no negative zero where a maximum would depend on which zero
    comes first.
    """
    problem = aggregates.problem
    if is_reordered(problem):
        return aggregates
    for call in aggregates.calls:
        if not holds(SideBySide(problem).of_two_rows(call)):
            problem = without_negative_zero(problem, variables(call.argument))
            if not holds(SideBySide(problem).of_two_rows(call)):
                return decline_aggregates(
                    "which of several equal values comes first makes a difference"
                )
    return replace(aggregates, problem=problem)
