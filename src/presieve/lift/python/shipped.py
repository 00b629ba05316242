"""Trusted. The one gate through which lifting reads Python objects from outside of a function.

What goes to the workers by value is what the driver has. What goes by its name is what the source
of its module says, and must be the same: where it is not, or where the source does not say, it is
declined (``by-reference``). It is taken that workers import the same files, and that what a module
does to another one as it is imported is seen by the driver, too.

Cells, attributes of an object and items of containers go by value, whatever holds them; what they
hold comes here when it is read itself. A function that goes by its name has no cells.
"""

from __future__ import annotations

import builtins
import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import FunctionType, ModuleType

from presieve.errors import DeclineSignal, Span
from presieve.lift.python.bindings import UndecidedSignal
from presieve.lift.python.classes import check_class, check_member, check_path, check_state
from presieve.lift.python.imported import MISSING, check_name, scope_of
from presieve.lift.python.shipping import home_of, is_own_module, path_of
from presieve.lift.python.source import Source, written

BY_REFERENCE = "by-reference"
"""The code with which the gate declines."""


def global_of(namespace: Mapping[str, object], name: str, *, read: bool = True) -> object:
    """What a global name of a function means, builtins included. Declines ``unknown-name`` where
    it is not defined. ``read``: false where only the function itself is in question, as it is
    called by its name, and not what it does.
    """
    found = namespace.get(name, MISSING)
    home = home_of(namespace)
    if home is not None and not _open.get():
        with _telling(home.__name__, name):
            check_name(scope_of(home), name, found, read=read)
    if found is MISSING:
        found = vars(builtins).get(name, MISSING)
    if found is MISSING:
        raise DeclineSignal("unknown-name", f"{name} is not defined")
    return found


def member_of(module: ModuleType, name: str) -> object | None:
    """A function by the module that has it, not to be read; None where there is none. Declines
    where workers may have another one there.
    """
    found = vars(module).get(name)
    if is_own_module(module.__name__) and isinstance(found, FunctionType) and not _open.get():
        with _telling(module.__name__, name):
            check_name(scope_of(module), name, found, read=False)
    return found


def function_source(function: FunctionType, *, generator: bool = False) -> Source:
    """The function's syntax tree, if it is that of what workers run; its defaults can be read then.
    Declines as :func:`presieve.lift.python.source.written`.
    """
    source = written(function, generator=generator)
    path = path_of(function)
    if path is not None and not _open.get():
        code = function.__code__
        place = Span(code.co_filename, code.co_firstlineno)
        with _telling(path.module, ".".join(path.names), place):
            check_path(path, function)
    return source


def attribute(owner: object, name: str, default: object = MISSING) -> object:
    """``owner.name`` of a class or object, found without running anything. AttributeError where
    there is none, and no default.
    """
    cls = owner if isinstance(owner, type) else type(owner)
    if not _open.get():
        with _telling(cls.__module__, f"{cls.__name__}.{name}"):
            _check_attribute(owner, cls, name)
    if default is MISSING:
        return inspect.getattr_static(owner, name)
    return inspect.getattr_static(owner, name, default)


def checked_class(cls: type) -> type:
    """The class, if workers have one of the same bases, names and special methods."""
    if not _open.get():
        with _telling(cls.__module__, cls.__qualname__):
            for c in cls.__mro__:
                check_class(c)
    return cls


def is_plain_error(cls: object) -> bool:
    """Whether it is a class of errors, and making one does nothing of its own."""
    if type(cls) is not type or not issubclass(cls, BaseException):
        return False
    own = [c for c in checked_class(cls).__mro__ if c.__module__ != "builtins"]
    if any(c.__module__.partition(".")[0] == "pyspark" for c in own):
        return False  # some of them say something to Spark
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
def opened() -> Iterator[None]:
    """Everything is read as the driver has it: to find out what else declines, for nothing else."""
    token = _open.set(True)
    try:
        yield
    finally:
        _open.reset(token)


@contextmanager
def _telling(module: str, name: str, place: Span | None = None) -> Iterator[None]:
    """Puts what the source does not say into words."""
    try:
        yield
    except UndecidedSignal as signal:
        reason = f"workers import {module} again, and may find another {name} there: {signal}"
        raise DeclineSignal("by-reference", reason, place) from signal
