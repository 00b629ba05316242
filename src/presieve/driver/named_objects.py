# SPDX-License-Identifier: Apache-2.0
"""Trusted. Objects by name: ``module:f``, or ``f`` in the program's own file."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType

from presieve.errors import UsageError, suggest_name

MAIN = "__main__"


def find_object(name: str, home: str = MAIN) -> object:
    """Return the object of that name; ``home`` is the module for names without one.

    Raises :class:`UsageError` if there is no such object.
    """
    module, _, inner = name.rpartition(":")
    holder = _import(module) if module else sys.modules[home]
    file = getattr(holder, "__file__", None)
    return inside(module or str(file or home), holder, inner)


def inside(where: str, holder: object, name: str) -> object:
    """Return the member of an object by a name such as ``Outer.Inner``.

    ``where`` is the object's own name.
    """
    for part in name.split("."):
        try:
            holder = getattr(holder, part)
        except AttributeError:
            offer = suggest_name(part, _defined_names(holder, every=True)) or _offer(holder)
            raise UsageError(f"{where}: there is no {name!r} in it{offer}") from None
    return holder


def _import(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError as error:
        raise UsageError(f"{name}: there is no such module ({error})") from None
    except (TypeError, ValueError):  # a relative name, or an empty one
        raise UsageError(f"{name}: not the name of a module; write MODULE:FUNCTION") from None


def _defined_names(holder: object, *, every: bool = False) -> list[str]:
    """Return the functions and classes defined in an object; with ``every``, imported ones too."""
    home = getattr(holder, "__name__", "")
    return [
        name
        for name, value in getattr(holder, "__dict__", {}).items()
        if callable(value)
        and name[0] != "_"
        and (every or getattr(value, "__module__", "") == home)
    ]


def _offer(holder: object) -> str:
    """List the functions and classes defined in an object, as a remedy."""
    names = _defined_names(holder)
    return f"; it has {', '.join(names[:8])}" if names else ""
