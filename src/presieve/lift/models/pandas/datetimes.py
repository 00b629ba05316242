# SPDX-License-Identifier: Apache-2.0
"""Trusted. ``column.dt.month`` and other numbers of times, ``column.dt.date`` against constants,
and ``pandas.to_datetime`` of times.

Source: pandas 2.3 ``core/arrays/datetimes.py`` and ``core/tools/datetimes.py``: fields are of the
local time, which for instants is that of the session's time zone
(:mod:`presieve.lift.python.zones`). A missing time gives NaN or NaT, which has no order and equals
no value. A day is the interval from its first instant to that of the next one, so a comparison of
dates is a comparison of times.
"""

from __future__ import annotations

import ast
import datetime as dt
from collections.abc import Callable
from functools import partial

from presieve.errors import DeclineSignal
from presieve.ir.ops import app, negate
from presieve.ir.sorts import DATE, INT, STRING, TIMESTAMP, TIMESTAMP_NTZ, strip
from presieve.ir.terms import FALSE, Op, Term, float_lit, int_lit, lit, none_lit, string_lit
from presieve.lift.execution.count_fields import any_row
from presieve.lift.execution.state import Comparison, ModelCall, Operation, SymbolicMachine
from presieve.lift.models.builtins.calendar import (
    OF_CLOCKS,
    OF_DURATIONS,
    count_micros,
    format_time,
)
from presieve.lift.models.pandas.series import (
    against,
    check_aligned,
    compare_vectors,
    keep_missing,
    like,
    present_rows,
    scalar_operand,
    vector,
)
from presieve.lift.models.registry import function, method
from presieve.lift.python.names import module, scalar_constant
from presieve.lift.python.zones import Zone
from presieve.lift.values.symbolic import Scalar, Value, constant_of, describe
from presieve.lift.values.whole_columns import AccessV, CalendarV, DurationsV, VectorV
from presieve.records import replace
from presieve.semantics.smart_constructors import (
    and_,
    apply_function,
    as_float,
    fold_constants,
    get,
    is_missing,
    is_none,
    ite,
    or_,
    some,
    unwrap_option,
)
from presieve.semantics.values import date_of

_FLIPPED: dict[type[ast.cmpop], ast.cmpop] = {
    ast.Lt: ast.Gt(),
    ast.LtE: ast.GtE(),
    ast.Gt: ast.Lt(),
    ast.GtE: ast.LtE(),
}
_LAST_YEAR = 9998


def _quarter(day: Term) -> Term:
    later = fold_constants(app(Op.INT_ADD, apply_function(Op.DATE_MONTH, day), int_lit(2)))
    return fold_constants(app(Op.INT_FLOORDIV, later, int_lit(3)))


def _starts(*months: int) -> Callable[[Term], Term]:
    """Return a test whether a day is the first one of one of these months."""

    def test(day: Term) -> Term:
        month = apply_function(Op.DATE_MONTH, day)
        is_first = app(Op.PY_EQ, apply_function(Op.DATE_DAY, day), int_lit(1))
        if len(months) == _MONTHS_OF_YEAR:
            return is_first
        return and_(is_first, or_(*(app(Op.PY_EQ, month, int_lit(n)) for n in months)))

    return test


def _ends(*months: int) -> Callable[[Term], Term]:
    """Return a test whether the next day is the first one of one of these months."""
    starts = _starts(*months)
    return lambda day: starts(apply_function(Op.DATE_SHIFT, day, int_lit(1)))


_MONTHS_OF_YEAR = 12
_OF_DAYS: dict[str, Callable[[Term], Term]] = {
    "year": partial(apply_function, Op.DATE_YEAR),
    "month": partial(apply_function, Op.DATE_MONTH),
    "day": partial(apply_function, Op.DATE_DAY),
    "quarter": _quarter,
    **dict.fromkeys(
        ("weekday", "dayofweek", "day_of_week"), partial(apply_function, Op.DATE_WEEKDAY)
    ),
}
_TESTS: dict[str, Callable[[Term], Term]] = {
    "is_month_start": _starts(*range(1, 13)),
    "is_month_end": _ends(*range(1, 13)),
    "is_quarter_start": _starts(1, 4, 7, 10),
    "is_quarter_end": _ends(1, 4, 7, 10),
    "is_year_start": _starts(1),
    "is_year_end": _ends(1),
}
"""Tests of days, which are false for a missing time."""


def number_of(v: VectorV, name: str, zone: Zone) -> VectorV | None:
    """Return a field of times as a column of integers of 32 bits, which are doubles beside a
    missing time; None for other fields, and for times in a zone that changes its clocks.
    """
    time = _convert_to_wall_time(get(v.term), zone)
    if time is None or name not in {**_OF_DAYS, **OF_CLOCKS}:
        return None
    if name in OF_CLOCKS:
        field = apply_function(OF_CLOCKS[name], time)
    else:
        field = _OF_DAYS[name](apply_function(Op.CLOCK_DATE, time))
    return VectorV(keep_missing(v, field), v.rows, None, True, v.ordered, by=v.by)


def _convert_to_wall_time(time: Term, zone: Zone) -> Term | None:
    """The time that Python sees; None for other values."""
    ahead = zone.fixed_offset()
    if time.sort == TIMESTAMP and ahead is not None:
        return apply_function(Op.WALL_TIME, time, int_lit(ahead))
    return time if time.sort == TIMESTAMP_NTZ else None


def field_of(m: SymbolicMachine, v: VectorV, name: str) -> CalendarV | VectorV:
    """Evaluate ``column.dt.name`` of times."""
    number = number_of(v, name, m.columns.zone)
    if number is not None:
        return number
    if strip(v.term.sort) not in (TIMESTAMP, TIMESTAMP_NTZ):
        reason = "raises for columns that are not timestamps: dates of Spark are objects in pandas"
        raise DeclineSignal("unsupported-operation", f".dt {reason}")
    time = _convert_to_wall_time(get(v.term), m.columns.zone)
    day = None if time is None else apply_function(Op.CLOCK_DATE, time)
    if day is not None and name in _TESTS:
        return like(and_(negate(is_none(v.term)), _TESTS[name](day)), v)
    if name != "date":
        reason = f".dt.{name} is not supported, only .dt.date, numbers such as .dt.year, and tests"
        advice = "such as .dt.is_month_start: make it a column below the function"
        raise DeclineSignal("unsupported-expression", f"{reason} {advice}")
    # A column of objects, and one of times if all are missing.
    dates = None if day is None else replace(like(keep_missing(v, day), v), loose=True)
    return CalendarV(v, dates)


def subtract(operation: Operation) -> DurationsV | None:
    """Evaluate ``a - b`` of columns of times, or of one and a constant, where each row is lifted by
    itself; None for others.
    """
    m, flow, _, left, right = operation
    columns = [v for v in (vector(m, left), vector(m, right)) if v is not None]
    v, times = columns[0], (TIMESTAMP, TIMESTAMP_NTZ)
    if not m.columns.single or any(strip(c.term.sort) not in times or c.array for c in columns):
        return None
    if len(columns) == 2:
        check_aligned(*columns)
        a, b = (get(c.term) for c in columns)
    else:
        is_first = vector(m, left) is not None
        x, constant = against(v, scalar_operand(right if is_first else left))
        a, b = (x, constant) if is_first else (constant, x)
    clocks = [_convert_to_wall_time(t, m.columns.zone) for t in (a, b)]
    if clocks[0] is None or clocks[1] is None:
        return None
    micros = count_micros(clocks[0], clocks[1])
    absent = or_(*(is_none(c.term) for c in columns))
    present = and_(v.rows, negate(absent))
    # Of more nanoseconds than 64 bits hold, pandas raises.
    low, high = (int_lit(n) for n in (-_MOST_MICROS, _MOST_MICROS))
    outside = or_(app(Op.PY_LT, micros, low), app(Op.PY_LT, high, micros))
    m.fail(flow, any_row(m, and_(present, fold_constants(outside))))
    term = ite(absent, none_lit(INT), some(micros)) if absent != FALSE else micros
    return DurationsV(like(term, *columns))


_MOST_MICROS = (2**63 - 1) // 1000


def field_of_durations(durations: DurationsV, name: str) -> VectorV | None:
    """Evaluate ``(a - b).dt.days`` and ``.dt.seconds``; None for other names."""
    v = durations.micros
    if name not in OF_DURATIONS:
        return None
    return like(keep_missing(v, OF_DURATIONS[name](unwrap_option(v.term))), v)


def _durations(_: ModelCall, owner: Value) -> VectorV | None:
    of = owner.of if isinstance(owner, AccessV) else None
    return of.micros if isinstance(of, DurationsV) else None


@method(AccessV, "dt.total_seconds", arguments=0, fresh=True, owner=_durations)
def count_seconds(call: ModelCall, v: VectorV) -> VectorV | None:
    """``(a - b).dt.total_seconds()`` of columns of times."""
    if not _is_pandas("2."):
        return None
    nanos = fold_constants(app(Op.INT_MUL, unwrap_option(v.term), int_lit(1000)))
    seconds = app(Op.FLOAT_DIV, as_float(nanos), float_lit(1e9))
    return like(keep_missing(v, seconds), v)


_DAYS = dict(
    enumerate(("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"))
)
_MONTHS = dict(
    enumerate(
        (
            *("January", "February", "March", "April", "May", "June", "July", "August"),
            *("September", "October", "November", "December"),
        ),
        start=1,
    )
)


def _times(call: ModelCall, owner: Value) -> VectorV | None:
    return vector(call.m, owner.of) if isinstance(owner, AccessV) else None


@method(AccessV, "dt.day_name", "dt.month_name", arguments=0, fresh=True, owner=_times)
def name_days_or_months(call: ModelCall, v: VectorV) -> VectorV | None:
    """``column.dt.day_name()`` and ``column.dt.month_name()``, which are English."""
    field, names = ("weekday", _DAYS) if call.name == "day_name" else ("month", _MONTHS)
    number = number_of(v, field, call.m.columns.zone)
    if number is None:
        return None
    (_, first), *others = names.items()
    term: Term = string_lit(first)
    for n, name in others:
        hit = fold_constants(app(Op.PY_EQ, get(number.term), int_lit(n)))
        term = ite(hit, string_lit(name), term)
    return replace(like(keep_missing(v, term), v), loose=True)


@method(AccessV, "dt.strftime", arguments=1, fresh=True, owner=_times)
def format_times(call: ModelCall, v: VectorV) -> VectorV | None:
    """``column.dt.strftime(form)``, as of a single time."""
    time = _convert_to_wall_time(get(v.term), call.m.columns.zone)
    text = None if time is None else format_time(call, Scalar(time))
    return None if text is None else replace(like(keep_missing(v, text.term), v), loose=True)


@function("pandas.to_datetime", arguments=1)
def convert_to_times(call: ModelCall) -> VectorV:
    """``pandas.to_datetime(column)`` of a column of times: the same times, in the same memory; and
    of dates: the time when each begins.
    """
    v = vector(call.m, call.args[0])
    sort = None if v is None else strip(v.term.sort)
    if v is not None and sort in (TIMESTAMP, TIMESTAMP_NTZ) and not v.array:
        return replace(v, name=None)
    if v is not None and sort == DATE and not v.array:
        return _begin_of_days(call, v)
    if sort == STRING:
        reason = (
            "pandas.to_datetime of texts: pandas reads all of them in the format of the first one,"
            " so what a text becomes depends on another row; cast the column to a timestamp below"
            " the function"
        )
        raise call.decline("unknown-call", reason)
    reason = (
        f"pandas.to_datetime of {describe(call.args[0])}: a column of timestamps or dates is read"
    )
    raise call.decline("unknown-call", reason)


def _begin_of_days(call: ModelCall, v: VectorV) -> VectorV:
    """Return the times when dates begin."""
    if not _is_pandas("1.", "2."):
        raise call.decline("unknown-call", "pandas.to_datetime of dates, by this version of pandas")
    day = get(v.term)
    first, last = (lit(DATE, days) for days in _DAYS_OF_NANOSECONDS)
    outside = or_(app(Op.PY_LT, day, first), app(Op.PY_LT, last, day))
    call.m.fail(call.flow, any_row(call.m, and_(present_rows(v), outside)))
    term = keep_missing(v, apply_function(Op.DATE_MIDNIGHT, day))
    return VectorV(term, v.rows, None, False, v.ordered, by=v.by)


def _is_pandas(*versions: str) -> bool:
    """Return whether pandas is of one of these versions, such as ``2.``; before 3, a time is a
    number of nanoseconds.
    """
    return str(getattr(module("pandas"), "__version__", "")).startswith(versions)


_DAYS_OF_NANOSECONDS = (-106_751, 106_751)
"""The days since 1970-01-01 that begin within 64 bits of nanoseconds."""


def compare(comparison: Comparison) -> VectorV:
    """Compare a date with a constant, on either side."""
    m, flow, op, left, right = comparison
    if not isinstance(left, CalendarV):
        return compare(Comparison(m, flow, _FLIPPED.get(type(op), op), right, left))
    start, end = _interval(m, right)
    v = left.of
    gaps = and_(v.rows, is_missing(v.term))
    if type(op) in _FLIPPED and gaps != FALSE:
        # If all are missing, pandas types the dates as times, which have no order with dates.
        some, none = any_row(m, present_rows(v)), any_row(m, gaps)
        m.fail(flow, and_(none, negate(some)))
    match op:
        case ast.Lt():
            return compare_vectors(m, op, v, start)
        case ast.GtE():
            return compare_vectors(m, op, v, start)
        case ast.LtE():
            return compare_vectors(m, ast.Lt(), v, end)
        case ast.Gt():
            return compare_vectors(m, ast.GtE(), v, end)
        case ast.Eq():
            a = compare_vectors(m, ast.GtE(), v, start)
            b = compare_vectors(m, ast.Lt(), v, end)
            return like(and_(a.term, b.term), v)
        case ast.NotEq():
            return like(negate(compare(comparison._replace(op=ast.Eq())).term), v)
    raise DeclineSignal("unsupported-operation", "is and in of a whole column")


def _interval(m: SymbolicMachine, value: Value) -> tuple[Scalar, Scalar]:
    """Return the first time of the day, and that of the next one."""
    number = constant_of(value, DATE)
    if type(number) is not int:
        reason = f".dt.date is compared with {describe(value)}: a constant is supported"
        raise DeclineSignal("unsupported-operation", reason)
    try:
        days = [date_of(d) for d in (number, number + 1)]
    except (ValueError, OverflowError):
        days = []
    if not days or days[1].year > _LAST_YEAR:
        raise DeclineSignal("unsupported-constant", "a date that pandas does not have")
    first, next_ = (scalar_constant(dt.datetime(*d.timetuple()[:3]), m.columns.zone) for d in days)
    assert first is not None
    assert next_ is not None
    return first, next_
