from __future__ import annotations

import datetime as dt
import decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from presieve.ir.fold import Column, Field, Fold, Mode, Output, Problem
from presieve.ir.ops import app
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
)
from presieve.ir.terms import FALSE, SQL_TRUE, Op, Scope, Term, Var, int_lit
from presieve.semantics.interpret import (
    Nothing,
    Outcome,
    Raised,
    Result,
    agree,
    keep,
    outcome,
    pushed_outcome,
    run_fold,
)
from presieve.semantics.types import bounds, column, sort_of
from presieve.semantics.values import (
    belongs,
    date_of,
    days_of,
    from_python,
    instant_of,
    microseconds_of,
    to_python,
    units_of,
)

V = Var(Scope.ROW, "v", Option(INT))
ERRORS = Var(Scope.ACC, "errors", INT)
OUT = Var(Scope.OUT, "errors", Option(INT))
IS_ERROR = app(Op.SQL_GE, V, int_lit(10))


def count_errors(raises: Term = FALSE) -> Fold:
    """How many rows have ``v >= 10``."""
    step = app(Op.ITE, app(Op.SQL_IS_TRUE, IS_ERROR), app(Op.INT_ADD, ERRORS, int_lit(1)), ERRORS)
    return Fold(
        "count_errors",
        (Column("v", Option(INT), "bigint"),),
        (),
        (Field("errors", INT, int_lit(0), step),),
        (Output("errors", Option(INT), "bigint", app(Op.SOME, ERRORS)),),
        step_raises=raises,
    )


def problem(op: Op, bound: int, mode: Mode = Mode.GROUPED, raises: Term = FALSE) -> Problem:
    return Problem(count_errors(raises), app(op, OUT, int_lit(bound)), mode)


def rows(*values: int | None) -> list[dict[str, int | None]]:
    return [{"v": v} for v in values]


def test_a_fold_runs_over_its_rows_in_order() -> None:
    assert run_fold(count_errors(), rows(1, 10, None, 11), {}) == (2,)
    assert run_fold(count_errors(), [], {}) == (0,)


def test_a_filter_keeps_what_is_true() -> None:
    assert outcome(problem(Op.SQL_GE, 1), rows(10), {}) == Result((1,))
    assert outcome(problem(Op.SQL_GE, 1), rows(1), {}) == Nothing()
    assert keep(IS_ERROR, rows(1, None, 10), {}) == rows(10)


def test_the_fold_of_no_rows_depends_on_the_mode() -> None:
    assert outcome(problem(Op.SQL_LE, 5), [], {}) == Nothing()
    assert outcome(problem(Op.SQL_LE, 5, Mode.GLOBAL), [], {}) == Result((0,))


def test_groups_that_lose_all_rows_vanish() -> None:
    """The mistake that everybody makes: ``errors <= 5`` is not served by the pre-filter."""
    where = problem(Op.SQL_LE, 5)
    original = outcome(where, rows(1), {})
    pushed = pushed_outcome(where, rows(1), {}, IS_ERROR, where.where)
    assert original == Result((0,))
    assert pushed == Nothing()
    assert not agree(original, pushed)


@given(st.lists(st.none() | st.integers(0, 20), max_size=6))
def test_at_least_one_error_is_pushed_exactly(values: list[int | None]) -> None:
    where = problem(Op.SQL_GE, 1)
    table = rows(*values)
    assert agree(outcome(where, table, {}), pushed_outcome(where, table, {}, IS_ERROR, SQL_TRUE))


def test_errors_may_be_erased_but_not_added() -> None:
    raises = app(Op.SQL_IS_TRUE, app(Op.SQL_LT, V, int_lit(0)))
    where = problem(Op.SQL_GE, 1, raises=raises)
    original = outcome(where, rows(-1, 10), {})
    pushed = pushed_outcome(where, rows(-1, 10), {}, IS_ERROR, where.where)
    assert original == Raised()
    assert pushed == Result((1,))
    assert agree(original, pushed)
    assert not agree(pushed, original)


def test_keys_are_constants_of_the_group() -> None:
    key = Var(Scope.KEY, "k", STRING)
    fold = Fold(
        "key", (), (Column("k", STRING, "string"),), (), (Output("k", STRING, "string", key),)
    )
    same = app(Op.SQL_EQ, key, Var(Scope.OUT, "k", STRING))
    result = outcome(Problem(fold, same, Mode.GROUPED), [{}], {"k": "a"})
    assert result == Result(("a",))
    assert keep(app(Op.SQL_EQ, key, key), [{}], {"k": "a"}) == [{}]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (Result((0.0,)), Result((-0.0,))),
        (Result((1,)), Result((True,))),
        (Result((1,)), Nothing()),
        (Nothing(), Raised()),
    ],
)
def test_outcomes_that_differ(a: Outcome, b: Outcome) -> None:
    assert not agree(a, b)


def test_nan_is_nan() -> None:
    assert agree(Result((float("nan"),)), Result((float("nan"),)))


@given(st.dates())
def test_dates_survive(date: dt.date) -> None:
    assert date_of(days_of(date)) == date
    assert to_python(from_python(date, DATE), DATE) == date


@given(st.datetimes())
def test_timestamps_survive(instant: dt.datetime) -> None:
    assert instant_of(microseconds_of(instant)).replace(tzinfo=None) == instant
    assert to_python(from_python(instant, TIMESTAMP), TIMESTAMP) == instant
    assert to_python(from_python(instant, TIMESTAMP_NTZ), TIMESTAMP_NTZ) == instant


@given(st.integers(1 - 10**38, 10**38 - 1), st.integers(0, 38))
def test_decimals_survive(units: int, scale: int) -> None:
    number = to_python(units, Decimal(scale))
    assert isinstance(number, decimal.Decimal)
    assert number.as_tuple().exponent == -scale
    assert Fraction(number) == Fraction(units, 10**scale)
    assert from_python(number, Decimal(scale)) == units
    assert units_of(number, scale + 3) == units * 1000


def test_decimals_with_more_digits_are_refused() -> None:
    for number in ("1.555", "NaN", "Infinity"):
        with pytest.raises(TypeError):
            from_python(decimal.Decimal(number), Decimal(2))
    assert from_python(decimal.Decimal("1.5500"), Decimal(2)) == 155


def test_types_bound_their_values() -> None:
    assert bounds("decimal(5,2)") == (-99999, 99999)
    assert bounds("tinyint") == (-128, 127)
    assert bounds("double") is None
    assert sort_of("decimal(38,38)") == Decimal(38)


def test_naive_timestamps_are_utc() -> None:
    naive = dt.datetime(2020, 1, 1)
    berlin = naive.replace(tzinfo=dt.timezone(dt.timedelta(hours=1)))
    assert microseconds_of(naive) == microseconds_of(naive.replace(tzinfo=dt.UTC))
    assert microseconds_of(naive) - microseconds_of(berlin) == 3_600_000_000


def test_values_beyond_the_calendar_stay_numbers() -> None:
    assert to_python(2**40, DATE) == 2**40
    assert to_python(2**62, TIMESTAMP) == 2**62


@pytest.mark.parametrize(
    ("value", "sort", "belonging"),
    [
        (True, INT, False),
        (1, BOOL, False),
        (1, FLOAT, False),
        (None, INT, False),
        (None, Option(INT), True),
        ("a", STRING, True),
        (1, DATE, True),
        (150, Decimal(2), True),
        (True, Decimal(2), False),
        (1.5, Decimal(2), False),
        (None, Option(Decimal(2)), True),
    ],
)
def test_values_belong_to_sorts(
    value: bool | int | str | None, sort: object, belonging: bool
) -> None:
    assert belongs(value, sort) is belonging  # type: ignore[arg-type]


def test_python_values_of_another_sort_are_refused() -> None:
    assert from_python(1, FLOAT) == 1.0
    for value, sort in ((1.0, INT), (dt.datetime(2020, 1, 1), DATE), (True, FLOAT), (None, INT)):
        with pytest.raises(TypeError):
            from_python(value, sort)


def test_bytes_are_strings_of_small_characters() -> None:
    """So that their order is the order of characters: unsigned, as in Python and in Spark."""
    assert to_python(from_python(b"\x00\x7f\x80\xff", BINARY), BINARY) == b"\x00\x7f\x80\xff"
    assert belongs("\xff", BINARY)
    assert not belongs("\u0100", BINARY)
    with pytest.raises(TypeError):
        from_python(bytearray(b"a"), BINARY)


def test_columns_of_supported_types_only() -> None:
    nullable, present = column("x", "double", True), column("x", "double", False)
    assert nullable == Column("x", Option(FLOAT), "double")
    assert present == Column("x", FLOAT, "double")
    for type_ in (
        "float",
        "decimal(39,2)",
        "decimal(2,3)",
        "decimal(2,-1)",
        "string collate UTF8_LCASE",
        "char(3)",
        "interval",
    ):
        assert column("x", type_, True) is None
