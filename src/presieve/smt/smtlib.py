# SPDX-License-Identifier: Apache-2.0
"""Trusted. SMT-LIB text, with the simplifications that keep it small (constants only)."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

TRUE = "true"
FALSE = "false"


def s_and(parts: Iterable[str]) -> str:
    """Conjunction without true parts; false swallows all."""
    terms = list(dict.fromkeys(p for p in parts if p != TRUE))
    if FALSE in terms:
        return FALSE
    return TRUE if not terms else terms[0] if len(terms) == 1 else f"(and {' '.join(terms)})"


def s_or(parts: Iterable[str]) -> str:
    """Disjunction without false parts; true swallows all."""
    terms = list(dict.fromkeys(p for p in parts if p != FALSE))
    if TRUE in terms:
        return TRUE
    return FALSE if not terms else terms[0] if len(terms) == 1 else f"(or {' '.join(terms)})"


def s_not(part: str) -> str:
    """Negation of a constant or of anything."""
    return {TRUE: FALSE, FALSE: TRUE}.get(part, f"(not {part})")


def s_implies(a: str, b: str) -> str:
    """Implication; constants fold."""
    if a == TRUE:
        return b
    return TRUE if a == FALSE or b == TRUE else s_not(a) if b == FALSE else f"(=> {a} {b})"


def s_eq(a: str, b: str) -> str:
    """Equality of two terms of one sort; the same text is equal, boolean constants fold."""
    if a == b:
        return TRUE
    for x, y in ((a, b), (b, a)):
        if x == TRUE:
            return y
        if x == FALSE:
            return s_not(y)
    return f"(= {a} {b})"


def s_xor(a: str, b: str) -> str:
    """Exclusive or; constants fold."""
    return s_not(s_eq(a, b))


def s_ite(condition: str, then: str, otherwise: str) -> str:
    """If-then-else; constants fold."""
    if condition == TRUE or then == otherwise:
        return then
    if condition == FALSE:
        return otherwise
    if (then, otherwise) == (TRUE, FALSE):
        return condition
    return f"(ite {condition} {then} {otherwise})"


def s_int(value: int) -> str:
    """An integer numeral."""
    return str(value) if value >= 0 else f"(- {-value})"


def s_real(value: Fraction) -> str:
    """A real numeral, exact."""
    top = f"{abs(value.numerator)}.0"
    body = top if value.denominator == 1 else f"(/ {top} {value.denominator}.0)"
    return body if value >= 0 else f"(- {body})"


def s_floordiv(a: str, b: str) -> str:
    """Python's ``//`` rounds down; SMT-LIB's div does so for positive divisors only."""
    return f"(ite (> {b} 0) (div {a} {b}) (div (- {a}) (- {b})))"
