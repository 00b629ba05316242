"""Conditions between the columns of a row: the strongest pre-filter, and its wrong twins."""

from __future__ import annotations

import pytest
from tests.support.synthesis.running import pipeline_of, solved
from tests.synthesis.compared import COMPARED, WITHIN
from tests.synthesis.refuted import assert_refuted

from presieve.driver.synthesize import synthesize
from presieve.ir.ops import app, conjunction, negate
from presieve.ir.sorts import BOOL, INT, Option
from presieve.ir.terms import SQL_TRUE, Op, Scope, Term, Var
from presieve.smt.z3_solver import Z3Solver
from presieve.synthesis.sampling.correlated import facts

BY_NAME = {c.name: c for c in COMPARED}
SUM = "CAST(opened AS DECIMAL(20,0)) + CAST(span AS DECIMAL(20,0))"
MOST = 2**63 - 1

TWINS = [
    ("last visit", f"{WITHIN} AND kind = 'visit' AND {SUM} <= {MOST}"),
    ("ups and ties", "here < there"),
    ("ups and ties", "CAST(here AS DECIMAL(20,0)) + 1BD <= CAST(there AS DECIMAL(20,0))"),
    ("last within", f"opened < at AND CAST(at AS DECIMAL(20,0)) < {SUM} - 1BD"),
    ("last within", f"CAST(at AS DECIMAL(20)) - 1BD > CAST(opened AS DECIMAL(20)) AND {WITHIN}"),
    # what is left of it where the sum must fit into a bigint
    ("last within", f"{WITHIN} AND {SUM} <= {MOST}"),
    ("last within", f"{WITHIN} AND at > 10"),
    ("late rows", "NOT (opened < closed <=> true) AND opened IS NOT NULL"),
    ("late rows", "NOT (opened < closed)"),
    ("late rows", "opened > closed OR opened IS NULL OR closed IS NULL"),
    ("overlap", "kind = 'range' AND high > 10 AND low < high - 1D AND NOT isnan(high)"),
    ("overlap", "kind = 'range' AND high > 11 AND low < high"),
    ("sent home", "sender = receiver AND sender <> ''"),
    ("sent home", "sender < receiver"),
    (
        "far apart",
        "CAST(there AS DECIMAL(20,0)) * 3BD - CAST(here AS DECIMAL(20,0)) >"
        " CAST(limit AS DECIMAL(20,0)) + 1BD AND limit > 10",
    ),
]


@pytest.mark.costly
@pytest.mark.parametrize(("name", "prefilter"), TWINS)
def test_a_stronger_comparison_is_refuted(name: str, prefilter: str) -> None:
    assert_refuted(BY_NAME[name], prefilter, solved(BY_NAME[name]).residual)


@pytest.mark.parametrize(
    ("name", "residual"),
    [("last within", "last > 9"), ("late rows", "late >= 1"), ("last within", "last IS NOT NULL")],
)
def test_a_weaker_residual_is_refuted(name: str, residual: str) -> None:
    assert_refuted(BY_NAME[name], solved(BY_NAME[name]).prefilter, residual)


def test_comparisons_with_constants_are_conjuncts_of_their_own() -> None:
    """So that they still reach a scan."""
    assert "limit > 10" in solved(BY_NAME["far apart"]).prefilter.split(" AND ")
    parts = solved(BY_NAME["overlap"]).prefilter.split(" AND ")
    assert "kind = 'range'" in parts
    assert "high > 10.0D" in parts


class TooLong:
    """A product of three columns, which has no exact text."""

    def zero(self) -> int:
        return 0

    def reduce(self, acc: int, row: dict[str, int]) -> int:
        if row["a"] * row["b"] * row["a"] > row["c"]:
            return acc + 1
        return acc

    def finish(self, acc: int) -> int:
        return acc


def test_what_has_no_exact_text_is_no_condition() -> None:
    found = synthesize(
        TooLong,
        "n > 1",
        schema="a bigint NOT NULL, b bigint NOT NULL, c bigint NOT NULL",
        returns="n bigint",
    )
    assert "*" not in found.prefilter


def test_what_conditions_exclude_is_known() -> None:
    """Not both ``here < there`` and ``here = there``, and neither without a value; no more."""
    here, there = Var(Scope.ROW, "here", Option(INT)), Var(Scope.ROW, "there", INT)
    less, same = (Var(Scope.ROW, n, BOOL) for n in ("$less", "$same"))
    meant: dict[Var, Term] = {
        less: app(Op.SQL_IS_TRUE, app(Op.SQL_LT, here, there)),
        same: app(Op.SQL_IS_TRUE, app(Op.SQL_EQ, here, there)),
    }
    problem = pipeline_of(BY_NAME["ups and ties"]).inputs.problem(SQL_TRUE, [])
    known = {f.term for f in facts(problem, meant, [here, there], Z3Solver())}
    absent = app(Op.IS_NONE, here)
    never: list[tuple[Term, Term]] = [(less, same), (less, absent), (same, absent)]
    assert known == {negate(conjunction(pair)) for pair in never}
