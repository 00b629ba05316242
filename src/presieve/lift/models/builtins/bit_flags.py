# SPDX-License-Identifier: Apache-2.0
"""Trusted. Bit flags: ``|``, ``&``, ``^``, ``<<`` and ``>>`` on integers whose bits are known.

A non-negative integer that the function combines with constants only is represented by its bits;
bits above the highest bit of these constants are zero. Python's integers have no fixed width, so no
bit is lost. Of any other integer, bits at constant places are remainders and quotients by powers
of two.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from presieve.ir.ops import app, negate
from presieve.ir.sorts import BOOL
from presieve.ir.terms import FALSE, Lit, Op, Term, int_lit, literal_value
from presieve.lift.execution.state import Operation
from presieve.lift.values.join_values import MOST_BITS, as_bits, as_number, widen_bits
from presieve.lift.values.symbolic import LITERAL, BitsV, Scalar, Value, constant_of
from presieve.records import replace
from presieve.semantics.smart_constructors import and_, fold_constants, or_
from presieve.semantics.values import EXACT_INT_BOUND


def _xor(a: Term, b: Term) -> Term:
    return or_(and_(a, negate(b)), and_(negate(a), b))


_LOGIC: dict[type[ast.operator], Callable[[Term, Term], Term]] = {
    ast.BitOr: or_,
    ast.BitAnd: and_,
    ast.BitXor: _xor,
}


def bitwise(operation: Operation) -> Value | None:
    """Evaluate ``left op right`` of flags or truth values; None for other operators and values."""
    m, flow, op, left, right = operation
    left, right = m.force(left, flow), m.force(right, flow)
    if isinstance(op, ast.LShift | ast.RShift):
        return _shift(op, left, right)
    join = _LOGIC.get(type(op))
    if join is None:
        return None
    if _is_truth(left) and _is_truth(right):
        assert isinstance(left, Scalar)
        assert isinstance(right, Scalar)
        return Scalar(flow.decide(join(left.term, right.term)))
    a, b = as_bits(left), as_bits(right)
    if a is None or b is None:
        return None
    width = max(len(a.bits), len(b.bits))
    pairs = zip(widen_bits(a, width), widen_bits(b, width), strict=True)
    return _plain(BitsV(tuple(join(x, y) for x, y in pairs), a.unsettled | b.unsettled))


def _is_truth(value: Value) -> bool:
    return isinstance(value, Scalar) and value.term.sort == BOOL and not value.traits.numpy


def _shift(op: ast.operator, left: Value, right: Value) -> Value | None:
    """Shift flags by a constant."""
    by = constant_of(right)
    bits = as_bits(left)
    if bits is None or type(by) is not int or by < 0:
        return None
    if isinstance(op, ast.RShift):
        return _plain(replace(bits, bits=bits.bits[by:]))
    if len(bits.bits) + by > MOST_BITS:
        return None
    return _plain(replace(bits, bits=(*(FALSE,) * by, *bits.bits)))


def _plain(value: BitsV) -> Value:
    """Return a constant if all bits are known; otherwise drop the highest bits that are zero."""
    if not value.unsettled and all(isinstance(b, Lit) for b in value.bits):
        return Scalar(as_number(value).term, LITERAL)
    last = max((i for i, b in enumerate(value.bits) if b != FALSE), default=-1)
    return replace(value, bits=value.bits[: last + 1])


def equal_flags(left: Value, right: Value) -> Term | None:
    """Evaluate ``left == right`` where one is flags and the other may be; otherwise None."""
    if not isinstance(left, BitsV) and not isinstance(right, BitsV):
        return None
    a, b = as_bits(left), as_bits(right)
    if a is None or b is None:
        return None
    if a.unsettled or b.unsettled:
        return (a if a.unsettled else b).mark()
    width = max(len(a.bits), len(b.bits))
    pairs = zip(widen_bits(a, width), widen_bits(b, width), strict=True)
    return and_(*(negate(_xor(x, y)) for x, y in pairs))


def bits_of_integer(number: Term, op: ast.operator, by: Term) -> Term | None:
    """Evaluate ``n & mask``, ``n >> k`` and ``n << k`` for constants that are not negative; None
    for anything else. Python's integers have all bits of two's complement.
    """
    if isinstance(op, ast.BitAnd) and isinstance(number, Lit):
        number, by = by, number
    constant = literal_value(by) if isinstance(by, Lit) else None
    if type(constant) is not int or not 0 <= constant <= EXACT_INT_BOUND:
        return None
    if isinstance(op, ast.BitAnd):
        parts = [_bits_of(number, low, high) for low, high in _runs_of_ones(constant)]
        total: Term = int_lit(0)
        for part in parts:
            total = fold_constants(app(Op.INT_ADD, total, part))
        return total
    if constant > _MOST_BITS:
        return None
    if isinstance(op, ast.RShift):
        return fold_constants(app(Op.INT_FLOORDIV, number, int_lit(2**constant)))
    if isinstance(op, ast.LShift):
        return fold_constants(app(Op.INT_MUL, number, int_lit(2**constant)))
    return None


_MOST_BITS = 62


def _runs_of_ones(mask: int) -> Iterator[tuple[int, int]]:
    """Yield the places of the first bit of each run of ones and of the bit after its last."""
    low = 0
    while mask >> low:
        low += (mask >> low & -(mask >> low)).bit_length() - 1
        length = (~(mask >> low) & (mask >> low) + 1).bit_length() - 1
        yield low, low + length
        low += length


def _bits_of(number: Term, low: int, high: int) -> Term:
    """Return the value of the bits of a number from ``low`` up to ``high``."""
    above = fold_constants(app(Op.INT_MOD, number, int_lit(2**high)))
    if low == 0:
        return above
    whole = fold_constants(app(Op.INT_FLOORDIV, above, int_lit(2**low)))
    return fold_constants(app(Op.INT_MUL, whole, int_lit(2**low)))
