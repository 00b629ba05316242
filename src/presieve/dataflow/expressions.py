# SPDX-License-Identifier: Apache-2.0
"""Trusted. Expressions, except calls."""

from __future__ import annotations

import ast
import operator
import sys
from collections.abc import Callable

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
    Opaque,
    Ref,
    Row,
    Table,
    Value,
    combine_elements,
    is_fixed,
    join,
    join_all,
    packages_of,
    reach_of,
    reach_of_all,
    union_of_packages,
)
from presieve.dataflow.assignments import ROWS, bind
from presieve.dataflow.calls import call, inline_call
from presieve.dataflow.context import (
    Analysis,
    Given,
    constant_of,
    has_waiting_values,
    names_of_columns,
)
from presieve.dataflow.free_names import of_own_module, outside
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
from presieve.dataflow.row_subsets import series_of, some_columns, some_rows
from presieve.dataflow.state import AnalysisState, stored_in
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
        return stored_in(value, a.site(node), "") if isinstance(value, AbstractColumn) else value
    parts = [evaluate(a, c, s) for c in ast.iter_child_nodes(node) if isinstance(c, ast.expr)]
    for part in parts:
        a.escapes(s, part, node, ast.unparse(node))
    return Opaque(reach_of_all(parts))


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
            if not _is_series_attribute(name) and (field := field_of(a, s, ref, name, node)):
                return field
            return _of_column(as_series(a, s, ref, node), name)
        case Row(ref) if (of := s.table(ref)) is not None and of.column(name) is not None:
            series = series_of(a, of, name, node)
            return AbstractScalar(series.keys if isinstance(series, AbstractColumn) else NO_KEYS)
        case Indexer(AbstractColumn() as column, "dt") if name in CATALOGUE["dates"]:
            return replace(column, keys=NO_KEYS, passes=None, memory=NOWHERE, plain=False)
        case Grouped() if (of := s.table(owner.table)) is not None and name in of.names:
            return replace(owner, chosen=name)
        case Function() if name in ("__name__", "__qualname__", "__module__", "__doc__"):
            return AbstractScalar(fixed=True)
    return BoundMethod(owner, name)


def field_of(
    a: Analysis, s: AnalysisState, ref: Ref, name: str, node: ast.AST
) -> AbstractScalar | None:
    """A value of a row that is a Series; None if the table has no such column. A number takes the
    type that all columns share, which may round it; a text does not.
    """
    table = s.table(ref)
    column = None if table is None else table.column(name)
    if table is None or column is None:
        return None
    if not column.plain:
        as_series(a, s, ref, node)
        return AbstractScalar()
    a.reads(column.unread, f"{ast.unparse(node)} is read", node)
    return AbstractScalar(column.keys)


def as_series(a: Analysis, s: AnalysisState, ref: Ref, node: ast.AST) -> AbstractColumn:
    """A row as a Series, whose type depends on all columns."""
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
        any_ = Opaque(reach_of(ref), DATA)
        return s.make(a.site(node), lambda _: Items("names", any_, names))
    if name == "T":
        a.observe(s, ref, node, ".T looks at all columns")
        any_column = AbstractColumn(memory=s.reach(ref))
        return s.make(a.site(node), lambda place: Table((), place, any_column, sure=False))
    if name in ("columns", "shape", "size", "dtypes", "values", "axes", "ndim", "style"):
        a.observe(s, ref, node, f".{name} looks at all columns")
        return Opaque(reach_of(ref), PANDAS)
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
            return Opaque(reach_of(owner), DATA)
    owner, index = evaluate(a, node.value, s), evaluate(a, node.slice, s)
    index = _call_index(a, s, owner, index, node)
    table = s.table(owner)
    if table is not None and isinstance(owner, Ref):
        return _item_of_table(a, s, owner, index, node)
    match owner:
        case Indexer(Ref() as ref, how) if s.table(ref) is not None:
            return _locate(a, s, Indexer(ref, how), index, node)
        case Indexer(AbstractColumn() as column, name) if name not in _LOCATORS:
            return AbstractColumn(rows=column.rows, labelled=column.labelled)  # as ``.str[0]``
        case AbstractColumn() | Indexer(AbstractColumn()):
            items = owner if isinstance(owner, AbstractColumn) else owner.owner
            assert isinstance(items, AbstractColumn)
            a.branches_on(owner, node)
            return _item_of_column(items, index)
        case AbstractTuple(items):
            return _item_of_tuple(s, items, index)
        case Ref() if (container := s.items(owner)) is not None:
            item = _item_of_items(s, container, index)
            # The choice of item may depend on rows.
            return item if is_fixed(index) or not is_fixed(item) else AbstractScalar()
        case Row(ref, series=True):
            label = constant_of(s, index)
            if isinstance(label, str) and (field := field_of(a, s, ref, label, node)):
                return field
            memory = as_series(a, s, ref, node).memory
            return AbstractScalar() if isinstance(index, AbstractScalar) else Opaque(memory, PANDAS)
        case Row(ref):
            a.observe(s, ref, node, "a row is read by position")
            return AbstractScalar()
        case Grouped():
            names = names_of_columns(s, index)
            if names is not None:
                is_single_name = isinstance(constant_of(s, index), str)
                return replace(owner, chosen=names[0] if is_single_name else names)
        case AbstractScalar():
            return AbstractScalar()
        case Library():
            return owner  # an annotation
    a.observe(s, owner, node, f"{ast.unparse(node)} is not followed")
    a.observe(s, index, node, f"{ast.unparse(node)} is not followed")
    return Opaque(reach_of(owner), s.packages(owner))


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
    if isinstance(index, AbstractColumn) and index.mask:
        alone = index.rowwise and index.rows is not None and index.rows == table.rows
        return some_rows(s, ref, a.site(node), shared=False, rowwise=alone)
    if isinstance(index, Opaque) and index.packages == ROWS:
        return some_rows(s, ref, a.site(node), shared=True)
    a.observe(s, ref, node, f"{ast.unparse(node)} may be any column")
    a.observe(s, index, node, f"{ast.unparse(node)} may be any column")
    if isinstance(index, AbstractScalar):
        return AbstractColumn(memory=s.reach(ref))
    return Opaque(s.reach(ref), DATA | {"pandas"})


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
            return Opaque(s.reach(ref), DATA | {"pandas"})
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
            return Opaque(reach_of(part), DATA | {"pandas"})
        return some_rows(s, part, a.site(node), shared=True, rowwise=alone)
    if is_single_row and at.name == "iloc" and table.rest is None:
        now = s.make(a.site(node, 6), lambda _: table)
        return Row(now, series=True)
    if is_single_row or not (
        isinstance(rows, AbstractColumn | Ref) or rows == Opaque(packages=ROWS)
    ):
        a.observe(s, ref, node, f"{ast.unparse(node)} reads a row as a whole")
        return Opaque(s.reach(ref), DATA | {"pandas"})
    if isinstance(rows, Ref):
        a.observe(s, rows, node, "rows by a list")
    return some_rows(s, ref, a.site(node), shared=True, rowwise=alone)


def _item_of_column(column: AbstractColumn, index: Value) -> Value:
    if isinstance(index, AbstractScalar) and not isinstance(index.constant, str):
        return AbstractScalar(column.keys)
    if isinstance(index, AbstractColumn) or (isinstance(index, Opaque) and index.packages == ROWS):
        return replace(column, rows=None, passes=None, rowwise=False)
    return Opaque(column.memory, PANDAS)


def _item_of_tuple(s: AnalysisState, items: tuple[Value, ...], index: Value) -> Value:
    at = constant_of(s, index)
    if isinstance(at, int) and -len(items) <= at < len(items):
        return items[at]
    return Opaque(reach_of_all(items), packages_of(AbstractTuple(items)))


def _item_of_items(s: AnalysisState, items: Items, index: Value) -> Value:
    at = constant_of(s, index)
    if items.kind == "dict":
        if isinstance(at, str) and at in dict(items.known or ()):
            return dict(items.known or ())[at]
    elif items.fixed is not None and isinstance(at, int):
        if -len(items.fixed) <= at < len(items.fixed):
            return items.fixed[at]
    elif items.kind == "list" and isinstance(index, Opaque) and index.packages == ROWS:
        element = items.element
        return Opaque(reach_of(element), None if element is None else packages_of(element))
    return Opaque(packages=DATA) if items.element is None else items.element


def _slice(a: Analysis, node: ast.Slice, s: AnalysisState) -> Value:
    for part in (node.lower, node.upper, node.step):
        if part is not None:
            a.observe(s, evaluate(a, part, s), node, "a slice")
    return Opaque(packages=ROWS)


# --- operators ---------------------------------------------------------------------------------


def combine_operands(
    a: Analysis, s: AnalysisState, parts: list[Value], node: ast.AST, *, mask: bool = False
) -> Value:
    """Apply an operator to its operands, item by item."""
    elements = combine_elements(parts, mask=mask)
    if elements is not None:
        return elements
    for part in parts:
        a.observe(s, part, node, "an operator is applied to a whole table")
    packages = union_of_packages(map(s.packages, parts))
    if packages is None:
        a.runs_unknown(ast.unparse(node), "is an operator of what is not known", node)
    others = [p for p in parts if not isinstance(p, AbstractScalar)]
    of = {p.rows if isinstance(p, AbstractColumn | Opaque) else None for p in others}
    rows = next(iter(of)) if len(of) == 1 else None
    return Opaque(s.reach(*parts), packages, rows, mask and rows is not None)


def _binary(a: Analysis, node: ast.BinOp, s: AnalysisState) -> Value:
    left, right = evaluate(a, node.left, s), evaluate(a, node.right, s)
    adds = isinstance(node.op, ast.Add)
    match left, right:
        case AbstractTuple(x), AbstractTuple(y) if adds and len(x) + len(y) < 256:
            return AbstractTuple((*x, *y))
        case AbstractScalar(constant=str(x)), AbstractScalar(constant=str(y)) if adds:
            return AbstractScalar(constant=x + y, fixed=True)
        case Ref(), Ref() if adds:
            lists = [s.items(left), s.items(right)]
            if all(i is not None and i.kind == "list" for i in lists):
                return _concatenate_lists(a, s, [i for i in lists if i is not None], node)
        case (Ref() as some, AbstractScalar() as times) | (
            AbstractScalar() as times,
            Ref() as some,
        ) if isinstance(node.op, ast.Mult):
            # A numpy number would multiply the items.
            counts = times.length is not None or type(times.constant) is int
            items = s.items(some)
            if counts and items is not None and items.kind == "list":
                return s.make(a.site(node), lambda _: Items("list", items.element))
        case AbstractScalar(length=Length() as length), AbstractScalar(constant=int(plus)):
            if type(plus) is int and (adds or isinstance(node.op, ast.Sub)):
                change = plus if adds else -plus
                return AbstractScalar(length=length._replace(plus=length.plus + change))
        case AbstractScalar(constant=int(plus)), AbstractScalar(length=Length() as length):
            if type(plus) is int and adds:
                return AbstractScalar(length=length._replace(plus=length.plus + plus))
    masks = all(isinstance(v, AbstractColumn) and v.mask for v in (left, right))
    return combine_operands(a, s, [left, right], node, mask=masks)


def _concatenate_lists(a: Analysis, s: AnalysisState, lists: list[Items], node: ast.AST) -> Value:
    element = join_all(items.element for items in lists)
    listed = all(items.fixed is not None for items in lists)
    fixed = tuple(i for items in lists for i in items.fixed or ()) if listed else None
    return s.make(a.site(node), lambda _: Items("list", element, fixed))


def _unary(a: Analysis, node: ast.UnaryOp, s: AnalysisState) -> Value:
    inner = evaluate(a, node.operand, s)
    match node.op, inner:
        case ast.USub(), AbstractScalar(constant=int(number)) if type(number) is int:
            return AbstractScalar(constant=-number, fixed=True)
        case ast.Not(), AbstractScalar(constant=bool(truth)):
            return AbstractScalar(constant=not truth, fixed=True)
    mask = isinstance(node.op, ast.Invert) and isinstance(inner, AbstractColumn) and inner.mask
    return combine_operands(a, s, [inner], node, mask=mask)


def _compare(a: Analysis, node: ast.Compare, s: AnalysisState) -> Value:
    parts = [evaluate(a, p, s) for p in (node.left, *node.comparators)]
    decided = _decide_comparison(s, node.ops, parts)
    if decided is not None:
        return AbstractScalar(constant=decided, fixed=True)
    if all(isinstance(o, ast.Is | ast.IsNot | ast.In | ast.NotIn) for o in node.ops):
        for part in parts:
            if not isinstance(node.ops[0], ast.Is | ast.IsNot):
                a.observe(s, part, node, "membership is asked")
        return AbstractScalar(fixed=all(map(is_fixed, parts)))
    return combine_operands(a, s, parts, node, mask=True)


_DECIDED: dict[type[ast.cmpop], Callable[[object, object], object]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.In: lambda item, items: operator.contains(items, item),  # type: ignore[arg-type]
    ast.NotIn: lambda item, items: item not in items,  # type: ignore[operator]
}


def _decide_comparison(s: AnalysisState, ops: list[ast.cmpop], parts: list[Value]) -> bool | None:
    """The truth value of a comparison of constants; None if it is unknown."""
    compare = _DECIDED.get(type(ops[0])) if len(ops) == 1 else None
    left, right = constant_of(s, parts[0]), constant_of(s, parts[1])
    if isinstance(ops[0], ast.Is | ast.IsNot) and len(ops) == 1 and right is None:
        is_object = isinstance(parts[0], AbstractColumn | Ref | AbstractTuple | Function)
        if left is ... and not is_object:
            return None
        return (is_object or left is not None) == isinstance(ops[0], ast.IsNot)
    among = isinstance(ops[0], ast.In | ast.NotIn)
    others = right if among and isinstance(right, tuple) else (right,)
    if compare is None or among != isinstance(right, tuple):
        return None
    if not all(type(c) in (str, int, bool) for c in (left, *others)):
        return None
    return bool(compare(left, right))


def _bool_op(a: Analysis, node: ast.BoolOp, s: AnalysisState) -> Value:
    first, *others = node.values
    value = evaluate(a, first, s)
    for operand in others:
        decided = constant_of(s, value)
        if isinstance(decided, bool):
            if decided == isinstance(node.op, ast.Or):
                return value
            value = evaluate(a, operand, s)
            continue
        a.observe(s, value, node, "the truth of a value is asked")
        value = join(value, evaluate(a, operand, s))
    return value


def _if_expression(a: Analysis, node: ast.IfExp, s: AnalysisState) -> Value:
    test = evaluate(a, node.test, s)
    decided = constant_of(s, test)
    if isinstance(decided, bool):
        return evaluate(a, node.body if decided else node.orelse, s)
    if not is_fixed(test):
        a.branches_on(test, node.test)
    return join(evaluate(a, node.body, s), evaluate(a, node.orelse, s))


# --- functions and calls ----------------------------------------------------------------------


def _named_expression(a: Analysis, node: ast.NamedExpr, s: AnalysisState) -> Value:
    value = evaluate(a, node.value, s)
    bind(a, s, node.target, value)
    return value


def _yield(a: Analysis, node: ast.Yield, s: AnalysisState) -> Value:
    value = NONE if node.value is None else evaluate(a, node.value, s)
    if len(a.stack) > 1:
        a.escapes(s, value, node, "a generator of the user's")
        return Opaque(reach_of(value))
    a.results.append(result_of(a, s, value, node))
    # The consumer may change it.
    s.spoil(reach_of(value))
    return NONE


_EXPRESSIONS: dict[type[ast.expr], Callable[..., Value]] = {
    ast.Attribute: _attribute,
    ast.BinOp: _binary,
    ast.BoolOp: _bool_op,
    ast.Call: lambda a, node, s: call(a, s, node),
    ast.Compare: _compare,
    ast.Constant: lambda _a, node, _s: AbstractScalar(constant=node.value, fixed=True),
    ast.Dict: dict_display,
    ast.DictComp: comprehension,
    ast.GeneratorExp: generator,
    ast.IfExp: _if_expression,
    ast.JoinedStr: text,
    ast.Lambda: lambda a, node, _s: Function(node, a.stack[-1].owner, len(a.stack) - 1),
    ast.List: list_display,
    ast.ListComp: comprehension,
    ast.Name: _name,
    ast.NamedExpr: _named_expression,
    ast.Set: list_display,
    ast.SetComp: comprehension,
    ast.Slice: _slice,
    ast.Subscript: _item,
    ast.Tuple: tuple_display,
    ast.UnaryOp: _unary,
    ast.Yield: _yield,
}
"""Other expressions are opaque: await, yield from, a starred expression on its own."""
