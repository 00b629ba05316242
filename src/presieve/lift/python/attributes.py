# SPDX-License-Identifier: Apache-2.0
"""Trusted. Constants of a class: ``self.threshold`` from ``__init__`` or the class body."""

from __future__ import annotations

from types import FunctionType

from presieve.errors import DeclineSignal
from presieve.lift.python.names import as_constant
from presieve.lift.python.shipped import attribute
from presieve.lift.python.zones import Zone
from presieve.lift.values.symbolic import Known, Value


def instance_constant(owner: object, name: str, zone: Zone) -> Value:
    """Return the constant ``owner.name``, read without running any code of the class. Containers
    are constants as well, because every change of them is declined.

    ``owner`` is an instance, or the class itself if it needs no ``__init__``. Declines
    ``unsupported-constant`` for properties, methods and other objects.
    """
    cls = owner if isinstance(owner, type) else type(owner)
    computes = attribute(cls, "__getattribute__")
    if computes is not object.__getattribute__:
        raise DeclineSignal("unsupported-constant", f"{cls.__name__} computes its attributes")
    try:
        attribute_value = attribute(owner, name)
    except AttributeError:
        raise DeclineSignal("unknown-name", f"self.{name} is not defined") from None
    value = as_constant(attribute_value, f"self.{name}", zone)
    if isinstance(value, Known) and type(value.target) not in (list, dict, set, frozenset):
        raise DeclineSignal(
            "unsupported-constant", f"self.{name} is not a number, string, date or container"
        )
    return value


def needs_init(cls: type) -> bool:
    """Return whether building the class runs an ``__init__`` or ``__new__`` of its own."""
    init, new = attribute(cls, "__init__"), attribute(cls, "__new__")
    return isinstance(init, FunctionType) or not is_builtin_new(new)


def is_builtin_new(new: object) -> bool:
    """Return whether this ``__new__`` is Python's own."""
    return new is object.__new__ or getattr(new, "__func__", None) is object.__new__
