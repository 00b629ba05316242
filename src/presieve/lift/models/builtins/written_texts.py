# SPDX-License-Identifier: Apache-2.0
"""Trusted. Texts with values written into them: ``str``, f-strings, ``%`` and ``format``."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Callable, Mapping, Sequence

from presieve.errors import DeclineSignal
from presieve.ir.sorts import BOOL, INT, STRING, Sort
from presieve.ir.terms import Op, Scope, Term, int_lit, string_lit
from presieve.ir.walk import variables
from presieve.lift.execution.state import Flow, SymbolicMachine
from presieve.lift.values.symbolic import NoneV, Scalar, TupleV, Value, constant_of, describe
from presieve.semantics.smart_constructors import apply_function, get, is_none, ite

_WRITTEN: dict[Sort, Callable[[Term], Term]] = {
    STRING: lambda text: text,
    INT: lambda number: apply_function(Op.TEXT_OF_INT, number),
    BOOL: lambda truth: ite(truth, string_lit("True"), string_lit("False")),
}


def concatenate_texts(a: Scalar, b: Scalar) -> Scalar:
    """Concatenate two texts."""
    if a.term == string_lit(""):
        return b
    return a if b.term == string_lit("") else Scalar(apply_function(Op.TEXT_CONCAT, a.term, b.term))


def write_as_text(m: SymbolicMachine, flow: Flow, value: Value) -> Scalar:
    """Evaluate ``str(value)`` of a text, an integer, a truth value or None."""
    forced = m.force(value, flow)
    none = string_lit("None")
    if isinstance(forced, NoneV):
        return Scalar(none)
    if isinstance(forced, Scalar) and forced.base in _WRITTEN:
        if _may_be_double(forced):
            reason = (
                "str() of an integer that pandas may hold as a double, because another row of the"
                " group has a NULL there: use int(...)"
            )
            raise DeclineSignal("unsupported-operation", reason)
        term = get(forced.term)
        shown = _WRITTEN[forced.base](term)
        return Scalar(ite(is_none(forced.term), none, shown))
    raise DeclineSignal("unsupported-operation", f"str() of {describe(value)} is not read")


def _may_be_double(value: Scalar) -> bool:
    """Whether an integer may be held as a double: one of a column that may hold NULL, after a test
    that it is there. A key is NULL in all rows or in none.
    """
    if value.base != INT or not value.traits.numpy or value.traits.wide:
        return False
    return any(v.scope is not Scope.KEY for v in variables(value.term))


def format_text(m: SymbolicMachine, node: ast.JoinedStr, flow: Flow) -> Scalar:
    """Evaluate an f-string whose values are formatted as by ``str``."""
    formatted_text = Scalar(string_lit(""))
    for part in node.values:
        match part:
            case ast.FormattedValue(value, -1 | 115, None):
                shown = write_as_text(m, flow, m.evaluate(value, flow))
            case ast.FormattedValue(value, -1, ast.JoinedStr([ast.Constant(str() as form)])):
                shown = write_number(m, flow, m.evaluate(value, flow), form)
            case ast.Constant(str() as text):
                shown = Scalar(string_lit(text))
            case _:
                reason = "a format, as in f'{x:.2f}', is not read"
                raise DeclineSignal("unsupported-expression", reason)
        formatted_text = concatenate_texts(formatted_text, shown)
    return formatted_text


def write_number(m: SymbolicMachine, flow: Flow, value: Value, form: str) -> Scalar:
    """Evaluate ``f"{value:05d}"`` of an integer: its digits with leading zeros."""
    zeros = re.fullmatch(r"0(\d{1,3})d?", form)
    number = m.scalar(flow, value)
    if number.base != INT or number.traits.numpy or (zeros is None and form != "d"):
        reason = "a format, as in f'{x:.2f}', is not read"
        raise DeclineSignal("unsupported-expression", reason)
    digits = apply_function(Op.TEXT_OF_INT, number.term)
    if zeros is None:
        return Scalar(digits)
    return Scalar(apply_function(Op.TEXT_ZFILL, digits, int_lit(int(zeros[1]))))


def fill_form(m: SymbolicMachine, flow: Flow, form: Value, values: Value) -> Scalar | None:
    """Evaluate ``"%s-%02d" % (a, b)`` of texts and integers; None for other forms."""
    text = constant_of(form, STRING)
    if not isinstance(text, str):
        return None
    items = list(values.items) if isinstance(values, TupleV) else [values]
    signs = re.findall(r"%(0\d+d)|%(.)|([^%]+)", text, re.DOTALL)
    if sum(not other for *_, other in signs) != len(items):
        return None
    formatted_text = Scalar(string_lit(""))
    for zeros, sign, other in signs:
        if other:
            part = Scalar(string_lit(other))
        elif sign == "s":
            part = write_as_text(m, flow, items.pop(0))
        elif zeros or sign == "d":
            part = write_number(m, flow, items.pop(0), zeros or "d")
        else:
            return None
        formatted_text = concatenate_texts(formatted_text, part)
    return formatted_text


def fill_fields(
    m: SymbolicMachine,
    flow: Flow,
    form: str,
    positional: Sequence[Value],
    named: Mapping[str, Value],
) -> Scalar | None:
    """Evaluate ``"{}-{name:02d}".format(a, name=b)``; None for other fields."""
    written, values = Scalar(string_lit("")), list(positional)
    try:
        fields = list(string.Formatter().parse(form))
    except ValueError:
        return None
    places = [name for _, name, _, _ in fields if name is not None and not name.isidentifier()]
    if "" in places and any(places):  # numbered by hand and by Python
        return None
    for text, name, spec, conversion in fields:
        written = concatenate_texts(written, Scalar(string_lit(text)))
        if name is None:
            continue
        if name == "" and values:
            value: Value | None = values.pop(0)
        elif name.isdecimal() and int(name) < len(positional):
            value = positional[int(name)]
        else:
            value = named.get(name)
        if value is None or conversion not in (None, "s") or (conversion and spec):
            return None
        part = write_number(m, flow, value, spec) if spec else write_as_text(m, flow, value)
        written = concatenate_texts(written, part)
    return written
