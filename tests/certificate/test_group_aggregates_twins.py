"""Claims of aggregates that are wrong are rejected, and give another result."""

from __future__ import annotations

import math
from typing import Any

import pytest
from tests.support.aggregates import by_aggregates, by_fold, problem_of
from tests.support.group_folds import (
    CASES,
    Empty,
    Every,
    Fold,
    Greatest,
    Highest,
    Last,
    Number,
    NumberFromFive,
    Seen,
    Total,
    V,
    X,
    found,
    refusing,
    rows,
)

from presieve.certificate.checker import Rejected, Verified, check
from presieve.certificate.group_aggregates import (
    AggregatedCertificate,
    AggregateText,
)
from presieve.certificate.row_expressions import Expression
from presieve.certificate.stored import check_claim
from presieve.errors import PresieveError
from presieve.ir.fold import Mode
from presieve.ir.ops import app
from presieve.ir.sorts import INT
from presieve.ir.terms import FALSE, TRUE, Op, Scope, Term, Var, float_lit, int_lit, none_lit
from presieve.records import replace
from presieve.semantics.aggregates import AggregateColumn
from presieve.semantics.assumptions import assumption_of
from presieve.semantics.smart_constructors import and_, get, is_none, ite, or_, some, substitute

# --- wrong twins ----------------------------------------------------------------------------------


def rejected(certificate: AggregatedCertificate) -> str:
    """The condition by which both solvers reject it."""
    conditions = set()
    for solver in ("z3", "cvc5"):
        verdict = check_claim(certificate, solver)
        assert isinstance(verdict, Rejected), solver
        conditions.add(verdict.condition)
    (condition,) = conditions
    return condition


def differ(certificate: AggregatedCertificate, group: list[Any], name: str = "v") -> bool:
    table = rows(group, name)
    return by_fold(certificate.problem, table) != by_aggregates(certificate, table)


def of(fold: type[Fold]) -> AggregatedCertificate:
    (made,) = (found(c) for c in CASES if c.fold is fold)
    assert isinstance(check(made), Verified)
    return made


def with_column(
    certificate: AggregatedCertificate, function: str, argument: Term | None = None, **more: Any
) -> AggregatedCertificate:
    """The same, with another function or argument in place of its last aggregate."""
    *others, last = certificate.aggregates
    argument = last.column.argument if argument is None else argument
    column = replace(last.column, function=function, argument=argument)
    return replace(certificate, aggregates=(*others, replace(last, column=column, **more)))


def at_least(column: Var, low: int) -> Term:
    return and_(app(Op.NOT, is_none(column)), app(Op.PY_GE, get(column), int_lit(low)))


def test_an_expression_that_never_raises_is_none_for_a_fold_that_does() -> None:
    certificate = refusing()
    (expression,) = certificate.expressions
    twin = replace(certificate, expressions=(replace(expression, raises=FALSE),))
    assert rejected(twin) == "final m"
    assert differ(twin, [3, None])


def test_another_argument() -> None:
    more = ite(is_none(V), none_lit(INT), some(app(Op.INT_ADD, get(V), int_lit(1))))
    twin = with_column(of(Greatest), "max", more)
    assert rejected(twin) == "first"
    assert differ(twin, [3])


def test_at_least_for_more_than() -> None:
    right = of(NumberFromFive)
    assert isinstance(check(with_column(right, "count_if", some(at_least(V, 4)))), Verified)
    twin = with_column(right, "count_if", some(at_least(V, 3)))
    assert rejected(twin) == "first"
    assert differ(twin, [3])


def test_min_for_max() -> None:
    right = of(Greatest)
    (aggregate,) = right.aggregates
    state, column = aggregate.column.state, replace(aggregate.column, function="min")
    invariant = tuple(_swapped(t, state, column.state) for t in right.invariant)
    twin = replace(right, aggregates=(replace(aggregate, column=column),), invariant=invariant)
    assert rejected(twin) == "next"
    assert differ(twin, [1, 2])
    assert not differ(twin, [2, 2])


def _swapped(term: Term, old: Term, new: Term) -> Term:
    assert isinstance(old, Var)
    return substitute(term, {old: new})


def test_any_for_every() -> None:
    right = of(Every)
    (aggregate,) = right.aggregates
    column = replace(aggregate.column, function="bool_or")
    invariant = tuple(_swapped(t, aggregate.column.state, column.state) for t in right.invariant)
    twin = replace(right, aggregates=(replace(aggregate, column=column),), invariant=invariant)
    assert rejected(twin) == "next"
    assert differ(twin, [1, 4])


@pytest.mark.parametrize("fold", [Greatest, NumberFromFive, Seen])
def test_no_invariant(fold: type[Fold]) -> None:
    assert rejected(replace(of(fold), invariant=())) == "final m"


def test_an_invariant_that_does_not_hold() -> None:
    right = of(Greatest)
    assert rejected(replace(right, invariant=(*right.invariant, FALSE))) == "first"
    (field,) = right.problem.fold.fields
    kept = Var(Scope.ACC, field.name, field.sort)
    small = or_(is_none(kept), app(Op.PY_LE, get(kept), int_lit(2**63 - 2)))
    assert rejected(replace(right, invariant=(*right.invariant, small))) == "first"


def test_an_invariant_that_a_second_row_breaks() -> None:
    right = of(Number)
    (field,) = right.problem.fold.fields
    one = app(Op.PY_LE, Var(Scope.ACC, field.name, field.sort), int_lit(1))
    assert rejected(replace(right, invariant=(*right.invariant, one))) == "next"


def test_a_constant_is_forgotten() -> None:
    right = of(NumberFromFive)
    (expression,) = right.expressions
    column = right.aggregates[0].column
    twin = replace(right, expressions=(replace(expression, value=some(column.result)),))
    assert rejected(twin) == "final m"
    assert differ(twin, [4])


@pytest.mark.parametrize(
    ("type_", "rows_", "most", "wrong"),
    [
        ("decimal(38,0)", 2**60, 2**63, ""),
        ("decimal(30,0)", 2**30, 2**63, ""),
        ("decimal(30,0)", 2**30, 2**62, "sums"),  # larger ones are summed
        ("bigint", 1, 2**63 - 1, "sums"),
        ("bigint", 1, 2**63, "form"),
        ("bigint", 3, 2**63, "form"),
        ("decimal(20,0)", 2**40, 2**63, "form"),
        ("decimal(38,0)", 2**70, 2**63, "form"),
        ("string", 1, 2**63, "form"),
    ],
)
def test_sums_that_may_not_fit(type_: str, rows_: int, most: int, wrong: str) -> None:
    right = of(Total)
    (aggregate,) = right.aggregates
    other = replace(aggregate, column=replace(aggregate.column, type=type_), most=most)
    certificate = replace(right, aggregates=(other,), rows=rows_)
    if not wrong:
        assert isinstance(check(certificate), Verified)
    else:
        assert rejected(certificate).split()[0] == wrong


def test_an_argument_that_is_not_safe_or_raises() -> None:
    right = of(Greatest)
    (aggregate,) = right.aggregates
    name = aggregate.column.name
    small = or_(is_none(V), app(Op.PY_LT, get(V), int_lit(2**63 - 1)))
    for twin in (replace(aggregate, safe=small), replace(aggregate, raises=is_none(V))):
        assert rejected(replace(right, aggregates=(twin,))) == f"argument {name}"


def test_an_expression_that_is_not_safe() -> None:
    right = of(Greatest)
    (expression,) = right.expressions
    unsafe = is_none(right.aggregates[0].column.result)
    twin = replace(right, expressions=(replace(expression, safe=unsafe),))
    assert rejected(twin) == "final m"


def test_an_expression_that_raises_where_the_fold_does_not() -> None:
    right = of(Greatest)
    (expression,) = right.expressions
    raises = is_none(right.aggregates[0].column.result)
    twin = replace(right, expressions=(replace(expression, raises=raises),))
    assert rejected(twin) == "final m"
    assert differ(twin, [None])


def test_an_error_at_the_end_is_forgotten() -> None:
    right = of(Empty)
    (expression,) = right.expressions
    twin = replace(right, expressions=(replace(expression, raises=FALSE),))
    assert rejected(twin) == "final m"
    assert differ(twin, [None])


def test_zeros_depend_on_order() -> None:
    right = of(Highest)
    assert "zero-sign" in {a.code for a in right.problem.assumptions}
    others = tuple(a for a in right.problem.assumptions if a.code != "zero-sign")
    twin = replace(right, problem=replace(right.problem, assumptions=others))
    assert rejected(twin) == f"order {right.columns[0].name}"
    zeros = rows([0.0, -0.0], "x")
    made = [by_aggregates(twin, zeros), by_aggregates(twin, zeros[::-1])]
    assert [math.copysign(1, v[0]) for v in made] == [1, -1]  # type: ignore[index,arg-type]


def test_assumptions_that_contradict_each_other() -> None:
    right = of(Highest)
    there = assumption_of("no-nan", app(Op.NOT, app(Op.IS_NAN, get(X))))
    none = assumption_of("no-nan", or_(is_none(X), app(Op.IS_NAN, get(X))))
    zero = assumption_of("zero-sign", app(Op.SAME, X, some(float_lit(1.0))))
    contradiction = replace(right.problem, assumptions=(there, none, zero))
    assert rejected(replace(right, problem=contradiction)) == "premises"


def test_the_last_value() -> None:
    problem = problem_of(Last, "v bigint", "m bigint")
    (field,) = problem.fold.fields
    column = AggregateColumn("a0", "max", "bigint", V)
    same = app(Op.SAME, Var(Scope.ACC, field.name, field.sort), column.state)
    value = Expression("m", "", column.result, TRUE, FALSE)
    twin = AggregatedCertificate(problem, (AggregateText(column, ""),), (same,), (value,))
    assert rejected(twin) == "next"
    assert differ(twin, [2, 1])
    assert rejected(replace(twin, invariant=())) == "final m"


def test_what_is_no_claim_of_this_form() -> None:
    right = of(Greatest)
    (aggregate,), (expression,) = right.aggregates, right.expressions
    column, stray = aggregate.column, Var(Scope.ROW, "other", V.sort)
    twins = {
        "rows of single rows": replace(right, problem=replace(right.problem, mode=Mode.GLOBAL)),
        "no row": replace(right, rows=0),
        "no function": with_column(right, "avg"),
        "first value": with_column(right, "first"),
        "two arguments": with_column(right, "max_by"),
        "no column": with_column(right, "max", stray),
        "of itself": with_column(right, "max", column.result),
        "no option": with_column(right, "max", get(V)),
        "twice": replace(right, aggregates=(aggregate, aggregate)),
        "no expression": replace(right, expressions=()),
        "two expressions": replace(right, expressions=(expression, expression)),
        "another output": replace(right, expressions=(replace(expression, output="n"),)),
        "of a row": replace(right, expressions=(replace(expression, value=V),)),
        "another sort": replace(right, expressions=(replace(expression, value=some(TRUE)),)),
        "invariant of a row": replace(right, invariant=(is_none(V),)),
        "no condition": replace(right, invariant=(int_lit(1),)),
    }
    for what, twin in twins.items():
        assert rejected(twin) == "form", what


def test_only_the_checker_seals() -> None:
    with pytest.raises(PresieveError):
        Verified(of(Number), "z3", {}, None, object())
