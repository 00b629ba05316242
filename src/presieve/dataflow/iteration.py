"""Trusted. What is gone over: items one by one where the program lists them, or any item."""

from __future__ import annotations

import ast

from presieve.dataflow.context import Analysis
from presieve.dataflow.rows import some_rows
from presieve.dataflow.state import State
from presieve.dataflow.values import (
    DATA,
    Batches,
    Column,
    Function,
    Grouped,
    Library,
    Opaque,
    Place,
    Ref,
    Row,
    Scalar,
    Table,
    TupleV,
    Value,
    join,
    reach_of,
)


def listed_items(s: State, over: Value) -> tuple[Value, ...] | None:
    """The items of what the program lists one by one; None for all else."""
    if isinstance(over, TupleV):
        return over.items
    found = s.items(over)
    if found is None or found.kind not in ("list", "iterator"):
        return None
    return found.fixed


def item_of(a: Analysis, s: State, over: Value, node: ast.expr) -> Value:
    """Any item of what is iterated over."""
    match over:
        case Batches():
            return first_table(a, s, node)
        case Column(keys=keys):
            return Scalar(keys)
        case TupleV(items) if items:
            found = items[0]
            for item in items[1:]:
                found = join(found, item)
            return found
        case Grouped():
            return TupleV((Scalar(), group_of(a, s, over, node)))
        case Scalar():
            return Scalar(fixed=over.fixed)
        case Row(table):
            a.observe(s, table, node, "a row is read as a whole")
            return Scalar()
        case Ref() if s.table(over) is not None:
            a.observe(s, over, node, "the names of all columns are read")
            return Scalar()
        case Ref():
            items_ = s.items(over)
            if items_ is not None and items_.kind == "dict":
                return Scalar()
            if items_ is not None:
                return Scalar() if items_.element is None else items_.element
        case Library() | Function():
            return Opaque(packages=DATA)
    a.observe(s, over, node, f"{ast.unparse(node)} is not followed")
    return Opaque(reach_of(over), s.packages(over))


def first_table(a: Analysis, s: State, node: ast.AST) -> Ref:
    """The table of a batch, or of the group: input columns, passed on row by row."""
    request = a.request

    def make(place: Place) -> Table:
        columns = tuple(
            (
                name,
                Column(
                    keys=frozenset((name,)) if name in request.keys else frozenset(),
                    unread=frozenset((name,)),
                    passes=name,
                    rowwise=True,
                    rows=place,
                    memory=frozenset((Place((*place.site, at)),)),
                    name=name,
                ),
            )
            for at, name in enumerate(request.columns)
        )
        filled = request.form == "group" and request.beside is None
        return Table(columns, place, filled=filled, rowwise=True)

    return s.make(a.site(node, 1), make)


def group_of(a: Analysis, s: State, grouped: Grouped, node: ast.AST) -> Value:
    """The table of one group of ``groupby``."""
    return some_rows(s, grouped.table, a.site(node, 2), shared=False)
