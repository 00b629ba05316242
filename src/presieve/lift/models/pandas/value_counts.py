# SPDX-License-Identifier: Apache-2.0
"""Trusted. ``column.value_counts()``, if only the counts of constants are used.

Source: pandas 2.3 ``core/algorithms.py`` (``value_counts_internal``): missing elements are not
counted, and a value that does not occur has no entry: ``counts["x"]`` raises KeyError and
``counts.get("x", 0)`` returns its default. With ``normalize``, each count is divided by their sum,
as doubles.
"""

from __future__ import annotations

import ast

from presieve.errors import DeclineSignal
from presieve.ir.ops import app, negate
from presieve.ir.sorts import BOOL, DATE, FLOAT, INT, STRING, strip
from presieve.ir.terms import Lit, Op, Term, float_lit, int_lit
from presieve.lift.execution.count_fields import NARROW, any_row, rows_of
from presieve.lift.execution.state import Flow, ModelCall, SymbolicMachine
from presieve.lift.models.pandas.series import column_method, compare_vectors, present_rows
from presieve.lift.models.registry import ANY, method
from presieve.lift.values.join_values import merge
from presieve.lift.values.symbolic import (
    NONE,
    Scalar,
    Traits,
    Value,
    Whole,
    constant_of,
    describe,
)
from presieve.lift.values.whole_columns import FrequencyV, VectorV
from presieve.semantics.smart_constructors import and_, as_float, ite

_COUNTED = (STRING, INT, FLOAT, BOOL, DATE)


@column_method("value_counts", arguments=0, keywords=("normalize", "dropna", "sort", "ascending"))
def count_values(call: ModelCall, v: VectorV) -> FrequencyV | None:
    """``column.value_counts()``, also with ``normalize=True``, if constants are looked up."""
    words = {k: constant_of(x) for k, x in call.named.items()}
    if not all(type(w) is bool for w in words.values()) or words.get("dropna") is False:
        return None
    if strip(v.term.sort) not in _COUNTED:
        raise call.decline("unsupported-operation", "value_counts() of this type of column")
    return FrequencyV(v, words.get("normalize") is True)


def item_of(m: SymbolicMachine, flow: Flow, counts: FrequencyV, key: Value) -> Value:
    """Evaluate ``counts["x"]``."""
    rows = _rows(m, counts, key)
    m.fail(flow, negate(any_row(m, rows)))
    return _number(m, flow, counts, rows)


def at_label(m: SymbolicMachine, flow: Flow, counts: FrequencyV, key: Value) -> Value:
    """Evaluate ``counts.loc["x"]``. Declines a truth value, which would be a mask."""
    if strip(counts.of.term.sort) == BOOL:
        raise DeclineSignal("unsupported-operation", "a boolean under .loc: use .get()")
    return item_of(m, flow, counts, key)


@method(FrequencyV, "get", "*", keywords=ANY)
def get(call: ModelCall, counts: FrequencyV) -> Value:
    """``counts.get("x", 0)`` of ``value_counts()``, of a constant."""
    m, flow, name, args, named, _ = call
    arguments = {**dict(zip(("key", "default"), args, strict=False)), **named}
    if (
        name != "get"
        or "key" not in arguments
        or set(arguments) - {"key", "default"}
        or len(args) > 2
    ):
        raise call.decline(*needs_all(name))
    rows = _rows(m, counts, arguments["key"])
    count, default = _number(m, flow, counts, rows), arguments.get("default", NONE)
    if isinstance(default, Scalar) and default.term == int_lit(0):
        return count  # the count or share of a value that does not occur is 0
    return merge(any_row(m, rows), count, default)


def needs_all(name: str) -> tuple[str, str]:
    """Return the code and the reason for a use that needs the counts of all values."""
    reason = f".{name} of value_counts() needs the counts of all values: ask for constants"
    return "not-a-fold", f'{reason}, as in .get("x", 0)'


def contains(m: SymbolicMachine, counts: FrequencyV, key: Value) -> Term:
    """Evaluate ``"x" in counts``."""
    return any_row(m, _rows(m, counts, key))


def _rows(m: SymbolicMachine, counts: FrequencyV, key: Value) -> Term:
    """Return the rows that hold the constant."""
    base = strip(counts.of.term.sort)
    fits = isinstance(key, Scalar) and isinstance(key.term, Lit) and key.term.sort == base
    if not fits:
        reason = f"{describe(key)} is looked up: constants of the column's type are supported"
        raise DeclineSignal("not-a-fold", f"in value_counts() {reason}")
    return and_(counts.of.rows, compare_vectors(m, ast.Eq(), counts.of, key).term)


def _number(m: SymbolicMachine, flow: Flow, counts: FrequencyV, rows: Term) -> Scalar:
    """Return the number of these rows, or their share; 0 if there are none."""
    count = rows_of(m, flow, rows)
    assert isinstance(count, Scalar)
    if not counts.shares:
        return Scalar(count.term, NARROW)
    total = rows_of(m, flow, present_rows(counts.of))
    assert isinstance(total, Scalar)
    share = app(Op.FLOAT_DIV, as_float(count.term), as_float(total.term))
    none = app(Op.PY_EQ, count.term, int_lit(0))
    return Scalar(ite(none, float_lit(0.0), share), Traits(whole=Whole(0, 0, none), numpy=True))
