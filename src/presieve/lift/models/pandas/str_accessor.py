# SPDX-License-Identifier: Apache-2.0
"""Trusted. Columns of texts, element by element (``column.str``): Python's own methods.

Sources: pandas 2.3 ``core/strings/object_array.py``: Spark creates an array of objects, and pandas
calls Python's method on each text. Missing elements stay missing, or become ``na``.
"""

from __future__ import annotations

import ast
import re

from presieve.ir.ops import negate
from presieve.ir.sorts import BOOL, STRING, Option, strip
from presieve.ir.terms import FALSE, Lit, Op, Term, none_lit, string_lit
from presieve.lift.execution.state import Flow, ModelCall, SymbolicMachine
from presieve.lift.models.builtins import strings
from presieve.lift.models.pandas.series import missing, vector
from presieve.lift.models.registry import Model, method
from presieve.lift.values.symbolic import Scalar, Value, constant_of
from presieve.lift.values.whole_columns import AccessV, VectorV
from presieve.semantics.smart_constructors import (
    and_,
    apply_function,
    ite,
    or_,
    some,
    unwrap_option,
)


def _texts(call: ModelCall, owner: Value) -> VectorV | None:
    return _column(call.m, owner)


def _column(m: SymbolicMachine, owner: Value) -> VectorV | None:
    column = vector(m, owner.of) if isinstance(owner, AccessV) else None
    return column if column is not None and strip(column.term.sort) == STRING else None


def _of_elements(v: VectorV, term: Term) -> VectorV:
    """Build a column of ``term`` for each text; missing elements stay missing."""
    if isinstance(v.term.sort, Option):
        term = ite(missing(v.term), none_lit(term.sort), some(term))
    return VectorV(term, v.rows, None, False, v.ordered, by=v.by)


def _call_on_each(call: ModelCall, v: VectorV, model: Model) -> VectorV | None:
    """Apply the model of a Python text method to each element."""
    element = model(call, Scalar(unwrap_option(v.term)))
    return _of_elements(v, element.term) if isinstance(element, Scalar) else None


@method(AccessV, "str.upper", "str.lower", arguments=0, fresh=True, owner=_texts)
def change_case(call: ModelCall, v: VectorV) -> VectorV | None:
    """``column.str.upper()`` and ``column.str.lower()``."""
    return _call_on_each(call, v, strings.change_case)


@method(
    AccessV,
    *("str.strip", "str.lstrip", "str.rstrip"),
    arguments=range(2),
    fresh=True,
    owner=_texts,
)
def strip_texts(call: ModelCall, v: VectorV) -> VectorV | None:
    """``column.str.strip()``, ``lstrip`` and ``rstrip``, also of constant characters."""
    return _call_on_each(call, v, strings.strip_text)


@method(AccessV, "str.removeprefix", arguments=1, fresh=True, owner=_texts)
def without_prefix(call: ModelCall, v: VectorV) -> VectorV | None:
    """``column.str.removeprefix(prefix)`` of a constant."""
    return _call_on_each(call, v, strings.without_prefix)


@method(AccessV, "str.replace", arguments=2, keywords=("regex",), fresh=True, owner=_texts)
def replace_in_texts(call: ModelCall, v: VectorV) -> VectorV | None:
    """``column.str.replace(part, by)`` of constants, without regular expressions."""
    if "regex" in call.named and not _is_false(call.named["regex"]):
        return None
    return _call_on_each(call, v, strings.replace_text)


@method(AccessV, "str.len", arguments=0, fresh=True, owner=_texts)
def lengths(_: ModelCall, v: VectorV) -> VectorV | None:
    """``column.str.len()``."""
    return _of_elements(v, apply_function(Op.TEXT_LENGTH, unwrap_option(v.term)))


@method(AccessV, "str.startswith", arguments=1, keywords=("na",), fresh=True, owner=_texts)
def starts_with(call: ModelCall, v: VectorV) -> VectorV | None:
    """``column.str.startswith(text, na=False)`` of a constant string, or of a tuple of them."""
    return _condition_column(call, v, strings.starts_with_any(unwrap_option(v.term), call.args[0]))


@method(AccessV, "str.endswith", arguments=1, keywords=("na",), fresh=True, owner=_texts)
def ends_with(call: ModelCall, v: VectorV) -> VectorV | None:
    """``column.str.endswith(text, na=False)`` of a constant string, or of a tuple of them."""
    return _condition_column(call, v, strings.ends_with_any(unwrap_option(v.term), call.args[0]))


@method(AccessV, "str.contains", arguments=1, keywords=("na", "regex"), fresh=True, owner=_texts)
def contains(call: ModelCall, v: VectorV) -> VectorV | None:
    """``column.str.contains(text, na=False)`` of a constant that is no regular expression, or with
    ``regex=False``.
    """
    part = constant_of(call.args[0], STRING)
    plain = "regex" in call.named and _is_false(call.named["regex"])
    if not isinstance(part, str) or not part or not (plain or re.escape(part) == part):
        return None
    return _condition_column(
        call, v, apply_function(Op.TEXT_CONTAINS, unwrap_option(v.term), string_lit(part))
    )


def _condition_column(call: ModelCall, v: VectorV, condition: Term | None) -> VectorV | None:
    """Build a column of a condition on each text; missing texts stay missing or become ``na=``."""
    if condition is None or "na" not in call.named:
        return None if condition is None else _of_elements(v, condition)
    filler = call.named["na"]
    if not isinstance(filler, Scalar) or filler.base != BOOL or not isinstance(filler.term, Lit):
        return None
    if isinstance(v.term.sort, Option):
        absent = missing(v.term)
        no = filler.term == FALSE
        condition = and_(negate(absent), condition) if no else or_(absent, condition)
    return VectorV(condition, v.rows, None, False, v.ordered, by=v.by)


def _is_false(value: Value) -> bool:
    return isinstance(value, Scalar) and value.term == FALSE


def slice_texts(m: SymbolicMachine, flow: Flow, owner: AccessV, where: ast.Slice) -> VectorV | None:
    """Evaluate ``column.str[a:b]`` with constant bounds; ``b`` must not be negative."""
    v = _column(m, owner) if owner.by == "str" else None
    text_slice = (
        None if v is None else strings.slice_text(m, flow, Scalar(unwrap_option(v.term)), where)
    )
    return None if v is None or text_slice is None else _of_elements(v, text_slice.term)
