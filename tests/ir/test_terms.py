from __future__ import annotations

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.ir.random_terms import any_terms

from presieve.errors import SortError
from presieve.ir.fold import Fold
from presieve.ir.ops import (
    app,
    conjunction,
    conjuncts,
    disjunction,
    negate,
    sql_conjunction,
    sql_conjuncts,
    sql_disjunction,
)
from presieve.ir.sorts import (
    BINARY,
    BOOL,
    DATE,
    FLOAT,
    INT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    Decimal,
    Option,
    Sort,
    Tuple,
    join,
    option,
    strip,
)
from presieve.ir.terms import (
    FALSE,
    SQL_FALSE,
    SQL_TRUE,
    TRUE,
    Lit,
    Op,
    Scope,
    Term,
    Var,
    bits_float,
    float_bits,
    float_lit,
    int_lit,
    lit,
    literal_value,
    none_lit,
    string_lit,
)
from presieve.ir.walk import literals, rewrite, size, substitute, subterms, to_scope, variables

N = Var(Scope.ROW, "n", INT)
X = Var(Scope.ROW, "x", FLOAT)
B = Var(Scope.ROW, "b", BOOL)
C = Var(Scope.ROW, "c", BOOL)
OPTIONAL = Var(Scope.ROW, "o", Option(INT))


def test_literals_are_equal_when_they_are_the_same_value() -> None:
    negative_nan = struct.unpack("<d", struct.pack("<Q", 0xFFF8000000000001))[0]
    assert float_lit(math.nan) == float_lit(negative_nan)
    assert float_lit(-0.0) != float_lit(0.0)
    assert lit(BOOL, True) != lit(INT, 1)
    assert lit(INT, 0) != lit(DATE, 0)
    assert lit(INT, 5) != lit(Option(INT), 5)
    assert float_lit(1.0) != int_lit(1)
    assert none_lit(INT) == none_lit(Option(INT))
    assert none_lit(INT) != none_lit(FLOAT)


@given(st.floats())
def test_floats_survive_their_bits(value: float) -> None:
    back = bits_float(float_bits(value))
    assert struct.pack("<d", back) == struct.pack("<d", value) or (back != back and value != value)
    assert float_bits(back) == float_bits(value)
    assert repr(literal_value(float_lit(value))) == repr(value)


def test_a_float_is_no_literal_of_another_sort() -> None:
    with pytest.raises(TypeError):
        lit(INT, 1.0)


WRONG: list[tuple[Op, tuple[Term, ...]]] = [
    (Op.NOT, (N,)),
    (Op.NOT, ()),
    (Op.AND, (B, lit(Option(BOOL), True))),
    (Op.ITE, (B, N, X)),
    (Op.ITE, (OPTIONAL, N, N)),
    (Op.SAME, (N, OPTIONAL)),
    (Op.SOME, (OPTIONAL,)),
    (Op.IS_NONE, (N,)),
    (Op.GET, (N,)),
    (Op.PY_EQ, (N, X)),
    (Op.PY_LT, (OPTIONAL, OPTIONAL)),
    (Op.PY_LT, (B, B)),
    (Op.INT_ADD, (N, X)),
    (Op.INT_ADD, (N, N, N)),
    (Op.FLOAT_ADD, (N, N)),
    (Op.INT_TO_FLOAT, (X,)),
    (Op.IS_NAN, (Var(Scope.ROW, "y", Option(FLOAT)),)),
    (Op.SQL_AND, ()),
    (Op.SQL_AND, (N,)),
    (Op.SQL_EQ, (N, X)),
    (Op.SQL_EQ, (lit(DATE, 0), lit(TIMESTAMP, 0))),
    (Op.PY_LT, (lit(TIMESTAMP_NTZ, 0), lit(TIMESTAMP, 0))),
    (Op.PY_LT, (lit(BINARY, "a"), string_lit("a"))),
    (Op.SQL_LT, (lit(TIMESTAMP_NTZ, 0), lit(TIMESTAMP, 0))),
    (Op.INSTANT, (lit(TIMESTAMP, 0), N)),
    (Op.INSTANT, (lit(TIMESTAMP_NTZ, 0),)),
    (Op.SQL_LT, (N,)),
    (Op.SQL_IS_NAN, (N,)),
    (Op.SQL_IS_NEGATIVE_ZERO, (N,)),
    (Op.SQL_FLOAT_ADD, (X, N)),
    (Op.SQL_FLOAT_DIV, (X, N)),
    (Op.SQL_FLOAT_DIV, (X, X)),
    (Op.SQL_FLOAT_DIV, (X, float_lit(0.0))),
    (Op.SQL_FLOAT_DIV, (X, float_lit(-0.0))),
    (Op.SQL_FLOAT_DIV, (X, none_lit(FLOAT))),
    (Op.SQL_INT_TO_FLOAT, (X,)),
    (Op.SQL_IS_TRUE, (N,)),
    (Op.SQL_IS_NULL, (app(Op.TUPLE, N),)),
    (Op.ITEM, (app(Op.TUPLE, N), int_lit(1))),
    (Op.ITEM, (app(Op.TUPLE, N), N)),
    (Op.ITEM, (N, int_lit(0))),
    (Op.DECIMAL_WIDEN, (N, int_lit(1))),
    (Op.DECIMAL_WIDEN, (lit(Decimal(2), 5), N)),
    (Op.DECIMAL_WIDEN, (lit(Decimal(2), 5), int_lit(-1))),
    (Op.SQL_EQ, (lit(Decimal(2), 5), lit(Decimal(3), 50))),
    (Op.PY_EQ, (lit(Decimal(2), 5), N)),
]


@pytest.mark.parametrize(("op", "args"), WRONG)
def test_ill_sorted_terms_cannot_be_built(op: Op, args: tuple[Term, ...]) -> None:
    with pytest.raises(SortError):
        app(op, *args)


RIGHT: list[tuple[Op, tuple[Term, ...], Sort]] = [
    (Op.AND, (), BOOL),
    (Op.ITE, (B, OPTIONAL, none_lit(INT)), Option(INT)),
    (Op.SOME, (N,), Option(INT)),
    (Op.GET, (OPTIONAL,), INT),
    (Op.TUPLE, (N, X), Tuple((INT, FLOAT))),
    (Op.ITEM, (app(Op.TUPLE, N, X), int_lit(1)), FLOAT),
    (Op.PY_EQ, (OPTIONAL, OPTIONAL), BOOL),
    (Op.PY_LT, (string_lit("a"), string_lit("b")), BOOL),
    (Op.INT_TO_FLOAT, (N,), FLOAT),
    (Op.INSTANT, (lit(TIMESTAMP_NTZ, 0), N), TIMESTAMP),
    (Op.DECIMAL_WIDEN, (lit(Decimal(2), 5), int_lit(2)), Decimal(4)),
    (Op.PY_LT, (lit(Decimal(2), 5), lit(Decimal(2), 50)), BOOL),
    (Op.SQL_EQ, (N, OPTIONAL), Option(BOOL)),
    (Op.SQL_LT, (B, C), Option(BOOL)),
    (Op.SQL_IS_NULL, (N,), Option(BOOL)),
    (Op.SQL_FLOAT_ADD, (X, X), Option(FLOAT)),
    (Op.SQL_FLOAT_DIV, (X, float_lit(2.0)), Option(FLOAT)),
    (Op.SQL_INT_TO_FLOAT, (OPTIONAL,), Option(FLOAT)),
    (Op.SQL_IS_TRUE, (B,), BOOL),
]


@pytest.mark.parametrize(("op", "args", "sort"), RIGHT)
def test_sorts_of_results(op: Op, args: tuple[Term, ...], sort: Sort) -> None:
    assert app(op, *args).sort == sort


def test_sorts_join_up_to_none() -> None:
    assert join(INT, Option(INT)) == join(Option(INT), INT) == Option(INT)
    assert join(STRING, STRING) == STRING
    assert option(option(INT)) == Option(INT)
    assert strip(option(INT)) == strip(INT) == INT
    with pytest.raises(SortError):
        join(INT, FLOAT)


def test_two_valued_connectives_fold_constants_only() -> None:
    assert conjunction([]) == TRUE
    assert conjunction([B]) == B
    assert conjunction([B, TRUE, app(Op.AND, C, B)]) == app(Op.AND, B, C, B)
    assert conjunction([B, FALSE]) == FALSE
    assert conjuncts(app(Op.AND, B, app(Op.AND, C, TRUE))) == (B, C)
    assert disjunction([]) == FALSE
    assert disjunction([FALSE, B]) == B
    assert disjunction([B, TRUE]) == TRUE
    assert negate(negate(B)) == B
    assert negate(TRUE) == FALSE


def test_three_valued_connectives_fold_nothing_but_true() -> None:
    assert sql_conjunction([]) == SQL_TRUE
    assert sql_conjunction([B, SQL_TRUE]) == B
    assert sql_conjunction([B, SQL_FALSE]) == app(Op.SQL_AND, B, SQL_FALSE)
    assert sql_conjuncts(app(Op.SQL_AND, B, app(Op.SQL_AND, C, TRUE))) == (B, C)
    assert sql_disjunction([]) == SQL_FALSE
    assert sql_disjunction([B, C]) == app(Op.SQL_OR, B, C)


@given(any_terms)
def test_subterms_come_before_the_terms_that_use_them(term: Term) -> None:
    nodes = list(subterms(term))
    assert nodes[-1] is term
    place = {id(node): i for i, node in enumerate(nodes)}
    assert len(place) == len(nodes)
    for node in nodes:
        if not isinstance(node, Var | Lit):
            assert all(place[id(a)] < place[id(node)] for a in node.args)


@given(any_terms)
def test_rewriting_nothing_changes_nothing(term: Term) -> None:
    assert rewrite(term, lambda v: v) == term
    assert substitute(term, {}) == term


@given(any_terms)
def test_moving_to_another_run_moves_every_variable(term: Term) -> None:
    moved = to_scope(term, Scope.ACC, Scope.TWIN)
    assert all(v.scope is not Scope.ACC for v in variables(moved))
    assert literals(moved) == literals(term)
    assert size(moved) == size(term)


def test_substitution_is_simultaneous() -> None:
    m = Var(Scope.ROW, "m", INT)
    swapped = substitute(app(Op.INT_SUB, N, m), {N: m, m: N})
    assert swapped == app(Op.INT_SUB, m, N)


def test_variables_come_in_order_and_once() -> None:
    m = Var(Scope.ROW, "m", INT)
    assert variables(app(Op.INT_ADD, m, app(Op.INT_ADD, N, m)), B) == (m, N, B)


def test_columns_are_found_by_name() -> None:
    from presieve.ir.fold import Column

    fold = Fold("f", (Column("n", INT, "bigint"),), (Column("k", STRING, "string"),), (), ())
    assert fold.column("n") == N
    assert fold.key("k") == Var(Scope.KEY, "k", STRING)
    with pytest.raises(KeyError):
        fold.column("k")
