"""Untrusted. What became of each conjunct of a filter.

All that is said follows from the filter and the residual alone, and from what a solver says of two
conditions on the same outputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from presieve.certificate.check import make_solver
from presieve.ir.ops import app, sql_conjuncts
from presieve.ir.terms import SQL_TRUE, Op, Term
from presieve.ir.walk import variables
from presieve.report.parts import Fate
from presieve.smt.encode import Encoder
from presieve.smt.solver import Effort, Unsat
from presieve.smt.text import s_not


@dataclass(frozen=True, slots=True)
class Account:
    """A conjunct as a term, its fate, and what stands above instead."""

    term: Term
    fate: Fate
    above: tuple[Term, ...] = ()


MOST = 60
"""Questions to the solver, for one filter; with more, replaced conjuncts are shown as a whole."""


def accounts(kind: str, where: Term, residual: Term) -> tuple[Account, ...]:
    """What became of the conjuncts of ``where``; none where nothing is moved, or the filter can
    never hold. ``kind`` is that of the pushdown.
    """
    if kind in ("none", "empty"):
        return ()
    parts = list(dict.fromkeys(sql_conjuncts(where)))
    left = [r for r in sql_conjuncts(residual) if r != SQL_TRUE]
    new = [r for r in left if r not in parts]
    gone = [p for p in parts if p not in left]
    if len(gone) * (len(new) + 1) > MOST:
        return tuple(_without_solver(p, gone, new) for p in parts)
    follows = {p: tuple(r for r in new if _implies([p], r)) for p in gone}
    unclaimed = tuple(r for r in new if not any(r in follows[p] for p in gone))
    found = []
    for p in parts:
        if p not in gone:
            found.append(Account(p, "stays"))
        elif follows[p]:
            found.append(Account(p, "weakened", follows[p]))
        elif unclaimed:
            found.append(Account(p, "replaced", unclaimed))
        elif _implies([q for q in parts if q != p], p):
            found.append(Account(p, "implied"))
        else:
            found.append(Account(p, "below"))
    return tuple(found)


def _without_solver(part: Term, gone: Sequence[Term], new: Sequence[Term]) -> Account:
    if part not in gone:
        return Account(part, "stays")
    return Account(part, "replaced", tuple(new)) if new else Account(part, "below")


_EFFORT = Effort(seconds=0.3)


def _implies(premises: Sequence[Term], conclusion: Term) -> bool:
    """Whether a condition is true wherever these are, whatever the outputs are; False where that is
    not known. Conditions that have no column in common are not looked at.
    """
    read = set(variables(conclusion))
    if not read or not read & set(variables(*premises)):
        return False
    encoder = Encoder([*premises, conclusion])
    env = {
        (v.scope, v.name): encoder.declare(f"v{i}", v.sort)
        for i, v in enumerate(variables(*premises, conclusion))
    }
    for premise in premises:
        encoder.fact(encoder.boolean(app(Op.SQL_IS_TRUE, premise), env))
    encoder.fact(s_not(encoder.boolean(app(Op.SQL_IS_TRUE, conclusion), env)))
    solver = make_solver("z3")
    solver.add(encoder.take())
    return isinstance(solver.check([], _EFFORT), Unsat)
