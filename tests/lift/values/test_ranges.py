"""Intervals of terms hold all of their values."""

from __future__ import annotations

from random import Random

import pytest

from presieve.ir.ops import app
from presieve.ir.sorts import INT, Option
from presieve.ir.terms import Op, Scope, Term, Var, int_lit, string_lit
from presieve.lift.values.ranges import Ranges, column_ranges
from presieve.semantics.interpret import evaluate
from presieve.semantics.operator_meanings import Undefined
from presieve.semantics.pattern_prefixes import most_digits
from presieve.semantics.smart_constructors import apply_function, get
from presieve.semantics.types import SchemaColumn, row_sort_of

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


TYPES = "struct<n:int,inner:struct<m:smallint>,list:array<int>,large:decimal(38,2)>"


def test_parts_of_columns_have_the_bounds_of_their_types() -> None:
    sort = row_sort_of(TYPES)
    assert sort is not None
    found = column_ranges((SchemaColumn("s", TYPES), SchemaColumn("n", "bigint")))
    column = Var(Scope.KEY, "s", Option(sort))
    field = apply_function(Op.STRUCT_FIELD, get(column), string_lit("n"))
    assert found.interval(field) == (-(2**31), 2**31 - 1)
    inner = apply_function(Op.STRUCT_FIELD, get(column), string_lit("inner"))
    deep = apply_function(Op.STRUCT_FIELD, get(inner), string_lit("m"))
    assert found.interval(get(deep)) == (-(2**15), 2**15 - 1)
    listed = apply_function(Op.STRUCT_FIELD, get(column), string_lit("list"))
    item = apply_function(Op.ARRAY_AT, get(listed), int_lit(0))
    assert found.interval(app(Op.INT_MUL, get(item), int_lit(2))) == (-(2**32), 2**32 - 2)
    assert found.interval(Var(Scope.KEY, "n", INT)) == (-(2**63), 2**63 - 1)


@pytest.mark.parametrize(
    ("pattern", "group", "digits"),
    [
        (r"v(\d{4})", 1, 4),
        (r"([0-9]{2,3})-(\d)", 2, 1),
        (r"((?:19|20)\d\d)", 1, None),
        (r"(\d+)", 1, None),
        (r"([0-9a]{2})", 1, None),
        (r"(?:(\d))", 1, 1),
        (r"\d\d", 0, 2),
    ],
)
def test_a_group_of_digits_bounds_its_number(pattern: str, group: int, digits: int | None) -> None:
    assert most_digits(pattern, 0, group) == digits
