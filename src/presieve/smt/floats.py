# SPDX-License-Identifier: Apache-2.0
"""Trusted. Doubles in the solver: exact order, uninterpreted arithmetic.

A double is (is NaN, its exact real value, is -0.0). So comparison and selection are exact: every
double but NaN has a real value, and the two zeros share one value but stay apart. Infinity is a
real above all literals. Reals that are no doubles are allowed, too, which can only lose proofs.

Sums, products and quotients are uninterpreted functions of the real values. At each use, facts of
IEEE 754 rounding to nearest are added: when a result is NaN and when it is -0.0 is exact; its value
obeys monotonicity and sign rules (rounding is monotone and keeps doubles).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from msgspec import Struct

from presieve.ir.terms import Op
from presieve.semantics.values import EXACT_INT_BOUND
from presieve.smt.smtlib import FALSE, TRUE, s_and, s_eq, s_implies, s_ite, s_not, s_or, s_real


class FloatEnc(Struct, frozen=True):
    """Is NaN; the real value (any, where NaN); is -0.0 (then the value is 0)."""

    nan: str
    value: str
    negzero: str


Lemmas = list[str]
Arithmetic = Callable[..., tuple[FloatEnc, Lemmas]]


def prelude(numbers: Sequence[float], arithmetic: bool) -> list[str]:
    """Declarations and facts needed once: infinity and the arithmetic functions, if used."""
    if not arithmetic and not any(math.isinf(x) for x in numbers):
        return []
    lines = ["(declare-const pinf Real)"]
    if arithmetic:
        lines += [f"(declare-fun {f} (Real Real) Real)" for f in ("fadd", "fmul", "fdiv")]
        lines.append("(declare-fun itof (Int) Real)")
    finite = [abs(Fraction(x)) for x in numbers if math.isfinite(x)]
    bound = max([*finite, Fraction(EXACT_INT_BOUND)])
    lines.append(f"(assert (< {s_real(bound)} pinf))")
    return lines


def declare(name: str, bounded: bool) -> tuple[list[str], FloatEnc, list[str]]:
    """Declare any double; ``bounded``: the script uses infinity."""
    lines = [
        f"(declare-const {name}.nan Bool)",
        f"(declare-const {name} Real)",
        f"(declare-const {name}.nz Bool)",
    ]
    facts = [s_implies(f"{name}.nz", f"(= {name} 0.0)")]
    if bounded:
        facts.append(in_range(name))
    return lines, FloatEnc(f"{name}.nan", name, f"{name}.nz"), facts


def literal(x: float) -> FloatEnc:
    """Encode one double."""
    if math.isnan(x):
        return FloatEnc(TRUE, "0.0", FALSE)
    if math.isinf(x):
        return FloatEnc(FALSE, "pinf" if x > 0 else "(- pinf)", FALSE)
    negzero = x == 0 and math.copysign(1.0, x) < 0
    return FloatEnc(FALSE, s_real(Fraction(x)), TRUE if negzero else FALSE)


def ite(condition: str, a: FloatEnc, b: FloatEnc) -> FloatEnc:
    """If-then-else, component by component."""
    return FloatEnc(
        s_ite(condition, a.nan, b.nan),
        s_ite(condition, a.value, b.value),
        s_ite(condition, a.negzero, b.negzero),
    )


def same(a: FloatEnc, b: FloatEnc) -> str:
    """State that two doubles are one and the same value."""
    number = s_and([s_eq(a.value, b.value), s_eq(a.negzero, b.negzero)])
    return s_and([s_eq(a.nan, b.nan), s_or([a.nan, number])])


def py_order(sign: str, a: FloatEnc, b: FloatEnc) -> str:
    """IEEE 754 comparison: false where either is NaN."""
    return s_and([s_not(a.nan), s_not(b.nan), f"({sign} {a.value} {b.value})"])


def sql_order(sign: str, a: FloatEnc, b: FloatEnc) -> str:
    """Spark's order: NaN equals NaN and is above every number."""
    match sign:
        case "=":
            return s_ite(s_or([a.nan, b.nan]), s_and([a.nan, b.nan]), f"(= {a.value} {b.value})")
        case "<":
            return s_and([s_not(a.nan), s_or([b.nan, f"(< {a.value} {b.value})"])])
        case "<=":
            return s_or([b.nan, s_and([s_not(a.nan), f"(<= {a.value} {b.value})"])])
        case ">":
            return sql_order("<", b, a)
        case _:
            return sql_order("<=", b, a)


def of_int(a: str) -> tuple[FloatEnc, Lemmas]:
    """``float(i)``: exact up to 2^53 and monotone there and beyond."""
    r, big = f"(itof {a})", str(EXACT_INT_BOUND)
    exact = f"(and (<= (- {big}) {a}) (<= {a} {big}))"
    facts = [
        s_implies(exact, f"(= {r} (to_real {a}))"),
        s_implies(f"(> {a} {big})", f"(and (>= {r} {big}.0) (< {r} pinf))"),
        s_implies(f"(< {a} (- {big}))", f"(and (<= {r} (- {big}.0)) (> {r} (- pinf)))"),
    ]
    return FloatEnc(FALSE, r, FALSE), facts


def in_range(r: str) -> str:
    """State that a value is between the infinities."""
    return f"(and (<= (- pinf) {r}) (<= {r} pinf))"


def _infinite(v: str) -> str:
    return f"(or (= {v} pinf) (= {v} (- pinf)))"


def _negative(x: FloatEnc) -> str:
    """The sign bit is set."""
    return s_or([f"(< {x.value} 0.0)", x.negzero])


def add(a: FloatEnc, b: FloatEnc) -> tuple[FloatEnc, Lemmas]:
    """``a + b``. NaN for opposite infinities only; -0.0 only when both are; it is monotone."""
    x, y, r = a.value, b.value, f"(fadd {a.value} {b.value})"
    opposite = f"(and {_infinite(x)} (= {y} (- {x})))"
    nan = s_or([a.nan, b.nan, opposite])
    rules = [in_range(r), f"(= {r} (fadd {y} {x}))"]
    for p, q in ((x, y), (y, x)):
        rules += [f"(=> (>= {q} 0.0) (>= {r} {p}))", f"(=> (<= {q} 0.0) (<= {r} {p}))"]
    negzero = s_and([a.negzero, b.negzero])
    return FloatEnc(nan, r, negzero), [s_or([nan, s_and(rules)])]


def neg(a: FloatEnc) -> tuple[FloatEnc, Lemmas]:
    """``-a``, exact."""
    return FloatEnc(a.nan, f"(- {a.value})", s_and([s_eq(a.value, "0.0"), s_not(a.negzero)])), []


def sub(a: FloatEnc, b: FloatEnc) -> tuple[FloatEnc, Lemmas]:
    """``a - b`` is ``a + (-b)``, bit for bit."""
    return add(a, neg(b)[0])


def _scale(function: str, a: FloatEnc, b: FloatEnc, nan: str) -> tuple[FloatEnc, Lemmas]:
    """Product or quotient: the sign is the product of the signs, and zero may be underflow."""
    x, y, r = a.value, b.value, f"({function} {a.value} {b.value})"
    rules = [in_range(r)]
    for p, q, sign in (
        (">=", ">=", ">="),
        ("<=", "<=", ">="),
        (">=", "<=", "<="),
        ("<=", ">=", "<="),
    ):
        rules.append(f"(=> (and ({p} {x} 0.0) ({q} {y} 0.0)) ({sign} {r} 0.0))")
    rules += [f"(=> (= {x} 0.0) (= {r} 0.0))", f"(=> (= {y} 1.0) (= {r} {x}))"]
    negzero = s_and([f"(= {r} 0.0)", f"(xor {_negative(a)} {_negative(b)})"])
    return FloatEnc(nan, r, negzero), [s_or([nan, s_and(rules)])]


def mul(a: FloatEnc, b: FloatEnc) -> tuple[FloatEnc, Lemmas]:
    """``a * b``. NaN for zero times infinity only."""
    x, y = a.value, b.value
    clash = s_or([f"(and (= {x} 0.0) {_infinite(y)})", f"(and (= {y} 0.0) {_infinite(x)})"])
    return _scale("fmul", a, b, s_or([a.nan, b.nan, clash]))


def div(a: FloatEnc, b: FloatEnc) -> tuple[FloatEnc, Lemmas]:
    """``a / b`` for ``b`` other than zero. NaN for infinity over infinity only."""
    clash = f"(and {_infinite(a.value)} {_infinite(b.value)})"
    return _scale("fdiv", a, b, s_or([a.nan, b.nan, clash]))


ARITHMETIC: dict[Op, Arithmetic] = {
    Op.FLOAT_ADD: add,
    Op.FLOAT_SUB: sub,
    Op.FLOAT_MUL: mul,
    Op.FLOAT_DIV: div,
    Op.FLOAT_NEG: neg,
}
