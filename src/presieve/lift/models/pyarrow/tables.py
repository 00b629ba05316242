# SPDX-License-Identifier: Apache-2.0
"""Trusted. Tables of pyarrow whose rows are those of the table that the function is given.

Source: pyarrow's documentation of ``Table`` and ``RecordBatch``, and release 26. Both are
immutable. Columns of a ``Table`` are chunked arrays, which a ``RecordBatch`` does not take; a
``Table`` takes both.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from presieve.errors import DeclineSignal
from presieve.ir.terms import TRUE, Term
from presieve.lift.execution.state import ModelCall
from presieve.lift.models.pyarrow.arrays import column_name
from presieve.lift.models.registry import function, method
from presieve.lift.values.arrow_values import ArrayV, ArrowColumnV, BatchV
from presieve.lift.values.symbolic import DictV, ListV, TupleV, Value, constant_of
from presieve.records import replace

Column: TypeAlias = tuple[str, ArrayV | ArrowColumnV]


@function("pyarrow.Table.from_batches", arguments=1)
def table_of_batches(call: ModelCall) -> BatchV | None:
    """``Table.from_batches([batch])``."""
    match [call.flow.dereference(a) for a in call.args]:
        case [ListV((BatchV(table=False) as batch,))]:
            columns = tuple((n, replace(c, chunked=True)) for n, c in _columns_of(batch))
            return replace(batch, table=True, made=columns)
    return None


@method(BatchV, "select", arguments=1)
def select(call: ModelCall, table: BatchV) -> BatchV | None:
    """``table.select(names or numbers)``."""
    names = _listed(call, table, call.args[0])
    return None if names is None else _with_columns(table, _columns_of(table, names))


@method(BatchV, "drop_columns", "drop", arguments=1)
def drop_columns(call: ModelCall, table: BatchV) -> BatchV | None:
    """``table.drop_columns(names)``, and ``drop(names)`` of a ``Table``."""
    names = _listed(call, table, call.args[0])
    if names is None or (call.name == "drop" and not table.table):
        return None
    return _with_columns(table, [c for c in _columns_of(table) if c[0] not in names])


@method(BatchV, "rename_columns", arguments=1)
def rename_columns(call: ModelCall, table: BatchV) -> BatchV | None:
    """``table.rename_columns(names)``."""
    names = _texts(call, call.args[0])
    if names is None or len(names) != len(table.columns):
        return None
    columns = [(n, c) for n, (_, c) in zip(names, _columns_of(table), strict=True)]
    return _with_columns(table, columns)


@method(BatchV, "append_column", arguments=2)
def append_column(call: ModelCall, table: BatchV) -> BatchV | None:
    """``table.append_column(name, array)``."""
    column = _named_column(call, table, call.args)
    return None if column is None else _with_columns(table, [*_columns_of(table), column])


@method(BatchV, "set_column", "add_column", arguments=3)
def set_column(call: ModelCall, table: BatchV) -> BatchV | None:
    """``table.set_column(number, name, array)`` and ``add_column``."""
    at, columns = _number(call, table), list(_columns_of(table))
    column = _named_column(call, table, call.args[1:])
    if column is None or at is None:
        return None
    columns[at : at + (call.name == "set_column")] = [column]
    return _with_columns(table, columns)


@method(BatchV, "remove_column", arguments=1)
def remove_column(call: ModelCall, table: BatchV) -> BatchV | None:
    """``table.remove_column(number)``."""
    at = _number(call, table)
    if at is None:
        return None
    return _with_columns(table, [c for i, c in enumerate(_columns_of(table)) if i != at])


def _number(call: ModelCall, table: BatchV) -> int | None:
    """Return the number of a column, which may be ``table.schema.get_field_index(name)``."""
    at = constant_of(call.args[0])
    return at if type(at) is int and 0 <= at < len(table.columns) else None


@function("pyarrow.RecordBatch.from_arrays", keywords=("names",))
def batch_of_arrays(call: ModelCall) -> BatchV | None:
    """``RecordBatch.from_arrays(arrays, names)`` of arrays with an element for each row."""
    return _of_arrays(call, is_table=False)


@function("pyarrow.Table.from_arrays", keywords=("names",))
def table_of_arrays(call: ModelCall) -> BatchV | None:
    """``Table.from_arrays(arrays, names)`` of arrays with an element for each row."""
    return _of_arrays(call, is_table=True)


@function("pyarrow.RecordBatch.from_pydict", arguments=1)
def batch_of_dict(call: ModelCall) -> BatchV | None:
    """``RecordBatch.from_pydict({name: array})`` of arrays with an element for each row."""
    return table_of_dict(call, is_table=False)


def table_of_dict(call: ModelCall, *, is_table: bool) -> BatchV | None:
    """Return the table of ``{name: array}``; None if its items are no arrays."""
    match [call.flow.dereference(a) for a in call.args]:
        case [DictV(names, items)]:
            return _table_of(call, zip(names, items, strict=True), is_table=is_table)
    return None


def _of_arrays(call: ModelCall, *, is_table: bool) -> BatchV | None:
    match [call.flow.dereference(a) for a in (*call.args, *call.named.values())]:
        case [ListV(columns), ListV() | TupleV() as listed]:
            names = _texts(call, listed)
            if names is not None and len(names) == len(columns):
                return _table_of(call, zip(names, columns, strict=True), is_table=is_table)
    return None


def _table_of(
    call: ModelCall, items: Iterable[tuple[str, Value]], *, is_table: bool
) -> BatchV | None:
    """Return the table of columns that have an element for each row of one table."""
    values = [(n, call.flow.dereference(v)) for n, v in items]
    columns = [(n, v) for n, v in values if isinstance(v, ArrayV | ArrowColumnV)]
    rows = {_rows_of(c) for _, c in columns}
    if len(columns) < len(values) or len(rows) != 1:
        return None
    table = BatchV((), rows.pop(), is_table)
    return _with_columns(table, [(n, _fitting(table, c)) for n, c in columns])


# --- columns --------------------------------------------------------------------------------------


def _columns_of(table: BatchV, names: Iterable[str] | None = None) -> list[Column]:
    return [(n, table.column(n)) for n in (table.columns if names is None else names)]


def _with_columns(table: BatchV, columns: list[Column]) -> BatchV | None:
    """Return a table of the same rows with these columns; None if two have one name."""
    names = tuple(n for n, _ in columns)
    if len(set(names)) < len(names):
        return None
    made = tuple((n, c) for n, c in columns if c != ArrowColumnV(n, table.table))
    return replace(table, columns=names, made=made)


def _named_column(call: ModelCall, table: BatchV, arguments: tuple[Value, ...]) -> Column | None:
    """Return a new column from its name and its array, which must have the table's rows."""
    name, column = constant_of(arguments[0]), arguments[1]
    if not isinstance(name, str) or not isinstance(column, ArrayV | ArrowColumnV):
        return None
    if _rows_of(column) != table.rows:
        raise call.decline("unsupported-operation", "a column of other rows than the table's")
    return name, _fitting(table, column)


def _fitting(table: BatchV, column: ArrayV | ArrowColumnV) -> ArrayV | ArrowColumnV:
    """Return a column as a table holds it. Declines what a ``RecordBatch`` does not take."""
    if column.chunked and not table.table:
        reason = "a RecordBatch takes no column of a Table: make it from columns of the batch"
        raise DeclineSignal("unsupported-operation", reason)
    return replace(column, chunked=table.table)


def _rows_of(column: ArrayV | ArrowColumnV) -> Term:
    return column.rows if isinstance(column, ArrayV) else TRUE


def _listed(call: ModelCall, table: BatchV, value: Value) -> list[str] | None:
    """Return the names of the columns that a list names or numbers; None if it is no such list."""
    match call.flow.dereference(value):
        case ListV(items) | TupleV(items):
            names = [column_name(table, i) for i in items]
            return None if None in names else [n for n in names if n is not None]
    return None


def _texts(call: ModelCall, value: Value) -> list[str] | None:
    """Return the texts of a list of constants; None if it is no such list."""
    match call.flow.dereference(value):
        case ListV(items) | TupleV(items):
            texts = [constant_of(i) for i in items]
            return [t for t in texts if isinstance(t, str)] if all(map(_is_text, texts)) else None
    return None


def _is_text(value: object) -> bool:
    return isinstance(value, str)
