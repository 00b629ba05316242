# SPDX-License-Identifier: Apache-2.0
"""Trusted. Classes of values, and of the items of containers: what Python's own functions give of
them. None stands for classes that are not known.
"""

from __future__ import annotations

import builtins
import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

NONE_CLASS = type(None)


@dataclass(frozen=True, slots=True)
class Holder:
    """A list, tuple, set or iterator of Python's own: the classes of its items; of a tuple also
    those of the item at each ``place``.
    """

    items: Classes
    places: tuple[Classes, ...] = ()


Classes: TypeAlias = "frozenset[type | Holder]"

COMPARED = frozenset(
    (*(bool, int, float, str, NONE_CLASS), dt.date, dt.datetime, dt.timedelta),
)
"""Classes whose comparisons give truth values."""
_DEEPEST = 3
_SAME_ITEMS = (
    *(builtins.sorted, builtins.reversed, builtins.list, builtins.tuple, builtins.iter),
    *(builtins.set, builtins.frozenset),
)
"""Functions that give a container, or an iterator, with the items of their argument."""


def either(*options: Classes | None) -> Classes | None:
    """Return the classes of a value that is one of several."""
    union: Classes = frozenset()
    for option in options:
        if option is None:
            return None
        union |= option
    return union


def hold(items: Classes | None, places: Sequence[Classes | None] = ()) -> Classes | None:
    """Return the classes of a container with such items."""
    known_places = [p for p in places if p is not None]
    if items is None or len(known_places) < len(places) or _depth(items) >= _DEEPEST:
        return None
    return frozenset((Holder(items, tuple(known_places)),))


def _depth(classes: Classes) -> int:
    return max((1 + _depth(c.items) for c in classes if isinstance(c, Holder)), default=0)


def holds(classes: Classes | None) -> bool:
    """Return whether a value may be a container."""
    return classes is None or any(isinstance(c, Holder) for c in classes)


def are_compared(classes: Classes | None) -> bool:
    """Return whether comparisons of such values give truth values."""
    if classes is None:
        return False
    return all(are_compared(c.items) if isinstance(c, Holder) else c in COMPARED for c in classes)


def items_of(classes: Classes | None, added: Classes | None) -> Classes | None:
    """Return the classes of what is iterated over; ``added`` are those of all that is added to any
    container.
    """
    results: list[Classes | None] = []
    for cls in classes if classes is not None else (object,):
        if isinstance(cls, Holder):
            results += [cls.items, added]
        elif cls is str:
            results.append(frozenset((str,)))
        elif cls is not NONE_CLASS:
            return None
    return either(*results)


def item_at(classes: Classes | None, place: int, added: Classes | None) -> Classes | None:
    """Return the classes of the item at a place of a tuple or list."""
    tuples = _places_of(classes)
    if not tuples:
        return items_of(classes, added)
    return either(*(places[place] for places in tuples if -len(places) <= place < len(places)))


def unpack(classes: Classes | None, count: int, added: Classes | None) -> list[Classes | None]:
    """Return the classes of so many variables to which such a value is unpacked."""
    tuples = _places_of(classes)
    if not tuples:
        return [items_of(classes, added)] * count
    fitting = [places for places in tuples if len(places) == count]
    return [either(*(places[i] for places in fitting)) for i in range(count)]


def _places_of(classes: Classes | None) -> list[tuple[Classes, ...]]:
    """Return the places of the tuples that a value may be; none if it may be something else."""
    every = (classes or frozenset()) - {NONE_CLASS}
    tuples = [c.places for c in every if isinstance(c, Holder) and c.places]
    return tuples if len(tuples) == len(every) else []


def call_on_items(
    function: object, arguments: Sequence[Classes | None], added: Classes | None
) -> Classes | None:
    """Return the classes of the result of a function of Python's own that takes containers."""
    inside = [items_of(a, added) for a in arguments]
    if any(function is f for f in _SAME_ITEMS) and len(arguments) <= 1:
        return hold(inside[0] if inside else frozenset())
    if function is builtins.range:
        return hold(frozenset((int,)))
    if function is builtins.enumerate and len(arguments) == 1:
        return _tuples([frozenset((int,)), *inside])
    if function is builtins.zip:
        return _tuples(inside)
    if (function is builtins.min or function is builtins.max) and len(arguments) == 1:
        return inside[0]
    if function is builtins.next and arguments:
        return either(inside[0], *arguments[1:])
    if function is builtins.sum and len(arguments) == 1 and inside[0] is not None:
        numbers = inside[0] - {NONE_CLASS}
        if numbers <= {bool, int}:
            return frozenset((int,))
        return frozenset((int, float)) if numbers <= {bool, int, float} else None
    return None


def _tuples(places: Sequence[Classes | None]) -> Classes | None:
    """Return the classes of an iterator over tuples."""
    return hold(hold(either(*places), places))


TEXTS = hold(frozenset((str,)))
PARTITIONED = hold(frozenset((str,)), [frozenset((str,))] * 3)
LISTS: Mapping[str, Classes | None] = {
    **dict.fromkeys(("split", "rsplit", "splitlines"), TEXTS),
    **dict.fromkeys(("partition", "rpartition"), PARTITIONED),
}
"""Methods of texts that give containers."""


def of_constant(value: object) -> Classes | None:
    """Return the classes of a constant, which may be a container of constants."""
    if type(value) in COMPARED:
        return frozenset((type(value),))
    if isinstance(value, list | tuple | set | frozenset) and type(value) in _CONTAINERS:
        parts = [of_constant(v) for v in value]
        return hold(either(*parts), parts if isinstance(value, tuple) else ())
    return None


_CONTAINERS = (list, tuple, set, frozenset)


def of_pairs(constants: Mapping[object, object]) -> Mapping[str, Classes | None]:
    """Return the classes of what the methods of a constant dict give."""
    keys = either(*map(of_constant, constants))
    values = either(*map(of_constant, constants.values()))
    return {"keys": hold(keys), "values": hold(values), "items": _tuples([keys, values])}


def by_class(results: Callable[[type], type | None], classes: Classes | None) -> Classes | None:
    """Map the classes of an operand to results; None means raising, ``object`` unknown."""
    if classes is None or any(isinstance(c, Holder) for c in classes):
        return None
    found = [results(c) for c in classes if not isinstance(c, Holder)]
    return None if object in found else frozenset(c for c in found if c is not None)
