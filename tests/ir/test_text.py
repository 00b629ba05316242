from __future__ import annotations

import pytest
from hypothesis import given, settings
from tests.ir.random_terms import any_terms, folds, problems, sorts
from tests.support.amount import amount

from presieve.errors import PresieveError
from presieve.ir.fold import Fold, Problem
from presieve.ir.ops import app
from presieve.ir.sorts import FLOAT, INT, Decimal, Option, Sort, Tuple
from presieve.ir.terms import Op, Scope, Term, Var, float_lit, int_lit, lit, none_lit
from presieve.ir.text import (
    parse_fold,
    parse_problem,
    parse_sort,
    parse_term,
    print_fold,
    print_problem,
    print_sort,
    print_term,
)


@given(sorts)
def test_sorts_round_trip(sort: Sort) -> None:
    assert parse_sort(print_sort(sort)) == sort


@pytest.mark.random
@settings(max_examples=amount(400), deadline=None)
@given(any_terms)
def test_terms_round_trip(term: Term) -> None:
    text = print_term(term)
    assert "\n" not in text
    back = parse_term(text)
    assert back == term
    assert print_term(back) == text


@settings(deadline=None)
@given(folds)
def test_folds_round_trip(fold: Fold) -> None:
    assert parse_fold(print_fold(fold)) == fold


@settings(deadline=None)
@given(problems)
def test_problems_round_trip(problem: Problem) -> None:
    assert parse_problem(print_problem(problem)) == problem


X = Var(Scope.ROW, "x", Option(FLOAT))


@pytest.mark.parametrize(
    ("term", "text"),
    [
        (X, "row.x:Float?"),
        (Var(Scope.OUT, "a b", INT), 'out."a b":Int'),
        (int_lit(-5), "-5:Int"),
        (float_lit(90.0), "0x4056800000000000:Float"),
        (none_lit(INT), "none:Int?"),
        (lit(Decimal(2), -9050), "-9050:Decimal2"),
        (none_lit(Decimal(0)), "none:Decimal0?"),
        (app(Op.DECIMAL_WIDEN, lit(Decimal(2), 5), int_lit(3)), "(decimal-widen 5:Decimal2 3:Int)"),
        (lit(Option(INT), 5), "5:Int?"),
        (app(Op.SQL_GT, X, float_lit(90.0)), "(sql> row.x:Float? 0x4056800000000000:Float)"),
    ],
)
def test_text(term: Term, text: str) -> None:
    assert print_term(term) == text
    assert parse_term(text) == term


def test_shared_terms_are_printed_once() -> None:
    term: Term = Var(Scope.ROW, "n", INT)
    for _ in range(200):
        term = app(Op.INT_ADD, term, term)  # 2**200 nodes as a tree
    text = print_term(term)
    assert len(text) < 10_000
    assert print_term(parse_term(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "(",
        ")",
        "x",
        "row.x",
        "row.x:Foo",
        "row.x:Int??",
        "row.x:Decimal",
        "row.x:Decimal02",
        "row.x:Decimal-1",
        "0x4056800000000000:Decimal2",
        "(decimal-widen 5:Decimal2 -1:Int)",
        "(decimal-widen 5:Decimal2 row.k:Int)",
        "5:String",
        '"a":Int',
        "true:Int",
        "none:Int",
        "5:Int 6:Int",
        "(frob 5:Int)",
        "(not 5:Int)",
        "(sql= 5:Int 5:Date)",
        "(let (#1) #1)",
        "#1",
        "()",
    ],
)
def test_what_is_no_term_is_refused(text: str) -> None:
    with pytest.raises(PresieveError):
        parse_term(text)


def test_tuples_of_tuples() -> None:
    sort = Tuple((Tuple((INT, Option(Tuple((FLOAT,))))), Tuple(()), INT))
    assert print_sort(sort) == "<<Int,<Float>?>,<>,Int>"
    assert parse_sort(print_sort(sort)) == sort
