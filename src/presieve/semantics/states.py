# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Proposes facts about the states of folds: candidates for invariants, to be proved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations

from presieve.ir.fold import Field
from presieve.ir.ops import app, negate
from presieve.ir.sorts import BOOL, FLOAT, INT, Option, strip
from presieve.ir.terms import Op, Scope, Term, Var
from presieve.semantics.smart_constructors import and_, get, is_none, or_


def facts(fields: Sequence[Field]) -> Iterator[Term]:
    """Yield candidate facts about states: no NaN, an order, and which fields are None together."""
    states = [Var(Scope.ACC, f.name, f.sort) for f in fields]
    for s in states:
        if strip(s.sort) == FLOAT:
            yield or_(is_none(s), and_(negate(is_none(s)), negate(app(Op.IS_NAN, get(s)))))
    for a, b in permutations(states, 2):
        if isinstance(a.sort, Option) and isinstance(b.sort, Option):
            yield or_(negate(is_none(a)), is_none(b))
        if strip(a.sort) == strip(b.sort) and strip(a.sort) in (FLOAT, INT):
            both_present = and_(negate(is_none(a)), negate(is_none(b)))
            yield or_(negate(both_present), and_(both_present, app(Op.PY_GE, get(a), get(b))))
        if a.sort == BOOL and isinstance(b.sort, Option):
            yield or_(a, is_none(b))
            yield or_(negate(a), negate(is_none(b)))
