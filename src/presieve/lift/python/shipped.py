# SPDX-License-Identifier: Apache-2.0
"""Trusted. The only gate through which lifting reads Python objects from outside of a function.

An object that goes to the workers by value is as the driver has it. An object that goes by its name
is as the source of its module defines it, and must be the same: if it is not, or if the source does
not decide it, it is declined (``by-reference``). The assumptions are that workers import the same
files, and that the driver also sees what a module does to another one as it is imported.

Cells, attributes of an object and items of containers go by value, whatever holds them; the objects
in them pass this gate when they are read themselves. A function that goes by its name has no cells.
"""

from __future__ import annotations

import builtins
import inspect
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum, EnumMeta
from types import FunctionType, ModuleType
from typing import TypeGuard

from presieve.errors import DeclineSignal, Span
from presieve.lift.python.bindings import UndecidedSignal
from presieve.lift.python.classes import check_class, check_member, check_path, check_state
from presieve.lift.python.enumerations import check_enumeration_member, keeps_values
from presieve.lift.python.imported import MISSING, UndecidedObjectSignal, check_name, scope_of
from presieve.lift.python.outer_objects import check_objects
from presieve.lift.python.shipping import home_of, is_own_module, path_of
from presieve.lift.python.source import FunctionSource, parse_function

BY_REFERENCE = "by-reference"
"""The code of declines at this gate."""


def global_of(namespace: Mapping[str, object], name: str, *, read: bool = True) -> object:
    """Return the object that a global name of a function means, builtins included. Declines
    ``unknown-name`` if it is not defined. ``read``: false if only the identity of the function
    matters, because it is called by its name, and not what it does.
    """
    target = namespace.get(name, MISSING)
    home = home_of(namespace)
    if home is not None and is_own_module(home.__name__) and not _open.get():
        with _explain_decline(home.__name__, name):
            _check_global(home, name, target, read=read)
    if target is MISSING:
        target = vars(builtins).get(name, MISSING)
    if target is MISSING:
        raise DeclineSignal("unknown-name", f"{name} is not defined")
    return target


def _check_global(home: ModuleType, name: str, target: object, *, read: bool) -> None:
    try:
        check_name(scope_of(home), name, target, read=read)
    except UndecidedObjectSignal as undecided:
        if undecided.bound is not target:
            raise
        check_objects(undecided)


def module_attribute(module: ModuleType, name: str) -> object:
    """Return what a module of the program holds under a name. Declines ``unknown-name`` if it holds
    nothing.
    """
    target = vars(module).get(name, MISSING)
    if target is MISSING:
        raise DeclineSignal("unknown-name", f"{module.__name__}.{name} is not defined")
    path = f"{module.__name__}.{name}"
    if isinstance(target, ModuleType) and sys.modules.get(path) is target:
        return target  # a module of the package
    return global_of(vars(module), name)


def member_of(module: ModuleType, name: str) -> object | None:
    """Return a function of a module, which is not read; None if the module has no such name.
    Declines if workers may have another function there.
    """
    target = vars(module).get(name)
    if is_own_module(module.__name__) and isinstance(target, FunctionType) and not _open.get():
        with _explain_decline(module.__name__, name):
            check_name(scope_of(module), name, target, read=False)
    return target


def function_source(function: FunctionType, *, generator: bool = False) -> FunctionSource:
    """Return the function's syntax tree, if workers run the same code; its defaults can then be
    read. Declines as :func:`presieve.lift.python.source.parse_function`.
    """
    source = parse_function(function, generator=generator)
    path = path_of(function)
    if path is not None and not _open.get():
        code = function.__code__
        place = Span(code.co_filename, code.co_firstlineno)
        with _explain_decline(path.module, ".".join(path.names), place):
            check_path(path, function)
    return source


def attribute(owner: object, name: str, default: object = MISSING) -> object:
    """Return ``owner.name`` of a class or object without running any code. Raises AttributeError if
    there is none, and no default.
    """
    cls = owner if isinstance(owner, type) else type(owner)
    if not _open.get():
        with _explain_decline(cls.__module__, f"{cls.__name__}.{name}"):
            _check_attribute(owner, cls, name)
    if default is MISSING:
        return inspect.getattr_static(owner, name)
    return inspect.getattr_static(owner, name, default)


def enumeration_member(cls: EnumMeta, name: str) -> Enum | None:
    """Return a member of an enumeration by name; None if it is none, or if the class makes its
    members' values itself.
    """
    member = cls._member_map_.get(name)
    if member is None or not keeps_values(cls):
        return None
    if not _open.get():
        with _explain_decline(cls.__module__, f"{cls.__name__}.{name}"):
            check_enumeration_member(cls, member)
    return member


def checked_class(cls: type) -> type:
    """Return the class, if workers have one with the same bases, names and special methods."""
    if not _open.get():
        with _explain_decline(cls.__module__, cls.__qualname__):
            for c in cls.__mro__:
                check_class(c)
    return cls


def is_plain_error(cls: object) -> TypeGuard[type[BaseException]]:
    """Return whether this is an exception class whose construction runs no code of its own."""
    if type(cls) is not type or not issubclass(cls, BaseException):
        return False
    own = [c for c in checked_class(cls).__mro__ if c.__module__ != "builtins"]
    if any(c.__module__.partition(".")[0] == "pyspark" for c in own):
        return False  # some of them have a meaning for Spark
    return not any({"__init__", "__new__", "__init_subclass__"} & set(vars(c)) for c in own)


def _check_attribute(owner: object, cls: type, name: str) -> None:
    if cls is not owner:
        check_state(cls)
    for c in cls.__mro__:
        check_member(c, name)
        if name in vars(c):
            return


_open: ContextVar[bool] = ContextVar("_open", default=False)


@contextmanager
def read_as_on_driver() -> Iterator[None]:
    """Read everything as the driver has it; only to find out what else declines."""
    token = _open.set(True)
    try:
        yield
    finally:
        _open.reset(token)


@contextmanager
def _explain_decline(module: str, name: str, place: Span | None = None) -> Iterator[None]:
    """Turn an undecided binding into a decline with a reason."""
    try:
        yield
    except UndecidedSignal as signal:
        reason = f"workers import {module} again, and may find another {name} there: {signal}"
        raise DeclineSignal("by-reference", reason, place) from signal
