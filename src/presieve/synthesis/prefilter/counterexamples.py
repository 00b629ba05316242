# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Keys on which a condition does not follow from another one, without a solver.

Each part of a condition is evaluated once for all keys; its value is a number, with one bit for
each key.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from itertools import islice, product
from random import Random

from presieve.ir.fold import Problem
from presieve.ir.ops import app
from presieve.ir.terms import App, Op, Scope, Term
from presieve.semantics.interpret import holds, key_env
from presieve.semantics.operator_meanings import Undefined
from presieve.semantics.values import Value
from presieve.synthesis.sampling.space import Space

_MOST = 300
"""Keys that are tried."""
_ALL = 5_000
"""Combinations of values of the key's columns from which they are taken."""


class Counterexamples:
    """Keys around the constants of a predicate, which are made when they are first asked."""

    def __init__(self, problem: Problem, predicate: Term) -> None:
        self._problem, self._predicate = problem, predicate
        self._known: dict[Term, int] = {}

    @cached_property
    def _keys(self) -> list[dict[tuple[Scope, str], Value]]:
        names = [c.name for c in self._problem.fold.keys]
        columns = Space(self._problem, extra=(self._predicate,)).key_columns
        samples = [[v for r in c.regions if r.possible for v in r.samples[:1]] for c in columns]
        keys: list[tuple[Value, ...]] = list(islice(product(*samples), _ALL))
        if len(keys) > _MOST:
            keys = Random(0).sample(keys, _MOST)
        return [key_env(dict(zip(names, key, strict=True))) for key in keys]

    @cached_property
    def _all(self) -> int:
        return (1 << len(self._keys)) - 1

    def refute(self, premise: Term, conclusion: Term) -> bool:
        """Whether the premise holds for one of the keys, and the conclusion does not."""
        return bool(self._where(premise) & ~self._where(conclusion))

    def _where(self, condition: Term) -> int:
        """Return the keys for which a two-valued condition holds."""
        match condition:
            case App(Op.NOT, (inner,)):
                return self._all & ~self._where(inner)
            case App(Op.SQL_IS_TRUE, (App(Op.SQL_AND, parts),)):
                return self._where_all(app(Op.SQL_IS_TRUE, p) for p in parts)
            case App(Op.SQL_IS_TRUE, (App(Op.SQL_OR, parts),)):
                return self._where_any(app(Op.SQL_IS_TRUE, p) for p in parts)
            case App(Op.AND, parts):
                return self._where_all(parts)
            case App(Op.OR, parts):
                return self._where_any(parts)
        value = self._known.get(condition)
        if value is None:
            value = sum(1 << i for i, key in enumerate(self._keys) if _holds(condition, key))
            self._known[condition] = value
        return value

    def _where_all(self, parts: Iterable[Term]) -> int:
        value = self._all
        for part in parts:
            value &= self._where(part)
        return value

    def _where_any(self, parts: Iterable[Term]) -> int:
        value = 0
        for part in parts:
            value |= self._where(part)
        return value


def _holds(condition: Term, key: dict[tuple[Scope, str], Value]) -> bool:
    try:
        return holds(condition, key)
    except Undefined:
        return False
