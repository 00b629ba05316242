# SPDX-License-Identifier: Apache-2.0
"""Trusted. The state of the dataflow analysis at a point of the program: variables and heap.

The analysis changes a state as it follows statements, copies it where control branches, and joins
states where control meets again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from zlib import crc32

from presieve.dataflow.abstract_values import (
    DATA,
    NO_KEYS,
    NOWHERE,
    AbstractColumn,
    AbstractScalar,
    AbstractTuple,
    AllocationSite,
    Batches,
    BoundMethod,
    Grouped,
    Indexer,
    Items,
    Length,
    Object,
    OpaqueValue,
    Places,
    Ref,
    Row,
    Table,
    Value,
    View,
    is_fixed,
    join,
    join_all,
    join_columns,
    packages_of,
    part_of,
    reach_of,
    reach_of_all,
    union_of_packages,
)
from presieve.records import replace

NEW = AllocationSite((-2,))
"""The place of an object that is being made."""
ESCAPED = AllocationSite((-3,))
"""The place of what unknown code has got."""


@dataclass(slots=True)
class Writes:
    """How often something was forgotten because its memory may have been written in place, in all
    branches together, and how often a key among it. What waits, evaluated, is a view of nothing
    else: what is known of it was known of that.
    """

    count: int = 0
    of_keys: int = 0

    @property
    def counts(self) -> tuple[int, int]:
        """Both numbers."""
        return self.count, self.of_keys

    def forget(self, value: Value) -> None:
        """Count a value that is forgotten."""
        self.count += 1
        self.of_keys += bool(value.keys) if isinstance(value, AbstractColumn) else True


@dataclass(slots=True)
class AnalysisState:
    """The variables of all functions being called, innermost last, and the heap."""

    frames: list[dict[str, Value]]
    heap: dict[AllocationSite, Object] = field(default_factory=dict)
    writes: Writes = field(default_factory=Writes, compare=False)

    @property
    def env(self) -> dict[str, Value]:
        """The variables of the innermost function being called."""
        return self.frames[-1]

    def copy(self) -> AnalysisState:
        """Copy the state, for another branch."""
        return AnalysisState([dict(f) for f in self.frames], dict(self.heap), self.writes)

    def become(self, source: AnalysisState) -> None:
        """Take over another state."""
        self.frames[:] = [dict(f) for f in source.frames]
        self.heap = dict(source.heap)

    # --- the heap -------------------------------------------------------------------------------

    def allocate(self, site: tuple[int, ...]) -> AllocationSite:
        """A place for a new object of this site. Previous objects of the site become older ones."""
        latest, older = AllocationSite(site), AllocationSite(site, older=True)
        if latest in self.heap or self._mentions(latest):
            self._rename(latest, older)
        return latest

    def make(self, site: tuple[int, ...], make: Callable[[AllocationSite], Object]) -> Ref:
        """Make a new object on the heap. It is in the state already while older objects of the site
        are renamed, so that its references are renamed too.
        """
        self.heap[NEW] = _store_columns(make(NEW), site)
        place = self.allocate(site)
        self._rename(NEW, place, many=False)
        return Ref(frozenset((place,)), isinstance(self.heap[place], Table))

    def repeat(self, evaluate: Callable[[], Value]) -> Value:
        """Evaluate what runs any number of times. What it makes becomes one of several objects of
        its site, so that a change of one of them is not taken for a change of all.
        """
        name = f"<{len(self.env)} repeated>"
        self.env[name] = evaluate()
        again = evaluate()
        return join(self.env.pop(name), again)

    def _mentions(self, place: AllocationSite) -> bool:
        return any(place in _names(v) for f in self.frames for v in f.values()) or any(
            place in _names_in(o) for o in self.heap.values()
        )

    def _rename(self, old: AllocationSite, new: AllocationSite, *, many: bool = True) -> None:
        def rename_value(value: Value) -> Value:
            return _rename_place(value, old, new, many=many)

        for frame in self.frames:
            for name, value in frame.items():
                frame[name] = rename_value(value)
        moved = self.heap.pop(old, None)
        if moved is not None:
            before = self.heap.get(new)
            self.heap[new] = moved if before is None else join_objects(before, moved)
        for place, thing in self.heap.items():
            self.heap[place] = map_object(thing, rename_value)

    def table(self, value: Value) -> Table | None:
        """The table that a value is; None if it is something else."""
        thing = self._object(value)
        return thing if isinstance(thing, Table) else None

    def table_at(self, ref: Ref) -> Table:
        """The table that a reference to a table is."""
        table = self.table(ref)
        assert table is not None
        return table

    def items(self, value: Value) -> Items | None:
        """The list, dict or set that a value is; None if it is something else."""
        thing = self._object(value)
        return thing if isinstance(thing, Items) and thing.of is None else None

    def instance(self, value: Value) -> Items | None:
        """The instance of a class of the program that a value is; None if it is something else."""
        thing = self._object(value)
        return thing if isinstance(thing, Items) and thing.of is not None else None

    def _object(self, value: Value) -> Object | None:
        joined: Object | None = None
        for place in value.places if isinstance(value, Ref) else ():
            thing = self.heap.get(place)
            if thing is None or (joined is not None and type(thing) is not type(joined)):
                return None
            joined = thing if joined is None else join_objects(joined, thing)
        return joined

    def packages(self, value: Value) -> frozenset[str] | None:
        """The packages whose objects a value may be or hold; None if they are unknown."""
        return self._packages(value, frozenset())

    def _packages(self, value: Value, around: Places) -> frozenset[str] | None:
        """The packages of a value in the containers at the places ``around``."""
        items = self.items(value)
        if items is None or not isinstance(value, Ref):
            return packages_of(value)
        inside = around | value.places
        held = (v for v in values_of(items) if not (isinstance(v, Ref) and v.places <= inside))
        return union_of_packages((DATA, *(self._packages(v, inside) for v in held)))

    def is_made_once(self, value: Value) -> bool:
        """Whether a value and all that it holds depend on no row."""
        items = self.items(value)
        if items is not None and (items.fixed is not None or items.fields is not None):
            return all(map(self.is_made_once, values_of(items)))
        if isinstance(value, AbstractColumn | OpaqueValue):
            return value.fixed
        return is_fixed(value)

    def update(self, ref: Ref, thing: Object) -> None:
        """Change an object in place; the change is certain if it is the only one at its place.
        Unknown code that has got the object may change it again at any time.
        """
        for place in ref.places:
            sure = len(ref.places) == 1 and not place.older
            self.heap[place] = thing if sure else join_objects(self.heap[place], thing)
        if ref.places & self.escaped_places:
            self.spoil(ref.places)

    @property
    def escaped_places(self) -> Places:
        """The places that unknown code can reach."""
        return self.reachable((ESCAPED,)) if ESCAPED in self.heap else NOWHERE

    def escape(self, places: Places) -> None:
        """Hand objects to unknown code, which may keep them."""
        self.spoil(places)
        if places:
            before = references(self.heap[ESCAPED]) if ESCAPED in self.heap else NOWHERE
            self.heap[ESCAPED] = Items("object", OpaqueValue(before | places))

    def reachable(self, places: Iterable[AllocationSite]) -> Places:
        """The places that can be reached from these, which are among them."""
        reached: set[AllocationSite] = set()
        todo = list(places)
        while todo:
            place = todo.pop()
            if place not in reached:
                reached.add(place)
                thing = self.heap.get(place)
                todo.extend(() if thing is None else references(thing))
        return frozenset(reached)

    def reach(self, *values: Value) -> Places:
        """The places that can be reached from values."""
        return self.reachable(reach_of_all(values))

    def overwrite(self, memory: Places) -> None:
        """Forget what is known of items stored there, because they may be changed in place."""
        if not memory:
            return

        def overwrite_value(value: Value) -> Value:
            forgotten = _forget_overwritten(value, memory)
            if forgotten != value:
                self.writes.forget(value)
            return forgotten

        for frame in self.frames:
            for name, value in frame.items():
                frame[name] = overwrite_value(value)
        for place, thing in self.heap.items():
            self.heap[place] = map_object(thing, overwrite_value)

    def spoil(self, places: Places) -> None:
        """Forget all objects reachable from there, because they may be changed in any way."""
        reached = self.reachable(places)
        for place in reached:
            thing = self.heap.get(place)
            if isinstance(thing, Table):
                unlisted = _union(thing.all_columns)
                unlisted = AbstractColumn(unread=unlisted.unread, memory=unlisted.memory | {place})
                self.heap[place] = Table((), None, unlisted, sure=False)
            elif isinstance(thing, Items):
                element = OpaqueValue(reached)
                kind = thing.kind if thing.of is None else "object"
                self.heap[place] = Items(kind, element)
        self.overwrite(reached)


def _store_columns(thing: Object, site: tuple[int, ...]) -> Object:
    """Give a place in a table to its columns that are stored nowhere else."""
    if isinstance(thing, Items):
        return thing
    columns = tuple((n, stored_in(c, site, n)) for n, c in thing.columns)
    return replace(thing, columns=columns)


def stored_in(column: AbstractColumn, site: tuple[int, ...], name: str) -> AbstractColumn:
    """Give a place to a column that is stored nowhere else, by its name and this site."""
    if column.memory:
        return column
    return replace(column, memory=part_of(AllocationSite(site), crc32(name.encode())))


def _union(columns: tuple[AbstractColumn, ...]) -> AbstractColumn:
    unread = frozenset().union(*(c.unread for c in columns))
    return AbstractColumn(unread=unread, memory=frozenset().union(*(c.memory for c in columns)))


def references(thing: Object) -> Places:
    """The places that an object refers to directly."""
    return reach_of_all(thing.all_columns if isinstance(thing, Table) else values_of(thing))


def values_of(thing: Items) -> tuple[Value, ...]:
    """All values that an object may hold."""
    element = () if thing.element is None else (thing.element,)
    return (*element, *(thing.fixed or ()), *(v for _, v in thing.known or ()))


def _names(value: Value) -> Places:
    """The places that a value mentions: those that it reaches, and its rows."""
    match value:
        case AbstractColumn(rows=AllocationSite() as rows):
            return value.memory | {rows}
        case AbstractScalar(length=Length(rows=AllocationSite() as rows)):
            return frozenset((rows,))
        case OpaqueValue(reach, rows=AllocationSite() as rows):
            return reach | {rows}
        case AbstractTuple(items) | View(parts=items):
            return frozenset().union(*map(_names, items))
        case Indexer(owner) | BoundMethod(owner):
            return _names(owner)
    return reach_of(value)


def _names_in(thing: Object) -> Places:
    own_rows = (AbstractColumn(rows=thing.rows),) if isinstance(thing, Table) else ()
    values = thing.all_columns if isinstance(thing, Table) else values_of(thing)
    return frozenset().union(*map(_names, (*own_rows, *values)))


def _rename_place(value: Value, old: AllocationSite, new: AllocationSite, *, many: bool) -> Value:
    def places(old_places: Places) -> Places:
        return (old_places - {old}) | {new} if old in old_places else old_places

    match value:
        case AbstractColumn():
            # Older rows are many, so no two of their columns certainly belong together.
            rows = (None if many else new) if value.rows == old else value.rows
            return replace(value, rows=rows, memory=places(value.memory))
        case AbstractScalar(length=Length(rows=rows) as length) if rows == old:
            return replace(value, length=None if many else length._replace(rows=new))
        case Ref():
            return replace(value, places=places(value.places))
        case Row(ref) | Grouped(ref) | Batches(ref):
            return replace(value, table=replace(ref, places=places(ref.places)))
        case OpaqueValue():
            rows = (None if many else new) if value.rows == old else value.rows
            return replace(value, reach=places(value.reach), rows=rows)
    return _map_parts(value, lambda part: _rename_place(part, old, new, many=many))


def _map_parts(value: Value, change: Callable[[Value], Value]) -> Value:
    """Apply a change to the values that a value consists of."""
    match value:
        case AbstractTuple(items):
            return AbstractTuple(tuple(map(change, items)))
        case View(parts=parts):
            return replace(value, parts=tuple(map(change, parts)))
        case Indexer(owner) | BoundMethod(owner):
            return replace(value, owner=change(owner))
    return value


def _forget_overwritten(value: Value, memory: Places) -> Value:
    if isinstance(value, AbstractColumn) and value.memory & memory:
        # Items, their order and their labels may have changed.
        value = replace(value, keys=NO_KEYS, passes=None, rowwise=False, plain=False)
        value = replace(value, text=False, text_lists=False, double=False, mixed="any")
        return replace(value, index=None, rows=None, fixed=False)
    return _map_parts(value, lambda part: _forget_overwritten(part, memory))


def map_object(thing: Object, change: Callable[[Value], Value]) -> Object:
    """Apply a change to every value in an object."""

    def column(source: AbstractColumn) -> AbstractColumn:
        new_column = change(source)
        assert isinstance(new_column, AbstractColumn)
        return new_column

    if isinstance(thing, Table):
        # The rows are renamed as those of a column.
        rows = column(AbstractColumn(rows=thing.rows)).rows
        unlisted = None if thing.rest is None else column(thing.rest)
        columns = tuple((n, column(c)) for n, c in thing.columns)
        return replace(thing, columns=columns, rest=unlisted, rows=rows)
    return replace(
        thing,
        element=None if thing.element is None else change(thing.element),
        fixed=None if thing.fixed is None else tuple(map(change, thing.fixed)),
        known=None if thing.known is None else tuple((n, change(v)) for n, v in thing.known),
    )


def join_objects(a: Object, b: Object) -> Object:
    """Join two objects of one place: the result is one or the other."""
    if a == b:
        return a
    if isinstance(a, Table) and isinstance(b, Table):
        return _join_tables(a, b)
    if isinstance(a, Items) and isinstance(b, Items):
        return _join_items(a, b)
    reach = frozenset().union(*(references(x) for x in (a, b)))
    return Items("object", OpaqueValue(reach))


def _join_tables(a: Table, b: Table) -> Table:
    if a.empty != b.empty:
        # A table without rows has no row that differs from the other's.
        none, some = (a, b) if a.empty else (b, a)
        added = tuple((n, c) for n, c in none.columns if some.column(n) is None)
        same = not added and none.names == some.names
        return replace(some, columns=some.columns + added, filled=False, sure=some.sure and same)
    names = tuple(dict.fromkeys((*a.names, *b.names)))
    columns_of_a, columns_of_b = dict(a.columns), dict(b.columns)
    columns = []
    for name in names:
        column = _join_columns(columns_of_a.get(name, a.rest), columns_of_b.get(name, b.rest))
        assert column is not None
        columns.append((name, column))
    return Table(
        tuple(columns),
        a.rows if a.rows == b.rows else None,
        _join_columns(a.rest, b.rest),
        filled=a.filled and b.filled,
        empty=a.empty and b.empty,
        rowwise=a.rowwise and b.rowwise and a.rows == b.rows,
        sure=a.sure and b.sure and a.names == b.names,
        index=a.index if a.index == b.index else None,
    )


def _join_columns(a: AbstractColumn | None, b: AbstractColumn | None) -> AbstractColumn | None:
    """Join two columns, of which either may be missing."""
    return a or b if a is None or b is None else join_columns(a, b)


def _join_items(a: Items, b: Items) -> Items:
    kind = a.kind if a.kind == b.kind else "object"
    element = join_all((a.element, b.element))
    fixed = known_values = None
    has_more = a.more or b.more
    if a.fixed is not None and b.fixed is not None and len(a.fixed) == len(b.fixed):
        fixed = tuple(join(x, y) for x, y in zip(a.fixed, b.fixed, strict=True))
    if a.known is not None and b.known is not None:
        values_of_a, values_of_b = dict(a.known), dict(b.known)
        has_more = has_more or values_of_a.keys() != values_of_b.keys()
        known_values = tuple(
            (n, join(v, values_of_b[n])) for n, v in values_of_a.items() if n in values_of_b
        )
    of = a.of if a.of == b.of else None
    return Items(kind if of == a.of else "object", element, fixed, known_values, has_more, of=of)


def with_attribute(items: Items, name: str, value: Value) -> Items:
    """An instance with one more attribute, or another value of it."""
    known = {**dict(items.known or ()), name: value}
    return replace(items, element=join_all((items.element, value)), known=tuple(known.items()))


def join_states(a: AnalysisState, b: AnalysisState) -> AnalysisState:
    """Keep the facts that hold on both paths. A variable that only one path binds has its value
    there, because reading it raises on the other path.
    """
    frames = []
    for frame_of_a, frame_of_b in zip(a.frames, b.frames, strict=True):
        both = {n: join(v, frame_of_b[n]) if n in frame_of_b else v for n, v in frame_of_a.items()}
        frames.append({**{n: v for n, v in frame_of_b.items() if n not in frame_of_a}, **both})
    heap = dict(a.heap)
    for place, thing in b.heap.items():
        heap[place] = join_objects(heap[place], thing) if place in heap else thing
    return AnalysisState(frames, heap)
