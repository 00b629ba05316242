"""Trusted. Tables and columns of the group in pandas' own ways: masks, ``loc``, ``iloc``, methods.

Sources: pandas 2.3 user guide, "Indexing and selecting data"; a group's table has the index 0, 1, 2
and so on, which pyspark 4.3.0 makes (``pandas.concat`` of columns of one Arrow table).
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace

from presieve.ir.ops import app, conjunction
from presieve.ir.sorts import BOOL, strip
from presieve.ir.terms import FALSE, TRUE, Lit, Op, Term, int_lit, literal_value
from presieve.lift import arrow, elements, onerow, ranked, vectors, writes
from presieve.lift.build import and_, is_none
from presieve.lift.fields import any_row, rows_of
from presieve.lift.machine import Flow, Machine
from presieve.lift.reductions import at_label, reduced
from presieve.lift.values import (
    LITERAL,
    NONE,
    AccessV,
    FrameV,
    LabelledV,
    LabelV,
    ListV,
    PartV,
    Scalar,
    SeriesV,
    Sorting,
    TableV,
    TopV,
    TupleV,
    Value,
    VectorV,
)

_ACCESS = ("loc", "iloc", "at", "iat")


def attribute_of(m: Machine, flow: Flow, value: Value, name: str, node: ast.AST) -> Value | None:
    """``value.name`` of a table or column; None where it is not known here."""
    if arrow.is_arrow(value):
        return arrow.attribute_of(m, flow, value, name, node)
    match value:
        case TopV(PartV()) if name not in _ACCESS:
            return ranked.attribute_of(m, flow, value, name, node)
        case TopV(VectorV(), listed=False) if name in ("iloc", "iat"):
            return AccessV(value, name)
        case TopV():
            return ranked.attribute_of(m, flow, value, name, node)
        case VectorV() if value.array and name not in ("size", "shape"):
            return None
        case SeriesV() | FrameV() | VectorV() | PartV() if name in _ACCESS:
            return AccessV(value, name)
        case SeriesV() | VectorV() if name == "str":
            return AccessV(value, name)
        case SeriesV() | VectorV() if name == "size":
            return _size(m, flow, value, node)
        case SeriesV() | VectorV() if name == "shape":
            return TupleV((_size(m, flow, value, node),))
        case FrameV(columns) | PartV(columns) if name == "shape":
            return TupleV((_size(m, flow, value, node), Scalar(int_lit(len(columns)), LITERAL)))
        case FrameV() | PartV() | SeriesV() | VectorV() if name == "index":
            return value if isinstance(value, FrameV | PartV) else None
        case VectorV(_, rows) | PartV(_, rows) if name == "empty":
            if rows == TRUE:
                return Scalar(FALSE)  # a group is never empty
            size = rows_of(m, flow, rows, node)
            assert isinstance(size, Scalar)
            return Scalar(app(Op.PY_EQ, size.term, int_lit(0)))
        case PartV(columns) if name in columns and name.isidentifier():
            from presieve.lift.tables import attributes_of

            if name not in attributes_of("DataFrame"):
                return vectors.column_of(m, value, name)
    return None


def _size(m: Machine, flow: Flow, value: Value, node: ast.AST) -> Value:
    return rows_of(m, flow, _rows(value), node)


def _rows(value: Value) -> Term:
    return value.rows if isinstance(value, VectorV | PartV) else TRUE


def item_of(m: Machine, flow: Flow, value: Value, key: Value, node: ast.AST) -> Value | None:
    """``value[key]`` of a table or column; None where it is not known here."""
    if arrow.is_arrow(value):
        return arrow.item_of(m, value, key)
    match value:
        case TopV():
            return ranked.item_of(m, flow, value, key, node)
        case AccessV(TopV() as top):
            return ranked.at(m, flow, top, key, node)
        case AccessV(of, by):
            return _accessed(m, flow, of, by, key, node)
        case LabelledV(columns, label):
            name = _constant(key)
            if name not in columns:
                return None
            if _all_floats(m, columns):
                return at_label(m, flow, PartV(columns, TRUE), label, str(name), node)
            return None
        case FrameV() | PartV() if isinstance(key, SeriesV | VectorV):
            return _masked(m, flow, value, key, node)
        case SeriesV() | VectorV() if isinstance(key, SeriesV | VectorV):
            return _masked(m, flow, value, key, node)
        case TableV(columns, items) if columns is not None and isinstance(key, ListV):
            wanted = _names(key)
            if wanted is None or not set(wanted) <= set(columns) or len(set(wanted)) < len(wanted):
                return None
            return TableV(wanted, tuple(items[columns.index(n)] for n in wanted))
        case PartV(columns) if _constant(key) in columns:
            return vectors.column_of(m, value, str(_constant(key)))
        case PartV(columns) if isinstance(key, ListV):
            names = [_constant(k) for k in key.items]
            if set(names) <= set(columns) and len(set(names)) == len(names):
                return replace(value, columns=tuple(str(n) for n in names))
    return None


def _all_floats(m: Machine, columns: tuple[str, ...]) -> bool:
    """Whether a row as a Series holds the values as they are: all are doubles, or some are texts.

    A row of numbers of several types would make doubles of all.
    """
    types = {m.columns.type_of(c) for c in columns}
    return types == {"double"} or "string" in types


def _constant(value: Value) -> object:
    if isinstance(value, Scalar) and isinstance(value.term, Lit):
        return literal_value(value.term)
    return None


def _masked(m: Machine, flow: Flow, value: Value, key: Value, node: ast.AST) -> Value:
    mask, frame = vectors.vector(m, key), vectors.part(value)
    assert mask is not None
    holes = is_none(mask.term)
    if holes != FALSE and strip(mask.term.sort) == BOOL:
        m.fail(flow, any_row(m, and_(mask.rows, holes), node))
    if frame is not None:
        return replace(frame, rows=vectors.selected(m, frame.rows, mask, node))
    column = vectors.vector(m, value)
    assert column is not None
    return vectors.kept(column, vectors.selected(m, column.rows, mask, node))


def _accessed(
    m: Machine, flow: Flow, of: Value, by: str, key: Value, node: ast.AST
) -> Value | None:
    """``of.loc[key]`` and the like."""
    if by in ("loc", "at"):
        rows, name = key.items if isinstance(key, TupleV) and len(key.items) == 2 else (key, None)
        frame = vectors.part(of)
        if frame is None:
            column = vectors.vector(m, of)
            if name is None and isinstance(key, LabelV) and column is not None and column.name:
                inside = PartV((column.name,), column.rows)
                return at_label(m, flow, inside, key, column.name, node)
            masks = isinstance(key, SeriesV | VectorV)
            return _masked(m, flow, of, key, node) if masks else None
        if isinstance(rows, ListV) and len(rows.items) == 1:
            label = rows.items[0]
            if isinstance(label, LabelV):
                return _labelled_table(m, flow, frame, label, name, node)
        if isinstance(rows, LabelV):
            if name is None:
                whole = frame.rows == TRUE and frame.ordered and not frame.made
                return LabelledV(frame.columns, rows) if whole else None
            wanted = _constant(name)
            if wanted in frame.columns:
                return at_label(m, flow, frame, rows, str(wanted), node)
        if isinstance(rows, SeriesV | VectorV):
            chosen = _masked(m, flow, frame, rows, node)
            return chosen if name is None else item_of(m, flow, chosen, name, node)
        return None
    return _by_position(m, flow, of, key, node)


def _labelled_table(
    m: Machine, flow: Flow, frame: PartV, label: LabelV, name: Value | None, node: ast.AST
) -> Value | None:
    """``table.loc[[table.t.idxmax()]]``: a table of one row; an error where there is none."""
    columns = frame.columns if name is None else _names(name)
    if columns is None or not set(columns) <= set(frame.columns):
        return None
    if name is not None and not isinstance(name, ListV):
        return None
    items = tuple(at_label(m, flow, frame, label, c, node) for c in columns)
    return TableV(columns, items)


def _by_position(m: Machine, flow: Flow, of: Value, key: Value, node: ast.AST) -> Value | None:
    frame = vectors.part(of)
    if frame is not None and isinstance(key, ListV) and len(key.items) == 1:
        row = _constant(key.items[0])
        if type(row) is int and row in (0, -1):
            return onerow.row_table(m, flow, frame, last=row == -1, node=node)
    position = _constant(key)
    if isinstance(of, SeriesV) and of.name in m.columns.request.keys and position in (0, -1):
        return m.columns.key(of.name)
    column = vectors.vector(m, of)
    if column is not None and type(position) is int and position in (0, -1):
        return onerow.end_of(m, flow, column, last=position == -1, node=node)
    if column is not None and type(position) is int:
        reason = "one row in the middle depends on the number of rows before it: loop"
        raise m.decline("row-order", reason, node)
    return None


_NEIGHBOURS = (
    *("shift", "diff", "pct_change", "cumsum", "cumcount", "cummax", "cummin", "rolling"),
    *("expanding", "ewm", "rank", "ffill", "bfill", "interpolate", "duplicated"),
)

# --- methods --------------------------------------------------------------------------------------


def has_methods(value: Value) -> bool:
    """Whether :func:`method_of` is to be asked: a table, a column, or ``column.str``."""
    return isinstance(value, AccessV | TableV | TopV) or vectors.is_whole(value)


def method_of(
    m: Machine,
    flow: Flow,
    owner: Value,
    name: str,
    args: tuple[Value, ...],
    named: Mapping[str, Value],
    node: ast.AST,
) -> Value | None:
    """``owner.name(...)`` of a table or column; None where it is not known here."""
    if isinstance(owner, TableV):
        dropped = name == "reset_index" and [_constant(v) for v in named.values()] == [True]
        plain = not args and (name == "copy" if not named else dropped and "drop" in named)
        return owner if plain else None
    if isinstance(owner, TopV):
        return ranked.method_of(m, flow, owner, name, args, named, node)
    if isinstance(owner, AccessV):
        return _accessor_method(m, owner, name, args, named, node)
    if arrow.is_arrow(owner):
        return None if named else arrow.method_of(m, flow, owner, name, args, node)
    frame = vectors.part(owner)
    if frame is not None:
        return _frame_method(m, flow, frame, name, args, named, node)
    if not isinstance(owner, SeriesV | VectorV):
        return None
    if name in _NEIGHBOURS:
        reason = f".{name}() looks at neighbouring rows: write a loop that keeps what it needs"
        raise m.decline("not-a-fold", reason, node)
    if name in ("value_counts", "unique", "tolist", "to_numpy", "apply", "map", "agg"):
        reason = f".{name}() is not supported: count with (column == constant).sum(), or loop"
        raise m.decline("not-a-fold", reason, node)
    if not args and not named and name in ("reset_index", "copy"):
        return None if name == "reset_index" else owner
    v = vectors.vector(m, owner)
    assert v is not None
    if v.array:
        return reduced(m, flow, v, name, node) if not args and not named else None
    if name in ("nlargest", "nsmallest"):
        return ranked.largest(m, v, name, args, named, node)
    if name == "head" and v.by is not None:
        return ranked.head(m, v, args, named, node)
    if name == "sort_values" and set(named) <= {"ascending", "kind"} and not args:
        return replace(v, ordered=False, by=_sorting(v, v.ordered, named))
    if name in ("where", "mask") and 1 <= len(args) <= 2 and not named:
        rest = args[1] if len(args) == 2 else None
        return elements.chosen(m, v, args[0], rest, name == "where", node)
    if not named:
        found = _column_method(m, flow, v, name, args, node)
        if found is not None:
            return found
    if name == "clip" and set(named) <= {"lower", "upper"} and len(args) + len(named) <= 2:
        low = args[0] if args else named.get("lower")
        high = args[1] if len(args) > 1 else named.get("upper")
        return vectors.clipped(m, v, low, high, node)
    return None


def _accessor_method(
    m: Machine,
    owner: AccessV,
    name: str,
    args: tuple[Value, ...],
    named: Mapping[str, Value],
    node: ast.AST,
) -> Value | None:
    """``column.str.name(...)``."""
    v = vectors.vector(m, owner.of)
    if owner.by != "str" or v is None:
        return None
    return elements.text_method(m, v, name, args, named, node)


_WORDS: dict[str, ast.cmpop] = {
    "gt": ast.Gt(),
    "ge": ast.GtE(),
    "lt": ast.Lt(),
    "le": ast.LtE(),
    "eq": ast.Eq(),
    "ne": ast.NotEq(),
}


def _column_method(
    m: Machine, flow: Flow, v: VectorV, name: str, args: tuple[Value, ...], node: ast.AST
) -> Value | None:
    match name, args:
        case (("isna" | "isnull"), ()):
            return vectors.absent(v, present=False)
        case (("notna" | "notnull"), ()):
            return vectors.absent(v, present=True)
        case "dropna", ():
            return vectors.kept(v, vectors.present_rows(v))
        case "fillna", (value,):
            return vectors.filled(m, v, value, node)
        case "isin", (ListV(items) | TupleV(items),):
            return vectors.among(m, v, items, node)
        case "between", (low, high):
            a = vectors.compare_vectors(m, ast.GtE(), v, low, node)
            b = vectors.compare_vectors(m, ast.LtE(), v, high, node)
            return vectors.binary_vectors(m, ast.BitAnd(), a, b, node)
        case (("gt" | "ge" | "lt" | "le" | "eq" | "ne"), (value,)):
            return vectors.compare_vectors(m, _WORDS[name], v, value, node)
        case "abs", ():
            return elements.absolute(m, v, node)
        case (_, ()) | ("quantile", _):
            return reduced(m, flow, v, name, node)
    return None


def _frame_method(
    m: Machine,
    flow: Flow,
    frame: PartV,
    name: str,
    args: tuple[Value, ...],
    named: Mapping[str, Value],
    node: ast.AST,
) -> Value | None:
    match name:
        case "copy" if not args and not named:
            return frame
        case "dropna" if not args and set(named) <= {"subset"}:
            chosen = _names(named["subset"]) if named else frame.columns
            if chosen is None or not set(chosen) <= set(frame.columns):
                return None
            columns = [vectors.column_of(m, frame, c) for c in chosen]
            there = conjunction([vectors.there(c.term) for c in columns])
            return replace(frame, rows=conjunction([frame.rows, there]))
        case "assign" if not args and "**" not in named:
            return writes.assigned(m, frame, named, node)
        case "sort_values" if len(args) <= 1 and set(named) <= {"by", "ascending", "kind"}:
            return _sorted(m, frame, args, named)
        case "head" | "tail" if not named and [_constant(a) for a in args] == [1]:
            return onerow.row_table(m, flow, frame, last=name == "tail", node=node)
        case "nlargest" | "nsmallest":
            return ranked.largest(m, frame, name, args, named, node)
        case "head" if frame.by is not None:
            return ranked.head(m, frame, args, named, node)
        case "groupby" | "pivot_table" | "merge" | "resample" | "rolling":
            reason = f".{name}() inside of the function regroups the rows of the group"
            raise m.decline("not-a-fold", reason, node)
    return None


def _sorted(m: Machine, frame: PartV, args: tuple[Value, ...], named: Mapping[str, Value]) -> PartV:
    """The table after sorting: only in a stable sort rows that tie have an order."""
    found = _names(args[0] if args else named.get("by", NONE))
    if found is None or len(found) != 1 or found[0] not in frame.columns:
        return replace(frame, ordered=False, by=None)
    key = vectors.column_of(m, frame, found[0])
    return replace(frame, ordered=False, by=_sorting(key, frame.ordered, named))


def _sorting(key: VectorV, ordered: bool, named: Mapping[str, Value]) -> Sorting | None:
    upwards = _constant(named["ascending"]) if "ascending" in named else True
    kind = _constant(named["kind"]) if "kind" in named else "quicksort"
    if type(upwards) is not bool:
        return None
    return Sorting(key, upwards, ordered and kind in ("stable", "mergesort"))


def _names(value: Value) -> tuple[str, ...] | None:
    """One name, or a list of names."""
    items = value.items if isinstance(value, ListV | TupleV) else (value,)
    names = [_constant(i) for i in items]
    return tuple(str(n) for n in names) if all(type(n) is str for n in names) else None
