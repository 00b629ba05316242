"""The lemmas of joins, unions and what works on classes of rows, on random small tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from random import Random

import pytest
from tests.plan.relations import Row, expr, value

from presieve.errors import Declined
from presieve.ir.ops import app
from presieve.ir.sorts import INT, Option
from presieve.ir.terms import SQL_FALSE, Op, Term, int_lit
from presieve.plan.algebra import (
    Expr,
    Filter,
    Join,
    JoinExistence,
    JoinNullable,
    JoinPreserved,
    Operator,
    Partitioned,
    Reordered,
    Union,
    attribute_var,
)
from presieve.plan.join import implied_condition
from presieve.plan.liveness import live, visible
from presieve.plan.reaching_conjuncts import descend, through

K, M, L, N = (attribute_var(i, Option(INT)) for i in range(4))
"""The side of the fold: a key and a result. The other side: a key and another column."""
HERE, THERE = (0, 1), (2, 3)
EQUAL = app(Op.SQL_EQ, K, L)
TRIALS = 2_000

Pairs = Sequence[tuple[Row | None, Row | None]]


def random_rows(random: Random, columns: tuple[int, ...]) -> list[Row]:
    values = [None, 0, 1, 2]
    return [{c: random.choice(values) for c in columns} for _ in range(random.randrange(5))]


def conditions(columns: Sequence[Term]) -> list[Term]:
    found: list[Term] = [SQL_FALSE]
    for column in columns:
        found += [
            app(Op.SQL_GE, column, int_lit(1)),
            app(Op.SQL_NOT, app(Op.SQL_GE, column, int_lit(1))),
            app(Op.SQL_IS_NULL, column),
            app(Op.SQL_OR, app(Op.SQL_IS_NULL, column), app(Op.SQL_EQ, column, int_lit(2))),
        ]
    return found


def keep(conjunct: Term, rows: Iterable[Row]) -> list[Row]:
    return [r for r in rows if value(conjunct, r) is True]


def missing(rows: list[Row], partners: list[Row]) -> Row:
    """NULLs in place of a row: the columns that its partners do not have."""
    known = rows or [{c: None for c in (*HERE, *THERE) if not partners or c not in partners[0]}]
    return dict.fromkeys(known[0])


def join(kind: str, on: Sequence[Term], left: list[Row], right: list[Row]) -> list[Row]:
    """What Spark's join of that kind gives, written down anew."""
    pairs = [
        (i, j)
        for (i, a), (j, b) in product(enumerate(left), enumerate(right))
        if all(value(c, a | b) is True for c in on)
    ]
    with_left, with_right = {i for i, _ in pairs}, {j for _, j in pairs}
    if kind == "semi":
        return [r for i, r in enumerate(left) if i in with_left]
    if kind == "anti":
        return [r for i, r in enumerate(left) if i not in with_left]
    nulls_left, nulls_right = missing(left, right), missing(right, left)
    rows = [left[i] | right[j] for i, j in pairs]
    if kind in ("left", "full"):
        rows += [r | nulls_right for i, r in enumerate(left) if i not in with_left]
    if kind in ("right", "full"):
        rows += [nulls_left | r for j, r in enumerate(right) if j not in with_right]
    return rows


def bag(rows: Iterable[Row]) -> list[list[tuple[int, object]]]:
    return sorted(([*sorted(r.items())] for r in rows), key=repr)


COLUMNS = frozenset(HERE)
READS = frozenset((*HERE, *THERE))
SIDES: list[tuple[str, str, Callable[..., Join], bool]] = [
    # kind, side of the fold, operator, whether parts of the condition go below
    ("inner", "left", JoinPreserved, True),
    ("inner", "right", JoinPreserved, True),
    ("left", "left", JoinPreserved, False),
    ("left", "right", JoinNullable, True),
    ("right", "left", JoinNullable, True),
    ("right", "right", JoinPreserved, False),
    ("full", "left", JoinNullable, False),
    ("full", "right", JoinNullable, False),
    ("semi", "left", JoinPreserved, True),
    ("semi", "right", JoinExistence, True),
    ("anti", "left", JoinPreserved, False),
    ("anti", "right", JoinExistence, True),
]


def ran(kind: str, side: str, on: Sequence[Term], mine: list[Row], other: list[Row]) -> list[Row]:
    return join(kind, on, mine, other) if side == "left" else join(kind, on, other, mine)


@pytest.mark.costly
@pytest.mark.parametrize(("kind", "side", "operator", "_on"), SIDES)
def test_filters_above_joins(
    kind: str, side: str, operator: Callable[..., Join], _on: bool
) -> None:
    """Copies stay above, too; of the others only what has moved is left."""
    random, here = Random(kind + side), operator(COLUMNS, READS)
    tried = 0
    for _ in range(TRIALS):
        conjunct = random.choice(conditions([K, M]))
        path = (here, Filter((expr(conjunct),)))
        (moved,) = descend(path)
        if isinstance(moved.term, Declined):
            continue
        tried += 1
        mine, other = random_rows(random, HERE), random_rows(random, THERE)
        below = ran(kind, side, [EQUAL], keep(moved.term, mine), other)
        above = keep(conjunct, ran(kind, side, [EQUAL], mine, other))
        assert bag(keep(conjunct, below) if moved.copied else below) == bag(above)
    assert tried or operator is JoinExistence


@pytest.mark.costly
@pytest.mark.parametrize(("kind", "side", "operator", "on"), SIDES)
def test_parts_of_conditions(kind: str, side: str, operator: Callable[..., Join], on: bool) -> None:
    random = Random(kind + side)
    same = True
    for _ in range(TRIALS):
        conjunct = random.choice(conditions([K, M])[1:])
        mine, other = random_rows(random, HERE), random_rows(random, THERE)
        both = [EQUAL, conjunct]
        below = ran(kind, side, both, keep(conjunct, mine), other)
        same &= bag(below) == bag(ran(kind, side, both, mine, other))
        (moved,) = descend((operator(COLUMNS, READS, (expr(conjunct),)),))
        assert moved.copied
        assert moved.term == conjunct
    assert same is on, "the table above says for which sides the lemma holds"


def visible_columns(kind: str, side: str) -> list[Term]:
    """What a filter above may read."""
    if kind in ("semi", "anti"):
        return [K, M] if side == "left" else [L, N]
    return [K, L, M, N]


def mixed(random: Random, columns: Sequence[Term], depth: int = 2) -> Term:
    """A condition on several columns."""
    if depth == 0 or random.random() < 0.3:
        return random.choice(conditions([random.choice(columns)])[1:])
    op = random.choice((Op.SQL_AND, Op.SQL_OR))
    return app(op, *(mixed(random, columns, depth - 1) for _ in range(2)))


@pytest.mark.costly
@pytest.mark.parametrize(("kind", "side", "operator", "matched"), SIDES)
def test_what_conditions_say_of_a_side(
    kind: str, side: str, operator: Callable[..., Join], matched: bool
) -> None:
    """They may read columns of both, of which two are equal where there must be a partner."""
    random = Random(kind + side)
    equal = ((2, K),)
    here = operator(COLUMNS, READS, (), equal if matched else ())
    moved, wrong = 0, False
    for _ in range(2 * TRIALS):
        conjunct = mixed(random, visible_columns(kind, side))
        mine, other = random_rows(random, HERE), random_rows(random, THERE)
        above = keep(conjunct, ran(kind, side, [EQUAL], mine, other))
        found = implied_condition(here, conjunct)
        if found is not None:
            moved += 1
            copied = keep(conjunct, ran(kind, side, [EQUAL], keep(found, mine), other))
            assert bag(copied) == bag(above)
        if not matched:
            twin = implied_condition(operator(COLUMNS, READS, (), equal), conjunct)
            if twin is not None:
                copied = keep(conjunct, ran(kind, side, [EQUAL], keep(twin, mine), other))
                wrong |= bag(copied) != bag(above)
    assert moved or operator is JoinExistence
    # Of a side whose rows are shown alone, other columns say nothing where they may be NULL.
    assert matched or wrong or kind in ("semi", "anti"), "the columns need not be equal"


def test_nulls_that_pass_stop_it() -> None:
    """A row of the other side without a group is shown: below the join it would be, above too."""
    conjunct = app(Op.SQL_IS_NULL, M)
    outer = JoinNullable(COLUMNS, READS)
    assert isinstance(through(outer, conjunct), Declined)
    mine: list[Row] = [{0: 1, 1: 5}]
    other: list[Row] = [{2: 1, 3: 0}]
    wrong = keep(conjunct, join("right", [EQUAL], keep(conjunct, mine), other))
    assert bag(wrong) != bag(keep(conjunct, join("right", [EQUAL], mine, other)))


def test_a_filter_that_reads_nothing_stays_above_an_anti_join() -> None:
    assert isinstance(through(JoinExistence(COLUMNS, READS), SQL_FALSE), Declined)
    mine: list[Row] = [{0: 1, 1: 5}]
    other: list[Row] = [{2: 1, 3: 0}]
    assert join("anti", [app(Op.SQL_EQ, K, L)], other, []) != []
    assert keep(SQL_FALSE, join("anti", [EQUAL], other, mine)) == []


@pytest.mark.parametrize("operator", [JoinPreserved, JoinNullable])
def test_columns_of_the_other_side_stop_it(operator: Callable[..., Join]) -> None:
    for conjunct in (app(Op.SQL_GE, N, int_lit(1)), app(Op.SQL_GE, M, N)):
        assert isinstance(through(operator(COLUMNS, READS), conjunct), Declined)
        on = operator(COLUMNS, READS, (expr(conjunct),))
        assert descend((on,)) == ()


def count_by_class(rows: list[Row]) -> list[Row]:
    """A window: how many rows there are with the same key, beside each."""
    return [r | {4: sum(o[0] == r[0] for o in rows)} for r in rows]


def aggregated(rows: list[Row]) -> list[Row]:
    """GROUP BY the key, shown under another number."""
    keys = list(dict.fromkeys(r[0] for r in rows))
    return [{5: k, 6: sum(r[0] == k for r in rows)} for k in keys]


@pytest.mark.parametrize(
    ("run", "classes"),
    [
        (count_by_class, Partitioned(((0, 0),), frozenset({0}))),
        (aggregated, Partitioned(((5, 0),), frozenset({0, 1}), frozenset({5, 6}))),
    ],
)
def test_filters_on_what_makes_the_classes(
    run: Callable[[list[Row]], list[Row]], classes: Partitioned
) -> None:
    random, ((shown, _),) = Random(7), classes.columns
    for _ in range(TRIALS):
        rows = random_rows(random, HERE)
        conjunct = random.choice(conditions([attribute_var(shown, Option(INT))])[1:])
        term = through(classes, conjunct)
        assert not isinstance(term, Declined)
        assert bag(keep(conjunct, run(rows))) == bag(run(keep(term, rows)))


def test_other_filters_stay_above_classes() -> None:
    window = Partitioned(((0, 0),), frozenset({0}))
    assert isinstance(through(window, app(Op.SQL_GE, M, int_lit(1))), Declined)
    assert isinstance(through(window, SQL_FALSE), Declined), "a total has a row of no rows"
    rows: list[Row] = [{0: 1, 1: 0}, {0: 1, 1: 2}]
    two = app(Op.SQL_GE, M, int_lit(1))
    assert bag(keep(two, count_by_class(rows))) != bag(count_by_class(keep(two, rows)))


def test_unions() -> None:
    random = Random(8)
    union = Union(((7, 0), (8, 1)))
    for _ in range(TRIALS):
        mine, other = random_rows(random, HERE), random_rows(random, (7, 8))
        conjunct = random.choice(conditions([attribute_var(i, Option(INT)) for i in (7, 8)]))
        (moved,) = descend((union, Filter((expr(conjunct),))))
        assert moved.copied
        assert not isinstance(moved.term, Declined)

        def shown(rows: list[Row]) -> list[Row]:
            return [{7: r[0], 8: r[1]} for r in rows]

        above = keep(conjunct, shown(mine) + other)
        assert bag(keep(conjunct, shown(keep(moved.term, mine)) + other)) == bag(above)
    assert isinstance(through(union, app(Op.SQL_GE, M, int_lit(1))), Declined)


def test_a_copy_stays_a_copy_further_up() -> None:
    path = (Union(((7, 0), (8, 1))), Reordered(frozenset()), Filter((expr(SQL_FALSE),)))
    assert [m.copied for m in descend(path)] == [True]


def test_what_is_read_in_between() -> None:
    """Outputs whose values must not change: what joins, windows and sorts read is among them."""

    def read(*path: Operator, top: frozenset[int] = frozenset()) -> frozenset[int]:
        return live(path, frozenset(), top)

    assert read(Reordered(frozenset({1}))) == {1}
    assert read(JoinPreserved(COLUMNS, frozenset({0, 2}))) == {0}
    assert read(JoinPreserved(COLUMNS, frozenset({0, 2})), top=frozenset({1, 3})) == {0, 1}
    assert read(JoinNullable(COLUMNS, frozenset({0, 2})), top=frozenset({1})) == {0, 1}
    assert read(JoinExistence(COLUMNS, frozenset({0, 2})), top=frozenset({1, 3})) == {0}
    assert read(Partitioned(((0, 0),), frozenset({0})), top=frozenset({1})) == {0, 1}
    grouped = Partitioned(((5, 0),), frozenset({0, 1}), frozenset({5, 6}))
    assert read(grouped, top=frozenset({5})) == {0, 1}
    assert read(Union(((7, 0), (8, 1))), top=frozenset({8})) == {1}
    assert visible((grouped,), COLUMNS) == {5, 6}
    assert visible((Union(((7, 0), (8, 1))),), COLUMNS) == {7, 8}
    part = JoinPreserved(
        COLUMNS, frozenset({0, 1}), (Expr(app(Op.SQL_GE, M, int_lit(1)), frozenset({1})),)
    )
    assert read(part) == {0, 1}, "a part of a condition is a copy: what it reads stays as it is"
