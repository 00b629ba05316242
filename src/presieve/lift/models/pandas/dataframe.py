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
from presieve.ir.terms import FALSE, TRUE, Op, Term, int_lit
from presieve.lift.execution.fields import any_row, rows_of
from presieve.lift.execution.identity import fresh
from presieve.lift.execution.state import Call, Flow, Machine
from presieve.lift.models.pandas import (
    assign,
    datetimes,
    first_last,
    query,
    series,
    series_methods,
    top_k,
    value_counts,
)
from presieve.lift.models.pandas.reductions import at_label
from presieve.lift.models.pandas.series import constant_of
from presieve.lift.models.pyarrow import arrays
from presieve.lift.values.symbolic import (
    LITERAL,
    NONE,
    AccessV,
    FrameV,
    FrequencyV,
    LabelledV,
    LabelV,
    ListV,
    PartV,
    Scalar,
    SeriesV,
    TableV,
    TopV,
    TupleV,
    Value,
    VectorV,
)
from presieve.semantics.build import and_, is_none

_ACCESS = ("loc", "iloc", "at", "iat")


def attribute_of(m: Machine, flow: Flow, value: Value, name: str, node: ast.AST) -> Value | None:
    """``value.name`` of a table or column; None where it is not known here."""
    if arrays.is_arrow(value):
        return arrays.attribute_of(m, flow, value, name, node)
    match value:
        case FrequencyV() if name in ("loc", "at"):
            return AccessV(value, name)
        case FrequencyV():
            raise m.decline(*value_counts.needs_all(name), node)
        case TopV(PartV()) if name not in _ACCESS:
            return top_k.attribute_of(m, flow, value, name, node)
        case TopV(VectorV(), listed=False) if name in ("iloc", "iat"):
            return AccessV(value, name)
        case TopV():
            return top_k.attribute_of(m, flow, value, name, node)
        case VectorV() if value.array and name not in ("size", "shape"):
            return None
        case SeriesV() | FrameV() | VectorV() | PartV() if name in _ACCESS:
            return AccessV(value, name)
        case SeriesV() | VectorV() if name in ("str", "dt"):
            return AccessV(value, name)
        case AccessV(of, "dt") if (times := series.vector(m, of)) is not None:
            return datetimes.field_of(m, times, name, node)
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
            from presieve.lift.models.pandas.tables import attributes_of

            if name not in attributes_of("DataFrame"):
                return series.column_of(m, value, name)
    return None


def _size(m: Machine, flow: Flow, value: Value, node: ast.AST) -> Value:
    return rows_of(m, flow, _rows(value), node)


def _rows(value: Value) -> Term:
    return value.rows if isinstance(value, VectorV | PartV) else TRUE


def item_of(m: Machine, flow: Flow, value: Value, key: Value, node: ast.AST) -> Value | None:
    """``value[key]`` of a table or column; None where it is not known here."""
    if arrays.is_arrow(value):
        return arrays.item_of(m, value, key)
    match value:
        case FrequencyV():
            return value_counts.item_of(m, flow, value, key, node)
        case AccessV(FrequencyV() as found):
            return value_counts.at_label(m, flow, found, key, node)
        case TopV():
            return top_k.item_of(m, flow, value, key, node)
        case AccessV(TopV() as top):
            return top_k.at(m, flow, top, key, node)
        case AccessV(of, by) if by in _ACCESS:
            return _accessed(m, flow, of, by, key, node)
        case LabelledV(columns, label):
            name = constant_of(key)
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
        case PartV(columns) if constant_of(key) in columns:
            return series.column_of(m, value, str(constant_of(key)))
        case PartV(columns) if isinstance(key, ListV):
            names = [constant_of(k) for k in key.items]
            if set(names) <= set(columns) and len(set(names)) == len(names):
                return fresh(m, replace(value, columns=tuple(str(n) for n in names)))
    return None


def _all_floats(m: Machine, columns: tuple[str, ...]) -> bool:
    """Whether a row as a Series holds the values as they are: all are doubles, or some are texts.

    A row of numbers of several types would make doubles of all.
    """
    types = {m.columns.type_of(c) for c in columns}
    return types == {"double"} or "string" in types


def _masked(m: Machine, flow: Flow, value: Value, key: Value, node: ast.AST) -> Value:
    mask, frame = series.vector(m, key), series.part(value)
    assert mask is not None
    holes = is_none(mask.term)
    if holes != FALSE and strip(mask.term.sort) == BOOL:
        m.fail(flow, any_row(m, and_(mask.rows, holes), node))
    if frame is not None:
        return fresh(m, replace(frame, rows=series.selected(m, frame.rows, mask, node)))
    column = series.vector(m, value)
    assert column is not None
    return fresh(m, series.kept(column, series.selected(m, column.rows, mask, node)))


def _accessed(
    m: Machine, flow: Flow, of: Value, by: str, key: Value, node: ast.AST
) -> Value | None:
    """``of.loc[key]`` and the like."""
    if by in ("loc", "at"):
        rows, name = key.items if isinstance(key, TupleV) and len(key.items) == 2 else (key, None)
        frame = series.part(of)
        if frame is None:
            column = series.vector(m, of)
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
            wanted = constant_of(name)
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
    frame = series.part(of)
    if frame is not None and isinstance(key, ListV) and len(key.items) == 1:
        row = constant_of(key.items[0])
        if type(row) is int and row in (0, -1):
            return first_last.row_table(m, flow, frame, last=row == -1, node=node)
    position = constant_of(key)
    grouped = not m.columns.single  # rows of a batch need not agree in anything
    if grouped and isinstance(of, SeriesV) and of.name in m.columns.request.keys:
        if position in (0, -1):
            return m.columns.key(of.name)
    column = series.vector(m, of)
    if column is not None and type(position) is int and position in (0, -1):
        return first_last.end_of(m, flow, column, last=position == -1, node=node)
    if column is not None and type(position) is int:
        reason = "one row in the middle depends on the number of rows before it: loop"
        raise m.decline("row-order", reason, node)
    return None


# --- methods --------------------------------------------------------------------------------------


def has_methods(value: Value) -> bool:
    """Whether :func:`method_of` is to be asked: a table, a column, or ``column.str``."""
    return isinstance(value, AccessV | TableV | TopV | FrequencyV) or series.is_whole(value)


def method_of(
    call: Call,
    owner: Value,
) -> Value | None:
    """``owner.name(...)`` of a table or column; None where it is not known here."""
    name, args, named = call.name, call.args, call.named
    if isinstance(owner, TableV):
        dropped = name == "reset_index" and [constant_of(v) for v in named.values()] == [True]
        plain = not args and (name == "copy" if not named else dropped and "drop" in named)
        return owner if plain else None
    if isinstance(owner, FrequencyV):
        return value_counts.method_of(call, owner)
    if isinstance(owner, TopV):
        return top_k.method_of(call, owner)
    if isinstance(owner, AccessV):
        return series_methods.of_accessor(call, owner)
    if arrays.is_arrow(owner):
        return None if named else arrays.method_of(call, owner)
    frame = series.part(owner)
    if frame is not None:
        return _frame_method(call, frame)
    if not isinstance(owner, SeriesV | VectorV):
        return None
    return series_methods.method_of(call, owner)


def _frame_method(
    call: Call,
    frame: PartV,
) -> Value | None:
    m, flow, name, args, named, node = call
    match name:
        case "copy" if not args and not named:
            return frame
        case "dropna" if not args and set(named) <= {"subset", "how"}:
            if "how" in named and constant_of(named["how"]) != "any":
                return None
            chosen = _names(named["subset"]) if "subset" in named else frame.columns
            if chosen is None or not set(chosen) <= set(frame.columns):
                return None
            columns = [series.column_of(m, frame, c) for c in chosen]
            m.columns.ask(*(c.term for c in columns))
            there = conjunction([series.there(c.term) for c in columns])
            return replace(frame, rows=conjunction([frame.rows, there]))
        case "assign" if not args and "**" not in named:
            return assign.assigned(m, frame, named, node)
        case "sort_values" if len(args) <= 1 and set(named) <= {"by", "ascending", "kind"}:
            return _sorted(m, frame, args, named)
        case "head" | "tail" if not named and [constant_of(a) for a in args] == [1]:
            return first_last.row_table(m, flow, frame, last=name == "tail", node=node)
        case "nlargest" | "nsmallest":
            return top_k.largest(call, frame)
        case "head" if frame.by is not None:
            return top_k.head(m, frame, args, named, node)
        case "query" if len(args) == 1 and not named:
            mask = query.mask(m, flow, frame, args[0], node)
            return _masked(m, flow, frame, mask, node)
        case "groupby" | "pivot_table" | "merge" | "resample" | "rolling":
            reason = f".{name}() inside of the function regroups the rows of the group"
            raise m.decline("not-a-fold", reason, node)
    return None


def _sorted(m: Machine, frame: PartV, args: tuple[Value, ...], named: Mapping[str, Value]) -> PartV:
    """The table after sorting: only in a stable sort rows that tie have an order."""
    found = _names(args[0] if args else named.get("by", NONE))
    if found is None or len(found) != 1 or found[0] not in frame.columns:
        return replace(frame, ordered=False, by=None)
    key = series.column_of(m, frame, found[0])
    return replace(frame, ordered=False, by=top_k.sorting(key, frame.ordered, named))


def _names(value: Value) -> tuple[str, ...] | None:
    """One name, or a list of names."""
    items = value.items if isinstance(value, ListV | TupleV) else (value,)
    names = [constant_of(i) for i in items]
    return tuple(str(n) for n in names) if all(type(n) is str for n in names) else None
