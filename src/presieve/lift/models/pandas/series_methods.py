# SPDX-License-Identifier: Apache-2.0
"""Trusted. Methods of columns of the group, as in pandas."""

from __future__ import annotations

import ast
from functools import partial

from presieve.ir.sorts import BOOL, FLOAT, INT, strip
from presieve.lift.execution.state import BinaryOperation, ModelCall
from presieve.lift.models.pandas import applied as applied
from presieve.lift.models.pandas import column_arithmetic, elementwise, reductions, series, top_k
from presieve.lift.models.pandas.series import column_method, vector
from presieve.lift.models.registry import method, refuse_methods
from presieve.lift.values.symbolic import ListV, TupleV, Value, constant_of
from presieve.lift.values.whole_columns import SeriesV, VectorV
from presieve.records import replace

refuse_methods(
    SeriesV | VectorV,
    *("shift", "diff", "pct_change", "cumsum", "cumcount", "cummax", "cummin", "rolling"),
    *("expanding", "ewm", "ffill", "bfill", "duplicated"),
    reason="looks at neighbouring rows: write a loop that keeps what it needs",
)
refuse_methods(
    SeriesV | VectorV,
    *("unique", "tolist", "to_numpy", "agg"),
    reason="is not supported: count with (column == constant).sum(), or loop",
)
refuse_methods(
    SeriesV | VectorV,
    *("sem", "prod", "skew"),
    reason="rounds in an order that depends on how many rows there are",
)
refuse_methods(
    SeriesV | VectorV,
    *("quantile", "mode", "rank", "interpolate"),
    reason="needs all values of the column at once",
)


@method(SeriesV | VectorV, "copy", arguments=0, fresh=True)
def copy(_: ModelCall, owner: SeriesV | VectorV) -> Value:
    """``column.copy()``."""
    return owner


@column_method("isna", "isnull", "notna", "notnull", arguments=0, fresh=True)
def is_missing(call: ModelCall, v: VectorV) -> VectorV:
    """``column.isna()`` and ``column.notna()``."""
    return series.test_missing(call.m, v, present=call.name.startswith("not"))


@column_method("dropna", arguments=0, fresh=True)
def dropna(call: ModelCall, v: VectorV) -> VectorV:
    """``column.dropna()``."""
    call.m.columns.ask(v.term)
    return series.restrict_column(v, series.present_rows(v))


@column_method("fillna", arguments=range(2), keywords=("value",), fresh=True)
def fillna(call: ModelCall, v: VectorV) -> VectorV | None:
    """``column.fillna(constant)`` with a constant of the column's own type; ``fillna(other)`` with
    a column of doubles, texts or dates of the same table.
    """
    values = (*call.args, *call.named.values())
    if len(values) != 1:
        return None
    if vector(call.m, values[0]) is None:
        return series.fill_missing(call.m, v, values[0])
    return _fill_by(call, v, values[0])


@column_method("combine_first", arguments=1, fresh=True)
def combine_first(call: ModelCall, v: VectorV) -> VectorV | None:
    """``column.combine_first(other)`` of columns of doubles of the same table."""
    other = vector(call.m, call.args[0])
    doubles = other is not None and strip(other.term.sort) == strip(v.term.sort) == FLOAT
    return _fill_by(call, v, call.args[0]) if doubles else None


def _fill_by(call: ModelCall, v: VectorV, other: Value) -> VectorV | None:
    """Return a column whose missing elements are those of another one."""
    if strip(v.term.sort) in (INT, BOOL):
        return None
    present = series.test_missing(call.m, v, present=True)
    return elementwise.choose_elements(call.m, v, elementwise.Choice(present, other, keep=True))


@column_method("isin", arguments=1, fresh=True)
def isin(call: ModelCall, v: VectorV) -> VectorV | None:
    """``column.isin([...])`` of constants of the column's own type: strings, integers, dates."""
    match call.args:
        case (ListV(items) | TupleV(items),):
            return series.among(call.m, v, items)
    return None


@column_method("between", arguments=2, fresh=True)
def between_bounds(call: ModelCall, v: VectorV) -> VectorV:
    """``column.between(low, high)``."""
    low, high = call.args
    a = series.compare_vectors(call.m, ast.GtE(), v, low)
    b = series.compare_vectors(call.m, ast.LtE(), v, high)
    return column_arithmetic.binary_vectors(call.m, ast.BitAnd(), a, b)


_WORDS: dict[str, ast.cmpop] = {
    "gt": ast.Gt(),
    "ge": ast.GtE(),
    "lt": ast.Lt(),
    "le": ast.LtE(),
    "eq": ast.Eq(),
    "ne": ast.NotEq(),
}


@column_method(*_WORDS, arguments=1, fresh=True)
def compare(call: ModelCall, v: VectorV) -> VectorV:
    """``column.gt(other)`` and the like, as the comparison."""
    return series.compare_vectors(call.m, _WORDS[call.name], v, call.args[0])


_OPERATORS: dict[str, ast.operator] = {
    "add": ast.Add(),
    "sub": ast.Sub(),
    "mul": ast.Mult(),
    **dict.fromkeys(("div", "truediv"), ast.Div()),
    "floordiv": ast.FloorDiv(),
    "mod": ast.Mod(),
    "pow": ast.Pow(),
}


@column_method(*_OPERATORS, arguments=1, keywords=("fill_value",), fresh=True)
def compute(call: ModelCall, v: VectorV) -> VectorV:
    """``column.add(other, fill_value=number)`` and the like, as the operator; the number only for
    columns of doubles.
    """
    m, op, (other,) = call.m, _OPERATORS[call.name], call.args
    if "fill_value" not in call.named:
        return column_arithmetic.binary_vectors(m, op, v, other)
    operation = BinaryOperation(m, call.flow, op, v, other)
    return column_arithmetic.combine_filled(operation, call.named["fill_value"])


@column_method("abs", arguments=0, fresh=True)
def absolute(call: ModelCall, v: VectorV) -> VectorV:
    """``column.abs()`` of numbers."""
    return elementwise.absolute(call.m, v)


@column_method("where", "mask", arguments=range(1, 3), fresh=True)
def choose(call: ModelCall, v: VectorV) -> VectorV:
    """``column.where(mask, other)`` and ``column.mask(mask, other)`` with a constant, or a column
    of the same table.
    """
    mask, *fillers = call.args
    choice = elementwise.Choice(mask, fillers[0] if fillers else None, call.name == "where")
    return elementwise.choose_elements(call.m, v, choice)


@column_method("clip", arguments=range(3), keywords=("lower", "upper"), fresh=True)
def clip(call: ModelCall, v: VectorV) -> VectorV | None:
    """``column.clip(low, high)`` of numbers, with constants."""
    args, named = call.args, call.named
    if len(args) + len(named) > 2:
        return None
    low = args[0] if args else named.get("lower")
    high = args[1] if len(args) > 1 else named.get("upper")
    return elementwise.clip_elements(call.m, v, low, high)


@column_method("sort_values", arguments=0, keywords=("ascending", "kind"), fresh=True)
def sort_values(call: ModelCall, v: VectorV) -> VectorV:
    """``column.sort_values()``; rows that tie have an order with ``kind="stable"`` only."""
    return replace(v, ordered=False, by=top_k.sorting((v,), v.ordered, call.named))


reduction = partial(method, SeriesV | VectorV, owner=lambda call, owner: vector(call.m, owner))


@reduction("count", "nunique", "any", "all", arguments=0)
def count_rows(call: ModelCall, v: VectorV) -> Value | None:
    """``column.count()``; ``any()`` and ``all()`` of conditions; ``nunique()``, compared with 0 or
    1.
    """
    return reductions.reduce_column(call, v)


_SKIPPING = ("min", "max", "sum", "mean", "std", "var", "median", "idxmin", "idxmax")


@reduction(*_SKIPPING, arguments=0, keywords=("skipna",))
def reduce(call: ModelCall, v: VectorV) -> Value | None:
    """``column.min()`` and ``max()``; ``sum()``, ``mean()``, ``std()``, ``var()`` and ``median()``
    of numbers; ``idxmin()`` and ``idxmax()`` for ``loc``.
    """
    if call.named and (v.array or constant_of(call.named["skipna"]) is not True):
        return None
    return reductions.reduce_column(call, v)
