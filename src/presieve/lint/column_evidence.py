# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Which types fit the way in which a function uses its columns.

Only a choice of what is tried first: the plan has the types, and the lifter decides.
"""

from __future__ import annotations

import ast
import datetime as dt
from collections.abc import Iterator, Mapping, Sequence

NUMBERS = ("double", "bigint")
TYPES = ("double", "bigint", "string", "boolean", "date", "timestamp")
"""The types that are tried; another one, if a type hint asks for it."""

_CLASSES: Mapping[str, type] = {
    "double": float,
    "bigint": int,
    "string": str,
    "boolean": bool,
    "date": dt.date,
    "timestamp": dt.datetime,
}
_ARRAY = ("array<string>",)
_ACCESSORS = {"str": ("string",), "dt": ("timestamp",)}
_HINTS: Mapping[str, tuple[str, ...]] = {
    "float": ("double",),
    "int": ("bigint",),
    "str": ("string",),
    "bool": ("boolean",),
    "date": ("date",),
    "datetime": ("timestamp",),
    "Decimal": ("decimal(18,2)",),
    "list": _ARRAY,
    "List": _ARRAY,
}
_CONSTANTS: Mapping[type, tuple[str, ...]] = {
    str: ("string",),
    bool: ("boolean",),
    int: NUMBERS,
    float: NUMBERS,
}
_ARITHMETIC = (ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Pow)


def fitting_types(
    node: ast.AST | None, names: Sequence[str], *, values: bool
) -> dict[str, tuple[str, ...]]:
    """Return the types that fit each name. ``values``: the names are parameters that hold single
    values; otherwise columns of a table, or whole columns.
    """
    every: tuple[str, ...] = TYPES
    fitting = dict.fromkeys(names, every)
    elements = {} if values or node is None else dict(_elements(node, frozenset(names)))
    words = frozenset((*names, *elements))
    for word, types in _evidence(node, words, values) if node is not None else ():
        name = elements.get(word, word)
        common = tuple(t for t in fitting[name] if t in types)
        fitting[name] = common or (fitting[name] if fitting[name] != TYPES else types)
    return fitting


def _elements(node: ast.AST, names: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Iterate over variables of loops, and the whole column over which each of them goes."""
    for n in ast.walk(node):
        match n:
            case ast.For(ast.Name(variable), over) | ast.comprehension(ast.Name(variable), over):
                pairs = [(variable, over)]
            case ast.For(ast.Tuple(items), ast.Call(ast.Name("zip"), columns)) | ast.comprehension(
                ast.Tuple(items), ast.Call(ast.Name("zip"), columns)
            ):
                variables = [i.id if isinstance(i, ast.Name) else "" for i in items]
                pairs = list(zip(variables, columns, strict=False))
            case _:
                continue
        yield from ((v, c) for v, e in pairs if v not in names and (c := _column(e, names)))


def _evidence(
    node: ast.AST, names: frozenset[str], values: bool
) -> Iterator[tuple[str, tuple[str, ...]]]:
    for n in ast.walk(node):
        match n:
            case ast.arg(name, ast.expr() as hint) if name in names:
                yield from ((name, types) for types in _read_hint(hint))
            case ast.Compare(left, _, rights):
                yield from _infer_from_comparison([left, *rights], names)
            case ast.BinOp(left, ast.Add(), right) | ast.AugAssign(left, ast.Add(), right):
                yield from _infer_from_addition(left, right, names)
            case ast.BinOp(left, op, right) if isinstance(op, _ARITHMETIC):
                times = isinstance(op, ast.Sub) and not (_constants(left) or _constants(right))
                types = (*NUMBERS, "date", "timestamp") if times else NUMBERS
                yield from ((c, types) for e in (left, right) if (c := _column(e, names)))
            case ast.Attribute(owner, name) if column := _column(owner, names):
                yield from ((column, types) for types in _with_attribute(name, values))
            case ast.For(_, over) | ast.comprehension(_, over) if values:
                if isinstance(over, ast.Name) and over.id in names:
                    yield over.id, _ARRAY


def _column(node: ast.expr, names: frozenset[str]) -> str:
    """Return the name of the column that an expression is; the empty text for others."""
    match node:
        case ast.Name(name) | ast.Attribute(_, name) | ast.Subscript(_, ast.Constant(str(name))):
            return name if name in names else ""
    return ""


def _read_hint(hint: ast.expr) -> Iterator[tuple[str, ...]]:
    written = ast.unparse(hint).removeprefix("Optional[").split("|")[0].split("[")[0].strip(" ]'")
    types = _HINTS.get(written.rpartition(".")[2])
    if types is not None:
        yield types


def _infer_from_comparison(
    sides: list[ast.expr], names: frozenset[str]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    constants = [c for side in sides for c in _constants(side)]
    types = [t for c in constants if (t := _CONSTANTS.get(type(c))) is not None]
    for side in sides if types else ():
        column = _column(side, names)
        if column:
            yield column, types[0]


def _constants(node: ast.expr) -> list[object]:
    match node:
        case ast.Constant(value):
            return [value]
        case ast.UnaryOp(_, ast.Constant(value)):
            return [value]
        case ast.Tuple(items) | ast.List(items) | ast.Set(items):
            return [i.value for i in items if isinstance(i, ast.Constant)]
    return []


def _infer_from_addition(
    left: ast.expr, right: ast.expr, names: frozenset[str]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    for side, other in ((left, right), (right, left)):
        column = _column(side, names)
        types = [t for c in _constants(other) if (t := _CONSTANTS.get(type(c)))]
        if column and types:
            yield column, types[0]


def _with_attribute(name: str, values: bool) -> Iterator[tuple[str, ...]]:
    """Yield the types whose values have an attribute that columns lack."""
    if not values and name in _ACCESSORS:
        yield _ACCESSORS[name]
    elif values or name not in _series_attributes():
        types = tuple(t for t, cls in _CLASSES.items() if hasattr(cls, name))
        if types:
            yield types


def _series_attributes() -> frozenset[str]:
    import pandas as pd

    return frozenset(dir(pd.Series))


_OF_COLUMNS = frozenset(
    (
        *("sort_values", "groupby", "set_index", "drop", "drop_duplicates", "dropna", "nlargest"),
        *("nsmallest", "get", "column", "select", "agg", "merge", "rename", "pivot", "melt"),
    )
)
"""Methods of tables that take names of columns."""


def named_columns(node: ast.AST, outside: frozenset[str]) -> Iterator[str]:
    """Iterate over the names in a function that look like those of columns of its table.
    ``outside`` are imported objects and attributes of libraries, which are no columns.
    """
    for n in ast.walk(node):
        match n:
            case ast.Subscript(_, index, ast.Load()):
                yield from _texts(index)
            case ast.Call(ast.Attribute(_, method), arguments) if method in _OF_COLUMNS:
                for argument in (*arguments, *(k.value for k in n.keywords)):
                    yield from _texts(argument)
            case ast.Attribute(ast.Name(owner), name, ast.Load()):
                if owner not in outside and name not in outside:
                    yield name


def _texts(node: ast.expr) -> Iterator[str]:
    match node:
        case ast.Constant(str(text)):
            yield text
        case ast.List(items) | ast.Tuple(items):
            for item in items:
                yield from _texts(item)


def series_in_hint(node: ast.AST | None) -> int:
    """Return how many columns the type hint of an iterator names; one if it names none."""
    arguments = node.args.args if isinstance(node, ast.FunctionDef | ast.Lambda) else []
    hint = arguments[-1].annotation if arguments else None
    for n in ast.walk(hint) if hint is not None else ():
        match n:
            case ast.Subscript(ast.Name("Tuple" | "tuple") | ast.Attribute(_, "Tuple"), of):
                return len(of.elts) if isinstance(of, ast.Tuple) else 1
    return 1
