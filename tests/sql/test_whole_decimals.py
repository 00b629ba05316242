"""Integers in SQL text: exact as decimals, declined where they could overflow or round."""

from __future__ import annotations

import pytest
from tests.sql.predicates import NAMES

from presieve.errors import Declined
from presieve.ir.ops import app
from presieve.ir.sorts import INT
from presieve.ir.terms import Op, Scope, Term, int_lit, lit, none_lit
from presieve.semantics.interpret import evaluate
from presieve.sql.emit import emit_checked
from presieve.sql.parse import parse_predicate
from presieve.sql.quoted_names import InexpressibleError

L, M = NAMES["l"], NAMES["m"]
MOST = 2**63 - 1


def _add(a: Term, b: Term) -> Term:
    return app(Op.SQL_INT_ADD, a, b)


def test_sums_are_written_as_decimals_and_read_back() -> None:
    within = app(Op.SQL_LT, M, _add(L, NAMES["i"]))
    text = "CAST(m AS DECIMAL(20,0)) < CAST(l AS DECIMAL(20,0)) + CAST(i AS DECIMAL(20,0))"
    assert emit_checked(within, NAMES, "UTC") == text
    nested = app(Op.SQL_GE, app(Op.SQL_INT_SUB, L, _add(M, int_lit(-5))), int_lit(10**30))
    assert emit_checked(nested, NAMES, "UTC") == (
        "CAST(l AS DECIMAL(20,0)) - (CAST(m AS DECIMAL(20,0)) + -5BD) >= " + str(10**30) + "BD"
    )
    product = app(Op.SQL_EQ, app(Op.SQL_INT_MUL, _add(L, M), int_lit(3)), none_lit(INT))
    assert emit_checked(product, NAMES, "UTC") == (
        "(CAST(l AS DECIMAL(20,0)) + CAST(m AS DECIMAL(20,0))) * 3BD = NULL"
    )


def test_sums_mean_what_python_means() -> None:
    over = parse_predicate(
        "CAST(l AS DECIMAL(20,0)) + CAST(m AS DECIMAL(20,0)) > 9223372036854775807", NAMES, "UTC"
    )
    assert not isinstance(over, Declined)
    at = {(Scope.ROW, "l"): MOST, (Scope.ROW, "m"): 1}
    assert evaluate(over, at) is True
    assert evaluate(over, {**at, (Scope.ROW, "m"): 0}) is False
    assert evaluate(over, {**at, (Scope.ROW, "l"): None}) is None


def test_the_product_of_any_two_bigints_has_a_type() -> None:
    text = "CAST(l AS DECIMAL(20,0)) * CAST(m AS DECIMAL(20,0)) + 1BD > " + str(2**126) + "BD"
    above = parse_predicate(text, NAMES, "UTC")
    assert not isinstance(above, Declined)
    assert emit_checked(above, NAMES, "UTC") == text
    at = {(Scope.ROW, "l"): -MOST - 1, (Scope.ROW, "m"): -MOST - 1}
    assert evaluate(above, at) is True
    assert evaluate(above, {**at, (Scope.ROW, "m"): -MOST}) is False


@pytest.mark.parametrize(
    "text",
    [
        "l + m > 5",
        "m + 1 > 5",
        "CAST(l AS DECIMAL(18,0)) > 5",
        "CAST(l AS DECIMAL(20,1)) > 5",
        "CAST(x AS DECIMAL(20,0)) > 5",
        "CAST(p AS DECIMAL(20,0)) > 5",
        "CAST(CAST(l AS DECIMAL(20,0)) AS DECIMAL(19,0)) > 5",
        "CAST(l AS DECIMAL(20,0)) + m > 5",
        "CAST(l AS DECIMAL(20,0)) > m",
        "CAST(l AS DECIMAL(20,0)) > x",
        "CAST(l AS DECIMAL(20,0)) > p",
        "CAST(l AS DECIMAL(20,0)) > 5.5",
        "CAST(l AS DECIMAL(20,0)) > 5D",
        "CAST(l AS DECIMAL(20,0)) > '5'",
        "CAST(l AS DECIMAL(20,0)) + NULL > 5",
        "CAST(l AS DECIMAL(20,0)) + 0.5 > 5",
        "CAST(l AS DECIMAL(20,0)) * CAST(m AS DECIMAL(20,0)) * 2 > 5",
        "CAST(l AS DECIMAL(20,0)) * CAST(m AS DECIMAL(20,0)) * CAST(i AS DECIMAL(20,0)) > 5",
        "CAST(l AS DECIMAL(20,0))",
        "CASE WHEN b THEN CAST(l AS DECIMAL(20,0)) ELSE 5 END > 5",
        "coalesce(CAST(l AS DECIMAL(20,0)), 5) > 5",
    ],
)
def test_what_could_overflow_round_or_meet_something_else_is_declined(text: str) -> None:
    assert isinstance(parse_predicate(text, NAMES, "UTC"), Declined), text


def test_what_has_no_exact_type_has_no_text() -> None:
    deep: Term = L
    for _ in range(18):
        deep = _add(deep, M)
    emit_checked(app(Op.SQL_GT, deep, int_lit(5)), NAMES, "UTC")
    product = app(Op.SQL_INT_MUL, L, M)
    for sum_ in (
        app(Op.SQL_INT_MUL, product, int_lit(2)),
        app(Op.SQL_INT_MUL, product, _add(L, M)),
        _add(L, none_lit(INT)),
        _add(int_lit(1), int_lit(2)),
        app(Op.SQL_INT_MUL, L, lit(INT, 11 * 10**18)),
    ):
        with pytest.raises(InexpressibleError):
            emit_checked(app(Op.SQL_GT, sum_, int_lit(5)), NAMES, "UTC")
