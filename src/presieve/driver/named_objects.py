"""Trusted. Objects by their names: ``module:f``, or ``f`` of the program's own file."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType

from presieve.errors import UsageError, meant

MAIN = "__main__"


def named(name: str, home: str = MAIN) -> object:
    """The object of that name; ``home`` is the module of names without one. :class:`UsageError`
    where there is none.
    """
    module, _, inner = name.rpartition(":")
    found = _imported(module) if module else sys.modules[home]
    file = getattr(found, "__file__", None)
    return inside(module or str(file or home), found, inner)


def inside(where: str, holder: object, name: str) -> object:
    """What is called so in an object, as in ``Outer.Inner``; ``where`` is the object's own name."""
    for part in name.split("."):
        try:
            holder = getattr(holder, part)
        except AttributeError:
            offer = meant(part, _defined(holder, every=True)) or _offer(holder)
            raise UsageError(f"{where}: there is no {name!r} in it{offer}") from None
    return holder


def _imported(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError as error:
        raise UsageError(f"{name}: there is no such module ({error})") from None
    except (TypeError, ValueError):  # a relative name, or an empty one
        raise UsageError(f"{name}: not the name of a module; write MODULE:FUNCTION") from None


def _defined(holder: object, *, every: bool = False) -> list[str]:
    """The functions and classes that were defined there; those that it imported, too."""
    home = getattr(holder, "__name__", "")
    return [
        name
        for name, value in getattr(holder, "__dict__", {}).items()
        if callable(value)
        and name[0] != "_"
        and (every or getattr(value, "__module__", "") == home)
    ]


def _offer(holder: object) -> str:
    """The functions and classes that were defined there, as a remedy."""
    names = _defined(holder)
    return f"; it has {', '.join(names[:8])}" if names else ""
