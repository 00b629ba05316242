"""A shorter filter is true on the same rows, and scans lose nothing that they can read."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from presieve.ir.fold import Column, Fold, Mode, Problem
from presieve.ir.ops import app, sql_conjunction, sql_conjuncts
from presieve.ir.sorts import FLOAT, INT, Option
from presieve.ir.terms import SQL_TRUE, Op, Scope, Term, Var, float_lit, int_lit
from presieve.ir.walk import size
from presieve.semantics.interpret import evaluate
from presieve.semantics.values import Value
from presieve.sql.emit import emit
from presieve.sql.parse import parse_predicate
from presieve.synthesis.prefilter.counterexamples import Counterexamples
from presieve.synthesis.prefilter.shortening import shorten

N, X = Var(Scope.ROW, "n", Option(INT)), Var(Scope.ROW, "x", Option(FLOAT))
ROWS: list[Mapping[tuple[Scope, str], Value]] = [
    {(Scope.ROW, "n"): n, (Scope.ROW, "x"): x}
    for n, x in itertools.product(
        (None, -3, -1, 0, 1, 2, 3, 7), (None, -math.inf, -1.5, -0.0, 0.0, 1.5, 2.0, math.nan)
    )
]


def is_true(term: Term, row: Mapping[tuple[Scope, str], Value]) -> bool:
    return evaluate(term, row) is True


def holds(premise: Term, conclusion: Term) -> bool:
    return all(is_true(conclusion, row) for row in ROWS if is_true(premise, row))


def predicate(text: str) -> Term:
    term = parse_predicate(text, {"n": N, "x": X}, "UTC")
    assert isinstance(term, Term)
    return term


SHORT = {
    "n > 1 AND n > 2": "n > 2",
    "n > 2 AND n IS NOT NULL": "n > 2",
    "(x <= 0.0D OR x >= 0.0D) AND (x > 0.0D OR isnan(x)) AND x >= 1.5D": "x >= 1.5D",
    "(n < 3 OR n >= 3) AND ((n < 3 AND n >= -1) OR n >= 3) AND n < 2": "n >= -1 AND n < 2",
    "n < 2 OR n < 1 OR n IS NULL": "n < 2 OR n IS NULL",
    "n > 2 AND n < 0": "false",
    "n > 1 OR ((n <= 1 OR n IS NULL) AND x > 0.0D)": "n > 1 OR x > 0.0D",
    "n > 1 OR (n <= 1 AND x > 0.0D)": "n > 1 OR (n <= 1 AND x > 0.0D)",
    "n = 1 OR n = 2": "n IN (1, 2)",
}


@pytest.mark.parametrize("text", SHORT)
def test_what_says_nothing_more_is_left_out(text: str) -> None:
    assert emit(shorten(predicate(text), holds), "UTC") == SHORT[text]


DOUBLED = app(Op.SQL_GT, app(Op.SQL_INT_MUL, N, int_lit(2)), int_lit(2))


def test_what_files_are_skipped_by_stays() -> None:
    """The product implies the comparison, but no scan reads a product. The other way round, the
    product says nothing more.
    """
    term = sql_conjunction([DOUBLED, predicate("n > 0")])
    assert holds(*(app(Op.SQL_IS_TRUE, c) for c in sql_conjuncts(term)))
    assert shorten(term, holds) == term
    assert shorten(sql_conjunction([DOUBLED, predicate("n > 1")]), holds) == predicate("n > 1")


comparisons = st.builds(
    lambda op, variable, number: app(
        op, variable, int_lit(number) if variable is N else float_lit(float(number))
    ),
    st.sampled_from([Op.SQL_EQ, Op.SQL_LT, Op.SQL_LE, Op.SQL_GT, Op.SQL_GE]),
    st.sampled_from([N, X]),
    st.integers(-2, 3),
)
atoms = (
    comparisons
    | st.sampled_from([N, X]).map(lambda v: app(Op.SQL_IS_NULL, v))
    | st.just(app(Op.SQL_IS_NAN, X))
)
compounds = st.recursive(
    atoms | atoms.map(lambda p: app(Op.SQL_NOT, p)),
    lambda inner: st.lists(inner, min_size=2, max_size=4).flatmap(
        lambda ps: st.sampled_from([Op.SQL_AND, Op.SQL_OR]).map(lambda op: app(op, *ps))
    ),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(compounds)
def test_it_is_true_on_the_same_rows(term: Term) -> None:
    shorter = shorten(term, holds)
    assert [is_true(shorter, row) for row in ROWS] == [is_true(term, row) for row in ROWS]
    assert size(shorter) <= size(term)


def key_predicate(text: str) -> Term:
    """What is true of a key."""
    keys = {"n": Var(Scope.KEY, "n", Option(INT)), "x": Var(Scope.KEY, "x", Option(FLOAT))}
    term = parse_predicate(text, keys, "UTC")
    assert isinstance(term, Term)
    return app(Op.SQL_IS_TRUE, term)


@pytest.mark.parametrize(
    ("premise", "conclusion", "refuted"),
    [
        ("n > 1", "n > 2", True),
        ("n > 2", "n > 1", False),
        ("n > 1 OR x > 0.5D", "n > 1", True),
        ("n > 1 AND x > 0.5D", "x > 0.5D", False),
        ("x >= 1.5D", "x > 1.5D", True),
        ("x >= 1.5D", "x < 9.0D", True),
        ("x > 1.5D", "NOT isnan(x)", True),
        ("x < 1.5D", "NOT isnan(x)", False),
        ("n < 3 OR n >= 3", "n IS NOT NULL", False),
        ("n < 3 OR n IS NULL", "n IS NOT NULL", True),
    ],
)
def test_keys_that_refute(premise: str, conclusion: str, refuted: bool) -> None:
    keys = (Column("n", Option(INT), "bigint"), Column("x", Option(FLOAT), "double"))
    first, second = key_predicate(premise), key_predicate(conclusion)
    fold = Fold("f", (), keys, (), ())
    problem = Problem(fold, SQL_TRUE, Mode.GROUPED)
    examples = Counterexamples(problem, app(Op.SQL_AND, first, second))
    assert examples.refute(first, second) == refuted
