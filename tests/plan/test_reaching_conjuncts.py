"""Each rule's lemma, on random small tables, and what the rules refuse."""

from __future__ import annotations

from collections.abc import Set

import pytest
from hypothesis import given
from tests.plan.relations import INPUT, UNKNOWN, Row, comparisons, equal, expr, paths, run

from presieve.errors import Declined
from presieve.ir.ops import app
from presieve.ir.sorts import FLOAT, INT, Decimal, Option
from presieve.ir.terms import Op, Term, int_lit
from presieve.plan.algebra import (
    Alias,
    Attribute,
    Expr,
    Filter,
    JoinExistence,
    JoinNullable,
    JoinPreserved,
    Partitioned,
    Path,
    Project,
    ProjectColumn,
    Reordered,
    Union,
    attribute_var,
    field_id,
    variable_of,
)
from presieve.plan.alias import through_alias
from presieve.plan.filter import through_filter
from presieve.plan.project import through_project
from presieve.plan.reaching_conjuncts import arrives, descend

A, B = INPUT[0], INPUT[1]
RENAMED = Project(
    (
        ProjectColumn(7, Expr(UNKNOWN, frozenset({0, 1})), plain=False),
        ProjectColumn(8, expr(B, B), plain=True),
    )
)
POSITIVE = app(Op.SQL_GT, A, int_lit(0))


def without(path: Path, moved: Set[tuple[int, int]]) -> Path:
    return tuple(
        Filter(tuple(c for i, c in enumerate(o.conjuncts) if (level, i) not in moved))
        if isinstance(o, Filter)
        else o
        for level, o in enumerate(path)
    )


@given(paths())
def test_moved_conjuncts_mean_the_same_at_the_bottom(case: tuple[Path, tuple[Row, ...]]) -> None:
    path, rows = case
    terms: list[Term] = []
    moved: set[tuple[int, int]] = set()
    for m in descend(path):
        if not isinstance(m.term, Declined):
            terms.append(m.term)
            moved.add((m.operator, m.conjunct))
    bottom = Filter(tuple(Expr(t, frozenset()) for t in terms))
    assert terms, "everything in these paths has a meaning"
    assert equal(run(path, rows), run((bottom, *without(path, moved)), rows))


@given(paths())
def test_one_conjunct_alone_may_move(case: tuple[Path, tuple[Row, ...]]) -> None:
    path, rows = case
    last = descend(path)[-1]
    assert not isinstance(last.term, Declined)
    bottom = Filter((Expr(last.term, frozenset()),))
    rest = without(path, {(last.operator, last.conjunct)})
    assert equal(run(path, rows), run((bottom, *rest), rows))


def test_the_lemma_refutes_a_wrong_rule() -> None:
    """Below a projection that swaps two columns, the same conjunct means another column."""
    swap = Project(
        (ProjectColumn(0, expr(B, B), plain=True), ProjectColumn(1, expr(A, A), plain=True))
    )
    top = Filter((expr(POSITIVE, A),))
    rows: list[Row] = [{0: 1, 1: -1}]
    wrong = run((top, swap), rows)
    assert not equal(run((swap, top), rows), wrong)
    (right,) = descend((swap, top))
    assert right.term == app(Op.SQL_GT, B, int_lit(0))


@given(comparisons(INPUT))
def test_filters_and_aliases_do_not_change_a_conjunct(conjunct: Expr) -> None:
    assert not isinstance(conjunct.term, Declined)
    assert through_filter(Filter((conjunct,)), conjunct.term) is conjunct.term
    assert through_alias(Alias(), conjunct.term) is conjunct.term


def test_a_computed_column_without_meaning_stops_only_its_readers() -> None:
    path = (
        Project(
            (
                ProjectColumn(7, Expr(UNKNOWN, frozenset({0})), plain=False),
                ProjectColumn(8, expr(B, B), plain=True),
            )
        ),
        Filter(
            (
                expr(app(Op.SQL_GT, attribute_var(7, INT), int_lit(0)), attribute_var(7, INT)),
                expr(app(Op.SQL_GT, attribute_var(8, INT), int_lit(0)), attribute_var(8, INT)),
            )
        ),
    )
    stuck, moved = descend(path)
    assert stuck.term == UNKNOWN
    assert moved.term == app(Op.SQL_GT, B, int_lit(0))


def test_a_conjunct_without_meaning_stays() -> None:
    (only,) = descend((Filter((Expr(UNKNOWN, frozenset({0})),)),))
    assert only.term == UNKNOWN


def opaque(*reads: int) -> Filter:
    """A filter that is not understood."""
    return Filter((Expr(UNKNOWN, frozenset(reads)),))


@pytest.mark.parametrize(
    ("path", "reads"),
    [
        ((opaque(0),), {0}),
        ((RENAMED, opaque(7)), {0, 1}),
        ((RENAMED, opaque(8)), {1}),
        ((RENAMED, Alias(), Reordered(frozenset({8})), opaque(7, 8)), {0, 1}),
        ((JoinPreserved(frozenset({0, 1}), frozenset()), opaque(1)), {1}),
        ((JoinPreserved(frozenset({0, 1}), frozenset()), opaque(1, 5)), None),
        ((JoinNullable(frozenset({0, 1}), frozenset()), opaque(5)), None),
        ((JoinExistence(frozenset({0, 1}), frozenset()), opaque(0)), None),
        ((Partitioned(((7, 0),), frozenset(), frozenset({7, 9})), opaque(7)), {0}),
        ((Partitioned(((7, 0),), frozenset(), frozenset({7, 9})), opaque(7, 9)), None),
        ((Union(((7, 0), (8, 1))), opaque(8)), {1}),
        ((opaque(field_id(1, 2)),), {field_id(1, 2)}),
        ((RENAMED, opaque(field_id(8, 2))), {1}),
        ((JoinPreserved(frozenset({1}), frozenset()), opaque(field_id(1, 2))), {1}),
    ],
)
def test_what_an_opaque_conjunct_reads_below(path: Path, reads: set[int] | None) -> None:
    """By that it is known whether it speaks of the rows below at all."""
    (moved,) = descend(path)
    assert arrives(moved) == (reads is not None)
    assert moved.reads == (reads or set())
    assert isinstance(moved.term, Declined)


def test_a_conjunct_that_meets_a_column_without_meaning_is_followed_further() -> None:
    """It reads the column of the other side only by way of the computed one."""
    computed = ProjectColumn(7, Expr(UNKNOWN, frozenset({5})), plain=False)
    project = Project((computed, ProjectColumn(8, expr(B, B), plain=True)))
    join = JoinPreserved(frozenset({1}), frozenset())
    seven = attribute_var(7, INT)
    top = Filter((expr(app(Op.SQL_GT, seven, int_lit(0)), seven),))
    (moved,) = descend((join, project, top))
    assert not arrives(moved)


def test_an_attribute_that_the_projection_does_not_have() -> None:
    project = Project((ProjectColumn(8, expr(B, B), plain=True),))
    result = through_project(project, POSITIVE)
    assert isinstance(result, Declined)
    assert result.code == "plan-shape"


@pytest.mark.parametrize(
    ("type_", "nullable", "expected"),
    [
        ("bigint", True, attribute_var(5, Option(INT))),
        ("double", False, attribute_var(5, FLOAT)),
        ("string collate UTF8_LCASE", True, None),
        ("char(5)", True, None),
        ("decimal(10,2)", True, attribute_var(5, Option(Decimal(2)))),
        ("decimal(10,11)", True, None),
    ],
)
def test_only_supported_types_have_variables(type_: str, nullable: bool, expected: object) -> None:
    assert variable_of(Attribute(5, "x", type_, nullable)) == expected
