"""Columns with nasty values, and a Hypothesis strategy for predicates over them."""

from __future__ import annotations

import datetime as dt

from hypothesis import strategies as st

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
    Sort,
    strip,
)
from presieve.ir.terms import Lit, Op, Scope, Term, Var, lit, none_lit
from presieve.semantics.types import sort_of
from presieve.semantics.values import Value, days_of, microseconds_of, text_of

DDL = (
    "b boolean, t tinyint, h smallint, i int, l bigint, m bigint NOT NULL, x double, "
    "y double NOT NULL, s string, d date, ts timestamp, n timestamp_ntz, r binary, "
    "`select` string, `a b``c` double, "
    "p decimal(10,2), q decimal(38,2) NOT NULL, w decimal(38,18), z decimal(20,0)"
)

TYPES: dict[str, str] = {
    "b": "boolean",
    "t": "tinyint",
    "h": "smallint",
    "i": "int",
    "l": "bigint",
    "m": "bigint",
    "x": "double",
    "y": "double",
    "s": "string",
    "d": "date",
    "ts": "timestamp",
    "n": "timestamp_ntz",
    "r": "binary",
    "select": "string",
    "a b`c": "double",
    "p": "decimal(10,2)",
    "q": "decimal(38,2)",
    "w": "decimal(38,18)",
    "z": "decimal(20,0)",
}
NOT_NULL = ("m", "y", "q")


def _variable(name: str, type_: str) -> Var:
    sort = sort_of(type_)
    assert sort is not None
    return Var(Scope.ROW, name, sort if name in NOT_NULL else Option(sort))


NAMES: dict[str, Var] = {name: _variable(name, type_) for name, type_ in TYPES.items()}


def _day(*args: int) -> int:
    return days_of(dt.date(*args))


def _instant(*args: int) -> int:
    return microseconds_of(dt.datetime(*args))  # type: ignore[arg-type]


INTS = [0, 1, -1, 5, 127, -128, 2**15 - 1, -(2**15), 2**31 - 1, -(2**31), 2**31]
INTS += [2**53 - 1, 2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63)]
FLOATS = [0.0, -0.0, 1.0, -1.0, 5.0, 90.0, 0.1, 5e-324, 1.7976931348623157e308, float("nan")]
FLOATS += [float("inf"), float("-inf"), 2.0**53 - 1, 2.0**53, 2.0**53 + 2, 1e22, -2.5]
STRINGS = ["", "a", "A", "ab", "é", "e\u0301", "😀", "\uffff", "it's", '"', "\\", "\\%", "a\nb"]
STRINGS += ["\0", "\0001", "${x}", "$", " a", "ß", "_", "\u2028", "\\'", "--", "/*", "`", "''"]
BINARIES = ["", "\0", "\0\0", "a", "a\0", "\x7f", "\x80", "\x80\0", "\xff", "\xc3\xa9", "it's"]
DATES = [_day(1, 1, 1), _day(1900, 2, 28), _day(1969, 12, 31), 0, _day(2020, 2, 29)]
DATES += [_day(2262, 4, 12), _day(9999, 12, 31)]
TIMESTAMPS = [
    _instant(1, 1, 1),
    _instant(1900, 1, 1),
    -1,
    0,
    1,
    _instant(2020, 2, 29, 23, 59, 59, 1),
]
TIMESTAMPS += [_instant(1582, 10, 10), _instant(2262, 4, 11, 23, 47, 16, 854775)]
TIMESTAMPS += [_instant(9999, 12, 31, 23, 59, 59, 999999)]
UNITS = [0, 1, -1, 5, 50, -250, 9050, 10**10 - 1, 1 - 10**10, 10**10, 2**53 + 1, 2**63]
UNITS += [10**18, 10**20 - 1, 1 - 10**20, 10**28 + 1, 10**38 - 1, 1 - 10**38]

NASTY: dict[Sort, list[Value]] = {
    BOOL: [True, False],
    INT: list(INTS),
    FLOAT: list(FLOATS),
    STRING: list(STRINGS),
    BINARY: list(BINARIES),
    DATE: list(DATES),
    TIMESTAMP: list(TIMESTAMPS),
    TIMESTAMP_NTZ: list(TIMESTAMPS),
    **{Decimal(scale): list(UNITS) for scale in (2, 18, 0)},
}
RANDOM: dict[Sort, st.SearchStrategy[Value]] = {
    BOOL: st.booleans(),
    INT: st.integers(-(2**63), 2**63 - 1),
    FLOAT: st.floats(width=64),
    STRING: st.text(max_size=4),
    BINARY: st.binary(max_size=4).map(text_of),
    DATE: st.integers(-(2**31), 2**31 - 1),
    TIMESTAMP: st.integers(-(2**63), 2**63 - 1),
    TIMESTAMP_NTZ: st.integers(min(TIMESTAMPS), max(TIMESTAMPS)),
    **{Decimal(scale): st.integers(1 - 10**38, 10**38 - 1) for scale in (2, 18, 0)},
}


@st.composite
def _literals(draw: st.DrawFn, sort: Sort, *, null: bool = True) -> Lit:
    if null and draw(st.integers(0, 9)) == 0:
        return none_lit(sort)
    value = draw(st.sampled_from(NASTY[sort]) | RANDOM[sort])
    assert not isinstance(value, tuple)
    return lit(Option(sort) if draw(st.integers(0, 9)) == 0 else sort, value)


def _columns(sort: Sort) -> st.SearchStrategy[Term]:
    return st.sampled_from([v for v in NAMES.values() if strip(v.sort) == sort])


ARITHMETIC = (Op.SQL_FLOAT_ADD, Op.SQL_FLOAT_SUB, Op.SQL_FLOAT_MUL)
COMPARISONS = (
    Op.SQL_EQ,
    Op.SQL_EQ_NULLSAFE,
    Op.SQL_LT,
    Op.SQL_LE,
    Op.SQL_GT,
    Op.SQL_GE,
)


def _floats() -> st.SearchStrategy[Term]:
    return st.recursive(
        _columns(FLOAT) | _literals(FLOAT),
        lambda inner: st.builds(app, st.sampled_from(ARITHMETIC), inner, inner),
        max_leaves=4,
    )


def _sums() -> st.SearchStrategy[Term]:
    """Integers computed of columns and literals."""
    column, literal = _columns(INT), _literals(INT, null=False)
    ops = st.sampled_from((Op.SQL_INT_ADD, Op.SQL_INT_SUB))
    few = st.integers(-99, 99).map(lambda n: lit(INT, n))
    return (
        st.builds(app, ops, column, column)
        | st.builds(app, ops, column, literal)
        | st.builds(app, ops, literal, column)
        | st.builds(app, ops, st.builds(app, ops, column, column), column)
        | st.builds(app, ops, column, st.builds(app, ops, column, column))
        | st.builds(app, st.just(Op.SQL_INT_MUL), column, few)
        | st.builds(app, ops, st.builds(app, st.just(Op.SQL_INT_MUL), few, column), column)
        | st.builds(app, st.just(Op.SQL_INT_MUL), st.builds(app, ops, column, column), few)
    )


def values(sort: Sort) -> st.SearchStrategy[Term]:
    """Terms of a sort: columns, literals and, of doubles and integers, arithmetic."""
    if sort == INT:
        return _columns(INT) | _literals(INT) | _sums()
    return _floats() if sort == FLOAT else _columns(sort) | _literals(sort)


@st.composite
def _comparisons(draw: st.DrawFn) -> Term:
    sort = draw(st.sampled_from([FLOAT, FLOAT, *NASTY]))
    op = draw(st.sampled_from(COMPARISONS))
    return app(op, draw(values(sort)), draw(values(sort)))


@st.composite
def _lists(draw: st.DrawFn) -> Term:
    """What becomes an IN list."""
    sort = draw(st.sampled_from(list(NASTY)))
    subject = draw(_sums() if sort == INT and draw(st.booleans()) else _columns(sort))
    options = draw(st.lists(_literals(sort), min_size=1, max_size=4))
    return app(Op.SQL_OR, *(app(Op.SQL_EQ, subject, option) for option in options))


def _atoms() -> st.SearchStrategy[Term]:
    any_value = st.sampled_from(list(NASTY)).flatmap(values)
    return (
        _comparisons()
        | _comparisons()  # more often than the rest
        | _lists()
        | any_value.map(lambda v: app(Op.SQL_IS_NULL, v))
        | _floats().map(lambda v: app(Op.SQL_IS_NAN, v))
        | values(BOOL)
    )


def _compounds(inner: st.SearchStrategy[Term]) -> st.SearchStrategy[Term]:
    several = st.lists(inner, min_size=1, max_size=3)
    return (
        inner.map(lambda p: app(Op.SQL_NOT, p))
        | inner.map(lambda p: app(Op.SQL_IS_NULL, p))
        | several.map(lambda ps: app(Op.SQL_AND, *ps))
        | several.map(lambda ps: app(Op.SQL_OR, *ps))
        | st.builds(app, st.sampled_from(COMPARISONS), inner, inner)
    )


def predicates() -> st.SearchStrategy[Term]:
    """Three-valued predicates over the columns, of every form that SQL text can have."""
    return st.recursive(_atoms(), _compounds, max_leaves=6)
