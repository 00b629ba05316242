"""What the default policy makes of a solution: nothing rests on data that nobody checked.

An assumption with a condition on rows can be guarded by the plan: groups that have a row which
breaks it are given all their rows, others what the certificate proves, both under the filter as
written. One about data without such a condition (its term is true) is refused. What is assumed of
code is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tests.fuzz.execute import Row

from presieve.driver.solve import Solution
from presieve.ir.fold import PURE, Assumption, Mode
from presieve.ir.terms import FALSE, Scope, Term
from presieve.ir.walk import variables
from presieve.semantics.interpret import evaluate
from presieve.semantics.values import Value

OF_CODE = frozenset({PURE, "constant"})
"""Codes of assumptions that speak of the program and not of data."""

How = Literal["nothing", "plain", "guarded", "refused"]


@dataclass(frozen=True)
class Treatment:
    """How a solution is used. ``guard`` holds on the rows that the proof speaks of, ``why`` are the
    codes of what is guarded or refused.
    """

    how: How
    guard: tuple[Term, ...] = ()
    why: tuple[str, ...] = ()

    def guarded(self, rows: Sequence[Row], key: Row) -> bool:
        """Whether a group of these rows has one that the proof does not speak of."""
        return any(not obeys(self.guard, r, key) for r in rows)


def obeys(guard: Sequence[Term], row: Row, key: Row) -> bool:
    """Whether all the conditions hold on a row."""
    env: dict[tuple[Scope, str], Value] = {(Scope.ROW, n): v for n, v in row.items()}
    env |= {(Scope.KEY, n): v for n, v in key.items()}
    return all(evaluate(term, env) is True for term in guard)


def as_default(solution: Solution) -> Treatment:
    """How the default policy would use a solution."""
    if solution.verified is None:
        return Treatment("nothing")
    open_ = [
        a for a in solution.problem.assumptions if a not in solution.known and a.code not in OF_CODE
    ]
    refused = [a for a in open_ if not on_rows(a)]
    if solution.problem.mode is Mode.GLOBAL:
        refused = open_  # there is no key that tells bad groups apart
    if refused:
        return Treatment("refused", (FALSE,), _codes(refused))
    if open_:
        return Treatment("guarded", tuple(a.term for a in open_), _codes(open_))
    return Treatment("plain")


def on_rows(a: Assumption) -> bool:
    """Whether an assumption is a condition that can be asked of a row."""
    return bool(variables(a.term))


def _codes(found: Sequence[Assumption]) -> tuple[str, ...]:
    return tuple(sorted({a.code for a in found}))
