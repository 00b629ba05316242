"""What the gate decides, from what is known."""

from __future__ import annotations

import pytest

from presieve.cost.decision import (
    LISTED,
    ProvenPrefilter,
    decide,
    keeps,
    list_pays,
    looking_pays,
)
from presieve.cost.model import RowCost, check, cost_of_groups, native, rowwise
from presieve.cost.parquet_scan import Estimate
from presieve.ir.ops import app
from presieve.ir.sorts import FLOAT, INT, STRING, Sort
from presieve.ir.terms import SQL_FALSE, Op, Scope, Term, Var, lit


def above(value: int) -> Term:
    return app(Op.SQL_GT, Var(Scope.ROW, "n", INT), lit(INT, value))


def texts(number: int) -> Term:
    s = Var(Scope.ROW, "s", STRING)
    return app(Op.SQL_OR, *[app(Op.SQL_EQ, s, lit(STRING, f"v{i}")) for i in range(number)])


def one(
    work: RowCost,
    kept: float | None,
    prefilter: Term | None = None,
    *,
    skipped: float = 0.0,
    spares: bool = False,
) -> ProvenPrefilter:
    known = None if kept is None else Estimate(kept, kept, skipped, 1000)
    return ProvenPrefilter(above(1) if prefilter is None else prefilter, work, known, spares)


PYTHON, NATIVE = cost_of_groups(2), native(2, 1)


@pytest.mark.parametrize("work", [PYTHON, NATIVE, rowwise(1)])
def test_a_selective_prefilter_pays(work: RowCost) -> None:
    assert decide([one(work, 0.03)]).pays
    assert decide([one(work, 0.5)]).pays


def test_one_that_keeps_all_does_not_pay_below_an_aggregate_of_sparks() -> None:
    assert not decide([one(NATIVE, 0.998)]).pays
    assert not decide([one(NATIVE, 1.0)]).pays
    assert not decide([one(PYTHON, 1.0)]).pays


def test_a_dear_one_must_drop_more() -> None:
    kept = 0.3
    assert decide([one(NATIVE, kept)]).pays
    assert not decide([one(NATIVE, kept, texts(20))]).pays
    assert decide([one(PYTHON, kept, texts(20))]).pays


def test_texts_are_sorted_for_their_extremes() -> None:
    """What would not pay in a table of groups pays there."""
    assert not decide([one(NATIVE, 0.7, texts(2))]).pays
    assert decide([one(native(2, 1, sorts=True), 0.7, texts(2))]).pays


def test_what_an_aggregate_computes_itself_is_saved() -> None:
    """A count of rows on which a dear condition holds evaluates it anyway."""
    bands = app(Op.SQL_OR, *[above(i) for i in range(25)])
    assert not decide([one(NATIVE, 0.05, bands)]).pays
    assert decide([one(native(2, 1, nodes=76), 0.05, bands)]).pays


def test_row_groups_that_are_skipped_pay_for_it() -> None:
    dear = texts(5)
    assert not decide([one(NATIVE, 0.5, dear)]).pays
    assert decide([one(NATIVE, 0.1, dear, skipped=0.9)]).pays


def test_unknown_is_pushed_below_python_and_where_it_is_cheap() -> None:
    assert decide([one(PYTHON, None)]).pays
    assert decide([one(PYTHON, None, texts(20))]).pays
    assert decide([one(NATIVE, None)]).pays
    assert decide([one(NATIVE, None, texts(1))]).pays
    assert not decide([one(NATIVE, None, texts(20))]).pays


def test_a_function_that_is_not_called_any_more_always_pays() -> None:
    assert decide([one(rowwise(1), 1.0, spares=True)]).pays
    assert not decide([one(rowwise(1), 1.0)]).pays


def test_looking_at_the_data_pays_where_the_prefilter_saves_more() -> None:
    missing = app(Op.SQL_IS_NULL, Var(Scope.ROW, "n", INT))
    assert looking_pays(one(PYTHON, 0.9), missing)
    assert not looking_pays(one(PYTHON, 0.999), missing)
    assert not looking_pays(one(NATIVE, 0.5), missing)
    assert looking_pays(one(NATIVE, 0.1, skipped=0.8), missing)
    assert looking_pays(one(NATIVE, None), missing)


def test_no_row_at_all() -> None:
    assert decide([one(NATIVE, None, SQL_FALSE)]).pays
    assert keeps(one(NATIVE, None, SQL_FALSE)) == "keeps no row"


def test_what_spark_does_once_is_not_done_twice() -> None:
    """A self-join of an aggregate of which one side is filtered."""
    assert not decide([one(NATIVE, 0.01)], copies=2).pays
    assert not decide([one(NATIVE, None)], copies=2).pays
    assert decide([one(PYTHON, 0.01)], copies=2).pays
    assert not decide([one(PYTHON, 0.9)], copies=2).pays


def test_the_same_prefilter_on_both_sides_shares_nothing_less() -> None:
    assert decide([one(NATIVE, 0.01), one(NATIVE, 0.01)], copies=2).pays
    assert not decide([one(NATIVE, 0.9, above(1)), one(NATIVE, 0.9, above(2))], copies=2).pays


@pytest.mark.parametrize(
    ("kept", "skipped", "words"),
    [
        (0.03, 0.0, "keeps about 3 % of rows"),
        (0.0312, 0.0, "keeps about 3.1 % of rows"),
        (0.42, 0.5, "keeps about 42 % of rows (the scan skips 50 %)"),
        (0.998, 0.0, "keeps about 99.8 % of rows"),
        (0.0004, 0.0, "keeps about 0.04 % of rows"),
        (0.0, 1.0, "keeps less than 0.01 % of rows (the scan skips 100 %)"),
        (None, 0.0, "how many rows it keeps is unknown"),
    ],
)
def test_words(kept: float | None, skipped: float, words: str) -> None:
    assert keeps(one(NATIVE, kept, skipped=skipped)) == words


@pytest.mark.parametrize(("sort", "value"), [(INT, 1), (FLOAT, 1.0), (STRING, "a")])
def test_every_operator_costs(sort: Sort, value: int | float | str) -> None:
    v = Var(Scope.ROW, "v", sort)
    single = app(Op.SQL_LT, v, lit(sort, value))
    double = app(Op.SQL_AND, single, app(Op.SQL_GE, v, lit(sort, value)))
    assert 0 < check(single) < check(double)


def test_a_text_is_made_into_an_object_once() -> None:
    first, second = check(texts(1)), check(texts(2))
    assert second - first < first / 2
    assert not decide([one(native(2, 1, sorts=True), 0.9, texts(1))]).pays


def test_texts_are_dearer_than_numbers() -> None:
    assert check(texts(2)) > 3 * check(app(Op.SQL_OR, above(1), above(2)))


@pytest.mark.parametrize("streamed", [False, True])
def test_a_list_of_a_large_group_stays_out_of_memory(streamed: bool) -> None:
    assert list_pays(LISTED, streamed=streamed).pays
    large = list_pays(2e9, streamed=streamed)
    assert not large.pays
    assert "2,000,000,000 rows" in large.reason


def test_where_no_size_is_known_a_list_takes_the_place_of_a_table() -> None:
    assert list_pays(None, streamed=False).pays
    assert not list_pays(None, streamed=True).pays
