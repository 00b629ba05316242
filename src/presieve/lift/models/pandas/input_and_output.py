# SPDX-License-Identifier: Apache-2.0
"""Trusted. Rows, columns and one-row tables: how a function reads its input and returns its output.

Sources: pandas 2.3 ``DataFrame.itertuples`` (a namedtuple renames fields that are not identifiers),
``DataFrame.iterrows`` (a Series of the columns' common type); pyspark 4.3.0 ``sql/types.py`` (a
``Row`` is a tuple: its methods take precedence over its fields).
"""

from __future__ import annotations

import keyword

from presieve.errors import DeclineSignal
from presieve.ir.sorts import INT, strip
from presieve.ir.terms import FALSE
from presieve.lift.execution.aliasing import fresh
from presieve.lift.execution.heap import contents
from presieve.lift.execution.state import ModelCall, SymbolicMachine
from presieve.lift.models.pandas import tables_of_columns
from presieve.lift.models.pandas.series import as_double
from presieve.lift.models.registry import function
from presieve.lift.python.attributes import instance_constant
from presieve.lift.python.names import module
from presieve.lift.reason_words import named_columns
from presieve.lift.values.symbolic import (
    NONE,
    ColumnV,
    DictV,
    IndexV,
    KeyV,
    Known,
    ListV,
    RowV,
    Scalar,
    SelfV,
    TableV,
    Traits,
    TupleV,
    Value,
    constant_of,
    describe,
)
from presieve.lift.values.whole_columns import AccessV, FrameV, SeriesV


def attribute(m: SymbolicMachine, value: Value, name: str) -> Value:
    """Evaluate ``value.name`` for rows, tables and ``self``. Declines other values."""
    match value:
        case RowV():
            if name == "Index" and value.shift:
                return IndexV()
            if name in value.attributes:
                return _of_row(m, value, name)
            reason = f"the row's attribute {name} is not a column: write row[...] or rename it"
            if name not in value.columns:
                reason = f"the row has no column {name}: {named_columns(name, value.columns)}"
            raise DeclineSignal("unknown-column", reason)
        case FrameV(columns, own):
            if name == "empty":
                return Scalar(FALSE)  # a group is never empty
            if name in columns and name not in attributes_of("DataFrame"):
                return SeriesV(name, own)
        case SeriesV() if name == "empty":
            return Scalar(FALSE)
        case SelfV(instance):
            return instance_constant(instance, name, m.columns.zone)
    raise DeclineSignal("unsupported-expression", f".{name} of {describe(value)}")


def evaluate_subscript(m: SymbolicMachine, value: Value, key: Value) -> Value:
    """Evaluate ``value[key]`` for rows, tables and the key tuple. Declines other values."""
    match value:
        case RowV():
            item = _row_item(value, key)
            return _of_row(m, value, item.name) if isinstance(item, ColumnV) else item
        case FrameV():
            return _frame_item(m, value, key)
        case KeyV(names):
            position = constant_of(key)
            if type(position) is int and -len(names) <= position < len(names):
                return m.columns.key(names[position])
        case SeriesV() | AccessV():
            reason = "one row's value depends on the order of rows: loop over the column"
            raise DeclineSignal("unsupported-expression", reason)
    raise DeclineSignal("unsupported-expression", f"an item of {describe(value)}")


def _of_row(m: SymbolicMachine, row: RowV, name: str) -> Value:
    """Return a row's value of a column."""
    if not row.doubles:
        return ColumnV(name)
    element = m.columns.element(name)
    if strip(element.sort) == INT:
        m.columns.check_numbers(name)
    return Scalar(as_double(element), Traits(maybe_nan=True, numpy=True))


def _row_item(row: RowV, key: Value) -> Value:
    index = constant_of(key)
    if type(index) is str and row.labels:
        if index in row.columns:
            return ColumnV(index)
        reason = f"the row has no column {index}: {named_columns(index, row.columns)}"
        raise DeclineSignal("unknown-column", reason)
    if type(index) is int and row.positions:
        size = len(row.columns) + row.shift
        if not -size <= index < size:
            raise DeclineSignal("unknown-column", f"the row has no column at position {index}")
        position = index % size - row.shift
        return ColumnV(row.columns[position]) if position >= 0 else IndexV()
    raise DeclineSignal("unsupported-expression", "this way of reading a column from a row")


def _frame_item(m: SymbolicMachine, table: FrameV, key: Value) -> Value:
    name, columns = constant_of(key), table.columns
    if type(name) is str:
        if name not in columns:
            reason = f"the input has no column {name}: {named_columns(name, columns)}"
            raise DeclineSignal("unknown-column", reason)
        return SeriesV(name, table.own)
    if isinstance(key, ListV):
        chosen = tuple(str(constant_of(v)) for v in key.items if type(constant_of(v)) is str)
        if len(chosen) == len(key.items) == len(set(chosen)) and set(chosen) <= set(columns):
            return fresh(m, FrameV(chosen))
    raise DeclineSignal("unsupported-expression", "this way of choosing from a table")


def row_attributes(columns: tuple[str, ...], *, of: str) -> frozenset[str]:
    """Return the columns that can be read as attributes of a row of this kind.

    ``of`` is ``namedtuple`` (fields take precedence over methods, but invalid names are renamed),
    ``Series`` or ``tuple`` (a Spark ``Row``), whose own attributes take precedence.
    """
    good = {c for c in columns if c.isidentifier() and not c.startswith("_")}
    if of == "namedtuple":
        return frozenset(c for c in good if not keyword.iskeyword(c))
    taken = {*dir(tuple), "asDict"} if of == "tuple" else attributes_of("Series")
    return frozenset(good - set(taken))


def attributes_of(name: str) -> frozenset[str]:
    """Return the attributes of a class of pandas, which is loaded whenever a function uses it."""
    pandas = module("pandas")
    if pandas is None:
        import pandas
    return frozenset(dir(getattr(pandas, name)))


# --- the table that is returned ----------------------------------------------------------------


@function("pandas.DataFrame", unevaluated=True)
def table(call: ModelCall) -> Value:
    """``pandas.DataFrame(...)`` with exactly one row, written out; where each row is by itself,
    also of columns, and of lists with an item for each row.
    """
    m, flow, node = call.m, call.flow, call.node
    named: dict[str, Value] = {}
    for argument in node.keywords:
        if argument.arg is None:
            raise call.decline("unsupported-expression", "a call with **")
        named[argument.arg] = contents(m, argument.value, flow)
    args = [contents(m, a, flow) for a in node.args]
    if (
        len(args) > 1
        or not set(named) <= {"data", "columns", "index"}
        or ("data" in named and args)
    ):
        raise DeclineSignal("unsupported-expression", "this way of building a table")
    data = args[0] if args else named.get("data")
    names = _column_names(named["columns"]) if "columns" in named else None
    indexed = "index" in named
    empty = None if indexed or m.columns.single else _empty_table(data, names)
    if empty is not None:
        return empty
    of_rows = None if indexed or data is None else tables_of_columns.table_of(m, data, names)
    if of_rows is not None:
        return fresh(m, of_rows)
    if indexed and not _is_single_label(named["index"]):
        raise DeclineSignal("row-count", "a table with an index of one entry is supported")
    match data:
        case DictV(keys, items):
            return _reorder(keys, tuple(_cell(v, indexed) for v in items), names)
        case ListV((DictV(keys, items),)):
            return _reorder(keys, items, names)
        case ListV((TupleV(items) | ListV(items),)):
            if names is not None and len(names) != len(items):
                raise DeclineSignal("return-shape", "as many columns as values are needed")
            return TableV(names, items)
    raise DeclineSignal("row-count", "a table of exactly one row, written out, is supported")


def _empty_table(data: Value | None, names: tuple[str, ...] | None) -> TableV | None:
    """Return a table without rows: ``DataFrame()``, perhaps of ``columns=[...]``, whose columns are
    of objects, or ``DataFrame({"a": [], ...})``, whose columns are of doubles.
    """
    match data:
        case None | ListV(()):
            wanted = names or ()
            return TableV(wanted, (NONE,) * len(wanted), FALSE)
        case DictV(keys, items) if keys and names is None and all(i == ListV(()) for i in items):
            return TableV(keys, (NONE,) * len(keys), FALSE, doubles=True)
    return None


def _column_names(value: Value) -> tuple[str, ...]:
    items = value.items if isinstance(value, TupleV | ListV) else ()
    if isinstance(value, Known) and type(value.target) is list:
        names: list[object] = list(value.target)
    else:
        names = [constant_of(v) for v in items]
    if not names or not all(type(n) is str for n in names) or len(set(names)) != len(names):
        raise DeclineSignal("return-shape", "columns= takes a list of different names")
    return tuple(str(n) for n in names)


def _is_single_label(value: Value) -> bool:
    return isinstance(value, ListV) and len(value.items) == 1 and constant_of(value.items[0]) == 0


def _cell(value: Value, indexed: bool) -> Value:
    """Return the value of a dict's column: a list of one value, or a value if there is an index."""
    match value:
        case ListV((item,)) | TupleV((item,)):
            return item
        case Scalar() if indexed:
            return value
    raise DeclineSignal("row-count", "a column with exactly one value is supported: write [value]")


def _reorder(
    keys: tuple[str, ...], items: tuple[Value, ...], names: tuple[str, ...] | None
) -> Value:
    if names is None:
        return TableV(keys, items)
    if set(names) != set(keys):
        raise DeclineSignal("return-shape", "columns= and the dict name different columns")
    by_name = dict(zip(keys, items, strict=True))
    return TableV(names, tuple(by_name[n] for n in names))
