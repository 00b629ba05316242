# SPDX-License-Identifier: Apache-2.0
"""Untrusted. The outcome of each conjunct of a filter.

It follows from the filter and the residual alone, and from a solver's answers about conditions on
the same outputs.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from presieve.certificate.checker import make_solver
from presieve.ir.ops import app, sql_conjuncts
from presieve.ir.terms import SQL_TRUE, Op, Term
from presieve.ir.walk import variables
from presieve.report.remarks import Fate
from presieve.smt.encode import Encoder
from presieve.smt.smtlib import s_not
from presieve.smt.solver import Effort, Unsat


class Account(Struct, frozen=True):
    """A conjunct as a term, its fate, and the conjuncts that stand above instead."""

    term: Term
    fate: Fate
    above: tuple[Term, ...] = ()


MOST = 60
"""The most solver questions for one filter; beyond it, replaced conjuncts are shown together."""


def accounts(kind: str, where: Term, residual: Term) -> tuple[Account, ...]:
    """The outcome of each conjunct of ``where``; nothing if no filter is moved, or if the filter
    can never hold. ``kind`` is the kind of the pushdown.
    """
    if kind in ("none", "empty"):
        return ()
    parts = list(dict.fromkeys(sql_conjuncts(where)))
    in_residual = [r for r in sql_conjuncts(residual) if r != SQL_TRUE]
    new = [r for r in in_residual if r not in parts]
    gone = [p for p in parts if p not in in_residual]
    if len(gone) * (len(new) + 1) > MOST:
        return tuple(_without_solver(p, gone, new) for p in parts)
    follows = {p: tuple(r for r in new if _implies([p], r)) for p in gone}
    unclaimed = tuple(r for r in new if not any(r in follows[p] for p in gone))
    conjunct_accounts = []
    for p in parts:
        if p not in gone:
            conjunct_accounts.append(Account(p, "stays"))
        elif follows[p]:
            conjunct_accounts.append(Account(p, "weakened", follows[p]))
        elif unclaimed:
            conjunct_accounts.append(Account(p, "replaced", unclaimed))
        elif _implies([q for q in parts if q != p], p):
            conjunct_accounts.append(Account(p, "implied"))
        else:
            conjunct_accounts.append(Account(p, "below"))
    return tuple(conjunct_accounts)


def _without_solver(part: Term, gone: Sequence[Term], new: Sequence[Term]) -> Account:
    if part not in gone:
        return Account(part, "stays")
    return Account(part, "replaced", tuple(new)) if new else Account(part, "below")


_EFFORT = Effort(seconds=0.3)


def _implies(premises: Sequence[Term], conclusion: Term) -> bool:
    """Whether the premises imply the conclusion for all outputs; False if that is unknown. The
    solver is not asked about conditions that share no column.
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
