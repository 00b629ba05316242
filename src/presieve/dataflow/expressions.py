# SPDX-License-Identifier: Apache-2.0
"""Trusted. Expressions, except calls."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable

from presieve.dataflow import python_operators
from presieve.dataflow.abstract_values import (
    DATA,
    NO_KEYS,
    NONE,
    NOWHERE,
    PANDAS,
    AbstractColumn,
    AbstractScalar,
    AbstractTuple,
    BoundMethod,
    Class,
    Function,
    Grouped,
    Indexer,
    Items,
    Length,
    Library,
    Mixed,
    OpaqueValue,
    Ref,
    Row,
    Table,
    Value,
    is_fixed,
    packages_of,
    reach_of,
    reach_of_all,
)
from presieve.dataflow.analysis_state import AnalysisState, stored_in
from presieve.dataflow.assignments import ROWS, bind
from presieve.dataflow.by_row.row_subsets import series_of, some_columns, some_rows
from presieve.dataflow.calls import call, inline_call
from presieve.dataflow.context import (
    Analysis,
    Given,
    constant_of,
    has_waiting_values,
    may_act,
    names_of_columns,
)
from presieve.dataflow.free_names import of_own_module, outside
from presieve.dataflow.iteration import scalar_of
from presieve.dataflow.literals import (
    comprehension,
    dict_display,
    generator,
    list_display,
    text,
    tuple_display,
)
from presieve.dataflow.objects import attribute_of_class, attribute_of_instance
from presieve.dataflow.returned_tables import result_of
from presieve.python_library.method_catalogue import CATALOGUE
from presieve.records import replace


def evaluate(a: Analysis, node: ast.expr, s: AnalysisState) -> Value:
    """Evaluate an expression. An unsupported one is opaque, and everything in it is read."""
    handler = _EXPRESSIONS.get(type(node))
    if handler is not None:
        before = s.writes.counts
        value: Value = handler(a, node, s)
        if s.writes.counts != before and has_waiting_values(node):
            a.check_waiting(s, before, node)
        if isinstance(value, AbstractScalar) and value.label:
            a.sees_labels = True
        if not isinstance(value, AbstractColumn):
            return value
        return stored_in(_as_used(a, node, value), a.site(node), "")
    parts = [evaluate(a, c, s) for c in ast.iter_child_nodes(node) if isinstance(c, ast.expr)]
    for part in parts:
        a.escapes(s, part, node, ast.unparse(node))
    return OpaqueValue(reach_of_all(parts))


def _as_used(a: Analysis, node: ast.expr, column: AbstractColumn) -> AbstractColumn:
    """The column as what the program does with it sees it, whose type may matter."""
    use = a.owner.uses.get(node)
    if use in (None, "filled"):
        a.use(column)
    return column


def _name(a: Analysis, node: ast.Name, s: AnalysisState) -> Value:
    at: int | None = len(s.frames) - 1
    while at is not None:
        if node.id in s.frames[at]:
            return s.frames[at][node.id]
        frame = a.stack[at]
        if frame.parent is None:
            break
        at = frame.parent
    return outside(a, s, node)


def _attribute(a: Analysis, node: ast.Attribute, s: AnalysisState) -> Value:
    owner, name = evaluate(a, node.value, s), node.attr
    table = s.table(owner)
    if table is not None and isinstance(owner, Ref):
        return _of_table(a, s, owner, table, node)
    match owner:
        case Library(path):
            return outside_attribute(a, s, path, name)
        case Ref() if s.instance(owner) is not None:
            return attribute_of_instance(a, s, owner, node)
        case Class() if (member := attribute_of_class(a, s, owner, name)) is not None:
            return member
        case AbstractColumn():
            return _of_column(owner, name)
        case Row(ref, series=True):
            if not _is_series_attribute(name) and (field := field_of(a, s, owner, name, node)):
                return field
            return _of_column(as_series(a, s, ref, node), name)
        case Row(ref) if (of := s.table(ref)) is not None and of.column(name) is not None:
            return _field(a, owner, series_of(a, of, name, node))
        case Indexer(AbstractColumn() as column, "dt") if name in CATALOGUE["dates"]:
            made = replace(column, keys=NO_KEYS, passes=None, memory=NOWHERE, holds=NO_KEYS)
            return replace(made, mixed="small", plain=False, double=False)
        case Grouped() if (of := s.table(owner.table)) is not None and name in of.names:
            return replace(owner, chosen=name)
        case Function() if name in ("__name__", "__qualname__", "__module__", "__doc__"):
            return AbstractScalar(fixed=True)
    return BoundMethod(owner, name)


def _field(a: Analysis, row: Row, column: Value) -> AbstractScalar:
    """The value of a column in a row."""
    if not isinstance(column, AbstractColumn):
        return AbstractScalar()
    value = scalar_of(a, column)
    if not row.series:
        return value
    # In a row of one type, an integer may have become a double.
    keys = value.keys if column.plain else NO_KEYS
    passes = value.passes if row.objects or value.text else None
    return replace(value, keys=keys, passes=passes)


def field_of(
    a: Analysis, s: AnalysisState, row: Row, name: str, node: ast.AST
) -> AbstractScalar | None:
    """A value of a row that is a Series; None if the table has no such column. A number takes the
    type that all columns share, which may round it; a text does not.
    """
    table = s.table(row.table)
    column = None if table is None else table.column(name)
    if table is None or column is None:
        return None
    if not column.plain:
        a.observe(s, row.table, node, "a row is read as a whole")
    return _field(a, row, series_of(a, table, name, node))


def as_series(a: Analysis, s: AnalysisState, ref: Ref, node: ast.AST) -> AbstractColumn:
    """A row as a Series, whose type depends on all columns. Its name is the label of the row."""
    a.sees_labels = True
    a.observe(s, ref, node, "a row is read as a whole")
    return AbstractColumn(memory=s.reach(ref))


def _is_series_attribute(name: str) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is None or hasattr(pandas.Series, name)


_CONSTANTS = frozenset(("nan", "NaN", "NAN", "inf", "Inf", "pi", "e", "NaT", "NA", "newaxis"))


def outside_attribute(a: Analysis, s: AnalysisState, path: str, name: str) -> Value:
    """An attribute of a module or class of a package, or of a module of the program."""
    if name in _CONSTANTS and path in ("numpy", "pandas", "math"):
        return AbstractScalar(fixed=True)
    own = of_own_module(a, s, path, name)
    return Library(f"{path}.{name}") if own is None else own


_LOCATORS = frozenset(("loc", "iloc", "at", "iat"))


def _of_table(a: Analysis, s: AnalysisState, ref: Ref, table: Table, node: ast.Attribute) -> Value:
    name = node.attr
    if name in _LOCATORS:
        return Indexer(ref, name)
    if name == "empty":
        return AbstractScalar()
    if name == "index":
        return AbstractColumn(rows=table.rows, labelled=False)
    if name == "columns" and table.sure and table.rest is None:
        a.observe(s, ref, node, ".columns looks at all columns")
        names = tuple(AbstractScalar(constant=n, fixed=True) for n in table.names)
        # The underlying array is shared with the table.
        any_ = OpaqueValue(reach_of(ref), DATA)
        return s.make(a.site(node), lambda _: Items("names", any_, names))
    if name == "T":
        a.observe(s, ref, node, ".T looks at all columns")
        any_column = AbstractColumn(memory=s.reach(ref))
        return s.make(a.site(node), lambda place: Table((), place, any_column, sure=False))
    if name in ("columns", "shape", "size", "dtypes", "values", "axes", "ndim", "style"):
        a.observe(s, ref, node, f".{name} looks at all columns")
        return OpaqueValue(reach_of(ref), PANDAS)
    if name not in CATALOGUE["table"] and table.column(name) is not None:
        return series_of(a, table, name, node)
    return BoundMethod(ref, name)


def _of_column(column: AbstractColumn, name: str) -> Value:
    if name in ("values", "array"):
        return replace(column, labelled=False, index=None)
    if name in _LOCATORS or name in ("str", "dt", "cat"):
        return Indexer(column, name)
    if name in ("empty", "size", "shape", "dtype", "ndim", "is_unique", "hasnans", "name"):
        return AbstractScalar()
    if name == "index":
        return AbstractColumn(rows=column.rows, labelled=False)
    return BoundMethod(column, name)


# --- items -------------------------------------------------------------------------------------


def _item(a: Analysis, node: ast.Subscript, s: AnalysisState) -> Value:
    match node:
        case ast.Subscript(ast.Attribute(inner, "shape"), ast.Constant(0)):
            owner = evaluate(a, inner, s)
            if (of := s.table(owner)) is not None or isinstance(owner, AbstractColumn):
                rows = owner.rows if isinstance(owner, AbstractColumn) else of.rows if of else None
                return AbstractScalar(length=Length(rows))
            return OpaqueValue(reach_of(owner), DATA)
    owner, index = evaluate(a, node.value, s), evaluate(a, node.slice, s)
    index = _call_index(a, s, owner, index, node)
    table = s.table(owner)
    if table is not None and isinstance(owner, Ref):
        return _item_of_table(a, s, owner, index, node)
    match owner:
        case Indexer(Ref() as ref, how) if s.table(ref) is not None:
            return _locate(a, s, Indexer(ref, how), index, node)
        case Indexer(AbstractColumn() as column, name) if name not in _LOCATORS:
            alone = column.rowwise and not column.mixed and name == "str"
            mixed: Mixed = "gaps" if isinstance(index, AbstractScalar) else ""
            return AbstractColumn(
                rows=column.rows, labelled=column.labelled, rowwise=alone, mixed=mixed
            )  # as ``.str[0]``
        case AbstractColumn() | Indexer(AbstractColumn()):
            items = owner if isinstance(owner, AbstractColumn) else owner.owner
            assert isinstance(items, AbstractColumn)
            if not items.fixed:
                a.branches_on(owner, node)
            return _item_of_column(items, index)
        case AbstractTuple(items):
            return _item_of_tuple(s, items, index)
        case Ref() if (container := s.items(owner)) is not None:
            item = _item_of_items(s, container, index)
            # The choice of item may depend on rows.
            return item if is_fixed(index) or not is_fixed(item) else AbstractScalar()
        case Row():
            return _item_of_row(a, s, owner, index, node)
        case Grouped():
            names = names_of_columns(s, index)
            if names is not None:
                is_single_name = isinstance(constant_of(s, index), str)
                return replace(owner, chosen=names[0] if is_single_name else names)
        case AbstractScalar():
            return AbstractScalar()
        case OpaqueValue(rowwise=True) if isinstance(index, AbstractTuple) and _is_a_column(index):
            return owner
        case Library():
            return owner  # an annotation
    a.observe(s, owner, node, f"{ast.unparse(node)} is not followed")
    a.observe(s, index, node, f"{ast.unparse(node)} is not followed")
    return OpaqueValue(reach_of(owner), s.packages(owner))


def _item_of_row(
    a: Analysis, s: AnalysisState, row: Row, index: Value, node: ast.Subscript
) -> Value:
    if row.series:
        name = constant_of(s, index)
        if isinstance(name, str) and (field := field_of(a, s, row, name, node)):
            return field
        memory = as_series(a, s, row.table, node).memory
        return (
            AbstractScalar() if isinstance(index, AbstractScalar) else OpaqueValue(memory, PANDAS)
        )
    a.sees_labels = True
    a.observe(s, row.table, node, "a row is read by position")
    return AbstractScalar()


def _is_a_column(index: AbstractTuple) -> bool:
    """Whether an index such as ``[:, 1]`` selects a column of an array."""
    if len(index.items) != 2:
        return False
    rows, column = index.items
    return (
        rows == OpaqueValue(packages=ROWS, fixed=True)
        and isinstance(column, AbstractScalar)
        and column.fixed
    )


def _call_index(
    a: Analysis, s: AnalysisState, owner: Value, index: Value, node: ast.Subscript
) -> Value:
    """The index. If it is a function, pandas calls it with the object that it indexes."""
    data = owner.owner if isinstance(owner, Indexer) else owner
    if s.table(data) is None and not isinstance(data, AbstractColumn):
        return index
    if isinstance(index, Function):
        return inline_call(a, s, index, Given([data], {}, node))
    if isinstance(index, AbstractTuple) and isinstance(owner, Indexer):
        return AbstractTuple(tuple(_call_index(a, s, data, i, node) for i in index.items))
    return index


def _item_of_table(
    a: Analysis, s: AnalysisState, ref: Ref, index: Value, node: ast.Subscript
) -> Value:
    table = s.table_at(ref)
    names = names_of_columns(s, index)
    if names is not None:
        if isinstance(constant_of(s, index), str):
            return series_of(a, table, names[0], node)
        return some_columns(a, s, ref, names, node)
    if isinstance(index, AbstractColumn) and (index.mask or _passes_truths(a, index)):
        alone = index.rowwise and index.rows is not None and index.rows == table.rows
        return some_rows(s, ref, a.site(node), shared=False, rowwise=alone)
    if isinstance(index, OpaqueValue) and index.packages == ROWS:
        return some_rows(s, ref, a.site(node), shared=True)
    if not isinstance(index, AbstractScalar):
        a.needs_length(node)
    a.observe(s, ref, node, f"{ast.unparse(node)} may be any column")
    a.observe(s, index, node, f"{ast.unparse(node)} may be any column")
    if isinstance(index, AbstractScalar):
        return AbstractColumn(memory=s.reach(ref))
    return OpaqueValue(s.reach(ref), DATA | {"pandas"})


def _passes_truths(a: Analysis, column: AbstractColumn) -> bool:
    """Whether a column passes on truth values of the input. As an index, they choose rows; pandas
    raises if one is missing.
    """
    return column.passes is not None and a.request.types.get(column.passes) == "boolean"


def _locate(a: Analysis, s: AnalysisState, at: Indexer, index: Value, node: ast.Subscript) -> Value:
    """Evaluate ``table.loc[rows, columns]`` and the like."""
    ref = at.owner
    assert isinstance(ref, Ref)
    table = s.table_at(ref)
    first = index.items[0] if isinstance(index, AbstractTuple) else index
    if not isinstance(first, AbstractColumn):
        a.branches_on(ref, node)
    rows, names = index, None
    if isinstance(index, AbstractTuple) and len(index.items) == 2:
        rows, names = index.items[0], names_of_columns(s, index.items[1])
        if names is None:
            a.observe(s, ref, node, f"{ast.unparse(node)} reads columns by position or mask")
            return OpaqueValue(s.reach(ref), DATA | {"pandas"})
    alone = (
        isinstance(rows, AbstractColumn) and rows.rowwise and rows.rows == table.rows is not None
    )
    is_single_row = isinstance(rows, AbstractScalar)
    if names is not None and isinstance(index, AbstractTuple):
        if isinstance(constant_of(s, index.items[1]), str):
            column = series_of(a, table, names[0], node)
            if isinstance(column, AbstractColumn):
                return AbstractScalar(column.keys) if is_single_row else replace(column, rows=None)
            return column
        part = some_columns(a, s, ref, names, node)
        if not isinstance(part, Ref) or is_single_row:
            a.observe(s, part, node, "a row is read as a whole")
            return OpaqueValue(reach_of(part), DATA | {"pandas"})
        return some_rows(s, part, a.site(node), shared=True, rowwise=alone)
    if is_single_row and at.name == "iloc" and table.rest is None:
        now = s.make(a.site(node, 6), lambda _: table)
        return Row(now, series=True)
    if is_single_row or not (
        isinstance(rows, AbstractColumn | Ref)
        or (isinstance(rows, OpaqueValue) and rows.packages == ROWS)
    ):
        a.observe(s, ref, node, f"{ast.unparse(node)} reads a row as a whole")
        return OpaqueValue(s.reach(ref), DATA | {"pandas"})
    if isinstance(rows, Ref):
        a.observe(s, rows, node, "rows by a list")
    return some_rows(s, ref, a.site(node), shared=True, rowwise=alone)


def _item_of_column(column: AbstractColumn, index: Value) -> Value:
    if isinstance(index, AbstractScalar) and not isinstance(index.constant, str):
        return AbstractScalar(column.keys, fixed=column.fixed and index.fixed)
    if isinstance(index, AbstractColumn) or (
        isinstance(index, OpaqueValue) and index.packages == ROWS
    ):
        return replace(column, rows=None, passes=None, rowwise=False, fixed=False)
    return OpaqueValue(column.memory, PANDAS)


def _item_of_tuple(s: AnalysisState, items: tuple[Value, ...], index: Value) -> Value:
    at = constant_of(s, index)
    if isinstance(at, int) and -len(items) <= at < len(items):
        return items[at]
    return OpaqueValue(reach_of_all(items), packages_of(AbstractTuple(items)))


def _item_of_items(s: AnalysisState, items: Items, index: Value) -> Value:
    at = constant_of(s, index)
    if items.kind == "dict":
        if isinstance(at, str) and at in dict(items.known or ()):
            return dict(items.known or ())[at]
    elif items.fixed is not None and isinstance(at, int):
        if -len(items.fixed) <= at < len(items.fixed):
            return items.fixed[at]
    elif items.kind == "list" and isinstance(index, OpaqueValue) and index.packages == ROWS:
        element = items.element
        return OpaqueValue(reach_of(element), None if element is None else packages_of(element))
    return OpaqueValue(packages=DATA) if items.element is None else items.element


def _slice(a: Analysis, node: ast.Slice, s: AnalysisState) -> Value:
    for part in (node.lower, node.upper, node.step):
        if part is not None:
            a.observe(s, evaluate(a, part, s), node, "a slice")
    return OpaqueValue(packages=ROWS, fixed=node.lower is node.upper is node.step is None)


# --- functions and calls ----------------------------------------------------------------------


def _named_expression(a: Analysis, node: ast.NamedExpr, s: AnalysisState) -> Value:
    value = evaluate(a, node.value, s)
    bind(a, s, node.target, value)
    return value


def _lambda(a: Analysis, node: ast.Lambda, s: AnalysisState) -> Value:
    define(a, node, s)
    return Function(node, a.stack[-1].owner, len(a.stack) - 1)


def define(a: Analysis, node: ast.FunctionDef | ast.Lambda, s: AnalysisState) -> None:
    """Evaluate what runs where a function is defined: defaults of parameters, and annotations."""
    spec = node.args
    for default in (*spec.defaults, *spec.kw_defaults):
        if default is not None:
            evaluate(a, default, s)
    listed = (*spec.posonlyargs, *spec.args, *spec.kwonlyargs, spec.vararg, spec.kwarg)
    annotations = [p.annotation for p in listed if p is not None]
    annotations += [node.returns] if isinstance(node, ast.FunctionDef) else []
    for annotation in annotations:
        if annotation is not None and may_act(annotation):
            evaluate(a, annotation, s)


def _yield(a: Analysis, node: ast.Yield, s: AnalysisState) -> Value:
    value = NONE if node.value is None else evaluate(a, node.value, s)
    if len(a.stack) > 1:
        a.escapes(s, value, node, "a generator of the user's")
        return OpaqueValue(reach_of(value))
    if a.request.form == "batches" and not (a.in_batches and a.breaks):
        a.branches_on(value, node)  # it is given once, after all batches or before them
    # PySpark's worker converts it to Arrow and changes nothing in it (``serializers.py``).
    a.results.append(result_of(a, s, value, node))
    return NONE


_EXPRESSIONS: dict[type[ast.expr], Callable[..., Value]] = {
    ast.Attribute: _attribute,
    ast.BinOp: python_operators.binary,
    ast.BoolOp: python_operators.bool_op,
    ast.Call: lambda a, node, s: call(a, s, node),
    ast.Compare: python_operators.compare,
    ast.Constant: lambda _a, node, _s: AbstractScalar(constant=node.value, fixed=True),
    ast.Dict: dict_display,
    ast.DictComp: comprehension,
    ast.GeneratorExp: generator,
    ast.IfExp: python_operators.if_expression,
    ast.JoinedStr: text,
    ast.Lambda: _lambda,
    ast.List: list_display,
    ast.ListComp: comprehension,
    ast.Name: _name,
    ast.NamedExpr: _named_expression,
    ast.Set: list_display,
    ast.SetComp: comprehension,
    ast.Slice: _slice,
    ast.Subscript: _item,
    ast.Tuple: tuple_display,
    ast.UnaryOp: python_operators.unary,
    ast.Yield: _yield,
}
"""Other expressions are opaque: await, yield from, a starred expression on its own."""
