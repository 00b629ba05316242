# SPDX-License-Identifier: Apache-2.0
"""Trusted. Iteration: over items one by one if the program lists them, or over any item."""

from __future__ import annotations

import ast
from typing import NamedTuple

from presieve.dataflow.abstract_values import (
    DATA,
    NONE,
    AbstractColumn,
    AbstractScalar,
    AbstractTuple,
    AllocationSite,
    Batches,
    Function,
    Grouped,
    Items,
    Library,
    Mixed,
    OpaqueValue,
    Ref,
    Row,
    Table,
    Value,
    View,
    join_all,
    part_of,
    reach_of,
)
from presieve.dataflow.analysis_state import AnalysisState
from presieve.dataflow.by_row.row_subsets import some_rows
from presieve.dataflow.context import Analysis
from presieve.semantics.types import parts_of


class Rounds(NamedTuple):
    """The items of a loop, one by one. ``whole``: it does not end before the last item."""

    items: tuple[Value, ...]
    whole: bool = True


_ITERATORS = frozenset(("enumerate", "zip"))
"""Views that can be consumed once. They are listed only if they are consumed at once."""


def rounds(a: Analysis, s: AnalysisState, over: Value, node: ast.expr) -> Rounds | None:
    """The rounds of a loop over the value of this node, as far as the program lists its items."""
    if not isinstance(over, View):
        items = listed_items(s, over)
        return None if items is None else Rounds(items)
    if over.how == "iter" or (over.how in _ITERATORS and over.site != a.site(node)):
        return None
    if over.how not in _ITERATORS:
        return _of_dict(s, over)
    lists = [listed_items(s, p) for p in over.parts]
    listed = [items for items in lists if items is not None]
    if not listed:
        return None

    def side_by_side(at: int) -> Value:
        row = [
            item_of(a, s, part, node) if items is None else items[at]
            for part, items in zip(over.parts, lists, strict=True)
        ]
        number = [AbstractScalar(constant=at, fixed=True)] if over.how == "enumerate" else []
        return AbstractTuple((*number, *row))

    count = min(map(len, listed))
    return Rounds(tuple(map(side_by_side, range(count))), len(listed) == len(lists))


def _of_dict(s: AnalysisState, over: View) -> Rounds | None:
    thing = s.items(over.parts[0])
    if thing is None or thing.fields is None:
        return None
    names = [AbstractScalar(constant=n, fixed=True) for n, _ in thing.fields]
    values = [v for _, v in thing.fields]
    match over.how:
        case "keys":
            return Rounds(tuple(names))
        case "values":
            return Rounds(tuple(values))
    return Rounds(tuple(AbstractTuple(pair) for pair in zip(names, values, strict=True)))


def listed_items(s: AnalysisState, over: Value) -> tuple[Value, ...] | None:
    """The items of a value that the program lists one by one; None for other values."""
    if isinstance(over, AbstractTuple):
        return over.items
    items = s.items(over)
    return items.fixed if items is not None and items.kind in ("list", "names") else None


def item_of(a: Analysis, s: AnalysisState, over: Value, node: ast.expr) -> Value:
    """Any item of the value that is iterated over."""
    match over:
        case Batches():
            return first_table(a, s, node)
        case AbstractColumn():
            return scalar_of(a, over)
        case AbstractTuple(items) if items:
            return join_all(items) or NONE
        case View("iter", parts):
            return item_of(a, s, parts[0], node)
        case View(how, parts):
            return _item_of_view(a, s, how, parts, node)
        case Grouped():
            return AbstractTuple((AbstractScalar(), group_of(a, s, over, node)))
        case AbstractScalar():
            return AbstractScalar(fixed=over.fixed)
        case Row(table):
            a.sees_labels = True
            a.observe(s, table, node, "a row is read as a whole")
            return AbstractScalar()
        case Ref() if s.table(over) is not None:
            a.observe(s, over, node, "the names of all columns are read")
            return AbstractScalar()
        case Ref():
            items_ = s.items(over)
            if items_ is not None and items_.kind == "dict":
                return AbstractScalar()
            if items_ is not None:
                return AbstractScalar() if items_.element is None else items_.element
        case Library() | Function():
            return OpaqueValue(packages=DATA)
    a.observe(s, over, node, f"{ast.unparse(node)} is not followed")
    return OpaqueValue(reach_of(over), s.packages(over))


def _item_of_view(
    a: Analysis, s: AnalysisState, how: str, parts: tuple[Value, ...], node: ast.expr
) -> Value:
    if how in _ITERATORS:
        number = [AbstractScalar()] if how == "enumerate" else []
        return AbstractTuple((*number, *(item_of(a, s, p, node) for p in parts)))
    thing = s.items(parts[0])
    value = OpaqueValue(reach_of(parts[0])) if thing is None else thing.element
    value = OpaqueValue(packages=DATA) if value is None else value
    key = AbstractScalar()
    return {"keys": key, "values": value}.get(how) or AbstractTuple((key, value))


def scalar_of(a: Analysis, column: AbstractColumn) -> AbstractScalar:
    """The item of a column in a row that is looked at."""
    a.use(column)
    text = column.text or column.mixed == "text"
    return AbstractScalar(column.keys, passes=column.passes, text=text, double=column.double)


def column_of_items(items: Items, name: str | None = None) -> AbstractColumn:
    """The column that pandas makes of a list with an item for each row."""
    return column_of_scalars(items.element, items.each, name)


def column_of_scalars(
    value: Value | None, rows: AllocationSite | None, name: str | None = None
) -> AbstractColumn:
    """The column that pandas makes of a value for each of these rows. Numbers beside None become
    doubles, so its type is known only of texts, and of integers that are never missing.
    """
    if not isinstance(value, AbstractScalar):
        return AbstractColumn(rowwise=True, rows=rows, labelled=False, name=name, mixed="any")
    known = value.is_text or value.is_whole or value.passes is not None
    mixed: Mixed = "" if known else "real" if value.is_real else "any"
    return AbstractColumn(
        value.keys,
        passes=value.passes,
        rowwise=True,
        rows=rows,
        labelled=False,
        name=name,
        mixed=mixed,
        text=value.is_text and value.constant is not None,
    )


def rows_of(s: AnalysisState, over: Value) -> AllocationSite | None:
    """The rows of which an iteration looks at each one once, in order; None if that is unknown, or
    if what it sees of a row depends on other rows: a missing number is None or NaN.
    """
    match over:
        case AbstractColumn(rowwise=True, mixed=""):
            return over.rows
        case View("zip", parts):
            rows = {rows_of(s, p) if isinstance(p, AbstractColumn) else None for p in parts}
            return rows.pop() if len(rows) == 1 else None
        case Ref() if (items := s.items(over)) is not None and not items.some:
            return items.each
    return None


def rows_alone(table: Table) -> AllocationSite | None:
    """The rows of a table of which each is made from one row of the input, types included; None for
    other tables.
    """
    alone = table.rowwise and table.rest is None
    alone = alone and all(c.rowwise and not c.mixed for _, c in table.columns)
    return table.rows if alone else None


_TEXTS = ("array", {"0": "string"})
"""The parts of the type of arrays of texts."""


def first_table(a: Analysis, s: AnalysisState, node: ast.AST) -> Ref:
    """The table of a batch, or of the group: input columns, passed on row by row."""
    request = a.request

    def make(place: AllocationSite) -> Table:
        columns = []
        for at, name in enumerate(request.columns):
            own = frozenset((name,))
            keys, memory = own & set(request.keys), part_of(place, at)
            column = AbstractColumn(
                keys,
                own,
                name,
                True,
                rows=place,
                memory=memory,
                name=name,
                holds=own,
                text=request.types.get(name) == "string",
                plain=request.is_plain(name),
                double=request.types.get(name) == "double",
                text_lists=parts_of(request.types.get(name, "")) == _TEXTS,
            )
            columns.append((name, column))
        filled = request.form == "group" and request.beside is None
        return Table(tuple(columns), place, filled=filled, rowwise=True)

    given = s.make(a.site(node, 1), make)
    a.whole |= given.places
    return given


def all_batches(a: Analysis, s: AnalysisState, node: ast.AST) -> Batches:
    """The iterator over batches, whose table stands for any of them."""
    every = AbstractColumn(unread=frozenset(a.request.columns))
    return Batches(s.make(a.site(node, 1), lambda _: Table((), None, every, sure=False)))


def group_of(a: Analysis, s: AnalysisState, grouped: Grouped, node: ast.AST) -> Value:
    """The table of one group of ``groupby``."""
    return some_rows(s, grouped.table, a.site(node, 2), shared=False)
