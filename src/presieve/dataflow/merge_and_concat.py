# SPDX-License-Identifier: Apache-2.0
"""Trusted. ``merge``, ``concat`` and ``melt``: which columns keep what they hold.

In an inner join each row has the values of its left and its right row; a left join has gaps on the
right. Columns that have the same name on both sides get suffixes, unless they are joined on.
"""

from __future__ import annotations

from functools import reduce

from presieve.dataflow.abstract_values import (
    NO_KEYS,
    AbstractColumn,
    AllocationSite,
    Items,
    Mixed,
    Table,
    Value,
    join_columns,
)
from presieve.dataflow.assignments import are_rows_alone
from presieve.dataflow.context import EvaluatedCall, names_of_columns
from presieve.dataflow.transfer_functions import find_transfer, transfer
from presieve.records import replace

_GAPS = {
    "inner": (False, False),
    "cross": (False, False),
    "left": (False, True),
    "right": (True, False),
    "outer": (True, True),
}
"""Whether left and right columns have gaps, by the kind of the join."""
_ARGUMENTS = frozenset(
    ("on", "how", "left_on", "right_on", "suffixes", "right", "left", "validate")
)
_NEAREST = frozenset(
    (
        *("on", "left_on", "right_on", "by", "left_by", "right_by", "suffixes", "direction"),
        *("tolerance", "allow_exact_matches"),
    )
)


@transfer("table", "merge")
def _merge_method(call: EvaluatedCall) -> Value | None:
    return _merge(call, call.owner, call.argument(0, "right"), 1)


@transfer("function", "pandas.merge", "pandas.core.reshape.merge.merge")
def _merge_function(call: EvaluatedCall) -> Value | None:
    return _merge(call, call.argument(0, "left"), call.argument(1, "right"), 2)


def _merge(
    call: EvaluatedCall, left_table: Value | None, right_table: Value | None, at: int
) -> Value | None:
    if (
        left_table is None
        or right_table is None
        or call.named.keys() - _ARGUMENTS
        or len(call.args) > at + 2
    ):
        return None
    how = call.constant(at, "how", default="inner")
    on = call.argument(at + 1, "on")
    if how not in _GAPS:
        return None
    return _join_tables(call, (left_table, right_table), _sides(call, ("on", on)), _GAPS[str(how)])


def _sides(call: EvaluatedCall, *pairs: tuple[str, Value | None]) -> list[tuple[str, ...] | None]:
    """The join columns of each side, named by ``on`` for both, or by ``left_on``, ``right_on``."""
    names_of_sides: list[tuple[str, ...] | None] = []
    for side in ("left", "right"):
        names: tuple[str, ...] | None = ()
        for kind, both in pairs:
            value = both if both is not None else call.named.get(f"{side}_{kind}")
            some = () if value is None else names_of_columns(call.s, value)
            names = None if names is None or some is None else (*names, *some)
        names_of_sides.append(names or None)
    return names_of_sides


def _join_tables(
    call: EvaluatedCall,
    tables: tuple[Value, Value],
    sides: list[tuple[str, ...] | None],
    gaps: tuple[bool, bool],
) -> Value | None:
    """Join rows of both tables. Join columns with the same name on both sides become one column."""
    a, b = (call.s.table(t) for t in tables)
    left_on, right_on = sides
    suffixes = call.constant(99, "suffixes", default=("_x", "_y"))
    if a is None or b is None or left_on is None or right_on is None:
        return None
    if a.rest is not None or b.rest is not None or not isinstance(suffixes, tuple):
        return None
    if len(left_on) != len(right_on) or len(suffixes) != 2:
        return None
    for table, names in ((a, left_on), (b, right_on)):
        for column in (c for n, c in table.columns if n in names):
            call.a.reads(column.unread, "columns that are joined on", call.node)
    joined = {x for x, y in zip(left_on, right_on, strict=True) if x == y}
    shared = (set(a.names) & set(b.names)) - joined
    _read_shared(call, (a, b), shared)
    left = {n: f"{n}{suffixes[0] or ''}" if n in shared else n for n in a.names}
    right = {n: f"{n}{suffixes[1] or ''}" if n in shared else n for n in b.names if n not in joined}
    wide = len(left) + len(right) > 4 * len(call.a.request.columns) + 200  # made in a loop
    if wide or len({*left.values(), *right.values()}) < len(left) + len(right):
        return None

    def make(place: AllocationSite) -> Table:
        columns: dict[str, AbstractColumn] = {}
        for n, c in a.columns:
            columns[left[n]] = column_of_rows(c, place, left[n], gaps=gaps[0])
            if n in joined and gaps[0]:
                # It holds the other table's value where this one has no row.
                both = c.keys & dict(b.columns)[n].keys
                columns[n] = replace(columns[n], keys=both)
        for n, c in b.columns:
            if n in right:
                columns[right[n]] = column_of_rows(c, place, right[n], gaps=gaps[1])
        return Table(tuple(columns.items()), place, filled=a.filled and not gaps[0] and gaps[1])

    return call.s.make(call.site(), make)


def _read_shared(call: EvaluatedCall, tables: tuple[Table, Table], names: set[str]) -> None:
    """Read shared columns: the name of a column depends on the other table's columns."""
    for table in tables:
        for name, column in table.columns:
            if name in names:
                call.a.reads(column.unread, "both tables have it", call.node)


def column_of_rows(
    column: AbstractColumn, place: AllocationSite, name: str, *, gaps: bool
) -> AbstractColumn:
    keys = NO_KEYS if gaps else column.keys
    return AbstractColumn(keys, column.unread, rows=place, name=name)


@transfer("function", "pandas.merge_asof", "pandas.core.reshape.merge.merge_asof")
def _merge_nearest(call: EvaluatedCall) -> Value | None:
    """Join each row of the left table with a row of the right one, or with gaps."""
    if len(call.args) != 2 or call.named.keys() - _NEAREST:
        return None
    sides = _sides(call, ("on", call.named.get("on")), ("by", call.named.get("by")))
    return _join_tables(call, (call.args[0], call.args[1]), sides, _GAPS["left"])


@transfer("function", "pandas.merge_ordered", "pandas.core.reshape.merge.merge_ordered")
def _merge_ordered(call: EvaluatedCall) -> Value | None:
    """Join rows in the order of the columns that are joined on."""
    if len(call.args) != 2 or call.named.keys() - {"on", "left_on", "right_on", "how", "suffixes"}:
        return None
    how = call.constant(99, "how", default="outer")
    if how not in ("inner", "left", "right", "outer"):
        return None
    sides = _sides(call, ("on", call.named.get("on")))
    return _join_tables(call, (call.args[0], call.args[1]), sides, _GAPS[str(how)])


@transfer("function", "pandas.concat", "pandas.core.reshape.concat.concat")
def _concatenate(call: EvaluatedCall) -> Value | None:
    """Stack the rows of all tables. A column that a table lacks has gaps."""
    if not call.args or call.named.keys() - {"ignore_index", "axis", "sort", "copy"}:
        return None
    items = call.s.items(call.args[0])
    if items is None or items.kind != "list":
        return None
    axis = call.constant(1, "axis", default=0)
    if axis in (1, "columns"):
        return _put_side_by_side(call, items)
    if axis not in (0, "index"):
        return None
    parts = items.fixed if items.fixed is not None else (items.element,)
    table_of_parts = [None if p is None else call.s.table(p) for p in parts]
    tables = [t for t in table_of_parts if t is not None]
    if len(tables) < len(table_of_parts) or not tables or any(t.rest is not None for t in tables):
        return None
    filled = [t for t in tables if not t.empty]
    names = tuple(dict.fromkeys(n for t in tables for n in t.names))

    same = all(set(t.names) == set(names) for t in filled)
    alone = same and all(t.rowwise for t in filled) and items.fixed is not None

    def make(place: AllocationSite) -> Table:
        columns = tuple(
            (n, _stack_columns([t.column(n) for t in filled], n, place, alone=alone)) for n in names
        )
        sure = all(t.sure for t in tables)
        has_rows = any(t.filled for t in tables)
        return Table(columns, place, filled=has_rows, sure=sure, rowwise=alone)

    for table in tables:
        for name, column in table.columns:
            others = [t.column(name) for t in tables]
            if any(o is None for o in others):
                # The gaps, and so its type, depend on the other tables.
                call.a.reads(column.unread, "one of the tables does not have it", call.node)
    return call.s.make(call.site(), make)


def _put_side_by_side(call: EvaluatedCall, items: Items) -> Value | None:
    """``concat(parts, axis=1)`` of listed tables and columns that have the same rows, by label."""
    if call.named.keys() - {"axis"} or not items.fixed:
        return None
    tables: list[Table] = []
    for part in items.fixed:
        table = call.s.table(part)
        if isinstance(part, AbstractColumn) and part.labelled and part.name is not None:
            alone = are_rows_alone(call.s, part)
            table = Table(((part.name, part),), part.rows, rowwise=alone, index=part.index)
        if table is None or table.rest is not None:
            return None
        tables.append(table)
    columns = [c for t in tables for c in t.columns]
    rows = tables[0].rows
    same = all(t.rows == rows for t in tables) and rows is not None and not rows.older
    if not same or len(dict(columns)) < len(columns):
        return None
    joined = Table(
        tuple(columns),
        rows,
        filled=any(t.filled for t in tables),
        rowwise=all(t.rowwise for t in tables),
        sure=all(t.sure for t in tables),
        index=tables[0].index,
    )
    return call.s.make(call.site(), lambda _: joined)


def _stack_columns(
    parts: list[AbstractColumn | None], name: str, place: AllocationSite, *, alone: bool
) -> AbstractColumn:
    """The column of all tables, of which each row is made from one row if they are ``alone``. Its
    type depends on all of them, unless they hold the same.
    """
    columns = [p for p in parts if p is not None]
    unread = frozenset().union(*(c.unread for c in columns))
    keys: frozenset[str] = NO_KEYS
    if columns and len(columns) == len(parts):
        keys = frozenset.intersection(*(c.keys for c in columns))
    stacked = AbstractColumn(keys, unread, rows=place, name=name)
    if not columns or not alone or not all(c.rowwise for c in columns):
        return stacked
    joined = reduce(join_columns, columns)
    settled = joined.passes is not None or joined.text
    mixed: Mixed = joined.mixed if settled else "any"
    return replace(
        stacked,
        rowwise=True,
        passes=joined.passes,
        holds=joined.holds,
        text=joined.text,
        mixed=mixed,
    )


@transfer("function", "pandas.melt", "pandas.core.reshape.melt.melt")
def _melt_function(call: EvaluatedCall) -> Value | None:
    """``pd.melt(table, ...)``, as the method."""
    table = call.argument(0, "frame")
    method = find_transfer("table", "melt")
    if table is None or method is None or call.s.table(table) is None:
        return None
    named = {n: v for n, v in call.named.items() if n != "frame"}
    return method(call._replace(owner=table, name="melt", args=call.args[1:], named=named))
