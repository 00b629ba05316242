# SPDX-License-Identifier: Apache-2.0
"""Trusted. Classes of the program whose objects are records: named tuples, dataclasses, and plain
classes, whose special methods are those that Python generates, or ``__init__``.
"""

from __future__ import annotations

import dataclasses
import inspect
from types import MemberDescriptorType
from typing import Literal

from presieve.lift.python.outer_objects import static_attribute
from presieve.lift.python.shipped import checked_class
from presieve.lift.python.shipping import is_generated, is_own_module
from presieve.python_library.class_names import ADDED_BY_PYTHON

Kind = Literal["tuple", "dataclass", "plain"]

_ANY = ADDED_BY_PYTHON | {"__repr__", "__str__", "__slots__", "__match_args__", "__replace__"}
_OBJECT = _ANY | {"__init__", "__eq__", "__hash__", "__lt__", "__le__", "__gt__", "__ge__"}
_DATACLASS = {"__dataclass_fields__", "__dataclass_params__", "__setattr__", "__delattr__"}
_DATACLASS |= _OBJECT | {"__getstate__", "__setstate__"}
_TUPLE = _ANY | {"__new__", "__getnewargs__"}


def kind_of(cls: object) -> Kind | None:
    """Return how objects of a user's class behave; None if the class is not supported."""
    if type(cls) is not type or cls.__module__ == "builtins":
        return None
    special = {n for n in vars(cls) if n.startswith("__") and n.endswith("__")}
    if cls.__bases__ == (tuple,):
        named = hasattr(checked_class(cls), "_fields") and is_generated(cls.__new__)
        return "tuple" if named and special <= _TUPLE else None
    data = "__dataclass_fields__" in special
    plain = cls.__bases__ == (object,)
    # A dataclass has its own fields and those of its base, which must be a dataclass, too.
    based = data and len(cls.__bases__) == 1 and kind_of(cls.__bases__[0]) == "dataclass"
    if not (plain or based) or not is_own_module(cls.__module__):
        return None
    checked_class(cls)
    if data:
        is_standard = special <= _DATACLASS and is_generated(vars(cls).get("__init__"))
        is_standard = is_standard and not hasattr(cls, "__post_init__") and _has_plain_fields(cls)
        return "dataclass" if is_standard else None
    return "plain" if special <= _OBJECT else None


def _has_plain_fields(cls: type) -> bool:
    """Return whether no property or other descriptor, except a slot, takes a field's place."""
    names = (f.name for f in dataclasses.fields(cls))
    attributes = (inspect.getattr_static(cls, n, None) for n in names)
    return all(isinstance(x, MemberDescriptorType) or not hasattr(x, "__get__") for x in attributes)


def fields_of(record: object) -> dict[str, object] | None:
    """Return the fields of a named tuple or a dataclass by name; None for other objects."""
    cls = type(record)
    match kind_of(cls):
        case "tuple":
            names = tuple(getattr(cls, "_fields", ()))
        case "dataclass":
            names = tuple(getattr(cls, "__dataclass_fields__", ()))
        case _:
            return None
    try:
        return {name: static_attribute(record, name) for name in names}
    except AttributeError:
        return None
