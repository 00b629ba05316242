# SPDX-License-Identifier: Apache-2.0
"""Trusted. How a file scan may treat rows differently from the filter above it.

Spark hands comparisons of a column with a constant to the scan, which skips row groups by their
statistics and dictionaries. The filter itself stays above the scan, so it does not matter if a scan
keeps too much. It can also keep too little (Spark 4.3, Parquet):

- Files written by other engines may have statistics without their NaNs. Given ``x > 5`` or
  ``x <> 5`` the scan skips row groups whose minimum and maximum fail the test. The NaNs in them
  are lost, although the filter keeps NaN (it is above every number). A disjunction with ``isnan``
  in it is not given to the scan (``DataSourceStrategy.translateFilter`` has no ``IsNaN``).
- In a dictionary -0.0 is below 0.0 and not equal to it (``Double.compare``): for ``x >= 0.0`` the
  scan loses -0.0. ``x >= -0.0`` and ``x <= 0.0`` mean the same to the filter, and lose neither.
- Days and instants pass through ``java.sql.Date`` and ``Timestamp``, whose calendar differs
  before 1582-10-15, and then perhaps through the file's own (``datetimeRebaseMode``), with other
  time zones before 1900. Old constants are then shifted, or the scan raises.
- In a column of milliseconds a constant is cut to milliseconds, also in ``<`` and ``<>``.
- A column of 8 or 16 bits may hold larger integers in the file, which the scan compares as they
  are and Spark cuts. :data:`NARROW` has these types: :func:`may_lose` and :func:`losses` see
  values, not types, and leave them to their callers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TypeGuard

from msgspec import Struct

from presieve.ir.ops import app, conjunction, disjunction, negate, sql_conjuncts, sql_disjuncts
from presieve.ir.sorts import DATE, FLOAT, TIMESTAMP, Option, strip
from presieve.ir.terms import FALSE, TRUE, App, Lit, Op, Scope, Term, Var, float_lit, literal_value
from presieve.ir.walk import subterms

_ARITHMETIC = {Op.SQL_FLOAT_ADD, Op.SQL_FLOAT_SUB, Op.SQL_FLOAT_MUL, Op.SQL_FLOAT_DIV}

GREGORIAN = -141427
"""1582-10-15, the first day with the same date in both calendars, in days from 1970."""
STANDARD_TIME = -2_177_452_800_000_000
"""1901-01-01, in microseconds from 1970: a year after the last difference between time zones."""
_MILLISECOND = 1000

_SIGNS = {
    Op.SQL_EQ: "=",
    Op.SQL_EQ_NULLSAFE: "=",
    Op.SQL_LT: "<",
    Op.SQL_LE: "<=",
    Op.SQL_GT: ">",
    Op.SQL_GE: ">=",
}
_NEGATED = {"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_MIRRORED = {"=": "=", "<>": "<>", "<": ">", ">": "<", "<=": ">=", ">=": "<="}


_LOSSLESS = re.compile(r"boolean|int|bigint|string|binary|decimal\(.*")


NARROW = ("tinyint", "smallint")
"""Types for which a file may hold more bits than are read: any comparison may lose rows."""


def may_lose_by(type_: str) -> bool:
    """Whether a scan may lose rows by comparing a column or field of this Spark type."""
    return _LOSSLESS.fullmatch(type_) is None


def may_lose(prefilter: Term) -> Term:
    """The condition, over ROW and KEY, on rows that a scan may drop although the pre-filter keeps
    them.

    These are rows with NaN in a column of a conjunct that the scan can be given, rows with a zero
    in a column that is compared with the wrong zero, and any row if the scan may shift a constant.
    """
    parts = sql_conjuncts(prefilter)
    if any(_is_moved(c) for part in parts for c in _comparisons(part)):
        return TRUE
    scanned = [
        (part, v)
        for part in parts
        for v in _scanned_columns(part)
        if v not in set(_only_null_tested(part))
    ]
    zeros = [v for part, v in scanned for c in _comparisons(part) if c.left == v and _loses_zero(c)]
    doubles = dict.fromkeys(v for _, v in scanned)
    return disjunction([*map(_is_nan, doubles), *map(_is_zero, dict.fromkeys(zeros))])


def loses(prefilter: Term) -> bool:
    """Whether a scan may drop a row that the pre-filter keeps; over ROW and KEY."""
    return may_lose(prefilter) != FALSE and any(True for _ in losses(prefilter))


class Loss(Struct, frozen=True):
    """A comparison of a column with a constant by which a scan may drop a row. Without a ``sign``,
    it may be any comparison with the column.
    """

    column: Term
    sign: str = ""
    constant: Term | None = None


def losses(condition: Term, beside: Term = TRUE) -> Iterator[Loss]:
    """Yield the comparisons by which a scan that is handed the condition may drop a row that passes
    both the condition and the conditions evaluated ``beside`` it; over ROW and KEY.
    """
    parts = sql_conjuncts(condition)
    alone = (c for part in (*parts, *sql_conjuncts(beside)) for c in _sole_comparison(part))
    bounded = {c.left for c in alone if c.sign in _OF_NO_NAN}
    for part in parts:
        suspects = set(_scanned_columns(part)) - bounded
        for c in _comparisons(part):
            if c.left in suspects or _is_moved(c) or _loses_zero(c):
                yield Loss(c.left, c.sign, c.constant)
        reported = {c.left for c in _comparisons(part)} | set(_only_null_tested(part))
        yield from map(Loss, suspects - reported)


def _only_null_tested(condition: Term) -> Iterator[Term]:
    """The columns that are only tested for NULL; statistics count all NULLs."""
    operators: dict[Term, set[Op]] = {}
    for node in subterms(condition):
        if isinstance(node, App):
            for a in node.args:
                operators.setdefault(a, set()).add(node.op)
    return (term for term, ops in operators.items() if ops == {Op.SQL_IS_NULL})


_OF_NO_NAN = ("<", "<=", "=")
"""Comparisons with a number that NaN, which is above all numbers, does not pass."""


def _sole_comparison(conjunct: Term) -> Iterator[_Comparison]:
    """Yield the comparison that is the whole conjunct; a double must be compared with a number."""
    inner = conjunct
    if isinstance(conjunct, App) and conjunct.op is Op.SQL_NOT:
        (inner,) = conjunct.args
    if isinstance(inner, App) and inner.op in _SIGNS and inner.op is not Op.SQL_EQ_NULLSAFE:
        for sole in _comparisons(conjunct):
            if literal_value(sole.constant) == literal_value(sole.constant):  # it is not NaN
                yield sole


class _Comparison(Struct, frozen=True):
    """``left sign constant``, as the scan gets it: without NOT, and with the constant right."""

    sign: str
    left: Term
    constant: Lit


def _comparisons(term: Term, *, negated: bool = False) -> Iterator[_Comparison]:
    """Yield every comparison with a constant in a predicate, with NOT pushed down to it."""
    match term:
        case App(Op.SQL_NOT, (inner,)):
            yield from _comparisons(inner, negated=not negated)
        case App(Op.SQL_AND | Op.SQL_OR, args):
            for arg in args:
                yield from _comparisons(arg, negated=negated)
        case App(op, (a, b)) if op in _SIGNS:
            sign = _NEGATED[_SIGNS[op]] if negated else _SIGNS[op]
            if isinstance(b, Lit):
                yield _Comparison(sign, a, b)
            if isinstance(a, Lit):
                yield _Comparison(_MIRRORED[sign], b, a)
            yield from _either_way((a, b))
        case App(_, args):
            yield from _either_way(args)


def _either_way(terms: tuple[Term, ...]) -> Iterator[_Comparison]:
    """Yield the comparisons inside compared truth values: Spark may simplify such a comparison to
    the truth value or its negation.
    """
    for term in terms:
        yield from _comparisons(term)
        yield from _comparisons(term, negated=True)


def _is_moved(comparison: _Comparison) -> bool:
    """Whether the scan may compare with another day or instant, in a way that loses rows."""
    value = literal_value(comparison.constant)
    if not isinstance(value, int):
        return False
    match strip(comparison.constant.sort):
        case sort if sort == DATE:
            return value < GREGORIAN
        case sort if sort == TIMESTAMP:
            cut = value % _MILLISECOND != 0 and comparison.sign in ("<", "<>")
            return cut or value < STANDARD_TIME
    return False


def _loses_zero(comparison: _Comparison) -> bool:
    """Whether a zero passes the filter, but not the check against its dictionary."""
    constant = comparison.constant
    if strip(constant.sort) != FLOAT or literal_value(constant) != 0:
        return False
    wrong = {">=": 0.0, "<=": -0.0}
    if comparison.sign in wrong:
        return constant.value == float_lit(wrong[comparison.sign]).value
    return comparison.sign == "="


def is_scanned(term: Term) -> bool:
    """Whether this is a column, or a field of a struct, whose comparisons a scan may receive."""
    if isinstance(term, App):
        return term.op is Op.STRUCT_FIELD and is_scanned(term.args[0])
    return isinstance(term, Var) and term.scope in (Scope.ROW, Scope.KEY)


def _scanned_columns(conjunct: Term) -> Iterator[Term]:
    """Yield the columns and fields of doubles whose comparisons the scan may receive.

    A disjunct ``isnan(x)`` of its own keeps the whole disjunction from the scan, and no rewriting
    in Spark can factor a comparison on ``x`` out of it (BooleanSimplification).
    """
    guards = {d.args[0] for d in sql_disjuncts(conjunct) if _tests_nan(d)}
    operators = (n for n in subterms(conjunct) if isinstance(n, App))
    # The scan never receives isnan and arithmetic.
    compared = [n for n in operators if not _tests_nan(n) and n.op not in _ARITHMETIC]
    for v in dict.fromkeys(a for n in compared for a in n.args if is_scanned(a)):
        if strip(v.sort) == FLOAT and v not in guards:
            yield v


def _tests_nan(term: Term) -> TypeGuard[App]:
    return isinstance(term, App) and term.op is Op.SQL_IS_NAN


def _is_nan(v: Term) -> Term:
    return _holds_if_present(v, lambda x: app(Op.IS_NAN, x))


def _is_zero(v: Term) -> Term:
    return _holds_if_present(v, lambda x: app(Op.PY_EQ, x, float_lit(0.0)))


def _holds_if_present(v: Term, test: Callable[[Term], Term]) -> Term:
    """Whether a column is not NULL and passes the test."""
    if not isinstance(v.sort, Option):
        return test(v)
    return conjunction([negate(app(Op.IS_NONE, v)), test(app(Op.GET, v))])
