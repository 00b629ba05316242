"""Intervals of terms hold all of their values."""

from __future__ import annotations

from random import Random

import pytest

from presieve.ir.ops import app
from presieve.ir.sorts import INT
from presieve.ir.terms import Op, Scope, Term, Var, int_lit
from presieve.lift.values.ranges import Ranges
from presieve.semantics.interpret import evaluate
from presieve.semantics.operator_meanings import Undefined

V, W = Var(Scope.ROW, "v", INT), Var(Scope.ROW, "w", INT)
LIMITS = {"v": (-9, 12), "w": (-4, 5)}
OPERATORS = (Op.INT_ADD, Op.INT_SUB, Op.INT_MUL, Op.INT_MOD, Op.INT_FLOORDIV)


def _term(random: Random, depth: int) -> Term:
    if depth == 0:
        return random.choice((V, W, int_lit(random.randint(-5, 7))))
    op = random.choice(OPERATORS)
    if op is Op.INT_FLOORDIV:
        divisor = random.choice((-3, -1, 1, 2, 7))
        return app(op, _term(random, depth - 1), int_lit(divisor))
    return app(op, _term(random, depth - 1), _term(random, depth - 1))


@pytest.mark.parametrize("seed", range(300))
def test_every_value_is_in_the_interval(seed: int) -> None:
    random = Random(seed)
    term = _term(random, random.randint(1, 3))
    found = Ranges(LIMITS).interval(term)
    assert found is not None
    for v in range(LIMITS["v"][0], LIMITS["v"][1] + 1):
        for w in range(LIMITS["w"][0], LIMITS["w"][1] + 1):
            try:
                value = evaluate(term, {(Scope.ROW, "v"): v, (Scope.ROW, "w"): w})
            except Undefined:
                continue  # divided by zero
            assert isinstance(value, int)
            assert found[0] <= value <= found[1], (term, v, w)


def test_remainders_and_quotients_of_what_is_not_bounded() -> None:
    unknown = Ranges({})
    assert unknown.interval(app(Op.INT_MOD, V, int_lit(7))) == (0, 6)
    assert unknown.interval(app(Op.INT_MOD, V, int_lit(-7))) == (-6, 0)
    assert unknown.interval(app(Op.INT_FLOORDIV, V, int_lit(7))) is None
    assert Ranges(LIMITS).interval(app(Op.INT_FLOORDIV, V, int_lit(-2))) == (-6, 4)
