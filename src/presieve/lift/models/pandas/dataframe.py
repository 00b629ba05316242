# SPDX-License-Identifier: Apache-2.0
"""Trusted. Tables and columns of the group in pandas: masks, ``loc``, ``iloc``, methods.

Sources: pandas 2.3 user guide, "Indexing and selecting data". A group's table has the index 0, 1,
2, ..., which pyspark 4.3.0 creates (``pandas.concat`` of columns of one Arrow table).
"""

from __future__ import annotations

from presieve.errors import DeclineSignal
from presieve.ir.ops import app, conjunction, negate
from presieve.ir.sorts import BOOL, INT, strip
from presieve.ir.terms import FALSE, TRUE, Op, Term, int_lit
from presieve.lift.execution.aliasing import fresh
from presieve.lift.execution.count_fields import any_row, rows_of
from presieve.lift.execution.state import Flow, ModelCall, SymbolicMachine
from presieve.lift.models.pandas import (
    datetimes,
    first_last,
    query,
    series,
    str_accessor,
    top_k,
    value_counts,
)
from presieve.lift.models.pandas.reductions import LabelledElement, at_label
from presieve.lift.models.pandas.series import table_method
from presieve.lift.models.pyarrow import arrays
from presieve.lift.models.registry import method, refuse_methods
from presieve.lift.values.symbolic import (
    LITERAL,
    NONE,
    DictV,
    ListV,
    Scalar,
    TableV,
    TupleV,
    Value,
    constant_of,
)
from presieve.lift.values.whole_columns import (
    AccessV,
    DurationsV,
    FrameV,
    FrequencyV,
    LabelledV,
    LabelV,
    NumberedV,
    PartV,
    SeriesV,
    SplitsV,
    TopV,
    VectorV,
)
from presieve.records import replace
from presieve.semantics.smart_constructors import and_, is_none

_ACCESS = ("loc", "iloc", "at", "iat")


def attribute_of(m: SymbolicMachine, flow: Flow, value: Value, name: str) -> Value | None:
    """Evaluate ``value.name`` of a table or column; None if it is not supported here."""
    if arrays.is_arrow(value):
        return arrays.attribute_of(m, flow, value, name)
    match value:
        case FrequencyV() if name in ("loc", "at"):
            return AccessV(value, name)
        case FrequencyV():
            raise DeclineSignal(*value_counts.needs_all(name))
        case TopV(PartV()) if name not in _ACCESS:
            return top_k.attribute_of(m, flow, value, name)
        case TopV(VectorV(), listed=False) if name in ("iloc", "iat"):
            return AccessV(value, name)
        case TopV():
            return top_k.attribute_of(m, flow, value, name)
        case VectorV() if value.array and name not in ("size", "shape"):
            return None
        case SeriesV() | FrameV() | VectorV() | PartV() if name in _ACCESS:
            return AccessV(value, name)
        case SeriesV() | VectorV() | SplitsV() | DurationsV() if name in ("str", "dt"):
            return AccessV(value, name)
        case AccessV(DurationsV() as durations, "dt"):
            return datetimes.field_of_durations(durations, name)
        case AccessV(of, "dt") if (times := series.vector(m, of)) is not None:
            return datetimes.field_of(m, times, name)
        case SeriesV() | VectorV() if name == "size":
            return _size(m, flow, value)
        case SeriesV() | VectorV() if name == "shape":
            return TupleV((_size(m, flow, value),))
        case FrameV(columns) | PartV(columns) if name == "shape":
            return TupleV((_size(m, flow, value), Scalar(int_lit(len(columns)), LITERAL)))
        case FrameV() | PartV() | SeriesV() | VectorV() if name == "index":
            return value if isinstance(value, FrameV | PartV) else AccessV(value, name)
        case VectorV(_, rows) | PartV(_, rows) if name == "empty":
            if rows == TRUE:
                return Scalar(FALSE)  # a group is never empty
            size = rows_of(m, flow, rows)
            assert isinstance(size, Scalar)
            return Scalar(app(Op.PY_EQ, size.term, int_lit(0)))
        case PartV(columns) if _is_column(name, columns, "DataFrame"):
            return series.stored_column_of(m, value, name)
        case LabelledV(columns) if _is_column(name, columns, "Series"):
            return _cell_of(m, flow, value, name)
    return None


def _is_column(name: str, columns: tuple[str, ...], class_name: str) -> bool:
    """Return whether an attribute of an object of the class is what it has under this name."""
    from presieve.lift.models.pandas.input_and_output import attributes_of

    return name in columns and name.isidentifier() and name not in attributes_of(class_name)


def _cell_of(m: SymbolicMachine, flow: Flow, row: LabelledV, name: object) -> Value | None:
    """Evaluate ``table.loc[label][name]``."""
    if name not in row.columns or not _keeps_values(m, row.columns):
        return None
    return at_label(m, flow, LabelledElement(PartV(row.columns, TRUE), str(name), row.label))


def _size(m: SymbolicMachine, flow: Flow, value: Value) -> Value:
    return rows_of(m, flow, _rows(value))


def _rows(value: Value) -> Term:
    return value.rows if isinstance(value, VectorV | PartV) else TRUE


def item_of(m: SymbolicMachine, flow: Flow, value: Value, key: Value) -> Value | None:
    """Evaluate ``value[key]`` of a table or column; None if it is not supported here."""
    if arrays.is_arrow(value):
        return arrays.item_of(m, value, key)
    match value:
        case FrequencyV():
            return value_counts.item_of(m, flow, value, key)
        case AccessV(FrequencyV() as counts):
            return value_counts.at_label(m, flow, counts, key)
        case TopV():
            return top_k.item_of(m, flow, value, key)
        case AccessV(TopV() as top):
            return top_k.at(m, flow, top, key)
        case AccessV(of, "iloc" | "iat"):
            return _by_position(m, flow, of, key)
        case AccessV(of, "loc" | "at"):
            return _by_label(m, flow, of, key)
        case AccessV(_, "str"):
            return str_accessor.item_at(m, value, key)
        case NumberedV(columns):
            place = constant_of(key, INT)
            return next((c for i, c in enumerate(columns) if i == place), None)
        case LabelledV():
            return _cell_of(m, flow, value, constant_of(key))
        case FrameV() | PartV() if isinstance(key, SeriesV | VectorV):
            return _apply_mask(m, flow, value, key)
        case SeriesV() | VectorV() if isinstance(key, SeriesV | VectorV):
            return _apply_mask(m, flow, value, key)
        case TableV(columns, items) if columns is not None and isinstance(key, ListV):
            wanted = _names(key)
            if wanted is None or not set(wanted) <= set(columns) or len(set(wanted)) < len(wanted):
                return None
            chosen = tuple(items[columns.index(n)] for n in wanted)
            return replace(value, names=wanted, items=chosen)
        case PartV(columns) if constant_of(key) in columns:
            return series.stored_column_of(m, value, str(constant_of(key)))
        case PartV(columns) if isinstance(key, ListV):
            names = [constant_of(k) for k in key.items]
            if set(names) <= set(columns) and len(set(names)) == len(names):
                return fresh(m, replace(value, columns=tuple(str(n) for n in names)))
    return None


_OBJECTS = ("string", "date", "binary", "decimal", "boolean", "timestamp", "timestamp_ntz")
"""Types that make a row of a table a Series of objects, as they are no numbers."""


def _keeps_values(m: SymbolicMachine, columns: tuple[str, ...]) -> bool:
    """Return whether a row as a Series keeps the values: all are doubles, or some are objects.

    In a row of numbers of several types, all would become doubles.
    """
    types = {str(m.columns.type_of(c)).split("(")[0] for c in columns}
    return types == {"double"} or not types.isdisjoint(_OBJECTS)


def _apply_mask(m: SymbolicMachine, flow: Flow, value: Value, key: Value) -> Value:
    mask, frame = series.vector(m, key), series.part(value)
    assert mask is not None
    holes = FALSE if mask.masked else is_none(mask.term)
    if holes != FALSE and strip(mask.term.sort) == BOOL:
        m.fail(flow, any_row(m, and_(mask.rows, holes)))
    if frame is not None:
        return fresh(m, replace(frame, rows=series.select_rows(m, frame.rows, mask)))
    column = series.vector(m, value)
    assert column is not None
    return fresh(m, series.restrict_column(column, series.select_rows(m, column.rows, mask)))


def _by_label(m: SymbolicMachine, flow: Flow, of: Value, key: Value) -> Value | None:
    """Evaluate ``of.loc[key]``."""
    rows, name = key.items if isinstance(key, TupleV) and len(key.items) == 2 else (key, None)
    frame = series.part(of)
    if frame is None:
        column = series.vector(m, of)
        if name is None and isinstance(key, LabelV) and column is not None and column.name:
            inside = PartV((column.name,), column.rows)
            return at_label(m, flow, LabelledElement(inside, column.name, key))
        masks = isinstance(key, SeriesV | VectorV)
        return _apply_mask(m, flow, of, key) if masks else None
    match rows:
        case ListV((LabelV() as label,)):  # a table of one row; an error if there is none
            columns = _columns_named(frame, name)
            if columns is None:
                return None
            cells = (at_label(m, flow, LabelledElement(frame, c, label)) for c in columns)
            return TableV(columns, tuple(cells))
        case LabelV() if name is None:
            is_whole_group = frame.rows == TRUE and frame.ordered and not frame.made
            return LabelledV(frame.columns, rows) if is_whole_group else None
        case LabelV() if name is not None and (wanted := constant_of(name)) in frame.columns:
            return at_label(m, flow, LabelledElement(frame, str(wanted), rows))
        case SeriesV() | VectorV():
            chosen = _apply_mask(m, flow, frame, rows)
            return chosen if name is None else item_of(m, flow, chosen, name)
    return None


def _columns_named(frame: PartV, name: Value | None) -> tuple[str, ...] | None:
    """Return the columns that ``loc`` selects: all, or those of a list."""
    if name is None:
        return frame.columns
    columns = _names(name) if isinstance(name, ListV) else None
    return columns if columns is not None and set(columns) <= set(frame.columns) else None


def _by_position(m: SymbolicMachine, flow: Flow, of: Value, key: Value) -> Value | None:
    frame = series.part(of)
    if frame is not None and isinstance(key, ListV) and len(key.items) == 1:
        row = constant_of(key.items[0])
        if type(row) is int and row in (0, -1):
            m.fail(flow, negate(any_row(m, frame.rows)))
            return first_last.row_table(m, flow, frame, last=row == -1)
    position = constant_of(key)
    grouped = not m.columns.single  # rows of a batch may have different keys
    if grouped and isinstance(of, SeriesV) and of.name in m.columns.request.keys:
        if position in (0, -1):
            return m.columns.key(of.name)
    column = series.vector(m, of)
    if column is not None and type(position) is int and position in (0, -1):
        return first_last.end_of(m, flow, column, last=position == -1)
    if column is not None and type(position) is int:
        reason = "one row in the middle depends on the number of rows before it: loop"
        raise DeclineSignal("row-order", reason)
    return None


# --- methods --------------------------------------------------------------------------------------


def is_pandas(value: Value) -> bool:
    """Return whether methods of the value get the contents of objects, such as lists."""
    return isinstance(value, AccessV | TableV | TopV | FrequencyV) or series.is_whole(value)


@method(TableV, "copy", arguments=0)
def copy_row(_: ModelCall, table: TableV) -> TableV:
    """``table.copy()`` of a table of at most one row."""
    return table


@method(TableV, "reset_index", arguments=0, keywords=("drop",))
def reset_index(call: ModelCall, table: TableV) -> TableV | None:
    """``table.reset_index(drop=True)`` of a table of at most one row."""
    return table if "drop" in call.named and constant_of(call.named["drop"]) is True else None


@table_method("copy", arguments=0, fresh=True)
def copy(_: ModelCall, frame: PartV) -> PartV:
    """``table.copy()``."""
    return frame


@table_method("rename", arguments=0, keywords=("columns",), fresh=True)
def rename(call: ModelCall, frame: PartV) -> PartV | None:
    """``table.rename(columns={...})`` of constant names."""
    renamed = call.named.get("columns")
    if not isinstance(renamed, DictV):
        return None
    names = {n: constant_of(v) for n, v in zip(renamed.names, renamed.items, strict=True)}
    if not all(type(n) is str for n in names.values()):
        return None
    columns = tuple(str(names.get(c, c)) for c in frame.columns)
    if len(set(columns)) < len(columns):
        return None
    pairs = zip(columns, frame.columns, strict=True)
    made = tuple((new, series.stored_column_of(call.m, frame, old)) for new, old in pairs)
    kept = dict(frame.made)
    changed = (p for p, old in zip(made, frame.columns, strict=True) if old in kept or p[0] != old)
    return replace(frame, columns=columns, made=tuple(changed))


@table_method("drop", arguments=range(2), keywords=("columns", "axis"), fresh=True)
def drop(call: ModelCall, frame: PartV) -> PartV | None:
    """``table.drop(columns=[...])``, or ``drop([...], axis=1)``."""
    by_axis = "axis" in call.named and constant_of(call.named["axis"]) in (1, "columns")
    given = call.args if by_axis else tuple(v for n, v in call.named.items() if n == "columns")
    names = (
        _names(given[0]) if len(given) == len(call.args) + ("columns" in call.named) == 1 else None
    )
    if names is None or not set(names) <= set(frame.columns):
        return None
    columns = tuple(c for c in frame.columns if c not in names)
    made = tuple((n, v) for n, v in frame.made if n not in names)
    return replace(frame, columns=columns, made=made)


@table_method("dropna", arguments=0, keywords=("subset", "how"), fresh=True)
def dropna(call: ModelCall, frame: PartV) -> PartV | None:
    """``table.dropna(subset=[...])`` with ``how="any"``, which is the default."""
    m, named = call.m, call.named
    if "how" in named and constant_of(named["how"]) != "any":
        return None
    chosen = _names(named["subset"]) if "subset" in named else frame.columns
    if chosen is None or not set(chosen) <= set(frame.columns):
        return None
    columns = [series.column_of(m, frame, c) for c in chosen]
    m.columns.ask(*(c.term for c in columns))
    complete = conjunction([series.there(c.term) for c in columns])
    return replace(frame, rows=conjunction([frame.rows, complete]))


@table_method("sort_values", arguments=range(2), keywords=("by", "ascending", "kind"), fresh=True)
def sort_values(call: ModelCall, frame: PartV) -> PartV:
    """``table.sort_values("c")``, or by several columns. Rows that tie have an order if there are
    several (pandas sorts them by ``lexsort_indexer``), or with ``kind="stable"``.
    """
    args, named = call.args, call.named
    names = _names(args[0] if args else named.get("by", NONE))
    if names is None or not set(names) <= set(frame.columns):
        return replace(frame, ordered=False, by=None)
    keys = tuple(series.column_of(call.m, frame, n) for n in names)
    return replace(frame, ordered=False, by=top_k.sorting(keys, frame.ordered, named))


@table_method("tail", arguments=1)
def tail(call: ModelCall, frame: PartV) -> TableV | None:
    """``table.tail(1)``."""
    if constant_of(call.args[0], INT) != 1:
        return None
    return first_last.row_table(call.m, call.flow, frame, last=True)


@table_method("query", arguments=1, fresh=True)
def select(call: ModelCall, frame: PartV) -> Value:
    """``table.query("a > 1 and b == 'x'")`` of a constant string: comparisons and variables."""
    return _apply_mask(call.m, call.flow, frame, query.mask(call, frame))


refuse_methods(
    FrameV | PartV,
    *("groupby", "pivot_table", "merge", "resample", "rolling"),
    reason="inside of the function regroups the rows of the group",
)


def _names(value: Value) -> tuple[str, ...] | None:
    """Return the constant names in a name or a list of names; None for other values."""
    items = value.items if isinstance(value, ListV | TupleV) else (value,)
    names = [constant_of(i) for i in items]
    return tuple(str(n) for n in names) if all(type(n) is str for n in names) else None
