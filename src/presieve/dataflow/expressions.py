"""Trusted. Expressions, except for calls."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from presieve.dataflow.calls import call
from presieve.dataflow.context import Analysis, constant_of, names_of_columns
from presieve.dataflow.iteration import item_of, listed_items
from presieve.dataflow.outside import outside
from presieve.dataflow.results import result_of
from presieve.dataflow.rows import series_of, some_columns, some_rows
from presieve.dataflow.state import State, stored_in
from presieve.dataflow.stored import ROWS, bind
from presieve.dataflow.tables import is_attribute
from presieve.dataflow.values import (
    DATA,
    MISSING,
    NO_KEYS,
    NONE,
    NOWHERE,
    Column,
    Function,
    Grouped,
    Indexer,
    Items,
    Library,
    Method,
    Opaque,
    Ref,
    Row,
    Scalar,
    Table,
    TupleV,
    Value,
    is_fixed,
    join,
    packages_of,
    reach_of,
)

_DEEP = 6


def evaluate(a: Analysis, node: ast.expr, s: State) -> Value:
    """The value of an expression. What is not followed is opaque, and all it holds is read."""
    handler = _EXPRESSIONS.get(type(node))
    if handler is not None:
        value: Value = handler(a, node, s)
        return stored_in(value, a.site(node), "") if isinstance(value, Column) else value
    parts = [evaluate(a, c, s) for c in ast.iter_child_nodes(node) if isinstance(c, ast.expr)]
    for part in parts:
        a.escapes(s, part, node, ast.unparse(node))
    return Opaque(frozenset().union(*map(reach_of, parts)))


def _constant(_a: Analysis, node: ast.Constant, _s: State) -> Value:
    return Scalar(constant=node.value, fixed=True)


def _name(a: Analysis, node: ast.Name, s: State) -> Value:
    at: int | None = len(s.frames) - 1
    while at is not None:
        if node.id in s.frames[at]:
            return s.frames[at][node.id]
        frame = a.stack[at]
        if frame.parent is None:
            break
        at = frame.parent
    return outside(a, s, node)


def _attribute(a: Analysis, node: ast.Attribute, s: State) -> Value:
    owner, name = evaluate(a, node.value, s), node.attr
    table = s.table(owner)
    if table is not None and isinstance(owner, Ref):
        return _of_table(a, s, owner, table, node)
    match owner:
        case Library(path):
            return outside_attribute(path, name)
        case Column():
            return _of_column(owner, name)
        case Row(ref) if (of := s.table(ref)) is not None and of.column(name) is not None:
            found = series_of(a, of, name, node)
            return Scalar(found.keys if isinstance(found, Column) else NO_KEYS)
        case Indexer(Column() as column, "dt") if name in _PARTS:
            return replace(column, keys=NO_KEYS, passes=None, memory=NOWHERE)
        case Grouped() if (of := s.table(owner.table)) is not None and name in of.names:
            return replace(owner, chosen=name)
    return Method(owner, name)


_CONSTANTS = frozenset(("nan", "NaN", "NAN", "inf", "Inf", "pi", "e", "NaT", "NA", "newaxis"))


def outside_attribute(path: str, name: str) -> Value:
    """An attribute of a module or class of a package."""
    if name in _CONSTANTS and path in ("numpy", "pandas", "math"):
        return Scalar(fixed=True)
    return Library(f"{path}.{name}")


_PARTS = frozenset(
    (
        *("year", "month", "day", "hour", "minute", "second", "microsecond", "nanosecond", "date"),
        *("time", "timetz", "days", "seconds", "microseconds", "nanoseconds"),
        *("dayofweek", "day_of_week", "weekday", "dayofyear", "day_of_year", "quarter"),
        *("days_in_month", "daysinmonth", "is_leap_year", "is_month_start", "is_month_end"),
        *("is_quarter_start", "is_quarter_end", "is_year_start", "is_year_end"),
    )
)
"""Properties of ``.dt``, item by item."""
_LOCATORS = frozenset(("loc", "iloc", "at", "iat"))


def _of_table(a: Analysis, s: State, ref: Ref, table: Table, node: ast.Attribute) -> Value:
    name = node.attr
    if name in _LOCATORS:
        return Indexer(ref, name)
    if name in ("empty", "index"):
        return Scalar() if name == "empty" else Column(rows=table.rows, labelled=False)
    if name in ("columns", "shape", "size", "dtypes", "values", "T", "axes", "ndim", "style"):
        a.observe(s, ref, node, f".{name} looks at all columns")
        return Opaque(reach_of(ref), DATA | {"pandas", "numpy"})
    if not is_attribute(name) and table.column(name) is not None:
        return series_of(a, table, name, node)
    return Method(ref, name)


def _of_column(column: Column, name: str) -> Value:
    if name in ("values", "array"):
        return replace(column, labelled=False, index=None)
    if name in _LOCATORS or name in ("str", "dt", "cat"):
        return Indexer(column, name)
    if name in ("empty", "size", "shape", "dtype", "ndim", "is_unique", "hasnans", "name"):
        return Scalar()
    if name == "index":
        return Column(rows=column.rows, labelled=False)
    return Method(column, name)


# --- items -------------------------------------------------------------------------------------


def _subscript(a: Analysis, node: ast.Subscript, s: State) -> Value:
    match node:
        case ast.Subscript(ast.Attribute(inner, "shape"), ast.Constant(0)):
            owner = evaluate(a, inner, s)
            if s.table(owner) is not None or isinstance(owner, Column):
                return Scalar()
            return Opaque(reach_of(owner), DATA)
    owner, index = evaluate(a, node.value, s), evaluate(a, node.slice, s)
    table = s.table(owner)
    if table is not None and isinstance(owner, Ref):
        return _item_of_table(a, s, owner, index, node)
    match owner:
        case Indexer(Ref() as ref, how) if s.table(ref) is not None:
            return _located(a, s, Indexer(ref, how), index, node)
        case Indexer(Column() as column, name) if name not in _LOCATORS:
            return Column(rows=column.rows, labelled=column.labelled)  # as ``.str[0]``
        case Column() | Indexer(Column()):
            items = owner if isinstance(owner, Column) else owner.owner
            assert isinstance(items, Column)
            a.branches_on(owner, node)
            return _item_of_column(items, index)
        case TupleV(items):
            return _item_of_tuple(s, items, index)
        case Ref() if (found := s.items(owner)) is not None:
            item = _item_of_items(s, found, index)
            # Which item it is may depend on rows.
            return item if is_fixed(index) or not is_fixed(item) else Scalar()
        case Row(ref):
            a.observe(s, ref, node, "a row is read by position")
            return Scalar()
        case Grouped():
            names = names_of_columns(s, index)
            if names is not None:
                one = isinstance(constant_of(s, index), str)
                return replace(owner, chosen=names[0] if one else names)
        case Scalar():
            return Scalar()
        case Library():
            return owner  # an annotation
    a.observe(s, owner, node, f"{ast.unparse(node)} is not followed")
    a.observe(s, index, node, f"{ast.unparse(node)} is not followed")
    return Opaque(reach_of(owner), s.packages(owner))


def _item_of_table(a: Analysis, s: State, ref: Ref, index: Value, node: ast.Subscript) -> Value:
    table = s.table(ref)
    assert table is not None
    names = names_of_columns(s, index)
    if names is not None:
        if isinstance(constant_of(s, index), str):
            return series_of(a, table, names[0], node)
        return some_columns(a, s, ref, names, node)
    if isinstance(index, Column) and index.mask:
        alone = index.rowwise and index.rows is not None and index.rows == table.rows
        return some_rows(s, ref, a.site(node), shared=False, rowwise=alone)
    if isinstance(index, Opaque) and index.packages == ROWS:
        return some_rows(s, ref, a.site(node), shared=True)
    a.observe(s, ref, node, f"{ast.unparse(node)} may be any column")
    a.observe(s, index, node, f"{ast.unparse(node)} may be any column")
    if isinstance(index, Scalar):
        return Column(memory=s.reachable(reach_of(ref)))
    return Opaque(s.reachable(reach_of(ref)), DATA | {"pandas"})


def _located(a: Analysis, s: State, at: Indexer, index: Value, node: ast.Subscript) -> Value:
    """``table.loc[rows, columns]`` and the like."""
    ref = at.owner
    table = s.table(ref)
    assert table is not None
    if not isinstance(index, Column) and not (
        isinstance(index, TupleV) and isinstance(index.items[0], Column)
    ):
        a.branches_on(ref, node)
    assert isinstance(ref, Ref)
    rows, names = index, None
    if isinstance(index, TupleV) and len(index.items) == 2:
        rows, names = index.items[0], names_of_columns(s, index.items[1])
        if names is None:
            a.observe(s, ref, node, f"{ast.unparse(node)} reads columns by position or mask")
            return Opaque(s.reachable(reach_of(ref)), DATA | {"pandas"})
    alone = isinstance(rows, Column) and rows.rowwise and rows.rows == table.rows is not None
    one = isinstance(rows, Scalar)
    if names is not None and isinstance(index, TupleV):
        if isinstance(constant_of(s, index.items[1]), str):
            column = series_of(a, table, names[0], node)
            if isinstance(column, Column):
                return Scalar(column.keys) if one else replace(column, rows=None)
            return column
        part = some_columns(a, s, ref, names, node)
        if not isinstance(part, Ref) or one:
            a.observe(s, part, node, "a row is read as a whole")
            return Opaque(reach_of(part), DATA | {"pandas"})
        return some_rows(s, part, a.site(node), shared=True, rowwise=alone)
    if one or not (isinstance(rows, Column | Ref) or rows == Opaque(packages=ROWS)):
        a.observe(s, ref, node, f"{ast.unparse(node)} reads a row as a whole")
        return Opaque(s.reachable(reach_of(ref)), DATA | {"pandas"})
    if isinstance(rows, Ref):
        a.observe(s, rows, node, "rows by a list")
    return some_rows(s, ref, a.site(node), shared=True, rowwise=alone)


def _item_of_column(column: Column, index: Value) -> Value:
    if isinstance(index, Scalar) and not isinstance(index.constant, str):
        return Scalar(column.keys)
    if isinstance(index, Column) or (isinstance(index, Opaque) and index.packages == ROWS):
        return replace(column, rows=None, passes=None, rowwise=False)
    return Opaque(column.memory, DATA | {"pandas", "numpy"})


def _item_of_tuple(s: State, items: tuple[Value, ...], index: Value) -> Value:
    at = constant_of(s, index)
    if isinstance(at, int) and -len(items) <= at < len(items):
        return items[at]
    return Opaque(frozenset().union(*map(reach_of, items)), packages_of(TupleV(items)))


def _item_of_items(s: State, items: Items, index: Value) -> Value:
    at = constant_of(s, index)
    if items.kind == "dict":
        if isinstance(at, str) and items.fields is not None and at in dict(items.fields):
            return dict(items.fields)[at]
    elif items.fixed is not None and isinstance(at, int):
        if -len(items.fixed) <= at < len(items.fixed):
            return items.fixed[at]
    elif items.kind == "list" and isinstance(index, Opaque) and index.packages == ROWS:
        element = items.element
        return Opaque(reach_of(element), None if element is None else packages_of(element))
    return Opaque(packages=DATA) if items.element is None else items.element


def _slice(a: Analysis, node: ast.Slice, s: State) -> Value:
    for part in (node.lower, node.upper, node.step):
        if part is not None:
            a.observe(s, evaluate(a, part, s), node, "a slice")
    return Opaque(packages=ROWS)


# --- operators ---------------------------------------------------------------------------------


def combined(
    a: Analysis, s: State, parts: list[Value], node: ast.AST, *, mask: bool = False
) -> Value:
    """What an operator makes of its operands, item by item."""
    if all(isinstance(p, Scalar) for p in parts):
        return Scalar(fixed=all(map(is_fixed, parts)))
    columns = [p for p in parts if isinstance(p, Column)]
    if columns and all(isinstance(p, Column | Scalar) for p in parts):
        rows = columns[0].rows if len({c.rows for c in columns}) == 1 else None
        alone = all(c.rowwise for c in columns) and rows is not None
        alone = alone and all(is_fixed(p) for p in parts if isinstance(p, Scalar))
        labelled = any(c.labelled for c in columns)
        return Column(rowwise=alone, rows=rows, labelled=labelled, mask=mask)
    packages: frozenset[str] | None = NO_KEYS
    for part in parts:
        a.observe(s, part, node, "an operator is applied to a whole table")
        known = s.packages(part)
        packages = None if packages is None or known is None else packages | known
    if packages is None:
        a.effect("unknown", f"{ast.unparse(node)} is an operator of what is not known", node)
    return Opaque(s.reachable(frozenset().union(*map(reach_of, parts))), packages)


def _binary(a: Analysis, node: ast.BinOp, s: State) -> Value:
    left, right = evaluate(a, node.left, s), evaluate(a, node.right, s)
    match left, right:
        case TupleV(x), TupleV(y) if isinstance(node.op, ast.Add) and len(x) + len(y) < 256:
            return TupleV((*x, *y))
        case Scalar(constant=str(x)), Scalar(constant=str(y)) if isinstance(node.op, ast.Add):
            return Scalar(constant=x + y, fixed=True)
        case Ref(), Ref() if isinstance(node.op, ast.Add):
            lists = [s.items(left), s.items(right)]
            if all(i is not None and i.kind == "list" for i in lists):
                return _concatenated(a, s, [i for i in lists if i is not None], node)
    masks = all(isinstance(v, Column) and v.mask for v in (left, right))
    return combined(a, s, [left, right], node, mask=masks)


def _concatenated(a: Analysis, s: State, lists: list[Items], node: ast.AST) -> Value:
    fixed: tuple[Value, ...] | None = ()
    element: Value | None = None
    for items in lists:
        fixed = None if fixed is None or items.fixed is None else (*fixed, *items.fixed)
        if items.element is not None:
            element = items.element if element is None else join(element, items.element)
    return s.make(a.site(node), lambda _: Items("list", element, fixed))


def _unary(a: Analysis, node: ast.UnaryOp, s: State) -> Value:
    inner = evaluate(a, node.operand, s)
    match node.op, inner:
        case ast.USub(), Scalar(constant=int(number)) if type(number) is int:
            return Scalar(constant=-number, fixed=True)
    mask = isinstance(node.op, ast.Invert) and isinstance(inner, Column) and inner.mask
    return combined(a, s, [inner], node, mask=mask)


def _compare(a: Analysis, node: ast.Compare, s: State) -> Value:
    parts = [evaluate(a, p, s) for p in (node.left, *node.comparators)]
    if all(isinstance(o, ast.Is | ast.IsNot | ast.In | ast.NotIn) for o in node.ops):
        for part in parts:
            if not isinstance(node.ops[0], ast.Is | ast.IsNot):
                a.observe(s, part, node, "membership is asked")
        return Scalar(fixed=all(map(is_fixed, parts)))
    return combined(a, s, parts, node, mask=True)


def _bool_op(a: Analysis, node: ast.BoolOp, s: State) -> Value:
    first, *others = node.values
    value = evaluate(a, first, s)
    for other in others:
        a.observe(s, value, node, "the truth of a value is asked")
        value = join(value, evaluate(a, other, s))
    return value


def _if_expression(a: Analysis, node: ast.IfExp, s: State) -> Value:
    test = evaluate(a, node.test, s)
    if not is_fixed(test):
        a.branches_on(test, node.test)
    return join(evaluate(a, node.body, s), evaluate(a, node.orelse, s))


# --- displays ----------------------------------------------------------------------------------


def deep(value: Value, left: int = _DEEP) -> bool:
    """Whether a tuple holds tuples deeper than is followed."""
    if isinstance(value, TupleV):
        return left == 0 or any(deep(i, left - 1) for i in value.items)
    return False


def _tuple(a: Analysis, node: ast.Tuple, s: State) -> Value:
    items = _spread(a, node.elts, s)
    if items is None:
        return Opaque(_reach_of_all(a, node.elts, s))
    made = TupleV(tuple(items))
    return Opaque(reach_of(made)) if deep(made) else made


def _list(a: Analysis, node: ast.List | ast.Set, s: State) -> Value:
    items = _spread(a, node.elts, s)
    kind = "list" if isinstance(node, ast.List) else "set"
    if items is None:
        reach = _reach_of_all(a, node.elts, s)
        return s.make(a.site(node), lambda _: Items(kind, Opaque(reach)))
    return s.make(a.site(node), lambda _: Items(kind, joined(items), tuple(items)))


def joined(items: list[Value]) -> Value | None:
    """Any of these; None where there is none."""
    found = items[0] if items else None
    for item in items[1:]:
        assert found is not None
        found = join(found, item)
    return found


def _spread(a: Analysis, nodes: list[ast.expr], s: State) -> list[Value] | None:
    """The items of a display; None where a ``*`` gives items that are not listed."""
    found: list[Value] = []
    for node in nodes:
        if not isinstance(node, ast.Starred):
            found.append(evaluate(a, node, s))
            continue
        listed = listed_items(s, evaluate(a, node.value, s))
        if listed is None:
            return None
        found += listed
    return found


def _reach_of_all(a: Analysis, nodes: list[ast.expr], s: State) -> frozenset:  # type: ignore[type-arg]
    parts = [evaluate(a, n.value if isinstance(n, ast.Starred) else n, s) for n in nodes]
    for part in parts:
        a.observe(s, part, nodes[0], "a display with * is not followed")
    return s.reachable(frozenset().union(*map(reach_of, parts)))


def _dict(a: Analysis, node: ast.Dict, s: State) -> Value:
    fields: dict[str, Value] | None = {}
    values: list[Value] = []
    for key, item in zip(node.keys, node.values, strict=True):
        value = evaluate(a, item, s)
        if key is None:
            inner = s.items(value)
            known = inner is not None and inner.kind == "dict" and inner.fields is not None
            if known and fields is not None and inner is not None:
                fields.update(inner.fields or ())
                values += [v for _, v in inner.fields or ()]
            else:
                a.observe(s, value, node, "a display with ** is not followed")
                fields = None
                values.append(Opaque(s.reachable(reach_of(value))))
            continue
        name = constant_of(s, evaluate(a, key, s))
        values.append(value)
        if isinstance(name, str) and fields is not None:
            fields[name] = value
        else:
            fields = None
    made = None if fields is None else tuple(fields.items())
    return s.make(a.site(node), lambda _: Items("dict", joined(values), None, made))


def _comprehension(
    a: Analysis, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, s: State
) -> Value:
    parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    if len(node.generators) == 1 and not node.generators[0].ifs and len(parts) == 1:
        listed = listed_items(s, evaluate(a, node.generators[0].iter, s))
        if listed is not None and len(listed) <= 64:
            return _listed(a, node, s, listed)
    before = dict(s.env)
    names: set[str] = set()
    for g in node.generators:
        over = evaluate(a, g.iter, s)
        a.branches_on(over, g.iter)
        bind(a, s, g.target, item_of(a, s, over, g.iter))
        names |= {n.id for n in ast.walk(g.target) if isinstance(n, ast.Name)}
        for test in g.ifs:
            evaluate(a, test, s)
    values = [evaluate(a, p, s) for p in parts]
    _restore(s, before, names)
    kind = {ast.SetComp: "set", ast.DictComp: "dict"}.get(type(node), "list")
    return s.make(a.site(node), lambda _: Items(kind, values[-1]))


def consumed(a: Analysis, node: ast.expr, s: State) -> Value:
    """The value of an argument that the function it is given to takes at once."""
    return (
        _comprehension(a, node, s) if isinstance(node, ast.GeneratorExp) else evaluate(a, node, s)
    )


def _generator(a: Analysis, node: ast.GeneratorExp, s: State) -> Value:
    """A generator that is taken later: what it goes over may have changed by then."""
    made = _comprehension(a, node, s)
    reach = s.reachable(reach_of(made))
    a.escapes(s, made, node, "a generator")
    return Opaque(reach)


def _listed(
    a: Analysis,
    node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp,
    s: State,
    listed: tuple[Value, ...],
) -> Value:
    assert not isinstance(node, ast.DictComp)
    before, target = dict(s.env), node.generators[0].target
    # What is made so far is in the state: the next item may make something at the same node.
    hidden = f"<{node.lineno}:{node.col_offset}>"
    s.env[hidden] = TupleV(())
    for item in listed:
        bind(a, s, target, item)
        value = evaluate(a, node.elt, s)
        held = s.env[hidden]
        assert isinstance(held, TupleV)
        s.env[hidden] = TupleV((*held.items, value))
    held = s.env.pop(hidden)
    assert isinstance(held, TupleV)
    values = list(held.items)
    _restore(s, before, {n.id for n in ast.walk(target) if isinstance(n, ast.Name)})
    kind = "set" if isinstance(node, ast.SetComp) else "list"
    return s.make(a.site(node), lambda _: Items(kind, joined(values), tuple(values)))


def _restore(s: State, before: dict[str, Value], names: set[str]) -> None:
    for name in names:
        s.env.pop(name, None)
        if name in before:
            s.env[name] = before[name]


def _text(a: Analysis, node: ast.JoinedStr, s: State) -> Value:
    parts = []
    texts = []
    for piece in node.values:
        if isinstance(piece, ast.FormattedValue):
            part = evaluate(a, piece.value, s)
            a.observe(s, part, node, "a value is formatted")
            parts.append(part)
            plain = piece.conversion == -1 and piece.format_spec is None
            constant = constant_of(s, part) if plain else ...
            texts.append(str(constant) if type(constant) is int else constant)
        else:
            texts.append(constant_of(s, evaluate(a, piece, s)))
    if all(isinstance(t, str) for t in texts):
        return Scalar(constant="".join(str(t) for t in texts), fixed=True)
    return Scalar(constant=MISSING, fixed=all(map(is_fixed, parts)))


def _lambda(a: Analysis, node: ast.Lambda, _s: State) -> Value:
    return Function(node, a.stack[-1].owner, len(a.stack) - 1)


def _named(a: Analysis, node: ast.NamedExpr, s: State) -> Value:
    value = evaluate(a, node.value, s)
    bind(a, s, node.target, value)
    return value


def _yield(a: Analysis, node: ast.Yield, s: State) -> Value:
    value = NONE if node.value is None else evaluate(a, node.value, s)
    if len(a.stack) > 1:
        a.escapes(s, value, node, "a generator of the user's")
        return Opaque(reach_of(value))
    a.results.append(result_of(a, s, value, node))
    # Whoever takes it may change it.
    s.spoil(reach_of(value))
    return NONE


def _call(a: Analysis, node: ast.Call, s: State) -> Value:
    return call(a, s, node)


_EXPRESSIONS: dict[type[ast.expr], Callable[..., Value]] = {
    ast.Attribute: _attribute,
    ast.BinOp: _binary,
    ast.BoolOp: _bool_op,
    ast.Call: _call,
    ast.Compare: _compare,
    ast.Constant: _constant,
    ast.Dict: _dict,
    ast.DictComp: _comprehension,
    ast.GeneratorExp: _generator,
    ast.IfExp: _if_expression,
    ast.JoinedStr: _text,
    ast.Lambda: _lambda,
    ast.List: _list,
    ast.ListComp: _comprehension,
    ast.Name: _name,
    ast.NamedExpr: _named,
    ast.Set: _list,
    ast.SetComp: _comprehension,
    ast.Slice: _slice,
    ast.Subscript: _subscript,
    ast.Tuple: _tuple,
    ast.UnaryOp: _unary,
    ast.Yield: _yield,
}
"""What is not listed is opaque: await, yield from, a starred expression on its own."""
