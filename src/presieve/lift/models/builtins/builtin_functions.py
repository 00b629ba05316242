# SPDX-License-Identifier: Apache-2.0
"""Trusted. Built-in functions and classes of constants, each recognized by identity."""

from __future__ import annotations

import ast
import datetime as dt
from collections.abc import Callable
from typing import cast

from presieve.ir.sorts import BOOL, DATE, FLOAT, INT, STRING, TIMESTAMP_NTZ
from presieve.ir.terms import Lit, Op, int_lit, literal_value
from presieve.lift.execution import growing_lists, outer_containers
from presieve.lift.execution.count_fields import rows_of
from presieve.lift.execution.state import Comparison, ModelCall
from presieve.lift.models.builtins import (
    composite_values,
    mathematics,
    regular_expressions,
    sets,
    strings,
    written_texts,
)
from presieve.lift.models.builtins.comparisons import boolean, compare, truth
from presieve.lift.models.pandas import top_k
from presieve.lift.models.pandas.timestamps import CALENDAR
from presieve.lift.models.registry import ANY, function
from presieve.lift.python.names import module, scalar_constant
from presieve.lift.values.arrow_values import ArrayV, ArrowColumnV, BatchV
from presieve.lift.values.join_values import merge
from presieve.lift.values.symbolic import (
    LITERAL,
    DictV,
    GrowingV,
    ListV,
    Scalar,
    SetV,
    SizeV,
    Traits,
    TupleV,
    Value,
    describe,
    is_tagged,
)
from presieve.lift.values.text_parts import FindingsV, SplitV
from presieve.lift.values.whole_columns import FrameV, NullableV, PartV, SeriesV, TopV, VectorV
from presieve.records import replace
from presieve.semantics.smart_constructors import apply_function, as_int, get, is_none


@function("builtins.min", "builtins.max")
def extreme(call: ModelCall) -> Value:
    """``min`` and ``max`` of two or more values."""
    m, flow, args = call.m, call.flow, call.args
    if len(args) < 2:
        raise call.decline("unknown-call", "min and max are supported with two or more values")
    op = ast.Lt() if call.name == "min" else ast.Gt()
    best = args[0]
    for candidate in args[1:]:  # as CPython: it replaces the best only if strictly better
        better = compare(Comparison(m, flow, op, candidate, best))
        best = merge(better, m.force(candidate, flow), m.force(best, flow))
    return best


@function("builtins.len", arguments=1)
def length(call: ModelCall) -> Value:
    """``len`` of a text, of the group, of its columns and parts, and of lists, tuples, dicts and
    sets whose members are known.
    """
    m, flow, (of,) = call.m, call.flow, call.args
    outer = outer_containers.length(of)
    if outer is not None:
        return Scalar(int_lit(outer), LITERAL)
    match flow.dereference(m.force(of, flow)):
        case SetV() as operand:
            return sets.size(operand)
        case whole if composite_values.is_composite(whole):
            return composite_values.length(m, flow, whole)
        case Scalar() as text if text.base == STRING:
            term = m.scalar(flow, text).term
            return Scalar(apply_function(Op.TEXT_LENGTH, term))
        case FindingsV() as findings:
            return Scalar(regular_expressions.count_findings(findings))
        case SplitV() as parts if (number := strings.count_parts(parts)) is not None:
            return Scalar(number)
        case SeriesV() | FrameV() | ArrowColumnV():
            return m.force(SizeV(), flow)
        case VectorV(_, rows) | PartV(_, rows) | ArrayV(_, rows) | BatchV(_, rows):
            return rows_of(m, flow, rows)
        case TopV() as top:
            return top_k.length(m, flow, top)
        case GrowingV() as operand:
            return growing_lists.length(operand)
        case TupleV(items) | ListV(items) | DictV(_, items) as operand if not is_tagged(operand):
            size = scalar_constant(len(items), m.columns.zone)
            assert size is not None
            return size
    raise call.decline("unsupported-operation", f"the length of {describe(of)} is not read")


@function("builtins.set", "builtins.frozenset")
def make_set(call: ModelCall) -> Value:
    """``set`` and ``frozenset`` of nothing, or of a list, tuple or set whose members are known."""
    m, flow, name, args, _, _ = call
    fixed = name == "frozenset"
    if not args:
        return replace(sets.EMPTY, fixed=fixed)
    if len(args) > 1:
        raise call.decline("unknown-call", f"{name}() is read with 1 argument only")
    set_value = sets.written_out(m, flow, flow.dereference(args[0]))
    if isinstance(set_value, SetV):
        return replace(set_value, fixed=fixed)
    raise call.decline("unknown-call", f"a set of {describe(args[0])}")


@function("builtins.dict", arguments=0, keywords=ANY)
def make_dict(call: ModelCall) -> Value:
    """``dict()``, which is empty, and ``dict(a=.., b=..)``."""
    return DictV(tuple(call.named), tuple(call.named.values()))


@function("builtins.int", arguments=1)
def make_int(call: ModelCall) -> Value:
    """``int`` of a number, a boolean or a text. What it does not take raises, as NaN does."""
    m, flow, (of,) = call.m, call.flow, call.args
    forced = m.force(of, flow)
    if isinstance(forced, NullableV):
        if forced.base != INT:
            raise call.decline("unsupported-operation", f"int() of {describe(forced)}")
        m.fail(flow, is_none(forced.term))
        return Scalar(get(forced.term))
    value = m.scalar(flow, forced)
    if isinstance(value.term, Lit) and value.base == STRING:
        return _int_of_text(call, str(literal_value(value.term)))
    if value.base == STRING:
        return Scalar(strings.number_in(call, value, "int"))
    if value.base == FLOAT:
        return mathematics.convert_to_whole(call, Op.FLOAT_TRUNC, value)
    if value.base not in (BOOL, INT):
        raise call.decline("unsupported-operation", f"int() of {describe(value)} is not read")
    return Scalar(as_int(value.term), Traits(literal=value.traits.literal))


def _int_of_text(call: ModelCall, text: str) -> Value:
    try:
        constant = scalar_constant(int(text), call.m.columns.zone)
    except ValueError:
        raise call.decline("always-raises", f"int({text!r}) raises") from None
    assert constant is not None
    return constant


@function("builtins.bool", arguments=1)
def make_bool(call: ModelCall) -> Value:
    """``bool``, as a condition would see the value."""
    return boolean(truth(call.m, call.flow, call.args[0]))


@function("builtins.str", arguments=1)
def make_str(call: ModelCall) -> Value:
    """``str`` of a string, an integer, a boolean or None."""
    return written_texts.write_as_text(call.m, call.flow, call.args[0])


@function("datetime.date", "datetime.datetime", "pandas.Timestamp")
def calendar(call: ModelCall) -> Value:
    """``date(2024, 1, 31)``, ``datetime(...)`` and ``pandas.Timestamp("...")`` of constants."""
    plain: list[object] = []
    for a in call.args:
        if not isinstance(a, Scalar) or not isinstance(a.term, Lit) or a.base not in (INT, STRING):
            raise call.decline("unsupported-operation", "a date is built from constants only")
        value = literal_value(a.term)
        if isinstance(value, str) and not CALENDAR.match(value):  # such as "now"
            raise call.decline("impure-clock", f"{value!r} may depend on when it is read")
        plain.append(value)
    cls = getattr(module("pandas") if call.name == "Timestamp" else dt, call.name)
    try:
        moment = cast("Callable[..., object]", cls)(*plain)
    except (TypeError, ValueError, OverflowError) as e:
        raise call.decline("always-raises", f"this date cannot be built: {e}") from e
    constant = scalar_constant(moment, call.m.columns.zone)
    if constant is None or constant.base not in (DATE, TIMESTAMP_NTZ):
        raise call.decline("unsupported-constant", "a date or time with a zone, or finer than 1 us")
    return constant
