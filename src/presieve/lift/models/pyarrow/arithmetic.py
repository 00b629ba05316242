# SPDX-License-Identifier: Apache-2.0
"""Trusted. Functions of ``pyarrow.compute`` that compute a new array, element by element.

Source: pyarrow's documentation of its compute functions, and release 26. Null gives null. Doubles
follow IEEE 754, also for a division by zero. Integers wrap around at the width of their type, or
raise in the functions that end in ``_checked``; a constant has 64 bits. Beside doubles, and by
``cast``, integers become doubles if a double holds them exactly, and raise otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from presieve.ir.ops import app, negate
from presieve.ir.sorts import BOOL, FLOAT, INT, STRING, Option, strip
from presieve.ir.terms import FALSE, Op, Term, none_lit, string_lit
from presieve.lift.execution.count_fields import any_row
from presieve.lift.execution.state import ModelCall
from presieve.lift.models.builtins.strings import starts_with
from presieve.lift.models.pandas.column_arithmetic import (
    divide_doubles,
    fit_integers,
    of_doubles,
    strict_in_both,
)
from presieve.lift.models.pyarrow.arrays import array_of, either_null, operands
from presieve.lift.models.pyarrow.arrow_results import named_type, out_of_range
from presieve.lift.models.registry import function
from presieve.lift.values.arrow_values import ArrayV, ArrowColumnV
from presieve.lift.values.symbolic import ListedArrayV, Scalar, constant_of
from presieve.semantics.smart_constructors import (
    and_,
    apply_function,
    get,
    is_none,
    ite,
    or_,
    some,
    unwrap_option,
)
from presieve.semantics.values import EXACT_INT_BOUND, INT_RANGES

_OPERATORS = {
    "add": (Op.INT_ADD, Op.FLOAT_ADD),
    "subtract": (Op.INT_SUB, Op.FLOAT_SUB),
    "multiply": (Op.INT_MUL, Op.FLOAT_MUL),
}
_TEXT_TESTS: dict[str, Callable[[Term, str], Term]] = {
    "starts_with": starts_with,
    "ends_with": lambda text, end: apply_function(Op.TEXT_ENDS, text, string_lit(end)),
    "match_substring": lambda text, part: apply_function(Op.TEXT_CONTAINS, text, string_lit(part)),
}
_WIDTHS = ("tinyint", "smallint", "int", "bigint")


_NAMES = [f"pyarrow.compute.{n}{end}" for n in _OPERATORS for end in ("", "_checked")]


@function(*_NAMES, arguments=2)
def compute(call: ModelCall) -> ArrayV:
    """``add(array, other)``, ``subtract`` and ``multiply``, also as ``add_checked``, with an array
    of the same rows, or a constant.
    """
    of_integers, of_numbers = _OPERATORS[call.name.removesuffix("_checked")]
    a, b = operands(call.m, *call.args)
    sorts = {strip(a.term.sort), strip(b.term.sort)}
    if sorts == {INT}:
        return _compute_integers(call, of_integers, a, b)
    if not sorts <= {INT, FLOAT}:
        raise call.decline("unsupported-operation", f"{call.name} of arrays of {a.type}")
    term = of_doubles(partial(app, of_numbers), *(_as_doubles(call, z) for z in (a, b)))
    return a.computed(term, "double", b)


def _compute_integers(call: ModelCall, op: Op, a: ArrayV, b: ArrayV) -> ArrayV:
    type_ = max(a.type, b.type, key=_WIDTHS.index)
    term = strict_in_both(op, a.term, b.term)
    if call.name.endswith("_checked"):
        _fail_outside(call, ArrayV(term, a.rows, type_), *INT_RANGES[type_])
    else:
        fit_integers(call.m, term, type_)
    return a.computed(term, type_, b)


def _as_doubles(call: ModelCall, a: ArrayV) -> Term:
    """Return the elements as doubles: an integer that a double does not hold exactly raises."""
    if strip(a.term.sort) == FLOAT:
        return a.term
    _fail_outside(call, a, -EXACT_INT_BOUND, EXACT_INT_BOUND)
    return of_doubles(lambda x: x, a.term)


def _fail_outside(call: ModelCall, a: ArrayV, low: int, high: int) -> None:
    """Raise if one of these integers is out of range."""
    magnitude = call.m.ranges.magnitude(a.term)
    if magnitude is None or magnitude > min(-low, high):
        wrong = and_(a.rows, out_of_range(a.term, low, high))
        call.m.fail(call.flow, any_row(call.m, wrong))


@function("pyarrow.compute.divide", arguments=2)
def divide(call: ModelCall) -> ArrayV:
    """``divide(array, other)``, if one of them is of doubles."""
    a, b = operands(call.m, *call.args)
    if FLOAT not in (strip(a.term.sort), strip(b.term.sort)):
        reason = "pyarrow cuts the quotient of integers off: cast one of them to float64"
        raise call.decline("unsupported-operation", reason)
    term = of_doubles(divide_doubles, *(_as_doubles(call, z) for z in (a, b)))
    return a.computed(term, "double", b)


@function("pyarrow.compute.cast", arguments=2)
def cast(call: ModelCall) -> ArrayV:
    """``cast(array, type)`` of integers, to integers or to doubles."""
    a, type_ = array_of(call.m, call.args[0]), named_type(call.args[1])
    if type_ == a.type:
        return a
    if strip(a.term.sort) == INT and type_ == "double":
        return a.computed(_as_doubles(call, a), type_)
    if strip(a.term.sort) == INT and type_ in _WIDTHS:
        _fail_outside(call, a, *INT_RANGES[type_])
        return a.computed(a.term, type_)
    raise call.decline("unsupported-operation", f"a cast of an array of {a.type}")


@function("pyarrow.compute.if_else", arguments=3)
def choose(call: ModelCall) -> ArrayV:
    """``if_else(mask, array, other)``: null where the mask is."""
    m, (mask, *_) = call.m, call.args
    condition = array_of(m, mask)
    a, b = operands(m, *call.args[1:])
    if strip(condition.term.sort) != BOOL or condition.rows != a.rows or a.type != b.type:
        raise call.decline("unsupported-operation", "if_else of arrays of several types")
    x, y = (t if isinstance(t.sort, Option) else some(t) for t in (a.term, b.term))
    chosen = ite(get(condition.term), x, y)
    term = ite(is_none(condition.term), none_lit(chosen.sort), chosen)
    return condition.computed(term, a.type, a, b)


@function("pyarrow.compute.fill_null", arguments=2)
def fill_null(call: ModelCall) -> ArrayV:
    """``fill_null(array, constant)`` with a constant of the array's type."""
    m, (of, _) = call.m, call.args
    array_of(m, of)
    a, b = operands(m, *call.args)
    constant = constant_of(call.args[1])
    small = type(constant) is int and -(2**31) <= constant < 2**31 and a.type in ("int", "bigint")
    if not isinstance(call.args[1], Scalar) or not (small or a.type == b.type):
        raise call.decline("unsupported-operation", f"fill_null of an array of {a.type}")
    absent = is_none(a.term)
    return a.computed(a.term if absent == FALSE else ite(absent, b.term, get(a.term)), a.type)


@function("pyarrow.compute.is_nan", arguments=1)
def is_nan(call: ModelCall) -> ArrayV:
    """``is_nan(array)`` of doubles: null where the element is."""
    a = array_of(call.m, call.args[0])
    if strip(a.term.sort) != FLOAT:
        raise call.decline("unsupported-operation", f"is_nan of an array of {a.type}")
    return a.computed(either_null(a.term, a.term, app(Op.IS_NAN, get(a.term))), "boolean")


@function(*(f"pyarrow.compute.{n}" for n in _TEXT_TESTS), keywords=("pattern",))
def test_texts(call: ModelCall) -> ArrayV | None:
    """``starts_with(array, pattern)``, ``ends_with`` and ``match_substring`` of texts."""
    given = (*call.args, *call.named.values())
    if len(given) != 2:
        return None
    a, pattern = array_of(call.m, given[0]), constant_of(given[1])
    # Bytes that are no text are compared, too; beyond these patterns, their order is another one.
    usable = isinstance(pattern, str) and pattern.isascii() and not pattern.endswith("\x7f")
    if strip(a.term.sort) != STRING or not usable or not pattern:
        raise call.decline("unsupported-operation", f"{call.name} with this pattern")
    assert isinstance(pattern, str)
    hit = _TEXT_TESTS[call.name](unwrap_option(a.term), pattern)
    return a.computed(either_null(a.term, a.term, hit), "boolean")


@function("pyarrow.compute.is_in", keywords=("value_set",))
def is_in(call: ModelCall) -> ArrayV | None:
    """``is_in(array, value_set)`` of a list of integers or texts; null is in no such list."""
    given = [call.flow.dereference(v) for v in (*call.args, *call.named.values())]
    match given:
        case [ArrayV() | ArrowColumnV() as of, ListedArrayV(items)]:
            a, constants = array_of(call.m, of), [constant_of(i) for i in items]
        case _:
            return None
    kind = {"bigint": int, "string": str}.get(a.type)
    if kind is None:
        raise call.decline("unsupported-operation", f"is_in of an array of {a.type}")
    if not constants or any(type(c) is not kind for c in constants):
        raise call.decline("unsupported-operation", f"is_in with this list beside {a.type}")
    number = unwrap_option(a.term)
    equal = or_(*(app(Op.PY_EQ, number, i.term) for i in items if isinstance(i, Scalar)))
    return a.computed(and_(negate(is_none(a.term)), equal), "boolean")
