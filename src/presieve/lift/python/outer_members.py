# SPDX-License-Identifier: Apache-2.0
"""Trusted. Attributes of modules, classes and objects of the program, read without running code.

``conf.LIMIT``, ``settings.limit``, ``Tier.GOLD.value``, ``Status.OK``: each passes the gate of
:mod:`presieve.lift.python.shipped`.
"""

from __future__ import annotations

from enum import Enum, EnumMeta
from types import FunctionType, ModuleType

from presieve.errors import DeclineSignal
from presieve.lift.python.outer_objects import stored_value
from presieve.lift.python.shipped import attribute, enumeration_member, module_attribute
from presieve.lift.python.shipping import is_own_module

_CONTAINERS = (list, dict, set, frozenset, tuple)
_PLAIN_READS = (object.__getattribute__, tuple.__getattribute__)


def is_of_program(target: object) -> bool:
    """Return whether this is a module or class of the program, or an object of such a class."""
    if isinstance(target, ModuleType):
        return is_own_module(target.__name__)
    if isinstance(target, FunctionType):
        return False
    cls = target if isinstance(target, type) else type(target)
    return is_own_module(cls.__module__) and cls.__module__ != "builtins"


def member_of_program(owner: object, name: str) -> object | None:
    """Return an attribute, if it is a constant, a container, a class or an object of the program,
    or a function of a module; None for others. Declines if workers may find something else.
    """
    if isinstance(owner, ModuleType):
        return _of_module(owner, name)
    cls = owner if isinstance(owner, type) else type(owner)
    if isinstance(cls, EnumMeta):
        return _of_enumeration(owner, cls, name)
    if type(cls) is not type or attribute(cls, "__getattr__", None) is not None:
        return None
    if attribute(cls, "__getattribute__") not in _PLAIN_READS:
        return None
    value = stored_value(owner, attribute(owner, name, None))
    plain = type(value) in _CONTAINERS or not hasattr(type(value), "__get__")
    return value if plain else None


def _of_module(module: ModuleType, name: str) -> object | None:
    try:
        return module_attribute(module, name)
    except DeclineSignal as signal:
        if signal.declined.code != "unknown-name":
            raise
        return None


def _of_enumeration(owner: object, cls: EnumMeta, name: str) -> object | None:
    if owner is cls:
        return enumeration_member(cls, name)
    assert isinstance(owner, Enum)
    if name == "value" or name == "name":
        member = enumeration_member(cls, owner._name_)
        return None if member is not owner else {"value": owner._value_, "name": owner._name_}[name]
    return None
