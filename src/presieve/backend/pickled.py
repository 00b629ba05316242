"""Trusted. What a pickled function or class holds, as it was when it was pickled.

Source, pyspark 4.3.0: ``cloudpickle._make_skeleton_class``, ``_lookup_class_or_track`` and
``_class_setstate``. A class that goes by value is loaded into the very class that the driver has,
if it is still there, and changes it. Here it is made anew: nothing of the user's is changed.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from types import FunctionType
from typing import Any

from pyspark.cloudpickle import cloudpickle

from presieve.errors import DeclineSignal
from presieve.lift.shipping import Path, is_own_module, path_of

_MAKERS = ("_make_skeleton_class", "_make_skeleton_enum", "_make_typevar")
"""Functions of cloudpickle's that look for the object in the driver."""


def loads(data: bytes) -> object:
    """The object. Raises what unpickling raises, and declines ``by-reference`` where a name leads
    to another object now than it did when it was pickled.
    """
    return _Loader(io.BytesIO(data)).load()


def snapshot(obj: object) -> object:
    """The object as it goes to the workers now: what is changed of it later is not seen. Raises
    what pickling raises, and :class:`DeclineSignal` as :func:`loads`.
    """
    return loads(cloudpickle.dumps(obj))  # type: ignore[no-untyped-call]


class _Loader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        found: object = super().find_class(module, name)
        if module == cloudpickle.__name__ and name in _MAKERS:
            return _untracked(found)
        if isinstance(found, FunctionType | type) and is_own_module(module):
            if path_of(found) != Path(module, tuple(name.split("."))):
                reason = f"workers import {module} again, and {module}.{name} is another object now"
                raise DeclineSignal("by-reference", reason)
        return found


def _untracked(make: Any) -> Callable[..., object]:
    """The same, told that nobody keeps track of the object."""
    arguments = make.__code__.co_varnames[: make.__code__.co_argcount]
    place = arguments.index("class_tracker_id")

    def made(*given: object) -> object:
        found: object = make(*given[:place], None, *given[place + 1 :])
        return found

    return made
