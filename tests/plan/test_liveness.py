"""Which outputs of a fold somebody still reads."""

from __future__ import annotations

from tests.plan.relations import UNKNOWN, expr

from presieve.ir.ops import app
from presieve.ir.sorts import INT
from presieve.ir.terms import Op, int_lit
from presieve.plan.algebra import Alias, Expr, Filter, Project, ProjectColumn, attribute_var
from presieve.plan.liveness import live, visible

A, B, C = (attribute_var(i, INT) for i in range(3))
ON_A = Filter((expr(app(Op.SQL_GT, A, int_lit(0)), A),))
ONLY_B = Project((ProjectColumn(1, expr(B, B), plain=True),))


def test_everything_is_live_without_a_projection() -> None:
    assert live((ON_A,), {(0, 0)}, {0, 1, 2}) == {0, 1, 2}


def test_a_moved_conjunct_keeps_nothing_alive() -> None:
    path = (ON_A, ONLY_B)
    assert visible(path, {0, 1, 2}) == {1}
    assert live(path, {(0, 0)}, {1}) == {1}


def test_a_conjunct_that_stays_reads_its_columns() -> None:
    assert live((ON_A, ONLY_B), set(), {1}) == {0, 1}


def test_renames_are_followed() -> None:
    rename = Project(
        (ProjectColumn(7, expr(A, A), plain=True), ProjectColumn(8, expr(B, B), plain=True))
    )
    assert live((rename, Alias()), set(), {7}) == {0}


def test_a_computed_column_is_read_even_where_nobody_reads_it() -> None:
    """It may be evaluated all the same, and raise: ``1 / c`` under ANSI."""
    computed = Project(
        (
            ProjectColumn(7, Expr(UNKNOWN, frozenset({2})), plain=False),
            ProjectColumn(1, expr(B, B), plain=True),
        )
    )
    assert live((computed, ONLY_B), set(), {1}) == {1, 2}
