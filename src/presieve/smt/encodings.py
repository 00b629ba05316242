# SPDX-License-Identifier: Apache-2.0
"""Trusted. Encodings of values, and how to compare them and choose among them.

See :mod:`presieve.smt.encode`, which writes terms with these.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from presieve.ir.sorts import BOOL, Sort, strip
from presieve.ir.terms import Op
from presieve.smt import floats
from presieve.smt.floats import FloatEnc
from presieve.smt.smtlib import s_and, s_eq, s_implies, s_ite, s_not, s_or


@dataclass(frozen=True, slots=True)
class OptionEnc:
    """Whether a value is present, and the value (any value if it is absent)."""

    present: str
    value: Enc


@dataclass(frozen=True, slots=True)
class TupleEnc:
    """The encodings of the components."""

    items: tuple[Enc, ...]


Enc: TypeAlias = str | FloatEnc | OptionEnc | TupleEnc

ORDER_OPS = {
    Op.PY_LT: "<",
    Op.PY_LE: "<=",
    Op.PY_GT: ">",
    Op.PY_GE: ">=",
    Op.SQL_LT: "<",
    Op.SQL_LE: "<=",
    Op.SQL_GT: ">",
    Op.SQL_GE: ">=",
}
"""Comparisons by order, as SMT-LIB writes them."""


def as_text(enc: Enc) -> str:
    """The encoding of a value that is neither optional, composed nor a double."""
    assert isinstance(enc, str)
    return enc


def order(op: Op, a: Enc, b: Enc, *, sql: bool) -> str:
    """Compare two values by order; SQL puts NaN above every number, Python gives it no order."""
    sign = ORDER_OPS[op]
    if isinstance(a, FloatEnc) and isinstance(b, FloatEnc):
        return floats.sql_order(sign, a, b) if sql else floats.py_order(sign, a, b)
    return f"({sign} {as_text(a)} {as_text(b)})"


def as_number(enc: Enc, sort: Sort) -> Enc:
    """Encode SQL booleans as numbers, which orders them: false is below true."""
    return f"(ite {as_text(enc)} 1 0)" if strip(sort) == BOOL else enc


def kleene(pairs: list[OptionEnc], *, absorbing: bool) -> OptionEnc:
    """AND (absorbing false) and OR (absorbing true) of three-valued arguments."""
    values = [as_text(p.value) for p in pairs]
    hits = [
        s_and([p.present, v if absorbing else s_not(v)]) for p, v in zip(pairs, values, strict=True)
    ]
    hit = s_or(hits)
    present = s_or([hit, s_and(p.present for p in pairs)])
    return OptionEnc(present, hit if absorbing else s_not(hit))


def choose(condition: str, a: Enc, b: Enc) -> Enc:
    """If-then-else on encodings of one sort."""
    match a, b:
        case OptionEnc(p, x), OptionEnc(q, y):
            return OptionEnc(s_ite(condition, p, q), choose(condition, x, y))
        case TupleEnc(xs), TupleEnc(ys):
            return TupleEnc(tuple(choose(condition, x, y) for x, y in zip(xs, ys, strict=True)))
        case FloatEnc(), FloatEnc():
            return floats.ite(condition, a, b)
        case str(), str():
            return s_ite(condition, a, b)
    raise AssertionError("branches of different sorts")


def _lift_equality(a: Enc, b: Enc, values: Callable[[Enc, Enc], str]) -> str:
    match a, b:
        case OptionEnc(p, x), OptionEnc(q, y):
            inner = _lift_equality(x, y, values)
            return s_and([s_eq(p, q), s_implies(p, inner)])
        case TupleEnc(xs), TupleEnc(ys):
            pairs = zip(xs, ys, strict=True)
            return s_and(_lift_equality(x, y, values) for x, y in pairs)
    return values(a, b)


def same_encoding(a: Enc, b: Enc) -> str:
    """State that two encodings of one sort denote one and the same value."""

    def base(x: Enc, y: Enc) -> str:
        if isinstance(x, FloatEnc) and isinstance(y, FloatEnc):
            return floats.same(x, y)
        return s_eq(as_text(x), as_text(y))

    return _lift_equality(a, b, base)


def py_equal(a: Enc, b: Enc) -> str:
    def base(x: Enc, y: Enc) -> str:
        if isinstance(x, FloatEnc) and isinstance(y, FloatEnc):
            return floats.py_order("=", x, y)
        return s_eq(as_text(x), as_text(y))

    return _lift_equality(a, b, base)


def sql_equal(a: Enc, b: Enc) -> str:
    if isinstance(a, FloatEnc) and isinstance(b, FloatEnc):
        return floats.sql_order("=", a, b)
    return s_eq(as_text(a), as_text(b))
