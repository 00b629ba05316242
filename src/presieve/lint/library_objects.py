# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Objects of libraries that only compute: imported, but never Spark and never the job's
own modules.
"""

from __future__ import annotations

import collections
import dataclasses
import datetime as dt
import decimal
import functools
import importlib
import inspect
import logging
import os
import re
import sys
import zoneinfo
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import ModuleType

from presieve.dataflow.libraries import COMPUTING
from presieve.lift.python.bindings import UndecidedSignal

NO_OBJECT = object()
"""The value of a name that nothing binds."""

_ACTING = frozenset(("antigravity", "idlelib", "this", "tkinter", "turtle", "turtledemo", "test"))
"""Modules of Python that do something when they are imported."""
_READ = (sys.stdlib_module_names | COMPUTING.keys() | {"presieve"}) - _ACTING - {"__main__"}

_CONSTRUCTORS: tuple[object, ...] = (
    *(re.compile, dt.timedelta, dt.date, dt.datetime, dt.time, decimal.Decimal, zoneinfo.ZoneInfo),
    *(functools.partial, collections.namedtuple, dataclasses.dataclass, dataclasses.field),
)
"""Functions and classes without an effect whose result depends on their arguments alone."""


def is_library(name: str) -> bool:
    """Return whether a module is one of those that are imported."""
    return name.partition(".")[0] in _READ


def import_library(name: str) -> ModuleType:
    """Import a module of Python, or of a library that only computes.

    Raises :class:`UndecidedSignal` for other modules, and for those that are not installed.
    """
    if not is_library(name):
        raise UndecidedSignal(f"it comes from {name}, which is not imported without a run")
    try:
        with _without_folder():
            return importlib.import_module(name)
    except ImportError as error:
        raise UndecidedSignal(f"{name} is not installed here") from error


@contextmanager
def _without_folder() -> Iterator[None]:
    """Leave out the working folder: a file in it may have the name of a library."""
    before = list(sys.path)
    folder = os.path.realpath(os.getcwd())
    sys.path[:] = [p for p in before if p and os.path.realpath(p) != folder]
    try:
        yield
    finally:
        sys.path[:] = before


def member_of(owner: object, name: str, *, strict: bool = False) -> object:
    """Return a member of a module or class without running code; ``NO_OBJECT`` if it has none.

    Raises :class:`UndecidedSignal` for another owner, and with ``strict`` if there is no member.
    """
    member: object = NO_OBJECT
    if isinstance(owner, ModuleType):
        member = getattr(owner, name, NO_OBJECT)
        if member is NO_OBJECT and hasattr(owner, "__path__"):
            member = _submodule(f"{owner.__name__}.{name}")
    elif isinstance(owner, type):
        member = inspect.getattr_static(owner, name, NO_OBJECT)
        member = member.__func__ if isinstance(member, staticmethod) else member
    else:
        raise UndecidedSignal(f"only a run tells what its {name} is")
    if strict and member is NO_OBJECT:
        raise UndecidedSignal(f"{getattr(owner, '__name__', owner)} has no {name}")
    return member


def _submodule(name: str) -> object:
    try:
        return import_library(name)
    except UndecidedSignal:
        return NO_OBJECT


def call_library(called: object, values: Sequence[object], named: Mapping[str, object]) -> object:
    """Call one of a few functions without an effect; ``NO_OBJECT`` for others.

    Raises :class:`UndecidedSignal` if the call fails.
    """
    if called is logging.getLogger:
        return logging.getLogger("presieve.lint")
    if not any(called is c for c in _CONSTRUCTORS) or not callable(called):
        return NO_OBJECT
    try:
        return called(*values, **named)
    except (TypeError, ValueError, ArithmeticError, re.error, zoneinfo.ZoneInfoNotFoundError) as e:
        raise UndecidedSignal(f"its call fails: {e}") from e


def make_dataclass(decorator: object, cls: type) -> bool:
    """Make a data class of a class whose body was read; return whether the decorator does that.

    Raises :class:`UndecidedSignal` if Python refuses.
    """
    generated = getattr(decorator, "__qualname__", "") == "dataclass.<locals>.wrap"
    if decorator is not dataclasses.dataclass and not generated:
        return False
    assert callable(decorator)
    try:
        decorator(cls)
    except (TypeError, ValueError, AttributeError) as error:
        raise UndecidedSignal(f"{cls.__name__} is no data class here: {error}") from error
    return True


def make_record(called: object, values: Sequence[object], named: Mapping[str, object]) -> object:
    """Return an object of a data class whose methods of construction are generated; ``NO_OBJECT``
    for others.
    """
    if not isinstance(called, type) or not dataclasses.is_dataclass(called):
        return NO_OBJECT
    own = [n for n in ("__post_init__", "__new__", "__setattr__") if _is_own(called, n)]
    if own or not called.__init__.__code__.co_filename.startswith("<"):
        return NO_OBJECT
    try:
        return called(*values, **named)
    except TypeError as error:
        raise UndecidedSignal(f"its call fails: {error}") from error


def _is_own(cls: type, name: str) -> bool:
    """Return whether a method comes from the source, and not from Python."""
    code = getattr(inspect.getattr_static(cls, name, None), "__code__", None)
    return code is not None and not code.co_filename.startswith("<")
