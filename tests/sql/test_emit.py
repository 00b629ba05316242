from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.sql.predicates import NAMES, predicates
from tests.support.amount import amount

from presieve.errors import Declined, PresieveError
from presieve.ir.ops import app
from presieve.ir.sorts import FLOAT, INT, STRING, TIMESTAMP_NTZ, Option
from presieve.ir.terms import Op, Scope, Term, Var, float_lit, int_lit, lit, string_lit
from presieve.sql.emit import emit, emit_checked
from presieve.sql.parse import parse_predicate
from presieve.sql.quoted_names import InexpressibleError


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("x > 90", "x > 90.0D"),
        ("NOT x = 90", "x <> 90.0D"),
        ("NOT (x IS NULL)", "x IS NOT NULL"),
        ("NOT isnan(x)", "NOT isnan(x)"),
        ("CAST(x AS STRING) = '-0.0' AND b", "CAST(x AS STRING) = '-0.0' AND b"),
        ("NOT CAST(x AS STRING) = '-0.0'", "NOT (CAST(x AS STRING) = '-0.0')"),
        ("l = 1 OR l = 2 OR b", "l IN (1, 2) OR b"),
        ("NOT (l = 1 OR l = 2)", "l NOT IN (1, 2)"),
        ("l = 1 OR b OR l = 2", "l = 1 OR b OR l = 2"),
        ("l = 1 OR NULL = l OR l = NULL", "l = 1 OR NULL = l OR l = NULL"),
        ("(x > 1 AND b) OR s = ''", "(x > 1.0D AND b) OR s = ''"),
        ("x > 1 AND (b OR s = '')", "x > 1.0D AND (b OR s = '')"),
        ("((x > 1 AND b) AND b)", "x > 1.0D AND b AND b"),
        ("(x + y) * 2 > x - (y - 1)", "(x + y) * 2.0D > x - (y - 1.0D)"),
        ("(x < y) = b", "(x < y) = b"),
        ("(x < y) IS NULL", "(x < y) IS NULL"),
        ("l > 2147483648", "l > 2147483648L"),
        ("l > -2147483648", "l > -2147483648"),
        ("x = double('NaN')", "x = double('NaN')"),
        ("x > 1e300", "x > 1e+300D"),
        ("d = DATE '2020-02-29'", "d = DATE '2020-02-29'"),
        ("ts = TIMESTAMP '1990-01-01 00:00:00'", "ts = TIMESTAMP '1990-01-01 00:00:00Z'"),
        ("ts = '1990-01-01 00:00:00.000001'", "ts = TIMESTAMP '1990-01-01 00:00:00.000001Z'"),
        ("r >= X'' AND r < X'00ff'", "r >= unhex('') AND r < unhex('00FF')"),
        ("n = '1990-01-01 00:00:00.5'", "n = TIMESTAMP_NTZ '1990-01-01 00:00:00.500000'"),
        ("hour(ts) = 5 AND minute(n) = 5", "hour(ts) = 5 AND minute(n) = 5"),
        ("month(CAST(ts AS DATE)) = 2", "month(CAST(ts AS DATE)) = 2"),
        (
            "ts = timestamp_micros(-9000000000000000000)",
            "ts = timestamp_micros(-9000000000000000000L)",
        ),
        ("select = 'a' AND `a b``c` > 1", "`select` = 'a' AND `a b``c` > 1.0D"),
        (r"s = 'it''s \\ \u0024{x}'", r"s = 'it\'s \\ \u0024{x}'"),
        (r"s = '\n\u2028é😀'", r"s = '\u000a\u2028é😀'"),
        ("true", "true"),
        ("false", "false"),
    ],
)
def test_text(written: str, text: str) -> None:
    term = parse_predicate(written, NAMES, "UTC")
    assert not isinstance(term, Declined)
    assert emit_checked(term, NAMES, "UTC") == text


@pytest.mark.random
@settings(max_examples=amount(500), deadline=None)
@given(predicates())
def test_every_predicate_parses_back(term: Term) -> None:
    emit_checked(term, NAMES, "America/New_York")  # raises where it does not


@given(st.text())
def test_every_string_parses_back(text: str) -> None:
    emit_checked(app(Op.SQL_EQ, NAMES["s"], string_lit(text)), NAMES, "UTC")


@given(st.text(min_size=1).filter(lambda name: "${" not in name))
def test_every_name_parses_back(name: str) -> None:
    var = Var(Scope.OUT, name, Option(STRING))
    emit_checked(app(Op.SQL_IS_NULL, var), {name: var}, "UTC")


@given(st.floats())
def test_every_double_parses_back(value: float) -> None:
    emit_checked(app(Op.SQL_LE, NAMES["x"], float_lit(value)), NAMES, "UTC")


@pytest.mark.parametrize(
    "term",
    [
        app(Op.PY_LT, NAMES["m"], int_lit(5)),
        app(Op.IS_NONE, NAMES["l"]),
        app(Op.SQL_IS_TRUE, NAMES["b"]),
        app(Op.SQL_LT, NAMES["l"], int_lit(2**63)),
        app(Op.SQL_IS_NULL, Var(Scope.ROW, "${x}", INT)),
        app(Op.SQL_EQ, NAMES["s"], string_lit("\ud800")),
    ],
)
def test_what_has_no_text_of_the_same_meaning_is_refused(term: Term) -> None:
    with pytest.raises(InexpressibleError):
        emit(term, "UTC")


def test_text_that_means_another_column_is_caught() -> None:
    term = app(Op.SQL_LT, NAMES["x"], NAMES["y"])
    with pytest.raises(PresieveError, match="parses as another"):
        emit_checked(term, {"x": NAMES["y"], "y": NAMES["x"]}, "UTC")
    with pytest.raises(PresieveError, match="does not parse"):
        emit_checked(term, {"x": NAMES["x"], "Y": NAMES["y"], "y": NAMES["y"]}, "UTC")


def test_what_clocks_show_is_written_in_a_session_with_their_offset() -> None:
    term = parse_predicate("hour(ts) = 5", NAMES, "+05:30")
    assert not isinstance(term, Declined)
    assert emit_checked(term, NAMES, "+05:30") == "hour(ts) = 5"
    with pytest.raises(PresieveError, match="parses as another"):
        emit_checked(term, NAMES, "UTC")
    with pytest.raises(PresieveError, match="depends on daylight saving time"):
        emit_checked(term, NAMES, "Europe/Berlin")
    alone = app(Op.SQL_EQ, app(Op.WALL_TIME, NAMES["ts"], int_lit(0)), lit(TIMESTAMP_NTZ, 0))
    with pytest.raises(InexpressibleError):
        emit(alone, "UTC")


def test_the_microseconds_of_a_timestamp_ntz_have_no_text() -> None:
    term = app(Op.SQL_GE, app(Op.CLOCK_MICROS, NAMES["n"]), int_lit(0))
    with pytest.raises(InexpressibleError, match="unix_micros of a TIMESTAMP, and none of a TIME"):
        emit(term, "UTC")


def test_options_that_hold_a_value_are_written_like_the_value() -> None:
    term = app(Op.SQL_GE, NAMES["x"], lit(Option(FLOAT), 90.0))
    assert emit_checked(term, NAMES, "UTC") == "x >= 90.0D"
