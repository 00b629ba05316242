# SPDX-License-Identifier: Apache-2.0
"""Trusted. Spark's implicit casts, as far as they lose nothing.

Spark compares two values of different types by casting both to a common type. Here a constant is
converted to the type of the expression beside it, but only where that gives the same answer as
Spark, with ANSI mode on and off; everything else declines. Sources: Spark 4.3's
``AnsiTypeCoercion``, ``TypeCoercion`` and ``DecimalPrecision``; each rule is also tested against a
Spark session.
"""

from __future__ import annotations

import decimal
from collections.abc import Sequence

from presieve.errors import DeclineSignal
from presieve.ir.ops import app
from presieve.ir.sorts import (
    BINARY,
    BOOL,
    DATE,
    FLOAT,
    INT,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    Decimal,
    Sort,
    strip,
)
from presieve.ir.terms import TRUE, App, Lit, Op, Term, Var, lit, literal_value, none_lit
from presieve.semantics.thresholds import MIRRORED
from presieve.semantics.types import MAX_DIGITS
from presieve.semantics.values import EXACT_INT_BOUND, INT_RANGES, text_of, units_of
from presieve.sql import whole_decimals
from presieve.sql.case_values import CaseValue, each
from presieve.sql.operands import (
    KIND_SORTS,
    NEGATIVE_ZERO,
    AsDecimal,
    AsInstant,
    AsText,
    Constant,
    Operand,
    describe,
    mismatch,
    sort_name,
)
from presieve.sql.temporal import (
    instant_of_wall,
    midnight,
    midnight_ntz,
    parse_date,
    parse_timestamp,
    parse_timestamp_ntz,
    wall_of_instant,
)


def utf8(text: str) -> str:
    """The Binary value of a text, as Spark casts it. Raises :class:`DeclineSignal`."""
    try:
        return text_of(text.encode())
    except UnicodeEncodeError:
        raise DeclineSignal("sql-literal", "half of a surrogate pair in a string") from None


def fit(constant: Constant, sort: Sort, timezone: str) -> Lit:
    """The constant as a literal of a sort, if Spark's common type gives the same answers.

    Raises :class:`DeclineSignal` otherwise.
    """
    base = strip(sort)
    value = constant.value
    match constant.kind, value:
        case "void", _:
            return none_lit(base)
        case "int" | "decimal", (int() | decimal.Decimal()) if isinstance(base, Decimal):
            return lit(base, _units(constant, value, base))
        case "int" | "decimal" | "double", (int() | float() | decimal.Decimal()):
            if base == FLOAT:
                return lit(FLOAT, float(value))
            if base == INT:
                return lit(INT, _integer(constant, value))
        case "string", str() if base == DATE:
            return lit(DATE, parse_date(value))
        case "string", str() if base == TIMESTAMP:
            return lit(TIMESTAMP, parse_timestamp(value, timezone))
        case "date", int() if base == TIMESTAMP:
            return lit(TIMESTAMP, midnight(value, timezone))
        case "timestamp_ntz", int() if base == TIMESTAMP:
            return lit(TIMESTAMP, instant_of_wall(value, timezone))
        case "string", str() if base == BINARY:
            return lit(BINARY, utf8(value))
        case "string", str() if base == TIMESTAMP_NTZ:
            return lit(TIMESTAMP_NTZ, parse_timestamp_ntz(value))
        case "date", int() if base == TIMESTAMP_NTZ:
            return lit(TIMESTAMP_NTZ, midnight_ntz(value))
        case "timestamp", int() if base == TIMESTAMP_NTZ:
            return lit(TIMESTAMP_NTZ, wall_of_instant(value, timezone))
    if KIND_SORTS.get(constant.kind) != base or isinstance(value, decimal.Decimal):
        raise mismatch(constant, base)
    return lit(base, value)


def _units(constant: Constant, value: int | decimal.Decimal, sort: Decimal) -> int:
    """The units of a decimal of the column's scale. Spark compares in a type with the digits of
    both, before and after the point. With more than 38 digits it would round; with more digits
    after the point than the column has, rounding would depend on the column's precision.
    """
    number = decimal.Decimal(value)
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int)  # NaN and infinity are never written
    integer_digits = max(number.adjusted() + 1, constant.whole)
    units = units_of(number, sort.scale)
    if units is None or -exponent > sort.scale or integer_digits + sort.scale > MAX_DIGITS:
        raise mismatch(constant, sort)
    return units


def _integer(constant: Constant, value: int | float | decimal.Decimal) -> int:
    """An integer of a bigint, from a literal of any numeric type.

    Outside int64 Spark turns some comparisons into true or false, even for NULL; this declines
    instead.
    """
    bound = EXACT_INT_BOUND if constant.kind == "double" else 2**63
    if not -bound <= value < bound or (constant.kind == "double" and value == -bound):
        raise mismatch(constant, INT)  # NaN and the infinities fail here too
    if value != int(value):
        raise mismatch(constant, INT)
    return int(value)


def settle(constant: Constant) -> Lit:
    """The constant as a literal of its own type. Raises :class:`DeclineSignal`."""
    sort = KIND_SORTS.get(constant.kind)
    if isinstance(constant.value, decimal.Decimal):
        exponent = constant.value.as_tuple().exponent
        assert isinstance(exponent, int)
        sort = Decimal(max(-exponent, 0))
        return lit(sort, _units(constant, constant.value, sort))
    if sort is None:
        raise DeclineSignal(
            "sql-types", f"{describe(constant)} is not compared with a column of a known type"
        )
    if sort == INT and isinstance(constant.value, int):
        low, high = INT_RANGES["bigint"]
        if not low <= constant.value <= high:
            raise mismatch(constant, INT)
    return lit(sort, constant.value)


_TWO_CLOCKS = "timestamp_ntz and timestamp columns are compared; cast one in a projection below"


def pair(a: Operand, b: Operand, timezone: str) -> tuple[Term, Term]:
    """Convert two operands to terms of one sort. Raises :class:`DeclineSignal`."""
    if isinstance(a, CaseValue) or isinstance(b, CaseValue):
        raise DeclineSignal("sql-unsupported", "arithmetic on CASE is not supported")
    if isinstance(a, Constant):
        if isinstance(b, Constant):
            return _constants(a, b)
        right, left = pair(b, a, timezone)
        return left, right
    if isinstance(a, Var) and strip(a.sort) == INT and isinstance(b, Constant):
        if b.kind == "double":
            a = as_double(a)  # as Spark does
    if isinstance(a, App) and a.op is Op.SQL_INT_TO_FLOAT and isinstance(b, Constant):
        return _pair_with_constant(a, b)
    if isinstance(a, AsText) or isinstance(b, AsText):
        raise DeclineSignal("sql-unsupported", "what Spark shows doubles as is not known")
    if isinstance(a, AsDecimal) or isinstance(b, AsDecimal):
        return whole_decimals.read_integer(a), whole_decimals.read_integer(b)
    if isinstance(a, AsInstant) and isinstance(b, Constant):
        return a.term, fit(b, TIMESTAMP_NTZ, timezone)
    if isinstance(a, AsInstant) or isinstance(b, AsInstant):
        raise DeclineSignal("sql-types", _TWO_CLOCKS)
    if isinstance(b, Constant):
        return a, fit(b, a.sort, timezone)
    if {strip(a.sort), strip(b.sort)} == {INT, FLOAT}:
        return as_double(a), as_double(b)  # as Spark does
    if strip(a.sort) != strip(b.sort):
        raise DeclineSignal(
            "sql-types",
            f"{sort_name(a.sort)} meets {sort_name(b.sort)}, which cannot be compared exactly; "
            "cast one of them in a projection below",
        )
    return a, b


def _pair_with_constant(a: App, b: Constant) -> tuple[Term, Term]:
    """Pair an integer cast to double with a constant: both as integers if rounding does not affect
    the constant, else as doubles.
    """
    partner = fit(b, FLOAT, "UTC")
    number = literal_value(partner)
    if isinstance(number, float) and number.is_integer() and abs(number) < EXACT_INT_BOUND:
        return a.args[0], lit(INT, int(number))
    return a, partner


def _constants(a: Constant, b: Constant) -> tuple[Term, Term]:
    if a.kind == "void" and b.kind != "void":
        right = settle(b)
        return none_lit(right.sort), right
    if b.kind == "void" and a.kind != "void":
        left = settle(a)
        return left, none_lit(left.sort)
    left, right = settle(a), settle(b)
    if left.sort != right.sort:
        raise DeclineSignal("sql-types", f"{describe(a)} meets {describe(b)}")
    return left, right


def compare(op: Op, a: Operand, b: Operand, timezone: str) -> Term:
    """``a op b`` for one of the six comparisons of the IR. Raises :class:`DeclineSignal`."""
    if isinstance(a, CaseValue):
        if a.absolute_of is not None and isinstance(b, Constant):
            return _compare_absolute(op, a, fit(b, FLOAT, timezone))
        return each(a, lambda v: compare(op, v, b, timezone))
    if isinstance(b, CaseValue):
        if b.absolute_of is not None and isinstance(a, Constant) and op in MIRRORED:
            return compare(MIRRORED[op], b, a, timezone)
        return each(b, lambda v: compare(op, a, v, timezone))
    if isinstance(a, AsText) and b == Constant("string", NEGATIVE_ZERO) and op is Op.SQL_EQ:
        return app(Op.SQL_IS_NEGATIVE_ZERO, a.term)
    if op is Op.SQL_GE and b == Constant("boolean", True) and not isinstance(a, _NOT_YET):
        # False is before true. Filters that are hidden from scans have this form.
        return a if strip(a.sort) == BOOL else app(op, *pair(a, b, timezone))
    return app(op, *pair(a, b, timezone))


def _compare_absolute(op: Op, a: CaseValue, bound: Lit) -> Term:
    """``abs(x) op bound`` as comparisons of ``x``: also NaN, whose absolute value it is."""
    value, x = literal_value(bound), a.absolute_of
    if x is None or op not in MIRRORED or not isinstance(value, float) or not value >= 0:
        return each(a, lambda v: app(op, v, bound))
    below = app(MIRRORED[op], x, lit(FLOAT, -value))
    is_within = op in (Op.SQL_LT, Op.SQL_LE)
    return app(Op.SQL_AND if is_within else Op.SQL_OR, app(op, x, bound), below)


def membership(value: Operand, options: Sequence[Operand], timezone: str) -> Term:
    """``value IN (options)``: an OR of equalities, so NULL means the same as in SQL.

    Spark casts all of them to one common type, so here they must agree on one: expressions in their
    sort, and literals in their kind unless doubles or decimals are compared. Raises
    :class:`DeclineSignal`.
    """
    operands = (value, *options)
    sorts = {strip(o.sort) for o in operands if not isinstance(o, _NOT_YET)}
    kinds = {o.kind for o in operands if isinstance(o, Constant) and o.kind != "void"}
    if len(sorts) > 1 or (sorts != {FLOAT} and len(kinds) > 1 and not _join(sorts, kinds)):
        raise DeclineSignal(
            "sql-types", "an IN list mixes types; write all literals in the type of the column"
        )
    if kinds == {"string"} and sorts & {DATE, TIMESTAMP, TIMESTAMP_NTZ, BINARY}:
        reason = "an IN list compares dates or binaries with strings; write DATE '...', X'...'"
        raise DeclineSignal("sql-types", reason)
    if "int" in kinds and any(isinstance(s, Decimal) and s.scale > _BESIDE_BIGINT for s in sorts):
        raise DeclineSignal(
            "sql-types", "an IN list compares decimals with integers; write decimals"
        )
    equalities = [compare(Op.SQL_EQ, value, option, timezone) for option in options]
    return flat(Op.SQL_OR, equalities)


_NOT_YET = (Constant, AsDecimal, AsInstant, AsText)
_BESIDE_BIGINT = MAX_DIGITS - whole_decimals.BIGINT_DIGITS
"""The digits after the point beside the 20 that Spark counts for a bigint before it."""


def _join(sorts: set[Sort], kinds: set[str]) -> bool:
    """Whether integers and decimals in a list have a common type with all digits of both."""
    return kinds == {"int", "decimal"} and any(isinstance(s, Decimal) for s in sorts)


def arithmetic(op: Op, a: Operand, b: Operand, timezone: str) -> App | AsDecimal:
    """``a op b`` on doubles, and on integers cast to decimals (``op`` is the operator of doubles).
    Integers decline, because they overflow. Raises :class:`DeclineSignal`.
    """
    if op is Op.SQL_FLOAT_DIV:
        return _divide_by_constant(a, b)
    if isinstance(a, AsDecimal) or isinstance(b, AsDecimal):
        return whole_decimals.arithmetic(op, a, b)
    left, right = _doubles(a, b) or pair(a, b, timezone)
    if strip(left.sort) != FLOAT:
        raise DeclineSignal(
            "sql-unsupported",
            f"arithmetic on {sort_name(left.sort)} is not supported, since it can raise or round",
        )
    return app(op, left, right)


def _doubles(a: Operand, b: Operand) -> tuple[Term, Term] | None:
    """Pair an integer cast to double with a constant number, or an integer with a constant double,
    for which Spark casts it; None for other operands.
    """
    match a, b:
        case Constant(), App(Op.SQL_INT_TO_FLOAT):
            return fit(a, FLOAT, "UTC"), b
        case App(Op.SQL_INT_TO_FLOAT), Constant():
            return a, fit(b, FLOAT, "UTC")
        case Constant("double"), Var() | App() if strip(b.sort) == INT:
            return fit(a, FLOAT, "UTC"), as_double(b)
        case Var() | App(), Constant("double") if strip(a.sort) == INT:
            return as_double(a), fit(b, FLOAT, "UTC")
    return None


def _divide_by_constant(a: Operand, b: Operand) -> App:
    """``a / b`` for a double or an integer and a constant, which Spark casts to doubles."""
    if not isinstance(b, Constant) or not isinstance(a, Var | App | Lit):
        raise DeclineSignal("sql-unsupported", "only doubles and integers divided by numbers")
    if strip(a.sort) == INT and b.kind in ("int", "double"):
        a = as_double(a)
    if strip(a.sort) != FLOAT or b.kind not in ("int", "double", "decimal"):
        raise DeclineSignal("sql-unsupported", f"{sort_name(a.sort)} is divided by {describe(b)}")
    divisor = fit(b, FLOAT, "UTC")
    if literal_value(divisor) == 0:
        raise DeclineSignal("sql-unsupported", "a division by zero raises")
    return app(Op.SQL_FLOAT_DIV, a, divisor)


def as_double(operand: Operand) -> Term:
    """``CAST(operand AS DOUBLE)`` for an integer or a double. Raises :class:`DeclineSignal`."""
    if isinstance(operand, Var | App) and strip(operand.sort) == FLOAT:
        return operand
    if isinstance(operand, Var | App) and strip(operand.sort) == INT:
        return app(Op.SQL_INT_TO_FLOAT, operand)
    raise DeclineSignal("sql-unsupported", "CAST to double is supported for literals and integers")


def negative(operand: Operand) -> App:
    """``-operand`` for a double: the product with -1, bit by bit. Raises DeclineSignal."""
    if isinstance(operand, Var | App | Lit) and strip(operand.sort) == FLOAT:
        return app(Op.SQL_FLOAT_MUL, operand, lit(FLOAT, -1.0))
    raise DeclineSignal("sql-unsupported", "a sign is supported for numbers and doubles only")


def absolute(operand: Operand) -> CaseValue:
    """``abs(operand)`` of a double. Raises :class:`DeclineSignal`."""
    if not isinstance(operand, Var | App) or strip(operand.sort) != FLOAT:
        reason = "abs is supported for doubles only: that of an integer may raise"
        raise DeclineSignal("sql-unsupported", reason)
    zero = lit(FLOAT, 0.0)
    is_zero, is_below = (
        app(Op.SQL_EQ_NULLSAFE, app(op, operand, zero), TRUE) for op in (Op.SQL_EQ, Op.SQL_LT)
    )
    at_least = CaseValue(is_zero, zero, operand, FLOAT)
    return CaseValue(is_below, negative(operand), at_least, FLOAT, absolute_of=operand)


def truth(operand: Operand) -> Term:
    """Convert an operand to a condition. Raises :class:`DeclineSignal`."""
    match operand:
        case Constant("boolean", bool() as value):
            return lit(BOOL, value)
        case Constant("void", _):
            return none_lit(BOOL)
        case Constant() | AsDecimal() | AsInstant() | AsText():
            raise DeclineSignal("sql-types", "a condition is expected where a value is written")
        case CaseValue():
            raise DeclineSignal("sql-types", f"{sort_name(operand.sort)} is used as a condition")
    if strip(operand.sort) != BOOL:
        raise DeclineSignal("sql-types", f"{sort_name(operand.sort)} is used as a condition")
    return operand


def expression(operand: Operand, what: str) -> Term:
    """Convert an operand to an expression of a known type. Raises :class:`DeclineSignal`."""
    match operand:
        case AsDecimal():
            raise DeclineSignal("sql-types", f"{what} of an integer cast to a decimal")
        case AsInstant():
            raise DeclineSignal("sql-types", f"{what} of a timestamp_ntz cast to timestamp")
        case AsText():
            raise DeclineSignal("sql-unsupported", f"{what} of a double cast to a string")
        case CaseValue():
            raise DeclineSignal("sql-unsupported", f"{what} of CASE is not supported")
        case Constant():
            return settle(operand)
    return operand


def flat(op: Op, terms: Sequence[Term]) -> Term:
    """``SQL_AND`` or ``SQL_OR`` of the terms, with nested ones of the same operator flattened."""
    parts: list[Term] = []
    for term in terms:
        parts.extend(term.args if isinstance(term, App) and term.op is op else (term,))
    return parts[0] if len(parts) == 1 else app(op, *parts)
