"""Trusted. The state of the dataflow analysis at a point of the program: variables and heap.

A state is changed by the statements that are followed, copied where control parts, and joined
where it meets again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from zlib import crc32

from presieve.dataflow.values import (
    DATA,
    NO_KEYS,
    Column,
    Grouped,
    Indexer,
    Items,
    Length,
    Method,
    Object,
    Opaque,
    Place,
    Places,
    Ref,
    Row,
    Scalar,
    Table,
    TupleV,
    Value,
    View,
    join,
    join_columns,
    packages_of,
    reach_of,
)

NEW = Place((-2,))
"""The place of an object that is being made."""


@dataclass(slots=True)
class State:
    """Variables of every function that is being called, innermost last, and the heap."""

    frames: list[dict[str, Value]]
    heap: dict[Place, Object] = field(default_factory=dict)

    @property
    def env(self) -> dict[str, Value]:
        """The variables of the function that is being called."""
        return self.frames[-1]

    def copy(self) -> State:
        """The same state, to go another way."""
        return State([dict(f) for f in self.frames], dict(self.heap))

    def become(self, other: State) -> None:
        """Go on from there."""
        self.frames[:] = [dict(f) for f in other.frames]
        self.heap = dict(other.heap)

    # --- the heap -------------------------------------------------------------------------------

    def allocate(self, site: tuple[int, ...]) -> Place:
        """A place for what this node makes now. What it made before becomes an older one."""
        latest, older = Place(site), Place(site, older=True)
        if latest in self.heap or self._mentions(latest):
            self._rename(latest, older)
        return latest

    def make(self, site: tuple[int, ...], make: Callable[[Place], Object]) -> Ref:
        """A new object of the heap. What it is made of is in the state while older objects of the
        site are renamed, so that it names what it did.
        """
        self.heap[NEW] = _stored(make(NEW), site)
        place = self.allocate(site)
        self._rename(NEW, place, many=False)
        return Ref(frozenset((place,)), isinstance(self.heap[place], Table))

    def _mentions(self, place: Place) -> bool:
        return any(place in _names(v) for f in self.frames for v in f.values()) or any(
            place in _names_in(o) for o in self.heap.values()
        )

    def _rename(self, old: Place, new: Place, *, many: bool = True) -> None:
        def renamed(value: Value) -> Value:
            return _renamed(value, old, new, many=many)

        for frame in self.frames:
            for name, value in frame.items():
                frame[name] = renamed(value)
        moved = self.heap.pop(old, None)
        if moved is not None:
            before = self.heap.get(new)
            self.heap[new] = moved if before is None else join_objects(before, moved)
        for place, thing in self.heap.items():
            self.heap[place] = map_object(thing, renamed)

    def table(self, value: Value) -> Table | None:
        """The table that a value is; None where it is something else."""
        found = self._object(value)
        return found if isinstance(found, Table) else None

    def items(self, value: Value) -> Items | None:
        """The list, dict or set that a value is; None where it is something else."""
        found = self._object(value)
        return found if isinstance(found, Items) else None

    def _object(self, value: Value) -> Object | None:
        found: Object | None = None
        for place in value.places if isinstance(value, Ref) else ():
            thing = self.heap.get(place)
            if thing is None or (found is not None and type(thing) is not type(found)):
                return None
            found = thing if found is None else join_objects(found, thing)
        return found

    def packages(self, value: Value) -> frozenset[str] | None:
        """Whose objects a value may be or hold; None where that is not known."""
        items = self.items(value)
        if items is None:
            return packages_of(value)
        held = [packages_of(v) for v in values_of(items)]
        return None if None in held else DATA.union(*(h for h in held if h))

    def update(self, ref: Ref, thing: Object) -> None:
        """Change an object in place: for sure if it is the only one of its place."""
        for place in ref.places:
            sure = len(ref.places) == 1 and not place.older
            self.heap[place] = thing if sure else join_objects(self.heap[place], thing)

    def reachable(self, places: Iterable[Place]) -> Places:
        """What can be reached from there."""
        seen: set[Place] = set()
        todo = list(places)
        while todo:
            place = todo.pop()
            if place not in seen:
                seen.add(place)
                thing = self.heap.get(place)
                todo.extend(() if thing is None else references(thing))
        return frozenset(seen)

    def overwrite(self, memory: Places) -> None:
        """Items that are stored there may be changed in place: they hold nothing that is known."""
        if not memory:
            return

        def changed(value: Value) -> Value:
            return _overwritten(value, memory)

        for frame in self.frames:
            for name, value in frame.items():
                frame[name] = changed(value)
        for place, thing in self.heap.items():
            self.heap[place] = map_object(thing, changed)

    def spoil(self, places: Places) -> None:
        """Whatever can be reached from there may be changed in place, in any way."""
        reached = self.reachable(places)
        for place in reached:
            thing = self.heap.get(place)
            if isinstance(thing, Table):
                rest = _union([c for _, c in thing.columns] + [c for c in (thing.rest,) if c])
                rest = Column(unread=rest.unread, memory=rest.memory | {place})
                self.heap[place] = Table((), None, rest, sure=False)
            elif isinstance(thing, Items):
                element = Opaque(reached)
                self.heap[place] = Items(thing.kind, element)
        self.overwrite(reached)


def _stored(thing: Object, site: tuple[int, ...]) -> Object:
    """The object; columns of a table that are stored nowhere else are stored in it."""
    if isinstance(thing, Items):
        return thing
    columns = tuple((n, stored_in(c, site, n)) for n, c in thing.columns)
    return replace(thing, columns=columns)


def stored_in(column: Column, site: tuple[int, ...], name: str) -> Column:
    """The column; if it is stored nowhere else, as the one of this name of what is made there."""
    if column.memory:
        return column
    return replace(column, memory=frozenset((Place((*site, crc32(name.encode()))),)))


def _union(columns: list[Column]) -> Column:
    found = Column()
    for column in columns:
        found = replace(
            found, unread=found.unread | column.unread, memory=found.memory | column.memory
        )
    return found


def references(thing: Object) -> Places:
    """The places that an object refers to by itself."""
    if isinstance(thing, Table):
        columns = [c for _, c in thing.columns] + ([thing.rest] if thing.rest else [])
        return frozenset().union(*(c.memory for c in columns))
    return frozenset().union(*(reach_of(v) for v in values_of(thing)))


def values_of(thing: Items) -> tuple[Value, ...]:
    """All values that an object may hold."""
    element = () if thing.element is None else (thing.element,)
    return (*element, *(thing.fixed or ()), *(v for _, v in thing.known or ()))


def _names(value: Value) -> Places:
    """The places that a value mentions: what it reaches, and rows."""
    match value:
        case Column(rows=Place() as rows):
            return value.memory | {rows}
        case Scalar(length=Length(rows=Place() as rows)):
            return frozenset((rows,))
        case Opaque(reach, rows=Place() as rows):
            return reach | {rows}
        case TupleV(items) | View(parts=items):
            return frozenset().union(*map(_names, items))
        case Indexer(owner) | Method(owner):
            return _names(owner)
    return reach_of(value)


def _names_in(thing: Object) -> Places:
    if isinstance(thing, Table):
        columns = [c for _, c in thing.columns] + ([thing.rest] if thing.rest else [])
        return frozenset().union(*map(_names, (Column(rows=thing.rows), *columns)))
    return frozenset().union(*map(_names, values_of(thing)))


def _renamed(value: Value, old: Place, new: Place, *, many: bool) -> Value:
    def places(found: Places) -> Places:
        return (found - {old}) | {new} if old in found else found

    match value:
        case Column():
            # Older rows are many: no two columns of them belong together for sure.
            rows = (None if many else new) if value.rows == old else value.rows
            return replace(value, rows=rows, memory=places(value.memory))
        case Scalar(length=Length(rows=rows) as length) if rows == old:
            return replace(value, length=None if many else length._replace(rows=new))
        case Ref():
            return replace(value, places=places(value.places))
        case Row(ref) | Grouped(ref):
            return replace(value, table=replace(ref, places=places(ref.places)))
        case TupleV(items):
            return TupleV(tuple(_renamed(i, old, new, many=many) for i in items))
        case View(parts=parts):
            return replace(value, parts=tuple(_renamed(p, old, new, many=many) for p in parts))
        case Indexer(owner) | Method(owner):
            return replace(value, owner=_renamed(owner, old, new, many=many))
        case Opaque():
            rows = (None if many else new) if value.rows == old else value.rows
            return replace(value, reach=places(value.reach), rows=rows)
    return value


def _overwritten(value: Value, memory: Places) -> Value:
    match value:
        case Column() if value.memory & memory:
            # Items, their order and labels may be others.
            return replace(value, keys=NO_KEYS, passes=None, rowwise=False, index=None, rows=None)
        case TupleV(items):
            return TupleV(tuple(_overwritten(i, memory) for i in items))
        case View(parts=parts):
            return replace(value, parts=tuple(_overwritten(p, memory) for p in parts))
        case Indexer(owner) | Method(owner):
            return replace(value, owner=_overwritten(owner, memory))
    return value


def map_object(thing: Object, change: Callable[[Value], Value]) -> Object:
    """The object with every value in it changed."""

    def column(found: Column) -> Column:
        made = change(found)
        assert isinstance(made, Column)
        return made

    if isinstance(thing, Table):
        # Renamed as those of a column are.
        rows = column(Column(rows=thing.rows)).rows
        rest = None if thing.rest is None else column(thing.rest)
        columns = tuple((n, column(c)) for n, c in thing.columns)
        return replace(thing, columns=columns, rest=rest, rows=rows)
    return replace(
        thing,
        element=None if thing.element is None else change(thing.element),
        fixed=None if thing.fixed is None else tuple(map(change, thing.fixed)),
        known=None if thing.known is None else tuple((n, change(v)) for n, v in thing.known),
    )


def join_objects(a: Object, b: Object) -> Object:
    """An object that is one or the other, of one place."""
    if a == b:
        return a
    if isinstance(a, Table) and isinstance(b, Table):
        return _join_tables(a, b)
    if isinstance(a, Items) and isinstance(b, Items):
        return _join_items(a, b)
    reach = frozenset().union(*(references(x) for x in (a, b)))
    return Items("object", Opaque(reach))


def _join_tables(a: Table, b: Table) -> Table:
    if a.empty != b.empty:
        # What has no rows has none that differs from the other's.
        none, some = (a, b) if a.empty else (b, a)
        added = tuple((n, c) for n, c in none.columns if some.column(n) is None)
        same = not added and none.names == some.names
        return replace(some, columns=some.columns + added, filled=False, sure=some.sure and same)
    names = tuple(dict.fromkeys((*a.names, *b.names)))
    left, right = dict(a.columns), dict(b.columns)
    columns = []
    for name in names:
        sides = (left.get(name, a.rest), right.get(name, b.rest))
        found = [c for c in sides if c is not None]
        columns.append((name, found[0] if len(found) == 1 else join_columns(*found)))
    rests = [r for r in (a.rest, b.rest) if r is not None]
    rest = None if not rests else rests[0] if len(rests) == 1 else join_columns(*rests)
    return Table(
        tuple(columns),
        a.rows if a.rows == b.rows else None,
        rest,
        filled=a.filled and b.filled,
        empty=a.empty and b.empty,
        rowwise=a.rowwise and b.rowwise and a.rows == b.rows,
        sure=a.sure and b.sure and a.names == b.names,
        index=a.index if a.index == b.index else None,
    )


def _join_items(a: Items, b: Items) -> Items:
    kind = a.kind if a.kind == b.kind else "object"
    one, other = a.element, b.element
    element = join(one, other) if one is not None and other is not None else one or other
    fixed = known = None
    more = a.more or b.more
    if a.fixed is not None and b.fixed is not None and len(a.fixed) == len(b.fixed):
        fixed = tuple(join(x, y) for x, y in zip(a.fixed, b.fixed, strict=True))
    if a.known is not None and b.known is not None:
        left, right = dict(a.known), dict(b.known)
        more = more or left.keys() != right.keys()
        known = tuple((n, join(v, right[n])) for n, v in left.items() if n in right)
    return Items(kind, element, fixed, known, more)


def join_states(a: State, b: State) -> State:
    """What holds whichever way control came. A variable that only one way binds is what it is
    there: on the other way, reading it raises.
    """
    frames = []
    for left, right in zip(a.frames, b.frames, strict=True):
        both = {n: join(v, right[n]) if n in right else v for n, v in left.items()}
        frames.append({**{n: v for n, v in right.items() if n not in left}, **both})
    heap = dict(a.heap)
    for place, thing in b.heap.items():
        heap[place] = join_objects(heap[place], thing) if place in heap else thing
    return State(frames, heap)
