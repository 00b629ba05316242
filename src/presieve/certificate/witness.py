# SPDX-License-Identifier: Apache-2.0
"""Trusted. Checks witnesses of strength by running them on the reference interpreter.

They are of pre-filters and of residuals.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from presieve.errors import PresieveError
from presieve.ir.fold import Column, Mode, Problem
from presieve.ir.ops import sql_conjunction
from presieve.ir.pushdown import ResidualWitness, Witness
from presieve.ir.terms import Lit, Scope, Term, literal_value
from presieve.ir.wellformed import check_prefilter
from presieve.semantics.interpret import (
    Env,
    Nothing,
    Outcome,
    Raised,
    Result,
    Row,
    State,
    advance,
    agree,
    apply_filter,
    evaluate,
    finish,
    holds,
    key_env,
    start,
)
from presieve.semantics.types import stored_bounds
from presieve.semantics.values import Value, belongs


def check_witnesses(problem: Problem, witnesses: Iterable[Witness]) -> None:
    """Raises :class:`PresieveError` unless every witness shows what it claims: its row lies in its
    region, all rows obey the assumptions, and leaving the row out changes the result.

    Neither table may raise. If the smaller one does, the row need not be kept: a pre-filter may
    drop it together with the rows that raise without it (``proofs/Witnesses.v``).
    """
    groups = _Groups(problem)
    for number, witness in enumerate(witnesses):
        check_prefilter(problem, witness.region)
        if not groups.of(witness.key).shows(witness):
            raise PresieveError(f"witness {number} does not show that its region is needed")


def check_residual_witnesses(
    problem: Problem,
    prefilter: Term,
    conjuncts: Sequence[Term],
    witnesses: Iterable[ResidualWitness],
) -> None:
    """Raises :class:`PresieveError` unless every witness of the residual shows what it claims: it
    is a table of rows that obey the assumptions, and the filter rejects it without raising,
    although the residual without the conjunct accepts the rows that the pre-filter keeps.
    """
    groups = _Groups(problem)
    for w in witnesses:
        if not 0 <= w.conjunct < len(conjuncts):
            raise PresieveError(f"a witness refers to conjunct {w.conjunct}, which does not exist")
        other_conjuncts = sql_conjunction(c for j, c in enumerate(conjuncts) if j != w.conjunct)
        if not groups.of(w.key).refutes(w, prefilter, other_conjuncts):
            raise PresieveError(f"a witness does not show that conjunct {w.conjunct} is needed")


Literals: TypeAlias = tuple[Term, ...]


class _Groups:
    """Groups by their key."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._groups: dict[Literals, _Group] = {}

    def of(self, key: Literals) -> _Group:
        """The group of this key."""
        if key not in self._groups:
            self._groups[key] = _Group(self._problem, key)
        return self._groups[key]


class _Group:
    """The tables of one key. Witnesses differ in few rows, so runs are cached by their rows."""

    def __init__(self, problem: Problem, key: Literals) -> None:
        self._problem = problem
        fold = problem.fold
        values = _values(key, fold.keys)
        self._typed = all(_holds(c, values[c.name]) for c in fold.keys)
        self._key = key_env(values)
        self._rows: dict[Literals, Row | None] = {}
        self._runs = _Evaluated(start(fold, self._key), {})

    def shows(self, witness: Witness) -> bool:
        """Whether the row at the witness's index lies in its region and changes the result."""
        rows, at = witness.rows, witness.index
        if not self._typed or not 0 <= at < len(rows):
            return False
        if any(self._row(row) is None for row in rows):
            return False
        if not holds(witness.region, self._row_env(self._row(rows[at]) or {})):
            return False
        before, after = self._outcome(rows), self._outcome(rows[:at] + rows[at + 1 :])
        return not isinstance(after, Raised) and not agree(before, after)

    def refutes(self, witness: ResidualWitness, prefilter: Term, residual: Term) -> bool:
        """Whether the filter rejects the table, and the residual accepts the rows that are kept."""
        rows = witness.rows
        if not self._typed or any(self._row(row) is None for row in rows):
            return False
        passing_rows = tuple(r for r in rows if holds(prefilter, self._row_env(self._row(r) or {})))
        before, after = self._outcome(rows), self._outcome(passing_rows, residual)
        return isinstance(before, Nothing) and isinstance(after, Result)

    def _row_env(self, row: Row) -> Env:
        return {**self._key, **{(Scope.ROW, n): v for n, v in row.items()}}

    def _row(self, literals: Literals) -> Row | None:
        """The row's values, or None where it breaks an assumption or a column's type."""
        if literals not in self._rows:
            columns = self._problem.fold.columns
            row = _values(literals, columns)
            facts = [a.term for a in self._problem.assumptions]
            good = all(_holds(c, row[c.name]) for c in columns)
            good = good and all(evaluate(fact, self._row_env(row)) is True for fact in facts)
            self._rows[literals] = row if good else None
        return self._rows[literals]

    def _outcome(self, rows: tuple[Literals, ...], post: Term | None = None) -> Outcome:
        if not rows and self._problem.mode is Mode.GROUPED:
            return Nothing()
        state = self._state(rows)
        if isinstance(state, Raised):
            return state
        outputs = finish(self._problem.fold, state, self._key)
        return apply_filter(self._problem, outputs, self._key, post)

    def _state(self, rows: tuple[Literals, ...]) -> State | Raised:
        """The state after these rows, starting from their longest prefix that ran before."""
        run = self._runs
        for literals in rows:
            after = run.after.get(literals)
            if after is None:
                state = run.state
                if not isinstance(state, Raised):
                    row = self._row(literals)
                    assert row is not None
                    state = advance(self._problem.fold, state, row, self._key)
                after = run.after[literals] = _Evaluated(state, {})
            run = after
        return run.state


@dataclass(frozen=True, slots=True)
class _Evaluated:
    """The state after some rows, and the runs that are longer by one row."""

    state: State | Raised
    after: dict[Literals, _Evaluated]


def _values(terms: Literals, columns: Sequence[Column]) -> dict[str, Value]:
    if len(terms) != len(columns):
        raise PresieveError("a witness has the wrong number of columns")
    values_by_column: dict[str, Value] = {}
    for column, term in zip(columns, terms, strict=True):
        if not isinstance(term, Lit) or term.sort != column.sort:
            raise PresieveError("a witness contains something other than values")
        values_by_column[column.name] = literal_value(term)
    return values_by_column


def _holds(column: Column, value: Value) -> bool:
    """Whether a column of this Spark type can hold the value."""
    limits = stored_bounds(column.type)
    inside = limits is None or not isinstance(value, int) or limits[0] <= value <= limits[1]
    return inside and belongs(value, column.sort)
