# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Values of the IR from a solver's model, as near as the model allows.

The model's reals need not be doubles and its strings are points of an order, so a decoded value is
only a suggestion: the caller runs it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

from presieve.ir.fold import Column
from presieve.ir.sorts import BOOL, COMPOSITES, SEQUENCE, TEXTS, Option, Sort
from presieve.ir.terms import Scope
from presieve.semantics.values import Value, belongs
from presieve.smt.encode import Env
from presieve.smt.encodings import Enc, OptionEnc, TupleEnc
from presieve.smt.floats import FloatEnc
from presieve.smt.solver import Solver


def decode(enc: Enc, sort: Sort, solver: Solver, points: Mapping[str, Fraction]) -> Value:
    """The value of a declared constant in the last model."""
    match enc:
        case OptionEnc(present, inner):
            assert isinstance(sort, Option)
            is_present = solver.booleans([present])[0]
            return decode(inner, sort.of, solver, points) if is_present else None
        case TupleEnc(items):
            sorts = getattr(sort, "of", ())
            pairs = zip(items, sorts, strict=True)
            return tuple(decode(i, s, solver, points) for i, s in pairs)
        case FloatEnc(nan, value, negzero):
            is_nan, is_negzero = solver.booleans([nan, negzero])
            return _double(is_nan, is_negzero, solver.numbers([value])[0])
    if sort == BOOL:
        return solver.booleans([enc])[0]
    if sort == SEQUENCE or isinstance(sort, COMPOSITES):
        return ()  # the model does not say which one
    number = solver.numbers([enc])[0]
    if sort not in TEXTS:
        return int(number)
    return _text(number, {t: p for t, p in points.items() if belongs(t, sort)})


def decode_columns(
    env: Env,
    scope: Scope,
    columns: Iterable[Column],
    solver: Solver,
    points: Mapping[str, Fraction],
) -> tuple[Value, ...]:
    """The values of a row's columns, or of a key's, in the last model."""
    return tuple(decode(env[scope, c.name], c.sort, solver, points) for c in columns)


def _double(is_nan: bool, is_negzero: bool, value: Fraction) -> float:
    if is_nan:
        return float("nan")
    if is_negzero and value == 0:
        return -0.0
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _text(point: Fraction, points: Mapping[str, Fraction]) -> str:
    """A string at a point, or between the known strings around it."""
    below = ""
    for text, p in sorted(points.items()):
        if p == point:
            return text
        if p > point:
            break
        below = text
    above = [t for t, p in points.items() if p > point]
    tail = f"{point.numerator}.{point.denominator}"
    for glue in ("~", "a", "0", "!", "\x00"):
        candidate = below + glue + tail
        if all(candidate < t for t in above):
            return candidate
    return below
