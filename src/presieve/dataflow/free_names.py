# SPDX-License-Identifier: Apache-2.0
"""Trusted. Names from outside a function: constants, packages, functions and objects."""

from __future__ import annotations

import ast
import collections
import datetime as dt
import decimal
import functools
import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from enum import Enum, EnumMeta
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import TYPE_CHECKING, TypeGuard

from presieve.dataflow.abstract_values import (
    DATA,
    AbstractColumn,
    AbstractScalar,
    AbstractTuple,
    AllocationSite,
    Class,
    Function,
    Items,
    Library,
    OpaqueValue,
    Ref,
    Table,
    Value,
    join_all,
    part_of,
)
from presieve.dataflow.analysis_state import AnalysisState
from presieve.dataflow.by_row.type_uses import uses_in
from presieve.dataflow.context import Analysis, Owner
from presieve.dataflow.libraries import COMPUTING, MESSAGES, of_function, package_of
from presieve.dataflow.outer_classes import is_small
from presieve.errors import DeclineSignal
from presieve.lift.python.enumerations import keeps_values
from presieve.lift.python.names import names_of, own_names
from presieve.lift.python.shipped import attribute, function_source, module_attribute
from presieve.lift.python.shipping import is_own_module
from presieve.lift.python.zones import Zone

if TYPE_CHECKING:
    import pandas as pd

_MANY = 200
_FEW = 64
_OF_CLASS = "is an object of a class that is not known"
_CONSTANTS = (
    *(bool, int, float, str, bytes, dt.date, dt.datetime, dt.timedelta, decimal.Decimal),
    re.Pattern,
)


def open_owner(a: Analysis, function: FunctionType, *, generator: bool = False) -> int:
    """Index a function among those that are read. Declines like :func:`function_source`."""
    for at, owner in enumerate(a.owners):
        if owner.function is function:
            return at
    source = function_source(function, generator=generator)
    own = frozenset(own_names(function))
    names, uses = names_of(function, Zone("UTC")), uses_in(source.node)
    a.owners.append(Owner(function, source, names, own, uses))
    return len(a.owners) - 1


def outside(a: Analysis, s: AnalysisState, node: ast.Name) -> Value:
    """Resolve a name that is not a variable of a function being followed."""
    owner = a.owner
    if node.id in owner.own:
        return OpaqueValue()  # not bound yet on any path: it raises
    try:
        thing = owner.names.lookup(node.id)
    except DeclineSignal as signal:
        # Workers may have another object there; for a logger it is of the same kind.
        package = type(owner.function.__globals__.get(node.id)).__module__.partition(".")[0]
        if package in MESSAGES:
            return OpaqueValue(packages=frozenset((package,)))
        a.note("keys", str(signal), node, signal.declined.code)
        return _of_doubtful(a, s, owner.function.__globals__.get(node.id), node)
    return of_object(a, s, thing, node.id)


def _of_doubtful(a: Analysis, s: AnalysisState, thing: object, node: ast.Name) -> Value:
    """An object that workers may have with other contents: a change of it is seen all the same."""
    if thing is None or issubclass(type(thing), Iterator):
        return OpaqueValue() if thing is None else of_object(a, s, thing, node.id)
    place = a.outside_place(thing)
    unknown: Value = OpaqueValue(frozenset((place,)))
    if _packages_in(thing) is None and not _is_instance(thing):
        a.runs_unknown(node.id, _OF_CLASS, node)
    if type(thing) in (list, dict, set):
        s.heap.setdefault(place, Items(type(thing).__name__, unknown))
        return Ref(frozenset((place,)))
    if _is_instance(thing) and not isinstance(thing, Enum):
        known = tuple((name, unknown) for name in _attributes(thing))
        number = a.class_number(type(thing))
        s.heap.setdefault(place, Items("instance", unknown, None, known, of=number))
        return Ref(frozenset((place,)))
    return unknown


def of_object(a: Analysis, s: AnalysisState, thing: object, name: str) -> Value:
    """The value of an object that exists before the function is called."""
    if thing is None or type(thing) in _CONSTANTS:
        return AbstractScalar(constant=thing, fixed=True)
    if type(thing) is tuple:
        return AbstractTuple(tuple(of_object(a, s, f, f"{name}[{i}]") for i, f in enumerate(thing)))
    if isinstance(thing, ModuleType):
        return Library(thing.__name__)
    if isinstance(thing, FunctionType):
        return _of_function(a, thing)
    if isinstance(thing, type) and _has_own_metaclass(thing):
        a.runs_unknown(name, "is of a metaclass that is not read", a.stack[-1].node)
        return OpaqueValue(frozenset((a.outside_place(thing),)))
    if isinstance(thing, type) and (is_small(thing) or _is_enumeration(thing)):
        return Class(a.class_number(thing))
    if isinstance(thing, type | BuiltinFunctionType) or _is_package_function(thing):
        return _of_class(a, thing)
    place = a.outside_place(thing)
    if _is_instance(thing) and _goes_by_value(thing):
        return _instance(a, s, thing, place)
    if isinstance(thing, Iterator):
        a.changed_outside = True
        a.effect("state", f"{name} goes on from group to group", a.stack[-1].node)
        return OpaqueValue(frozenset((place,)))
    if type(thing) is list and all(f is None or type(f) in _CONSTANTS for f in thing):
        items = tuple(AbstractScalar(constant=f, fixed=True) for f in thing)
        s.heap.setdefault(place, Items("list", join_all(items), items))
        return Ref(frozenset((place,)))
    if type(thing) is list and len(thing) <= _FEW and all(map(_is_instance, thing)):
        if place not in s.heap:
            s.heap[place] = Items("list", None, ())
            values = tuple(of_object(a, s, f, f"{name}[{i}]") for i, f in enumerate(thing))
            s.heap[place] = Items("list", join_all(values), values)
        return Ref(frozenset((place,)))
    if type(thing) is dict and all(
        c is None or type(c) in _CONSTANTS for pair in thing.items() for c in pair
    ):
        s.heap.setdefault(place, _of_dict(thing))
        return Ref(frozenset((place,)))
    if _is_frame(thing):
        return _table(s, thing, place)
    packages = _packages_in(thing)
    if packages is None:
        # Any use may call a method of its class: a truth test, an item, a comparison.
        a.runs_unknown(name, _OF_CLASS, a.stack[-1].node)
    return OpaqueValue(frozenset((place,)), packages, fixed=packages is not None)


def of_own_module(a: Analysis, s: AnalysisState, path: str, name: str) -> Value | None:
    """What a module of the program holds under a name; None for modules of packages, and if workers
    may find something else there.
    """
    module = sys.modules.get(path)
    if _is_known(path) or not isinstance(module, ModuleType) or not is_own_module(path):
        return None
    try:
        return of_object(a, s, module_attribute(module, name), f"{path}.{name}")
    except DeclineSignal:
        return None


def _is_instance(thing: object) -> bool:
    """Whether an object is an instance of a class that is read."""
    cls = type(thing)
    if _is_enumeration(cls) or _is_schema(cls):
        return True
    return is_small(cls) and (hasattr(cls, "_fields") or hasattr(thing, "__dict__"))


def _is_enumeration(cls: type) -> bool:
    return isinstance(cls, EnumMeta) and is_own_module(cls.__module__) and keeps_values(cls)


def _has_own_metaclass(cls: type) -> bool:
    return is_own_module(type(cls).__module__) and not _is_enumeration(cls)


def _is_schema(cls: type) -> bool:
    return cls.__module__ == "pyspark.sql.types" and cls.__name__ in _SCHEMAS


_SCHEMAS: Mapping[str, tuple[str, ...]] = {
    "StructType": ("names", "fields"),
    "StructField": ("name", "nullable"),
}
"""The attributes of a schema that are read."""


def _goes_by_value(thing: object) -> bool:
    """Whether workers get an object's attributes as the driver has them."""
    try:
        for name in vars(thing) if hasattr(thing, "__dict__") else ():
            attribute(thing, name)
    except (AttributeError, DeclineSignal):
        return False
    return True


def _instance(a: Analysis, s: AnalysisState, thing: object, place: AllocationSite) -> Value:
    """An instance that exists before the call, with its attributes."""
    if place not in s.heap:
        number = a.class_number(type(thing))
        s.heap[place] = Items("instance", None, None, (), more=True, of=number)
        known = []
        for name, value in _attributes(thing).items():
            known.append((name, of_object(a, s, value, f"{type(thing).__name__}.{name}")))
        element = join_all(v for _, v in known)
        s.heap[place] = Items("instance", element, None, tuple(known), of=number)
    return Ref(frozenset((place,)))


def _attributes(thing: object) -> Mapping[str, object]:
    cls = type(thing)
    if isinstance(thing, Enum):
        return {"value": thing._value_, "name": thing._name_}
    if isinstance(thing, tuple):
        return dict(zip(cls._fields, thing, strict=True))  # type: ignore[attr-defined]
    names = _SCHEMAS[cls.__name__] if _is_schema(cls) else vars(thing)
    return {name: inspect.getattr_static(thing, name) for name in names}


def _is_frame(thing: object) -> TypeGuard[pd.DataFrame]:
    """Whether an object is a DataFrame whose column names are distinct texts."""
    if "pandas" not in sys.modules:
        return False
    import pandas as pd

    if type(thing) is not pd.DataFrame:
        return False
    return thing.columns.is_unique and all(type(n) is str for n in thing.columns)


def _table(s: AnalysisState, frame: pd.DataFrame, place: AllocationSite) -> Value:
    """A DataFrame that exists before the call. Its columns are known, but not its rows."""
    columns = tuple(
        (str(n), AbstractColumn(memory=part_of(place, at), rows=place, name=str(n)))
        for at, n in enumerate(frame.columns)
    )
    s.heap.setdefault(place, Table(columns, place))
    return Ref(frozenset((place,)), table=True)


def _of_dict(constants: dict[object, object]) -> Items:
    """A dict of constants; its values are kept by name if all names are texts."""
    values = {n: AbstractScalar(constant=v, fixed=True) for n, v in constants.items()}
    named = tuple((n, v) for n, v in values.items() if type(n) is str)
    by_name = len(named) == len(values) <= _MANY
    return Items("dict", join_all(values.values()), None, named if by_name else None)


def _of_function(a: Analysis, function: FunctionType) -> Value:
    path = f"{function.__module__}.{function.__qualname__}"
    if _is_known(function.__module__) and _is_importable(path, function):
        return Library(path)
    try:
        at = open_owner(a, function, generator=inspect.isgeneratorfunction(function))
    except DeclineSignal as signal:
        if signal.declined.code.startswith("impure"):
            a.changed_outside = True
            a.effect("state", signal.declined.reason, a.stack[-1].node)
        return OpaqueValue()
    return Function(a.owners[at].source.node, at, -1)


def _is_known(module: object) -> bool:
    package = package_of(str(module))
    return package in COMPUTING or of_function(f"{package}.x") != of_function("?.x")


def _is_importable(path: str, thing: object) -> bool:
    """Whether the object is what its package has under this path, where workers import it."""
    parts = path.split(".")
    for size in range(len(parts) - 1, 0, -1):
        module = sys.modules.get(".".join(parts[:size]))
        if module is not None:
            at: object = module
            for part in parts[size:]:
                at = getattr(at, part, None)
            return at is thing
    return False


def _is_package_function(thing: object) -> bool:
    """Whether an object is callable and of a numpy class, as ufuncs are, or a function of texts in
    the standard library that remembers its results.
    """
    if type(thing) is functools._lru_cache_wrapper:
        return str(getattr(thing, "__module__", "")) == "urllib.parse"
    return callable(thing) and type(thing).__module__.partition(".")[0] == "numpy"


def _of_class(a: Analysis, callee: object) -> Value:
    module = str(getattr(callee, "__module__", None) or type(callee).__module__)
    name = str(getattr(callee, "__qualname__", getattr(callee, "__name__", "?")))
    if isinstance(callee, type) and not _is_known(module):
        return OpaqueValue(frozenset((a.outside_place(callee),)))
    return Library(f"{'builtins' if module == 'None' else module}.{name}")


def _packages_in(thing: object) -> frozenset[str] | None:
    """The packages whose objects a value may be, or may hold if it is a Python container."""
    if type(thing) not in _CONTAINERS:
        return _packages_of(thing)
    todo, count, packages = [thing], 0, DATA
    while todo:
        item, count = todo.pop(), count + 1
        if count > _MOST:
            return None
        if isinstance(item, _CONTAINERS) and type(item) in _CONTAINERS:
            todo += [*item, *(item.values() if isinstance(item, dict) else ())]
        elif item is not None and type(item) not in _CONSTANTS:
            item_packages = _packages_of(item)
            if item_packages is None:
                return None
            packages |= item_packages
    return packages


_MOST = 10_000
"""How many items of containers are inspected."""
_CONTAINERS = (list, tuple, set, frozenset, dict)


def _packages_of(thing: object) -> frozenset[str] | None:
    if thing is None or type(thing) in _CONSTANTS:
        return DATA
    if type(thing).__module__ == "pyspark.core.broadcast" or type(thing).__name__ == "Broadcast":
        return DATA | {"numpy", "pandas"}
    if issubclass(type(thing), collections.defaultdict | collections.ChainMap):
        return None  # an item that is looked up may be made, and stays
    package = package_of(type(thing).__module__)
    return frozenset((package,)) if package in COMPUTING or package in MESSAGES else None
