"""Trusted. Names from outside of a function: constants, packages, functions and objects."""

from __future__ import annotations

import ast
import datetime as dt
import decimal
import re
import sys
from collections.abc import Iterator
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import TYPE_CHECKING, TypeGuard

from presieve.dataflow.context import Analysis, Owner
from presieve.dataflow.libraries import COMPUTING, MESSAGES, of_function
from presieve.dataflow.state import State
from presieve.dataflow.values import (
    DATA,
    Column,
    Function,
    Items,
    Library,
    Opaque,
    Place,
    Ref,
    Scalar,
    Table,
    TupleV,
    Value,
)
from presieve.errors import DeclineSignal
from presieve.lift.python.names import names_of, own_names
from presieve.lift.python.shipped import function_source
from presieve.lift.python.zones import Zone

if TYPE_CHECKING:
    import pandas as pd

_MANY = 200
_CONSTANTS = (
    *(bool, int, float, str, bytes, dt.date, dt.datetime, dt.timedelta, decimal.Decimal),
    re.Pattern,
)


def open_owner(a: Analysis, function: FunctionType, *, generator: bool = False) -> int:
    """The number of the function among those that are read. Declines as ``function_source``."""
    for at, owner in enumerate(a.owners):
        if owner.function is function:
            return at
    source = function_source(function, generator=generator)
    own = frozenset(own_names(function))
    a.owners.append(Owner(function, source, names_of(function, Zone("UTC")), own))
    return len(a.owners) - 1


def outside(a: Analysis, s: State, node: ast.Name) -> Value:
    """What a name means that is no variable of a function that is being followed."""
    owner = a.owner
    if node.id in owner.own:
        return Opaque()  # not bound yet on any way: it raises
    try:
        found = owner.names.lookup(node.id)
    except DeclineSignal as signal:
        # Workers may have another object there; a logger is one of the same kind.
        package = type(owner.function.__globals__.get(node.id)).__module__.partition(".")[0]
        if package in MESSAGES:
            return Opaque(packages=frozenset((package,)))
        a.note("keys", str(signal), node)
        if _packages_in(owner.function.__globals__.get(node.id)) is None:
            a.effect("unknown", f"{node.id} is an object of a class that is not known", node)
        return Opaque()
    return of_object(a, s, found, node.id)


def of_object(a: Analysis, s: State, found: object, name: str) -> Value:
    """An object that is there before the function is called."""
    if found is None or type(found) in _CONSTANTS:
        return Scalar(constant=found, fixed=True)
    if type(found) is tuple:
        return TupleV(tuple(of_object(a, s, f, f"{name}[{i}]") for i, f in enumerate(found)))
    if isinstance(found, ModuleType):
        return Library(found.__name__)
    if isinstance(found, FunctionType):
        return _of_function(a, found)
    if isinstance(found, type | BuiltinFunctionType) or _is_package_function(found):
        return _of_class(found)
    place = a.outside_place(name)
    if isinstance(found, Iterator):
        a.changed_outside = True
        a.effect("state", f"{name} goes on from group to group", a.stack[-1].node)
        return Opaque(frozenset((place,)))
    if type(found) is list and all(f is None or type(f) in _CONSTANTS for f in found):
        items = tuple(Scalar(constant=f, fixed=True) for f in found)
        element = Scalar(fixed=True) if items else None
        s.heap.setdefault(place, Items("list", element, items))
        return Ref(frozenset((place,)))
    if type(found) is dict and all(
        c is None or type(c) in _CONSTANTS for pair in found.items() for c in pair
    ):
        s.heap.setdefault(place, _of_dict(found))
        return Ref(frozenset((place,)))
    if _is_frame(found):
        return _table(s, found, place)
    packages = _packages_in(found)
    if packages is None:
        # Whatever is done with it may call a method of its class: a truth, an item, a comparison.
        a.effect("unknown", f"{name} is an object of a class that is not known", a.stack[-1].node)
    return Opaque(frozenset((place,)), packages)


def _is_frame(found: object) -> TypeGuard[pd.DataFrame]:
    """Whether it is a DataFrame whose columns have names, each its own."""
    if "pandas" not in sys.modules:
        return False
    import pandas as pd

    if type(found) is not pd.DataFrame:
        return False
    return found.columns.is_unique and all(type(n) is str for n in found.columns)


def _table(s: State, found: pd.DataFrame, place: Place) -> Value:
    """A DataFrame that is there before the call. Its columns are known, and none of its rows."""
    columns = tuple(
        (str(n), Column(memory=frozenset((Place((*place.site, at)),)), rows=place, name=str(n)))
        for at, n in enumerate(found.columns)
    )
    s.heap.setdefault(place, Table(columns, place))
    return Ref(frozenset((place,)), table=True)


def _of_dict(found: dict[object, object]) -> Items:
    """A dict of constants; by name where all names are texts."""
    values = {n: Scalar(constant=v, fixed=True) for n, v in found.items()}
    named = tuple((n, v) for n, v in values.items() if type(n) is str)
    by_name = len(named) == len(values) <= _MANY
    return Items("dict", Scalar(fixed=True) if values else None, None, named if by_name else None)


def _of_function(a: Analysis, found: FunctionType) -> Value:
    path = f"{found.__module__}.{found.__qualname__}"
    if _is_known(found.__module__) and _genuine(path, found):
        return Library(path)
    try:
        at = open_owner(a, found)
    except DeclineSignal:
        return Opaque()
    return Function(a.owners[at].source.node, at, -1)


def _is_known(module: object) -> bool:
    package = str(module).partition(".")[0]
    return package in COMPUTING or of_function(f"{package}.x") != of_function("?.x")


def _genuine(path: str, found: object) -> bool:
    """Whether the object is what its package has under this path: workers import it there."""
    parts = path.split(".")
    for size in range(len(parts) - 1, 0, -1):
        module = sys.modules.get(".".join(parts[:size]))
        if module is not None:
            at: object = module
            for part in parts[size:]:
                at = getattr(at, part, None)
            return at is found
    return False


def _is_package_function(found: object) -> bool:
    """Functions that are objects of a class, as those of numpy."""
    return callable(found) and type(found).__module__.partition(".")[0] == "numpy"


def _of_class(found: object) -> Value:
    module = str(getattr(found, "__module__", None) or type(found).__module__)
    name = str(getattr(found, "__qualname__", getattr(found, "__name__", "?")))
    if isinstance(found, type) and not _is_known(module):
        return Opaque()
    return Library(f"{'builtins' if module == 'None' else module}.{name}")


def _packages_in(found: object) -> frozenset[str] | None:
    """The packages whose objects one may be, or hold as a container of Python's."""
    if type(found) not in _CONTAINERS:
        return _packages_of(found)
    todo, seen, packages = [found], 0, DATA
    while todo:
        here, seen = todo.pop(), seen + 1
        if seen > _MOST:
            return None
        if isinstance(here, _CONTAINERS) and type(here) in _CONTAINERS:
            todo += [*here, *(here.values() if isinstance(here, dict) else ())]
        elif here is not None and type(here) not in _CONSTANTS:
            known = _packages_of(here)
            if known is None:
                return None
            packages |= known
    return packages


_MOST = 10_000
"""Items of containers that are looked at."""
_CONTAINERS = (list, tuple, set, frozenset, dict)


def _packages_of(found: object) -> frozenset[str] | None:
    if found is None or type(found) in _CONSTANTS:
        return DATA
    if type(found).__module__ == "pyspark.core.broadcast" or type(found).__name__ == "Broadcast":
        return DATA | {"numpy", "pandas"}
    package = type(found).__module__.partition(".")[0]
    return frozenset((package,)) if package in COMPUTING or package in MESSAGES else None
