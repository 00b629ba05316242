"""A lifted fold gives what the real function gives, on small groups full of odd values."""

from __future__ import annotations

import pytest
from tests.lift.execution import container_folds, folds
from tests.lift.execution.agreement import Case, assert_agrees
from tests.lift.models import decimal_folds
from tests.support import default_folds
from tests.support.lifting import columns

from presieve.lift import Form, FrameFunction, RowClass, SeriesFunction

CLASSES = [
    Case(folds.Top2, "team string, score double", "first double, second double", "team"),
    Case(folds.Top2, "score bigint", "first bigint, second bigint"),
    Case(folds.Top2, "score string", "first string, second string"),
    Case(folds.Top2, "score date", "first date, second date"),
    Case(folds.Top2, "score binary", "first binary, second binary"),
    Case(folds.Truth, "i bigint, x double, s binary, f boolean, d date", "n bigint"),
    Case(
        folds.Events,
        "action string, ts timestamp",
        "time bigint, price bigint, first timestamp, last timestamp",
    ),
    Case(
        folds.Events,
        "action string, ts timestamp_ntz",
        "time bigint, price bigint, first timestamp_ntz, last timestamp_ntz",
    ),
    Case(folds.FirstNonNull, "v double", "f double"),
    Case(
        folds.ConstantFirst,
        "t timestamp NOT NULL, x double NOT NULL, n bigint NOT NULL",
        "o bigint",
    ),
    Case(folds.FirstNonNull, "v boolean", "f boolean"),
    Case(folds.Streak, "up boolean", "s int"),
    Case(folds.AnyBig, "v double", "n bigint"),
    Case(folds.AnyBig(-0.0), "v double", "n bigint"),
    Case(folds.Raises, "v bigint", "n bigint"),
    Case(folds.ArgMin, "n int, s string", "n int, s string"),
    Case(folds.Arithmetic, "a int, b int", "n bigint, x double"),
    Case(folds.Logic, "a int, s string, f boolean", "n bigint"),
    Case(folds.Lexicographic, "n int NOT NULL, s string NOT NULL", "n int, s string"),
    Case(folds.Truth, "i bigint, x double, s string, f boolean, d date", "n bigint"),
    Case(folds.Absolute, "x double, n tinyint", "x double, n bigint"),
    Case(folds.Membership, "s string, n int", "n bigint"),
    Case(folds.Top2, "score decimal(10,2)", "first decimal(10,2), second decimal(12,4)"),
    Case(
        decimal_folds.Cheapest,
        "price decimal(38,10) NOT NULL, name string NOT NULL",
        "price decimal(38,10), name string",
    ),
    Case(decimal_folds.Raising, "price decimal(5,2)", "n bigint"),
    Case(container_folds.Items, "n int, s string", "count bigint, least int, text string"),
    Case(container_folds.NumberedItems, "n int", "points bigint, last string, seen bigint"),
    Case(container_folds.Nested, "s string", "a bigint, b bigint, s string, n bigint"),
    Case(container_folds.ListOut, "n int", "count bigint, most int"),
    Case(container_folds.TupleOfLists, "n int", "a bigint, b bigint"),
    Case(container_folds.TupleBefore, "n int", "a bigint, b bigint"),
    Case(container_folds.Swap, "s string", "a bigint, b bigint"),
    Case(container_folds.InTuple, "n int", "nones bigint, others bigint, last int"),
    Case(container_folds.FixedKeys, "s string", "a bigint, b bigint"),
    Case(container_folds.AskedKeys, "s string", "a bigint, b bigint"),
    Case(container_folds.SomeKeys, "s string", "a bigint, b bigint, has boolean, any boolean"),
    Case(container_folds.MissingKey, "s string", "a bigint, b bigint, has boolean, any boolean"),
    Case(container_folds.Seen, "s string", "a boolean, both boolean, c boolean"),
    Case(container_folds.SeenRequired, "s string", "a boolean, b boolean, c boolean"),
    Case(
        container_folds.Stages, "s string", "n bigint, other bigint, both boolean, differs boolean"
    ),
    Case(container_folds.Union, "s string", "n bigint, m bigint, part boolean, any boolean"),
    Case(container_folds.Numbers, "n int, x double", "a boolean, b boolean, c boolean"),
    Case(
        container_folds.Flags,
        "s string",
        "f bigint, third boolean, low boolean, more bigint, big boolean",
    ),
    Case(container_folds.Halved, "s string", "f bigint, five boolean, odd boolean"),
    Case(container_folds.Odd, "s string", "f bigint, five boolean, any boolean"),
    Case(
        container_folds.FlagsAndMore, "s string, n int", "a boolean, b boolean, f int, odd boolean"
    ),
    *(
        Case(fold, "s string, n int", "count bigint, number bigint, there boolean")
        for fold in (
            default_folds.CountsByLevel,
            default_folds.Asked,
            default_folds.AskedOnSomePaths,
            default_folds.Lists,
            default_folds.SetDefault,
            default_folds.SetDefaultOpen,
            default_folds.Counted,
            default_folds.CountedItems,
        )
    ),
]
SERIES = [
    Case(folds.top2_second, "score double", "second double"),
    Case(folds.top2_second, "score bigint", "second bigint"),
    Case(folds.top2_second, "score smallint", "second int"),
    Case(folds.top2_second, "score timestamp", "second timestamp"),
    Case(folds.top3, "score double NOT NULL", "c double"),
    Case(folds.count_errors, "level string", "n int"),
    Case(folds.sum_positive, "v double", "t double"),
    Case(folds.sum_positive_ints, "n bigint", "t bigint"),
    Case(folds.sum_positive_ints, "n tinyint", "t tinyint"),
    Case(folds.weekend_revenue, "day string, price double, qty double", "t double"),
    Case(folds.size, "v int", "n bigint"),
    Case(folds.mean, "v double", "m double"),
    Case(folds.between, "v double", "b boolean"),
    Case(folds.latest_before, "ts timestamp", "b timestamp"),
    Case(folds.top2_second, "score binary NOT NULL", "second binary"),
    Case(folds.packets, "b binary", "o binary"),
    Case(folds.least_bytes, "b binary", "o binary"),
    Case(folds.packets, "b string", "o binary"),
    Case(folds.top2_second, "score timestamp_ntz", "second timestamp_ntz"),
    Case(folds.latest_before, "ts timestamp_ntz", "b timestamp_ntz"),
    Case(folds.since_start, "ts timestamp", "b timestamp"),
    Case(folds.since_start, "ts timestamp_ntz", "b timestamp_ntz"),
    Case(folds.marked, "ts timestamp", "n int"),
    Case(folds.marked, "ts timestamp_ntz", "n int"),
    Case(folds.dates, "d date", "b date"),
    Case(folds.ratio, "n int, k int", "b double"),
    Case(folds.last_big, "v double, n bigint NOT NULL", "k bigint"),
    Case(folds.share, "f boolean", "s double"),
    Case(decimal_folds.highest, "price decimal(10,2)", "best decimal(10,2)"),
    Case(decimal_folds.highest, "price decimal(38,18)", "best decimal(38,18)"),
    Case(decimal_folds.highest, "price decimal(5,0)", "best decimal(38,2)"),
    Case(decimal_folds.from_zero, "price decimal(10,2)", "best decimal(10,2)"),
    Case(decimal_folds.wide, "a decimal(10,2), b decimal(8,4)", "best decimal(12,4)"),
    Case(decimal_folds.wide, "a decimal(20,10), b decimal(5,0)", "best decimal(30,12)"),
    Case(decimal_folds.against, "price decimal(10,2)", "n bigint"),
    Case(decimal_folds.against, "price decimal(38,20)", "n bigint"),
    Case(decimal_folds.against, "price decimal(3,0)", "n bigint"),
    Case(folds.missing, "x double, s string, f boolean", "n int"),
    Case(container_folds.kinds, "s string", "n bigint"),
    Case(default_folds.column_counts, "s string", "n bigint"),
    Case(default_folds.number_counts, "n int NOT NULL", "n bigint"),
    Case(default_folds.number_counts, "n smallint", "n bigint"),
    Case(default_folds.looped, "s string, n int NOT NULL", "n bigint"),
    Case(container_folds.last_items, "s string, n int NOT NULL", "o string"),
]
FRAMES = [
    Case(
        folds.top2_itertuples,
        "team string, score double",
        "team string, first double, second double",
        "team",
        True,
    ),
    Case(
        folds.top2_iterrows,
        "team string, score double, n bigint",
        "team string, first double, second double",
        "team",
    ),
    Case(
        folds.top2_iterrows,
        "team string, score bigint, x double",
        "team string, first bigint, second bigint",
        "team",
    ),
    Case(
        folds.top2_zip,
        "team string, score double",
        "team string, first double, second double",
        "team",
    ),
    Case(
        folds.events,
        "ticker string, action string, ts timestamp",
        "time bigint, price bigint, first timestamp, last timestamp",
        "ticker",
    ),
    Case(
        folds.trades,
        "symbol string, epoch bigint, price double",
        "open_price double, open_epoch bigint, close_price double, close_epoch bigint",
        "symbol",
    ),
    Case(folds.max_and_size, "g int, v double", "best double, n bigint", "g"),
    Case(decimal_folds.by_key, "p decimal(6,2)", "k decimal(6,2), n int", "p", True),
    Case(decimal_folds.rows, "g string, p decimal(6,2)", "best decimal(6,2)", "g"),
    Case(
        folds.all_ways, "team string, n int, b boolean, d date NOT NULL", "o string, n int", "team"
    ),
    Case(
        folds.key_types, "k bigint, d date, f boolean", "k bigint, d date, f boolean", "k,d,f", True
    ),
    Case(
        folds.key_types,
        "k bigint, d binary, f boolean",
        "k bigint, d binary, f boolean",
        "k,d,f",
        True,
    ),
    Case(
        folds.key_types,
        "k bigint, d timestamp_ntz, f boolean",
        "k bigint, d timestamp_ntz, f boolean",
        "k,d,f",
        True,
    ),
    Case(
        folds.events,
        "ticker string, action string, ts timestamp_ntz",
        "time bigint, price bigint, first timestamp_ntz, last timestamp_ntz",
        "ticker",
    ),
]


def form_of(case: Case) -> Form:
    """How the case is written."""
    if case in CLASSES:
        return RowClass()
    if case in FRAMES:
        return FrameFunction(case.takes_key)
    return SeriesFunction(tuple(c.name for c in columns(case.schema)))


@pytest.mark.costly
@pytest.mark.random
@pytest.mark.parametrize("case", [*CLASSES, *SERIES, *FRAMES], ids=lambda c: c.name)
def test_fold_agrees_with_python(case: Case) -> None:
    assert_agrees(case, form_of(case))
