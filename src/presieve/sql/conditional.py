# SPDX-License-Identifier: Apache-2.0
"""Trusted. CASE, IF, COALESCE, NULLIF, and ABS, with the common type that Spark gives branches.

Only types whose conversion loses nothing are supported: branches of one sort, numbers beside
doubles, and NULL. Sources: Spark 4.3's ``conditionalExpressions.scala``, ``nullExpressions.scala``
and, for types, ``CaseWhen`` and ``Coalesce`` in ``AnsiTypeCoercion`` and ``TypeCoercion``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from presieve.errors import DeclineSignal
from presieve.ir.ops import app
from presieve.ir.sorts import FLOAT, Sort, strip
from presieve.ir.terms import Op, Term, none_lit
from presieve.sql.case_values import CaseValue, Value, branches, decide, each, is_present, size_of
from presieve.sql.coerce import absolute, compare, expression, fit, settle, truth
from presieve.sql.operands import KIND_SORTS, NULL, AsDecimal, AsInstant, AsText, Constant, Operand

MAX_BRANCHES = 16
MAX_EXTENT = 1000
"""Values with more branches, or more nodes, are declined. Conditions on a CASE grow with the number
of its values, and its own conditions are written twice: nested ones would grow without bounds.
"""

_NUMBERS = {"int", "decimal", "double"}


def case(whens: Sequence[tuple[Operand, Operand]], otherwise: Operand, timezone: str) -> Operand:
    """``CASE WHEN condition THEN value ... ELSE otherwise END``. A NULL condition counts as not
    true. Raises :class:`DeclineSignal`.
    """
    conditions = [truth(condition) for condition, _ in whens]
    *values, result = _in_common_sort([*(value for _, value in whens), otherwise], timezone)
    for condition, value in zip(reversed(conditions), reversed(values), strict=True):
        result = decide(condition, value, result)
    return _check_size(result)


def coalesce(operands: Sequence[Operand], timezone: str) -> Operand:
    """The first value that is not NULL. Raises :class:`DeclineSignal`."""
    *values, result = _in_common_sort(operands, timezone)
    for value in reversed(values):
        result = decide(is_present(value), value, result)
    return _check_size(result)


def nullif(a: Operand, b: Operand, timezone: str) -> Operand:
    """NULL where ``a = b``, else ``a``. Raises :class:`DeclineSignal`."""
    return case([(compare(Op.SQL_EQ, a, b, timezone), NULL)], a, timezone)


def nvl2(a: Operand, b: Operand, c: Operand, timezone: str) -> Operand:
    """``b`` where ``a`` is not NULL, else ``c``. Raises :class:`DeclineSignal`."""
    return case([(is_present(_value(a)), b)], c, timezone)


def null_test(operand: Operand) -> Term:
    """``operand IS NULL``. Raises :class:`DeclineSignal`."""
    if isinstance(operand, CaseValue):
        return each(operand, lambda v: app(Op.SQL_IS_NULL, v))
    if isinstance(operand, AsDecimal):
        return app(Op.SQL_IS_NULL, operand.term)
    return app(Op.SQL_IS_NULL, expression(operand, "IS NULL"))


def nan_test(operand: Operand) -> Term:
    """``isnan(operand)``. Raises :class:`DeclineSignal`."""
    value = operand if isinstance(operand, CaseValue) else expression(operand, "isnan")
    if strip(value.sort) != FLOAT:
        raise DeclineSignal("sql-types", "isnan takes a double; cast in a projection below")
    if isinstance(value, CaseValue):
        return each(value, lambda v: app(Op.SQL_IS_NAN, v))
    return app(Op.SQL_IS_NAN, value)


FUNCTIONS: dict[str, tuple[int, int, Callable[[Sequence[Operand], str], Operand]]] = {
    "if": (3, 3, lambda xs, zone: case([(xs[0], xs[1])], xs[2], zone)),
    "coalesce": (1, MAX_BRANCHES, coalesce),
    "nvl": (2, 2, coalesce),
    "ifnull": (2, 2, coalesce),
    "nullif": (2, 2, lambda xs, zone: nullif(xs[0], xs[1], zone)),
    "abs": (1, 1, lambda xs, _: absolute(xs[0])),
    "nvl2": (3, 3, lambda xs, zone: nvl2(xs[0], xs[1], xs[2], zone)),
}
"""The least and the greatest number of arguments, and the meaning."""


def _check_size(value: Value) -> Operand:
    if branches(value) > MAX_BRANCHES or size_of(value) > MAX_EXTENT:
        raise DeclineSignal("sql-unsupported", "the CASE is too large")
    return value


def _value(operand: Operand) -> Value:
    return operand if isinstance(operand, CaseValue) else expression(operand, "a condition")


def _in_common_sort(operands: Sequence[Operand], timezone: str) -> list[Value]:
    """Convert the operands to one sort, up to NULL, if Spark's common type changes none of them."""
    if any(isinstance(o, AsDecimal | AsInstant | AsText) for o in operands):
        raise DeclineSignal("sql-types", "the branches of a CASE are cast to one type")
    sorts = {strip(_value(o).sort) for o in operands if not isinstance(o, Constant)}
    constants = [o for o in operands if isinstance(o, Constant) and o.kind != "void"]
    kinds = {c.kind for c in constants}
    if not sorts and kinds <= _NUMBERS and "double" in kinds:
        sorts = {FLOAT}
    elif not sorts:
        sorts = {strip(settle(c).sort) for c in constants}
    if len(sorts) != 1:
        what = "mix types" if sorts else "are all NULL"
        raise DeclineSignal("sql-types", f"the branches of a CASE {what}")
    (sort,) = sorts
    return [_as(o, sort, timezone) for o in operands]


def _as(operand: Operand, sort: Sort, timezone: str) -> Value:
    """Convert a branch to a value of the common sort."""
    if not isinstance(operand, Constant):
        return _value(operand)
    if operand.kind == "void":
        return none_lit(sort)
    if KIND_SORTS.get(operand.kind) == sort or (sort == FLOAT and operand.kind in _NUMBERS):
        return fit(operand, sort, timezone)
    settled = settle(operand)
    if settled.sort != sort:
        raise DeclineSignal("sql-types", "the branches of a CASE mix types; write them in one type")
    return settled
