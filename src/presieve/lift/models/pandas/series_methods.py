"""Trusted. Methods of columns of the group, as pandas has them: which of them are known here."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace

from presieve.lift.execution.state import Call
from presieve.lift.models.pandas import elementwise, series, top_k, value_counts
from presieve.lift.models.pandas.reductions import reduced
from presieve.lift.values.symbolic import AccessV, ListV, SeriesV, TupleV, Value, VectorV

_NEIGHBOURS = (
    *("shift", "diff", "pct_change", "cumsum", "cumcount", "cummax", "cummin", "rolling"),
    *("expanding", "ewm", "rank", "ffill", "bfill", "interpolate", "duplicated"),
)


def method_of(
    call: Call,
    owner: SeriesV | VectorV,
) -> Value | None:
    """``column.name(...)``; None where it is not known here."""
    m, flow, name, args, named, node = call
    if name in _NEIGHBOURS:
        reason = f".{name}() looks at neighbouring rows: write a loop that keeps what it needs"
        raise m.decline("not-a-fold", reason, node)
    if name in ("unique", "tolist", "to_numpy", "apply", "map", "agg"):
        reason = f".{name}() is not supported: count with (column == constant).sum(), or loop"
        raise m.decline("not-a-fold", reason, node)
    if not args and not named and name in ("reset_index", "copy"):
        return None if name == "reset_index" else owner
    v = series.vector(m, owner)
    assert v is not None
    if v.array:
        return reduced(m, flow, v, name, node) if not args and not named else None
    if name in ("nlargest", "nsmallest"):
        return top_k.largest(Call(m, flow, name, args, named, node), v)
    if name == "head" and v.by is not None:
        return top_k.head(m, v, args, named, node)
    if name == "sort_values" and set(named) <= {"ascending", "kind"} and not args:
        return replace(v, ordered=False, by=top_k.sorting(v, v.ordered, named))
    if name == "value_counts":
        return value_counts.counted(m, v, args, named, node)
    if name in ("where", "mask") and 1 <= len(args) <= 2 and not named:
        rest = args[1] if len(args) == 2 else None
        return elementwise.chosen(m, v, args[0], rest, name == "where", node)
    args, named = _plain(name, args, named)
    if not named:
        found = _column_method(Call(m, flow, name, args, {}, node), v)
        if found is not None:
            return found
    if name == "clip" and set(named) <= {"lower", "upper"} and len(args) + len(named) <= 2:
        low = args[0] if args else named.get("lower")
        high = args[1] if len(args) > 1 else named.get("upper")
        return series.clipped(m, v, low, high, node)
    return None


_SKIPPING = ("min", "max", "sum", "mean", "std", "var", "median", "idxmin", "idxmax")


def _plain(
    name: str, args: tuple[Value, ...], named: Mapping[str, Value]
) -> tuple[tuple[Value, ...], Mapping[str, Value]]:
    """The arguments as they are written most: ``fillna(0)`` for ``fillna(value=0)``, and none for
    what is the default anyway.
    """
    if name == "fillna" and not args and set(named) == {"value"}:
        return (named["value"],), {}
    if name in _SKIPPING and set(named) == {"skipna"}:
        return args, {} if series.constant_of(named["skipna"]) is True else named
    return args, named


def of_accessor(
    call: Call,
    owner: AccessV,
) -> Value | None:
    """``column.str.name(...)``."""
    m = call.m
    v = series.vector(m, owner.of)
    if owner.by != "str" or v is None:
        return None
    return elementwise.text_method(call, v)


_WORDS: dict[str, ast.cmpop] = {
    "gt": ast.Gt(),
    "ge": ast.GtE(),
    "lt": ast.Lt(),
    "le": ast.LtE(),
    "eq": ast.Eq(),
    "ne": ast.NotEq(),
}


def _column_method(call: Call, v: VectorV) -> Value | None:
    m, flow, name, args, node = call.m, call.flow, call.name, call.args, call.node
    match name, args:
        case (("isna" | "isnull"), ()):
            return series.absent(m, v, present=False)
        case (("notna" | "notnull"), ()):
            return series.absent(m, v, present=True)
        case "dropna", ():
            m.columns.ask(v.term)
            return series.kept(v, series.present_rows(v))
        case "fillna", (value,):
            return series.filled(m, v, value, node)
        case "isin", (ListV(items) | TupleV(items),):
            return series.among(m, v, items, node)
        case "between", (low, high):
            a = series.compare_vectors(m, ast.GtE(), v, low, node)
            b = series.compare_vectors(m, ast.LtE(), v, high, node)
            return series.binary_vectors(m, ast.BitAnd(), a, b, node)
        case (("gt" | "ge" | "lt" | "le" | "eq" | "ne"), (value,)):
            return series.compare_vectors(m, _WORDS[name], v, value, node)
        case "abs", ():
            return elementwise.absolute(m, v, node)
        case (_, ()) | ("quantile", _):
            return reduced(m, flow, v, name, node)
    return None
