# SPDX-License-Identifier: Apache-2.0
"""Trusted. A fold and aggregates of Spark over the same rows, side by side, as solver scripts.

Both the checker of :mod:`presieve.certificate.group_aggregates` and the search use them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from presieve.ir.fold import Field, Fold, Problem
from presieve.ir.sorts import BOOL
from presieve.ir.terms import FALSE, Scope, Term, Var
from presieve.records import replace
from presieve.semantics.aggregates import AggregateColumn, ListColumn, same_in_any_order
from presieve.semantics.smart_constructors import or_
from presieve.smt.encodings import same_encoding
from presieve.smt.smtlib import s_and, s_not
from presieve.smt.two_runs import EncEnv, Run, Runs

RAISED = "raised"
"""The field that says whether the user's fold has raised on a row."""


def with_raised(fold: Fold) -> Fold:
    """The fold with a field that records an error on a row, and without steps that raise."""
    if fold.step_raises == FALSE:
        return fold
    raised = Var(Scope.ACC, RAISED, BOOL)
    own = Field(RAISED, BOOL, FALSE, or_(raised, fold.step_raises))
    ends = or_(raised, fold.finish_raises)
    return replace(fold, fields=(*fold.fields, own), step_raises=FALSE, finish_raises=ends)


def _fields(column: AggregateColumn | ListColumn) -> tuple[Field, ...]:
    return column.fields if isinstance(column, ListColumn) else column.fold.fields


class SideBySide(Struct, frozen=True):
    """The conditions on both folds, as scripts that are unsatisfiable if the condition holds.

    ``problem`` is that of a fold whose accumulator holds the fields of the user's fold and those of
    the aggregates; ``invariant`` are terms over them.
    """

    problem: Problem
    invariant: tuple[Term, ...] = ()

    @classmethod
    def of(
        cls,
        problem: Problem,
        columns: Sequence[AggregateColumn | ListColumn],
        invariant: tuple[Term, ...] = (),
    ) -> SideBySide:
        """Combine the user's problem with these aggregates. Raises :class:`DeclineSignal`."""
        fold = with_raised(problem.fold)
        fields = (*fold.fields, *(f for c in columns for f in _fields(c)))
        return cls(replace(problem, fold=replace(fold, fields=fields)), invariant)

    def first(self, claims: Sequence[Term]) -> str:
        """The claims hold after the first row."""
        runs = self._runs(claims)
        return self._not(runs, claims, runs.step(runs.initial(), runs.row("r")))

    def second(self, claims: Sequence[Term]) -> str:
        """The claims hold after the first two rows."""
        runs = self._runs(claims)
        after = runs.step(runs.initial(), runs.row("r"))
        return self._not(runs, claims, runs.step(after, runs.row("q")))

    def next(self, claims: Sequence[Term]) -> str:
        """The claims hold after a row if the invariant held before it."""
        runs, state = self._state(claims)
        return self._not(runs, claims, runs.step(state, runs.row("r")))

    def final(self, claims: Sequence[Term], premises: Sequence[Term] = ()) -> str:
        """The claims hold if the invariant and the premises do."""
        runs, state = self._state([*claims, *premises])
        for premise in premises:
            runs.encoder.fact(runs.encoder.boolean(premise, state.env))
        return self._not(runs, claims, state)

    def of_row(self, claim: Term) -> str:
        """The claim holds of every row."""
        runs = self._runs([claim])
        runs.encoder.fact(s_not(runs.encoder.boolean(claim, runs.row("r"))))
        return runs.encoder.take()

    def of_steps(self, claim: Term) -> Iterator[str]:
        """The claim holds of every state and the row that follows it."""
        for first in (True, False):
            runs, state = self._before_row([claim], first=first)
            env = runs.here(state, runs.row("r"))
            runs.encoder.fact(s_not(runs.encoder.boolean(claim, env)))
            yield runs.encoder.take()

    def commuting(self, column: ListColumn) -> Iterator[str]:
        """Any two rows give the same state in both orders; hence all rows in any order do."""
        for first in (True, False):
            runs, state = self._before_row([], first=first)
            a, b = runs.row("a"), runs.row("b")
            _, state_ab = runs.through(state, [a, b])
            _, state_ba = runs.through(state, [b, a])
            names = [(Scope.ACC, f.name) for f in column.fields]
            same = s_and(same_encoding(state_ab.env[n], state_ba.env[n]) for n in names)
            runs.encoder.fact(s_not(same))
            yield runs.encoder.take()

    def of_two_rows(self, column: AggregateColumn) -> str:
        """An aggregate does not depend on the order of rows."""
        first_arguments, second_arguments = (
            [Var(Scope.ACC, f"{name}.{i}", a.sort) for i, a in enumerate(column.arguments)]
            for name in ("here", "there")
        )
        claim = same_in_any_order(column.function, first_arguments, second_arguments)
        runs = self._runs([*column.arguments, claim])
        env: EncEnv = dict(runs.keys)
        for name, argument_vars in (("here", first_arguments), ("there", second_arguments)):
            row = runs.row(name)
            for var, argument in zip(argument_vars, column.arguments, strict=True):
                env[Scope.ACC, var.name] = runs.encoder.term(argument, row)
        runs.encoder.fact(s_not(runs.encoder.boolean(claim, env)))
        return runs.encoder.take()

    def premises(self) -> str:
        """Build the guard of the conditions, not one of them: a script that is satisfiable if there
        are rows that obey the assumptions.
        """
        runs = self._runs([])
        runs.row("r")
        return runs.encoder.take()

    def _runs(self, claims: Sequence[Term]) -> Runs:
        return Runs(self.problem, [*self.invariant, *claims])

    def _state(self, claims: Sequence[Term]) -> tuple[Runs, Run]:
        runs = self._runs(claims)
        state = runs.arbitrary("s")
        for term in self.invariant:
            runs.encoder.fact(runs.encoder.boolean(term, state.env))
        return runs, state

    def _before_row(self, claims: Sequence[Term], *, first: bool) -> tuple[Runs, Run]:
        """The state before the first row, or any state that the invariant allows."""
        if not first:
            return self._state(claims)
        runs = self._runs(claims)
        return runs, runs.initial()

    def _not(self, runs: Runs, claims: Sequence[Term], run: Run) -> str:
        holds = s_and([runs.encoder.boolean(c, run.env) for c in claims])
        runs.encoder.fact(s_not(holds))
        return runs.encoder.take()
