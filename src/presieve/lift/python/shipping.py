"""Trusted. How Spark ships an object of Python's to its workers: by value, or by its name.

Source, pyspark 4.3.0: its own copy of cloudpickle, ``_should_pickle_by_reference``,
``_class_reduce``, ``Pickler._function_reduce`` and ``_module_reduce``.

What goes by its name is imported again by a worker, from the source of its module: nothing that a
driver has changed since its own import is seen there. What goes by value is as it was when it was
pickled, with the globals that it names, its cells and its defaults; whatever of these has a name
goes by that.

A module that the user has registered to go by value is not told apart. What came from it by value
is no longer the module's own object once it is loaded again; and what is, may have come with a
function that goes by its name, whatever is registered.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import FunctionType, ModuleType

_LIBRARIES = {*sys.stdlib_module_names, "numpy", "pandas", "pyspark", "pyarrow"} - {"__main__"}

_OURS = ("presieve", "presieve.aggregator")


@dataclass(frozen=True, slots=True)
class Path:
    """The module that a worker imports, and the names that lead from it to the object."""

    module: str
    names: tuple[str, ...]

    def __str__(self) -> str:
        return ".".join((self.module, *self.names))


def path_of(obj: object) -> Path | None:
    """Where a worker looks for an object that goes by its name; None where it goes by value."""
    for kind, find in _KINDS:
        if isinstance(obj, kind):
            return find(obj)
    return None


def is_own_module(name: str | None) -> bool:
    """Whether a module is none of Python's own and none of the libraries around."""
    return (name or "").partition(".")[0] not in _LIBRARIES and name not in _OURS


def is_generated(function: object) -> bool:
    """Whether Python has written the function, for a dataclass or a named tuple."""
    code = getattr(function, "__code__", None)
    written = ("<string>", "<namedtuple", "namedtuple_")
    return code is not None and code.co_filename.startswith(written)


def home_of(namespace: Mapping[str, object]) -> ModuleType | None:
    """The module whose globals these are, if workers import it again. A function that was pickled
    by value has globals of its own, wherever it was written.
    """
    name = namespace.get("__name__")
    found = sys.modules.get(name) if isinstance(name, str) else None
    if not isinstance(found, ModuleType) or vars(found) is not namespace:
        return None
    return found if _is_imported(found.__name__) and _is_imported(str(name)) else None


def _named(obj: object) -> Path | None:
    """The path of a function or class that its module holds under its own name.

    Cloudpickle asks for the object itself there, so that the function under a class method goes
    by value if it goes alone. With its class it goes by name, which is taken to be the case here.
    """
    name = getattr(obj, "__qualname__", None)
    if not isinstance(name, str):
        return None
    module = getattr(obj, "__module__", None)
    # Of an object that does not say its module, any that holds it is taken.
    modules = [module] if isinstance(module, str) else [m for m in sys.modules if is_own_module(m)]
    names = tuple(name.split("."))
    holds = (m for m in modules if _is_imported(m) and _holds(sys.modules[m], names, obj))
    return next((Path(m, names) for m in holds), None)


def _holds(found: object, names: tuple[str, ...], obj: object) -> bool:
    for part in names:
        try:
            found = inspect.getattr_static(found, part)
        except AttributeError:
            return False
    return under(found) is obj


def under(found: object) -> object:
    """The function of a static or class method; everything else as it is."""
    return found.__func__ if isinstance(found, staticmethod | classmethod) else found


def _module(obj: object) -> Path | None:
    assert isinstance(obj, ModuleType)
    return Path(obj.__name__, ()) if _is_imported(obj.__name__) else None


_KINDS: tuple[tuple[type, Callable[[object], Path | None]], ...] = (
    (FunctionType, _named),
    (type, _named),
    (ModuleType, _module),
)
"""What may go by its name. Everything else goes by value, that is with the class that it is of and
all that it holds; of bound methods these are the function and the object.
"""


def _is_imported(module: str) -> bool:
    return module != "__main__" and module in sys.modules
