# SPDX-License-Identifier: Apache-2.0
"""Trusted. Dates, and times without a time zone: fields, and differences of dates."""

from __future__ import annotations

import ast
import datetime as dt
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from presieve.ir.ops import app
from presieve.ir.sorts import DATE, INT, STRING, TIMESTAMP_NTZ, Sort
from presieve.ir.terms import App, Lit, Op, Term, int_lit, literal_value, string_lit
from presieve.lift.execution.state import Flow, ModelCall, Operation, SymbolicMachine
from presieve.lift.models.builtins.written_texts import concatenate_texts
from presieve.lift.models.registry import function, method
from presieve.lift.values.symbolic import (
    DaysV,
    DurationV,
    Known,
    Scalar,
    TagV,
    TupleV,
    Value,
    constant_of,
)
from presieve.semantics.smart_constructors import apply_function, fold_constants, ite, or_

_OF_DATES = {"year": Op.DATE_YEAR, "month": Op.DATE_MONTH, "day": Op.DATE_DAY}
OF_CLOCKS = {"hour": Op.CLOCK_HOUR, "minute": Op.CLOCK_MINUTE, "second": Op.CLOCK_SECOND}
MICROS_OF_SECOND, MICROS_OF_DAY = 1_000_000, 86_400_000_000


def _count_seconds_of_day(micros: Term) -> Term:
    of_day = fold_constants(app(Op.INT_MOD, micros, int_lit(MICROS_OF_DAY)))
    return fold_constants(app(Op.INT_FLOORDIV, of_day, int_lit(MICROS_OF_SECOND)))


OF_DURATIONS: dict[str, Callable[[Term], Term]] = {
    "days": lambda micros: fold_constants(app(Op.INT_FLOORDIV, micros, int_lit(MICROS_OF_DAY))),
    "seconds": _count_seconds_of_day,
}
"""Fields of durations, by their microseconds."""
_FIRST_ORDINAL = 719_163
"""``date(1970, 1, 1).toordinal()``."""


def attribute(m: SymbolicMachine, flow: Flow, value: Value, name: str) -> Scalar | None:
    """Evaluate ``d.year`` and other fields; None for other values and names."""
    if isinstance(value, DaysV):
        return Scalar(value.days) if name == "days" else None
    if isinstance(value, DurationV):
        return Scalar(OF_DURATIONS[name](value.micros)) if name in OF_DURATIONS else None
    if not isinstance(value, Scalar) or value.base not in (DATE, TIMESTAMP_NTZ):
        return None
    if name in _OF_DATES:
        term = m.scalar(flow, value, AttributeError).term
        return Scalar(apply_function(_OF_DATES[name], _day(term)))
    if name in OF_CLOCKS and value.base == TIMESTAMP_NTZ:
        return Scalar(apply_function(OF_CLOCKS[name], m.scalar(flow, value, AttributeError).term))
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


class IsoDate(NamedTuple):
    """What ``isocalendar()`` returns."""

    year: Value
    week: Value
    weekday: Value


@method(Scalar, "isocalendar", arguments=0, owner=_is_time)
def iso_calendar(call: ModelCall, value: Scalar) -> TupleV:
    """``d.isocalendar()``: year, week and weekday by ISO 8601."""
    day = _day(call.m.scalar(call.flow, value, AttributeError).term)
    weekday = app(Op.INT_ADD, apply_function(Op.DATE_WEEKDAY, day), int_lit(1))
    parts = (
        apply_function(Op.DATE_ISO_YEAR, day),
        apply_function(Op.DATE_ISO_WEEK, day),
        fold_constants(weekday),
    )
    return TupleV((TagV(IsoDate, IsoDate._fields, fixed=True), *map(Scalar, parts)))


@method(Scalar, "date", arguments=0, owner=_is_time)
def date_of(call: ModelCall, value: Scalar) -> Scalar | None:
    """``t.date()`` of a time without a zone."""
    if value.base != TIMESTAMP_NTZ:
        return None
    return Scalar(_day(call.m.scalar(call.flow, value, AttributeError).term))


@method(Scalar, "strftime", arguments=1, owner=_is_time)
def format_time(call: ModelCall, value: Scalar) -> Scalar | None:
    """``d.strftime(form)`` of years, months, days, hours, minutes and seconds as numbers, and of
    the English names of days and months.
    """
    form = constant_of(call.args[0], STRING)
    if not isinstance(form, str) or "\0" in form:  # which ends the form for the platform
        return None
    time = call.m.scalar(call.flow, value, AttributeError).term
    text: Scalar = Scalar(string_lit(""))
    for sign, other in _parts_of_form(form):
        part = Scalar(string_lit(other)) if other else _part_as_text(time, sign)
        if part is None:
            return None
        text = concatenate_texts(text, part)
    return text


def _parts_of_form(form: str) -> Iterator[tuple[str, str]]:
    """Yield signs such as the Y of ``%Y``, and texts between them. The sign at the end of a form
    that ends with ``%`` is empty.
    """
    for sign, other in re.findall(r"%(.?)|([^%]+)", form, re.DOTALL):
        if sign == "F":
            yield from (("Y", ""), ("", "-"), ("m", ""), ("", "-"), ("d", ""))
        else:
            yield sign, other


@method(Scalar, "isoformat", arguments=0, owner=_is_time)
def iso_format(call: ModelCall, value: Scalar) -> Scalar | None:
    """``d.isoformat()`` of a date."""
    if value.base != DATE:
        return None
    day = call.m.scalar(call.flow, value, AttributeError).term
    year = _digits(apply_function(Op.DATE_YEAR, day), 4)
    parts = [year, *(_part_as_text(day, sign) for sign in "md")]
    text = Scalar(string_lit(""))
    for number, part in enumerate(p for p in parts if p is not None):
        before = concatenate_texts(text, Scalar(string_lit("-"))) if number else text
        text = concatenate_texts(before, part)
    return text


def _part_as_text(time: Term, sign: str) -> Scalar | None:
    """Return what ``%Y`` and the like stand for; None if that is not known."""
    if sign in _NAMES:
        return _name(time, sign)
    if sign == "Y":
        year = apply_function(Op.DATE_YEAR, _day(time))
        return _digits(year, 4) if _PADS else Scalar(apply_function(Op.TEXT_OF_INT, year))
    if sign in ("m", "d"):
        op = Op.DATE_MONTH if sign == "m" else Op.DATE_DAY
        return _digits(apply_function(op, _day(time)), 2)
    if sign not in _OF_DAY:
        return None
    if time.sort == DATE:
        return Scalar(string_lit("00"))
    return _digits(apply_function(_OF_DAY[sign], time), 2)


_NAMES = {"A": (Op.DATE_WEEKDAY, 0), "B": (Op.DATE_MONTH, 1)}
_NAMES |= {"a": _NAMES["A"], "b": _NAMES["B"]}
"""The functions that number the names of days and months, and the number of the first."""


def _name(time: Term, sign: str) -> Scalar | None:
    """Return the name of a day or month. None if this process has names of another language; so
    might modules that workers import. Python starts with English ones, wherever it runs.
    """
    op, first = _NAMES[sign]
    days = [dt.date(2024, 1, 1 + i) if first == 0 else dt.date(2024, 1 + i, 1) for i in range(12)]
    names = [day.strftime(f"%{sign}") for day in days][: 7 if first == 0 else 12]
    number = apply_function(op, _day(time))
    if names[0] != {"A": "Monday", "a": "Mon", "B": "January", "b": "Jan"}[sign]:
        return None
    chosen: Term = string_lit(names[-1])
    for i, name in reversed(list(enumerate(names[:-1], first))):
        chosen = ite(app(Op.PY_EQ, number, int_lit(i)), string_lit(name), chosen)
    return Scalar(chosen)


def _digits(number: Term, width: int) -> Scalar:
    text = apply_function(Op.TEXT_OF_INT, number)
    return Scalar(apply_function(Op.TEXT_ZFILL, text, int_lit(width)))


_OF_DAY = {"H": Op.CLOCK_HOUR, "M": Op.CLOCK_MINUTE, "S": Op.CLOCK_SECOND}
_PADS = dt.date(1, 1, 1).strftime("%Y") == "0001"
"""Whether the platform writes a year with four digits; workers run on the same one."""


def combine_times(operation: Operation) -> DaysV | DurationV | Scalar | None:
    """Evaluate ``a - b`` of dates or of times, ``a + b`` and ``a - b`` of a date and a constant
    number of days, and the quotient of a duration and a constant one; None for other operations.
    """
    m, flow, op, left, right = operation
    if isinstance(op, ast.Div | ast.FloorDiv):
        return _divide(op, left, right)
    if isinstance(op, ast.Sub) and _is_clock(left) and _is_clock(right):
        return DurationV(count_micros(m.scalar(flow, left).term, m.scalar(flow, right).term))
    if isinstance(op, ast.Add) and not _is_date(left):
        left, right = right, left
    if not _is_date(left) or not isinstance(op, ast.Add | ast.Sub):
        return None
    if not _is_date(right):
        return _shift(m, flow, left, -1 if isinstance(op, ast.Sub) else 1, right)
    if isinstance(op, ast.Add):
        return None
    a, b = (apply_function(Op.DATE_DAYS, m.scalar(flow, v).term) for v in (left, right))
    return DaysV(fold_constants(app(Op.INT_SUB, a, b)))


def _is_date(value: Value) -> bool:
    return isinstance(value, Scalar) and value.base == DATE


def _is_clock(value: Value) -> bool:
    return isinstance(value, Scalar) and value.base == TIMESTAMP_NTZ


def count_micros(later: Term, earlier: Term) -> Term:
    """Return the microseconds from one time to another one, which may be before it."""
    match later, earlier:
        case App(Op.WALL_TIME, (a, x)), App(Op.WALL_TIME, (b, y)) if x == y:
            later, earlier = (app(Op.WALL_TIME, instant, int_lit(0)) for instant in (a, b))
    counts = (apply_function(Op.CLOCK_MICROS, time) for time in (later, earlier))
    return fold_constants(app(Op.INT_SUB, *counts))


def _divide(op: ast.operator, left: Value, right: Value) -> Scalar | None:
    """Evaluate ``(a - b) / timedelta(hours=1)``, or ``//``."""
    duration, unit = _micros_of(left), _micros_of(right)
    number = literal_value(unit) if isinstance(unit, Lit) else None
    if duration is None or not isinstance(number, int) or number <= 0:
        return None
    sign = Op.INT_RATIO if isinstance(op, ast.Div) else Op.INT_QUOTIENT
    return Scalar(apply_function(sign, duration, int_lit(number)))


@method(DaysV | DurationV, "total_seconds", arguments=0)
def count_seconds(_: ModelCall, duration: DaysV | DurationV) -> Scalar:
    """``(a - b).total_seconds()``."""
    micros = _micros_of(duration)
    assert micros is not None
    return Scalar(apply_function(Op.INT_RATIO, micros, int_lit(MICROS_OF_SECOND)))


def _shift(
    m: SymbolicMachine, flow: Flow, date: Value, sign: int, duration: Value
) -> Scalar | None:
    """Return a date that is so many days later; hours of the duration do not count."""
    delta = duration.target if isinstance(duration, Known) else None
    if type(delta) is not dt.timedelta:
        return None
    term = m.scalar(flow, date).term
    days = app(Op.DATE_DAYS, term)
    first, last = (int_lit(d.toordinal() - _FIRST_ORDINAL - sign * delta.days) for d in _ENDS)
    outside = or_(app(Op.PY_LT, days, first), app(Op.PY_LT, last, days))
    m.fail(flow, fold_constants(outside), OverflowError)
    return Scalar(apply_function(Op.DATE_SHIFT, term, int_lit(sign * delta.days)))


_ENDS = (dt.date.min, dt.date.max)


def measure_durations(left: Value, right: Value) -> tuple[Value, Value]:
    """Return the numbers of days of two durations of whole days, or the microseconds of others,
    which compare as the durations do; other values stay.
    """
    days = _days_of(left), _days_of(right)
    if days[0] is not None and days[1] is not None:
        return days[0], days[1]
    first, second = _micros_of(left), _micros_of(right)
    if first is None or second is None:
        return left, right
    return Scalar(first), Scalar(second)


def compare_as_days(a: Term, b: Term) -> tuple[Term, Term]:
    """Return the numbers of days of two dates if one of them is a date moved by some days, of which
    Spark has no text; other terms stay.
    """
    if not any(isinstance(t, App) and t.op is Op.DATE_SHIFT for t in (a, b)):
        return a, b
    return _days_since_epoch(a), _days_since_epoch(b)


def _days_since_epoch(date: Term) -> Term:
    match date:
        case App(Op.DATE_SHIFT, (inner, more)):
            return fold_constants(app(Op.INT_ADD, _days_since_epoch(inner), more))
    return apply_function(Op.DATE_DAYS, date)


def _days_of(value: Value) -> Scalar | None:
    if isinstance(value, DaysV):
        return Scalar(value.days)
    delta = value.target if isinstance(value, Known) else None
    if type(delta) is not dt.timedelta or delta % dt.timedelta(days=1):
        return None
    return Scalar(int_lit(delta.days))


def _micros_of(value: Value) -> Term | None:
    """Return the length of a duration; None for other values."""
    match value:
        case DurationV(micros):
            return micros
        case DaysV(days):
            return fold_constants(app(Op.INT_MUL, days, int_lit(MICROS_OF_DAY)))
        case Known(_, target) if type(target) is dt.timedelta:
            return int_lit(target // dt.timedelta(microseconds=1))
    return None


@function(
    "datetime.timedelta",
    arguments=range(8),
    keywords=("days", "seconds", "microseconds", "milliseconds", "minutes", "hours", "weeks"),
)
def make_duration(call: ModelCall) -> Known | None:
    """``timedelta(days=30)`` of constant integers."""
    numbers = {name: constant_of(value, INT) for name, value in call.named.items()}
    args = [constant_of(value, INT) for value in call.args]
    if not all(type(n) is int for n in (*args, *numbers.values())):
        return None
    try:
        delta = dt.timedelta(*args, **numbers)  # type: ignore[arg-type]
    except (OverflowError, TypeError):
        return None
    return Known(repr(delta), delta)
