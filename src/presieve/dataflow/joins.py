"""Trusted. ``merge`` and ``concat``: which columns keep what they hold.

In an inner join each row has its left and its right row's values; a left one has gaps on its right.
Columns of one name on both sides that are not joined on get suffixes.
"""

from __future__ import annotations

from dataclasses import replace

from presieve.dataflow.context import Call, names_of_columns
from presieve.dataflow.registry import function, of_table
from presieve.dataflow.values import NO_KEYS, Column, Place, Table, Value

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


@of_table("merge")
def _merged_method(call: Call) -> Value | None:
    return _merged(call, call.owner, call.argument(0, "right"), 1)


@function("pandas.merge", "pandas.core.reshape.merge.merge")
def _merged_function(call: Call) -> Value | None:
    return _merged(call, call.argument(0, "left"), call.argument(1, "right"), 2)


def _merged(call: Call, left: Value | None, right: Value | None, at: int) -> Value | None:
    if left is None or right is None or call.named.keys() - _ARGUMENTS or len(call.args) > at + 2:
        return None
    a, b = call.s.table(left), call.s.table(right)
    how = call.constant(at, "how", default="inner")
    suffixes = call.constant(99, "suffixes", default=("_x", "_y"))
    on = call.argument(at + 1, "on")
    sides = []
    for name in ("left_on", "right_on"):
        value = on if on is not None else call.named.get(name)
        sides.append(None if value is None else names_of_columns(call.s, value))
    if a is None or b is None or None in sides or how not in _GAPS:
        return None
    if a.rest is not None or b.rest is not None or not isinstance(suffixes, tuple):
        return None
    for table, names in zip((a, b), sides, strict=True):
        for column in (c for n, c in table.columns if names is not None and n in names):
            call.a.reads(column.unread, "columns that are joined on", call.node)
    shared = set(a.names) & set(b.names)
    joined = set(sides[0] or ()) if sides[0] == sides[1] else set()
    _read_shared(call, (a, b), shared - joined)

    gaps = _GAPS[str(how)]
    left_names = [f"{n}{suffixes[0]}" if n in shared - joined else n for n in a.names]
    right_names = [f"{n}{suffixes[1]}" if n in shared else n for n in b.names if n not in joined]
    if len({*left_names, *right_names}) < len(left_names) + len(right_names):
        return None

    def make(place: Place) -> Table:
        made: dict[str, Column] = {}
        for n, c in a.columns:
            name = f"{n}{suffixes[0]}" if n in shared - joined else n
            made[name] = _kept(c, place, name, gaps=gaps[0])
            if n in joined and gaps[0]:
                # It is the other table's where this one has no row.
                both = c.keys & dict(b.columns)[n].keys
                made[name] = replace(made[name], keys=both)
        for n, c in b.columns:
            if n not in joined:
                name = f"{n}{suffixes[1]}" if n in shared else n
                made[name] = _kept(c, place, name, gaps=gaps[1])
        return Table(tuple(made.items()), place)

    return call.s.make(call.site(), make)


def _read_shared(call: Call, tables: tuple[Table, Table], names: set[str]) -> None:
    """What a column is called depends on the other table's columns."""
    for table in tables:
        for name, column in table.columns:
            if name in names:
                call.a.reads(column.unread, "both tables have it", call.node)


def _kept(column: Column, place: Place, name: str, *, gaps: bool) -> Column:
    keys = NO_KEYS if gaps else column.keys
    return Column(keys, column.unread, rows=place, name=name)


@function("pandas.merge_asof", "pandas.core.reshape.merge.merge_asof")
def _nearest(call: Call) -> Value | None:
    """All rows of the left table, each with a row of the right one, or with gaps."""
    if len(call.args) != 2 or call.named.keys() - {"on", "by", "direction", "tolerance"}:
        return None
    a, b = call.s.table(call.args[0]), call.s.table(call.args[1])
    on, by = (
        () if v is None else names_of_columns(call.s, v)
        for v in (call.named.get("on"), call.named.get("by"))
    )
    if a is None or b is None or on is None or by is None or a.rest or b.rest:
        return None
    shared = {*on, *by}
    if set(a.names) & set(b.names) - shared:
        return None
    _read_shared(call, (a, b), shared)

    def make(place: Place) -> Table:
        left = tuple((n, _kept(c, place, n, gaps=False)) for n, c in a.columns)
        right = ((n, _kept(c, place, n, gaps=True)) for n, c in b.columns if n not in shared)
        return Table((*left, *right), place, filled=a.filled)

    return call.s.make(call.site(), make)


@function("pandas.concat", "pandas.core.reshape.concat.concat")
def _concatenated(call: Call) -> Value | None:
    """Rows of all tables, one below the other. A column that one does not have has gaps."""
    if not call.args or call.named.keys() - {"ignore_index", "axis", "sort", "copy"}:
        return None
    if call.constant(1, "axis", default=0) not in (0, "index"):
        return None
    items = call.s.items(call.args[0])
    if items is None or items.kind != "list":
        return None
    parts = items.fixed if items.fixed is not None else (items.element,)
    found = [None if p is None else call.s.table(p) for p in parts]
    tables = [t for t in found if t is not None]
    if len(tables) < len(found) or not tables or any(t.rest is not None for t in tables):
        return None
    filled = [t for t in tables if not t.empty]
    names = tuple(dict.fromkeys(n for t in tables for n in t.names))

    def make(place: Place) -> Table:
        columns = tuple((n, _stacked([t.column(n) for t in filled], n, place)) for n in names)
        sure = all(t.sure for t in tables)
        return Table(columns, place, filled=any(t.filled for t in tables), sure=sure)

    for table in tables:
        for name, column in table.columns:
            others = [t.column(name) for t in tables]
            if any(o is None for o in others):
                # Whether there are gaps, and so its type, depends on the other tables.
                call.a.reads(column.unread, "one of the tables does not have it", call.node)
    return call.s.make(call.site(), make)


def _stacked(parts: list[Column | None], name: str, place: Place) -> Column:
    columns = [p for p in parts if p is not None]
    unread = frozenset().union(*(c.unread for c in columns))
    keys: frozenset[str] = NO_KEYS
    if columns and len(columns) == len(parts):
        keys = frozenset.intersection(*(c.keys for c in columns))
    return Column(keys, unread, rows=place, name=name)
