# SPDX-License-Identifier: Apache-2.0
"""Trusted. Dates, and times without a time zone: fields, and differences of dates."""

from __future__ import annotations

import ast

from presieve.ir.ops import app
from presieve.ir.sorts import DATE, TIMESTAMP_NTZ, Sort
from presieve.ir.terms import Op, Term, int_lit
from presieve.lift.execution.state import Flow, ModelCall, Operation, SymbolicMachine
from presieve.lift.models.registry import method
from presieve.lift.values.symbolic import DaysV, Scalar, Value
from presieve.semantics.smart_constructors import apply_function, fold_constants

_OF_DATES = {"year": Op.DATE_YEAR, "month": Op.DATE_MONTH, "day": Op.DATE_DAY}
_OF_CLOCKS = {"hour": Op.CLOCK_HOUR, "minute": Op.CLOCK_MINUTE, "second": Op.CLOCK_SECOND}
_FIRST_ORDINAL = 719_163
"""``date(1970, 1, 1).toordinal()``."""


def attribute(m: SymbolicMachine, flow: Flow, value: Value, name: str) -> Scalar | None:
    """Evaluate ``d.year`` and other fields; None for other values and names."""
    if isinstance(value, DaysV):
        return Scalar(value.days) if name == "days" else None
    if not isinstance(value, Scalar) or value.base not in (DATE, TIMESTAMP_NTZ):
        return None
    if name in _OF_DATES:
        term = m.scalar(flow, value, AttributeError).term
        return Scalar(apply_function(_OF_DATES[name], _day(term)))
    if name in _OF_CLOCKS and value.base == TIMESTAMP_NTZ:
        return Scalar(apply_function(_OF_CLOCKS[name], m.scalar(flow, value, AttributeError).term))
    return None


def _day(term: Term) -> Term:
    return apply_function(Op.CLOCK_DATE, term) if term.sort == TIMESTAMP_NTZ else term


def _is_time(call: ModelCall, owner: Value) -> Scalar | None:
    sorts: tuple[Sort, ...] = (DATE, TIMESTAMP_NTZ)
    forced = call.m.force(owner, call.flow)
    return forced if isinstance(forced, Scalar) and forced.base in sorts else None


@method(Scalar, "weekday", "isoweekday", "toordinal", arguments=0, owner=_is_time)
def number_of_day(call: ModelCall, value: Scalar) -> Scalar:
    """``d.weekday()``, ``d.isoweekday()`` and ``d.toordinal()``."""
    day = _day(call.m.scalar(call.flow, value, AttributeError).term)
    if call.name == "toordinal":
        return Scalar(
            fold_constants(app(Op.INT_ADD, app(Op.DATE_DAYS, day), int_lit(_FIRST_ORDINAL)))
        )
    weekday = apply_function(Op.DATE_WEEKDAY, day)
    return Scalar(
        weekday if call.name == "weekday" else fold_constants(app(Op.INT_ADD, weekday, int_lit(1)))
    )


@method(Scalar, "date", arguments=0, owner=_is_time)
def date_of(call: ModelCall, value: Scalar) -> Scalar | None:
    """``t.date()`` of a time without a zone."""
    if value.base != TIMESTAMP_NTZ:
        return None
    return Scalar(_day(call.m.scalar(call.flow, value, AttributeError).term))


def difference(operation: Operation) -> DaysV | None:
    """Evaluate ``a - b`` of dates; None for other operations."""
    m, flow, op, left, right = operation
    dates = all(isinstance(v, Scalar) and v.base == DATE for v in (left, right))
    if not dates or not isinstance(op, ast.Sub):
        return None
    a, b = (apply_function(Op.DATE_DAYS, m.scalar(flow, v).term) for v in (left, right))
    return DaysV(fold_constants(app(Op.INT_SUB, a, b)))
