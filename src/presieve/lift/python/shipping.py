# SPDX-License-Identifier: Apache-2.0
"""Trusted. How Spark ships a Python object to its workers: by value, or by its name.

Source, pyspark 4.3.0: its own copy of cloudpickle, ``_should_pickle_by_reference``,
``_class_reduce``, ``Pickler._function_reduce`` and ``_module_reduce``.

A worker imports an object that goes by its name again, from the source of its module: it sees
nothing that the driver has changed since its own import. An object that goes by value is as it was
when it was pickled, with the globals that it names, its cells and its defaults; any of these that
has a name goes by that name.

Modules that the user has registered to go by value are not treated differently. An object that came
from one by value is no longer the module's own object once it is loaded again; and an object that
still is may have come with a function that goes by its name, whatever is registered.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from types import FunctionType, ModuleType

from msgspec import Struct

_LIBRARIES = {*sys.stdlib_module_names, "numpy", "pandas", "pyspark", "pyarrow"} - {"__main__"}

_OURS = ("presieve", "presieve.aggregator")


class Path(Struct, frozen=True):
    """The module that a worker imports, and the names that lead from it to the object."""

    module: str
    names: tuple[str, ...]

    def __str__(self) -> str:
        return ".".join((self.module, *self.names))


def path_of(obj: object) -> Path | None:
    """Return where a worker looks for an object that goes by its name; None if it goes by value."""
    for kind, find in _KINDS:
        if isinstance(obj, kind):
            return find(obj)
    return None


def is_own_module(name: str | None) -> bool:
    """Return whether a module is neither Python's own nor one of the known libraries."""
    return (name or "").partition(".")[0] not in _LIBRARIES and name not in _OURS


def is_named_tuple(cls: type) -> bool:
    """Return whether a class is one of named tuples."""
    return issubclass(cls, tuple) and hasattr(cls, "_fields")


def is_generated(function: object) -> bool:
    """Return whether Python generated the function, for a dataclass or a named tuple."""
    code = getattr(function, "__code__", None)
    generated_files = ("<string>", "<namedtuple", "namedtuple_")
    return code is not None and code.co_filename.startswith(generated_files)


def home_of(namespace: Mapping[str, object]) -> ModuleType | None:
    """Return the module whose globals these are, if workers import it again. A function that was
    pickled by value has globals of its own, wherever it was written.
    """
    name = namespace.get("__name__")
    module = sys.modules.get(name) if isinstance(name, str) else None
    if not isinstance(module, ModuleType) or vars(module) is not namespace:
        return None
    return module if _is_imported(module.__name__) and _is_imported(str(name)) else None


def _named_path(obj: object) -> Path | None:
    """Return the path of a function or class that its module holds under its own name.

    Cloudpickle compares the object itself, so the function under a class method goes by value if it
    goes alone. With its class it goes by name, and this is assumed here.
    """
    name = getattr(obj, "__qualname__", None)
    if not isinstance(name, str):
        return None
    module = getattr(obj, "__module__", None)
    # If an object does not name its module, any module that holds it is taken.
    modules = [module] if isinstance(module, str) else [m for m in sys.modules if is_own_module(m)]
    names = tuple(name.split("."))
    holds = (m for m in modules if _is_imported(m) and _holds(sys.modules[m], names, obj))
    return next((Path(m, names) for m in holds), None)


def _holds(owner: object, names: tuple[str, ...], obj: object) -> bool:
    for part in names:
        try:
            owner = inspect.getattr_static(owner, part)
        except AttributeError:
            return False
    return under(owner) is obj


def under(member: object) -> object:
    """Return the function of a static or class method; everything else as it is."""
    return member.__func__ if isinstance(member, staticmethod | classmethod) else member


def _module(obj: object) -> Path | None:
    assert isinstance(obj, ModuleType)
    return Path(obj.__name__, ()) if _is_imported(obj.__name__) else None


_KINDS: tuple[tuple[type, Callable[[object], Path | None]], ...] = (
    (FunctionType, _named_path),
    (type, _named_path),
    (ModuleType, _module),
)
"""The kinds of objects that may go by their name. Everything else goes by value, together with its
class and everything that it holds; a bound method holds its function and its object.
"""


def _is_imported(module: str) -> bool:
    return module != "__main__" and module in sys.modules
