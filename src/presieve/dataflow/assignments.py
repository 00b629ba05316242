# SPDX-License-Identifier: Apache-2.0
"""Trusted. Assignments: to names, columns, rows, items and attributes."""

from __future__ import annotations

import ast
import inspect
from types import MemberDescriptorType

from presieve.dataflow.abstract_values import (
    DATA,
    NO_KEYS,
    AbstractColumn,
    AbstractScalar,
    AbstractTuple,
    Class,
    Function,
    Indexer,
    Items,
    Library,
    OpaqueValue,
    Ref,
    Table,
    Value,
    is_fixed,
    join,
    reach_of,
)
from presieve.dataflow.analysis_state import AnalysisState, references, stored_in, with_attribute
from presieve.dataflow.context import Analysis, constant_of, names_of_columns
from presieve.dataflow.iteration import column_of_items
from presieve.records import replace


def store(a: Analysis, s: AnalysisState, target: ast.expr, value: Value) -> None:
    """Assign a value to a target: ``target = value``."""
    match target:
        case ast.Name(name):
            s.env[name] = value
            if name in a.captured:
                a.escapes(s, value, target, "a function that is kept", kept=True)
        case ast.Tuple() | ast.List():
            bind(a, s, target, value)
        case ast.Starred(inner):
            store(a, s, inner, value)
        case ast.Subscript(owner, where):
            container = a.evaluator.evaluate(a, owner, s)
            index = a.evaluator.evaluate(a, where, s)
            _store_item(a, s, (container, index), value, target)
        case ast.Attribute(owner, name):
            _store_attribute(a, s, a.evaluator.evaluate(a, owner, s), name, (value, target))
        case _:
            a.escapes(s, value, target, ast.unparse(target))


def bind(a: Analysis, s: AnalysisState, target: ast.expr, value: Value) -> None:
    """Assign a value to a target, which may be a tuple or list of targets."""
    if not isinstance(target, ast.Tuple | ast.List):
        store(a, s, target, value)
        return
    fixed: tuple[Value, ...] | None = None
    if isinstance(value, AbstractTuple):
        fixed = value.items
    elif (items := s.items(value)) is not None and items.kind == "list":
        fixed = items.fixed
    plain = not any(isinstance(t, ast.Starred) for t in target.elts)
    if fixed is not None and plain and len(fixed) == len(target.elts):
        for inner, item in zip(target.elts, fixed, strict=True):
            bind(a, s, inner, item)
        return
    if plain and isinstance(value, AbstractColumn):
        a.needs_length(target)
        for inner in target.elts:
            bind(a, s, inner, AbstractScalar(value.keys))
        return
    a.observe(s, value, target, "a value is taken apart")
    any_: Value = OpaqueValue(reach_of(value), s.packages(value))
    for inner in target.elts:
        bind(a, s, inner, any_)


def _store_item(
    a: Analysis, s: AnalysisState, place: tuple[Value, Value], value: Value, node: ast.Subscript
) -> None:
    owner, index = place
    table = s.table(owner)
    if table is not None and isinstance(owner, Ref):
        a.changes(owner.places, node, ast.unparse(node))
        _store_in_table(a, s, owner, index, (value, node))
        return
    match owner:
        case Indexer(Ref() as ref, _) if s.table(ref) is not None:
            a.changes(ref.places, node, ast.unparse(node))
            _store_located(a, s, ref, index, (value, node))
        case Indexer(AbstractColumn(memory=memory)) | AbstractColumn(memory=memory):
            s.overwrite(memory)
            a.writes_items = True
            a.changes(memory, node, ast.unparse(node))
            a.hides_cells(s, value)
        case Ref() if (items := s.items(owner)) is not None:
            _store_in_items(a, s, owner, items, (index, value))
            a.changes_items(owner, node, ast.unparse(node))
        case _:
            a.changes(reach_of(owner), node, ast.unparse(node))
            a.stores(s, value, node, ast.unparse(node))
            a.escapes(s, value, node, ast.unparse(node), kept=True)
            a.escapes(s, owner, node, ast.unparse(node))


def _store_in_items(
    a: Analysis, s: AnalysisState, owner: Ref, items: Items, stored: tuple[Value, Value]
) -> None:
    index, value = stored
    if items.kind == "dict":
        a.hides_key(s, index)
    name = constant_of(s, index)
    element = value if items.element is None else join(items.element, value)
    known = None
    if items.kind == "dict" and isinstance(name, str) and items.known is not None:
        known = tuple({**dict(items.known), name: value}.items())
    s.update(owner, Items(items.kind, element, None, known, known is not None and items.more))


def _store_in_table(
    a: Analysis, s: AnalysisState, owner: Ref, index: Value, stored: tuple[Value, ast.Subscript]
) -> None:
    value, node = stored
    names = names_of_columns(s, index)
    if names is not None and isinstance(constant_of(s, index), str):
        set_column(a, s, owner, names[0], (value, node))
    elif names is not None:
        a.observe(s, value, node, "a table is put into columns")
        for name in names:
            set_column(a, s, owner, name, (OpaqueValue(packages=DATA), node))
    else:
        # With a mask or an unknown name, any column may change.
        a.observe(s, owner, node, f"{ast.unparse(node)} may write to any column")
        a.note("keys", f"{ast.unparse(node)} may write to any column", node)
        s.spoil(owner.places)


def _store_located(
    a: Analysis, s: AnalysisState, owner: Ref, index: Value, stored: tuple[Value, ast.Subscript]
) -> None:
    """Assign ``table.loc[rows, columns] = value``, which adds rows that do not exist yet."""
    value, node = stored
    table = s.table_at(owner)
    a.observe(s, value, node, "a table is written")
    a.hides_cells(s, value)
    rows = index.items[0] if isinstance(index, AbstractTuple) and index.items else index
    names = (
        names_of_columns(s, index.items[1])
        if isinstance(index, AbstractTuple) and len(index.items) == 2
        else None
    )
    adds = not (
        isinstance(rows, AbstractColumn)
        or (isinstance(rows, OpaqueValue) and rows.packages == ROWS)
    )
    if names is None or adds:
        a.observe(s, owner, node, f"{ast.unparse(node)} may write to any column")
        a.note("keys", f"{ast.unparse(node)} may write to any column, or add a row", node)
        s.spoil(owner.places)
        return
    if not isinstance(value, AbstractScalar):
        a.needs_length(node)
    for name in names:
        column = table.column(name)
        if column is not None:
            s.overwrite(column.memory)
            a.reads(column.unread, f"{ast.unparse(node)} writes to some rows of it", node)
        of = rows.rows if isinstance(rows, AbstractColumn) and rows.rowwise else None
        alone = of is not None and of == table.rows and is_fixed(value)
        alone = alone and column is not None and column.rowwise and not column.mixed
        # A text among texts changes no type.
        text = isinstance(value, AbstractScalar) and type(value.constant) is str
        text = text and column is not None and column.text
        if column is not None:
            a.use(column)
        new_column = AbstractColumn(
            rows=table.rows, name=name, rowwise=alone, text=text, mixed="" if text else "any"
        )
        _put_column(s, owner, name, new_column)


ROWS = frozenset(("slice",))
"""The package of slices, which select existing rows."""


def set_column(
    a: Analysis, s: AnalysisState, owner: Ref, name: str, stored: tuple[Value, ast.AST]
) -> None:
    """Assign ``table[name] = value``. If pandas writes into the old column, everything that shares
    its memory sees it.
    """
    old = dict(s.table_at(owner).columns).get(name)
    if old is not None:
        s.overwrite(old.memory)
        a.changes(old.memory, stored[1], f"assigning the column {name}")
    put_column(a, s, owner, name, stored)


def put_column(
    a: Analysis, s: AnalysisState, owner: Ref, name: str, stored: tuple[Value, ast.AST]
) -> None:
    """Assign a column of a table that shares no memory, such as a new copy.

    A table without rows takes those of a list or a Series, and its other columns are then empty.
    """
    value, node = stored
    items = s.items(value)
    if items is not None and items.each is not None and not items.some:
        a.observe(s, value, node, f"the column {name} is given a list")
        value = column_of_items(items, name)
    a.changes(owner.places, node, f"assigning the column {name}")
    table = s.table_at(owner)
    labelled = isinstance(value, AbstractColumn) and value.labelled and value.rows is not None
    if table.empty and labelled and isinstance(value, AbstractColumn):
        # The table takes the labels of the Series.
        bare = not table.columns and table.rest is None
        alone = bare and are_rows_alone(s, value)
        table = replace(table, rows=value.rows, index=value.index, rowwise=alone)
        s.update(owner, table)
    if not fits(table, value) and not (isinstance(value, AbstractColumn) and value.labelled):
        a.needs_length(node)
    new_column = column_for(table, name, value)
    if not isinstance(value, AbstractColumn | AbstractScalar | AbstractTuple):
        a.observe(s, value, node, f"the column {name} is given what is not followed")
        if s.packages(value) is None:
            a.runs_unknown(f"the column {name}", "is given objects that are not known", node)
    if not (table.filled or fits(table, value)) or (table.empty and labelled and table.columns):
        emptied = tuple(
            (n, replace(c, keys=NO_KEYS, passes=None, double=False)) for n, c in table.columns
        )
        s.update(owner, replace(table, columns=emptied, rowwise=False))
        if not table.empty:
            a.note("keys", f"a table that may have no rows is given those of {name}", node)
    _put_column(s, owner, name, new_column)
    a.hides_cells(s, stored[0])


def are_rows_alone(s: AnalysisState, column: AbstractColumn) -> bool:
    """Whether it depends on each row alone if it is among those of a column, as a table says that
    has the same rows.
    """
    of = None if column.rows is None else s.heap.get(column.rows)
    return isinstance(of, Table) and of.rows == column.rows and of.rowwise


def fits(table: Table, value: Value) -> bool:
    """Whether a value has as many items as the table has rows, or is a scalar."""
    return isinstance(value, AbstractScalar) or (
        isinstance(value, AbstractColumn | OpaqueValue)
        and value.rows is not None
        and value.rows == table.rows
    )


def column_for(table: Table, name: str, value: Value) -> AbstractColumn:
    """The column that a value becomes in a table."""
    match value:
        case AbstractScalar():
            text = value.is_text and value.constant is not None
            return AbstractColumn(
                value.keys, rowwise=value.fixed, rows=table.rows, name=name, text=text
            )
        case AbstractColumn() if value.rows is not None and value.rows == table.rows:
            return replace(value, unread=NO_KEYS, labelled=True, name=name, index=None)
        case AbstractColumn(labelled=False):
            # The length is right, or pandas raises an error.
            return AbstractColumn(value.keys, rows=table.rows, memory=value.memory, name=name)
        case AbstractColumn():
            return AbstractColumn(rows=table.rows, memory=value.memory, name=name)
    known = isinstance(value, OpaqueValue) and fits(table, value)
    mask = isinstance(value, OpaqueValue) and value.mask and known
    alone = isinstance(value, OpaqueValue) and value.rowwise and known
    return AbstractColumn(
        rows=table.rows, memory=reach_of(value), mask=mask, name=name, rowwise=alone
    )


def _put_column(s: AnalysisState, owner: Ref, name: str, new_column: AbstractColumn) -> None:
    table = s.table_at(owner)
    columns = dict(table.columns)
    before = columns.get(name, table.rest)
    if before is not None:
        # Whether the column existed determines the order of columns.
        new_column = replace(new_column, unread=before.unread)
    columns[name] = stored_in(new_column, min(owner.places).site, name)
    sure = table.sure
    s.update(owner, replace(table, columns=tuple(columns.items()), empty=False, sure=sure))


def _store_attribute(
    a: Analysis, s: AnalysisState, owner: Value, name: str, stored: tuple[Value, ast.Attribute]
) -> None:
    value, node = stored
    table = s.table(owner)
    if isinstance(owner, Ref) and table is not None:
        a.changes(owner.places, node, ast.unparse(node))
        if name == "columns":
            _rename_all(a, s, owner, value, node)
        elif name == "index":
            a.observe(s, value, node, "the index is given what is not followed")
            s.update(owner, replace(table, index=None, rowwise=False, empty=False))
            _forget_labels(s, owner)
        elif name in table.names:
            set_column(a, s, owner, name, (value, node))
        elif table.rest is not None:
            s.spoil(owner.places)
        return
    if isinstance(owner, AbstractColumn) and name == "name":
        return
    if isinstance(owner, Class | Function | Library):
        a.changed_outside = True
        a.effect("state", f"{ast.unparse(node)} changes what was there before the call", node)
    if isinstance(owner, Ref) and (instance := s.instance(owner)) is not None:
        a.changes(owner.places, node, ast.unparse(node))
        if instance.of is not None and _is_set_by_code(a.classes[instance.of], name):
            a.runs_unknown(ast.unparse(node), "is set by a descriptor", node)
        s.update(owner, with_attribute(instance, name, value))
        return
    a.changes(reach_of(owner), node, ast.unparse(node))
    a.stores(s, value, node, ast.unparse(node))
    a.escapes(s, value, node, ast.unparse(node), kept=True)
    a.escapes(s, owner, node, ast.unparse(node))
    if isinstance(owner, OpaqueValue) and owner.packages is None:
        a.runs_unknown(ast.unparse(node), "is assigned", node)


def _is_set_by_code(cls: type, name: str) -> bool:
    """Whether setting an attribute of an object runs a method of a property or descriptor."""
    member = inspect.getattr_static(cls, name, None)
    return hasattr(type(member), "__set__") and not isinstance(member, MemberDescriptorType)


def _forget_labels(s: AnalysisState, owner: Ref) -> None:
    """Forget which rows belong to a table by label, because its index has changed."""
    table = s.table_at(owner)
    columns = tuple((n, replace(c, rows=None)) for n, c in table.columns)
    s.update(owner, replace(table, columns=columns, rows=None))


def _rename_all(
    a: Analysis, s: AnalysisState, owner: Ref, value: Value, node: ast.Attribute
) -> None:
    table = s.table_at(owner)
    listed_names = names_of_columns(s, value)
    names = (
        listed_names
        if listed_names is not None and len(set(listed_names)) == len(listed_names)
        else None
    )
    # The number of names must be that of the columns, so all columns are read.
    a.observe(s, owner, node, "all columns are named again")
    table = s.table_at(owner)
    if names is None:
        memory = references(table)
        any_column = AbstractColumn(rows=table.rows, memory=memory)
        s.update(owner, replace(table, columns=(), rest=any_column, sure=False))
    elif table.sure and table.rest is None and len(names) == len(table.columns):
        columns = tuple(
            (n, replace(c, name=n)) for n, (_, c) in zip(names, table.columns, strict=True)
        )
        s.update(owner, replace(table, columns=columns))
    else:
        # Each column may be any of the old ones.
        memory = references(table)
        any_ = tuple((n, AbstractColumn(rows=table.rows, memory=memory, name=n)) for n in names)
        s.update(owner, replace(table, columns=any_, rest=None, sure=True))


def delete(a: Analysis, s: AnalysisState, target: ast.expr) -> None:
    """Execute ``del target``."""
    match target:
        case ast.Name(name):
            s.env.pop(name, None)
        case ast.Subscript(owner, where):
            container = a.evaluator.evaluate(a, owner, s)
            index = a.evaluator.evaluate(a, where, s)
            table, names = s.table(container), names_of_columns(s, index)
            if table is not None and isinstance(container, Ref) and names is not None:
                drop_columns(a, s, container, names, target)
            else:
                a.changes(reach_of(container), target, f"del {ast.unparse(target)}")
                a.escapes(s, container, target, ast.unparse(target))
        case ast.Tuple(items) | ast.List(items):
            for item in items:
                delete(a, s, item)
        case _:
            a.runs_unknown(ast.unparse(target), "is deleted", target)


def drop_columns(
    a: Analysis, s: AnalysisState, owner: Ref, names: tuple[str, ...], node: ast.AST
) -> None:
    """Drop columns of a table in place. pandas raises an error if a name is missing."""
    table = s.table_at(owner)
    a.changes(owner.places, node, "a column is dropped")
    gone = [c for n, c in table.columns if n in names]
    for column in gone:
        a.reads(column.unread, "a column has to be there to be dropped", node)
    columns = tuple((n, c) for n, c in table.columns if n not in names)
    s.update(owner, replace(table, columns=columns))
