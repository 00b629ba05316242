# SPDX-License-Identifier: Apache-2.0
"""Trusted. Load a pickled function or class with the contents that it had when it was pickled.

Source, pyspark 4.3.0: ``cloudpickle._make_skeleton_class``, ``_lookup_class_or_track`` and
``_class_setstate``. A class that is pickled by value is loaded into the very class that the driver
has, if it still exists, and changes it. Here the class is made anew: no class of the user is
changed.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import FunctionType, MappingProxyType
from typing import Any

from pyspark.cloudpickle import cloudpickle, dumps

try:
    from pyspark.core.broadcast import Broadcast, _from_id
except ImportError:  # before 4.0
    from pyspark.broadcast import Broadcast, _from_id  # type: ignore[import-not-found,no-redef]

from presieve.errors import DeclineSignal
from presieve.lift.python.shipping import Path, is_own_module, path_of

NO_BROADCASTS: Mapping[int, str] = MappingProxyType({})
_MAKERS = ("_make_skeleton_class", "_make_skeleton_enum", "_make_typevar")
"""Functions of cloudpickle that look for the object in the driver."""


def loads(data: bytes, broadcasts: Mapping[int, str] = NO_BROADCASTS) -> object:
    """Load the object. ``broadcasts`` are the files of the broadcast variables that it refers to,
    by number. Raises what unpickling raises, and declines ``by-reference`` if a name leads to
    another object than when it was pickled.
    """
    loader = _Loader(io.BytesIO(data), broadcasts)
    loaded: object = loader.load()
    states = _states.get()
    for cls, tracker in loader.classes if states is not None else ():
        assert states is not None
        if states.setdefault(tracker, state := _state(cls, loader.classes)) != state:
            reason = f"{cls.__name__} is sent in two states, of which a worker keeps the last"
            raise DeclineSignal("by-reference", reason)
    return loaded


@contextmanager
def together() -> Iterator[None]:
    """Load everything in this context as one worker does: a class that is pickled by value becomes
    one class there, with the attributes that it had when it was pickled last. Loading declines
    ``by-reference`` if it had other attributes before.
    """
    token = _states.set({})
    try:
        yield
    finally:
        _states.reset(token)


_states: ContextVar[dict[str, bytes] | None] = ContextVar("_states", default=None)


def _state(cls: type, classes: list[tuple[type, str]]) -> bytes:
    """Return a text of all contents of the class; equal contents give equal texts."""
    text: bytes = dumps(cls)  # type: ignore[no-untyped-call]
    for sent_class, tracker in classes:
        number = cloudpickle._get_or_create_tracker_id(sent_class)  # type: ignore[no-untyped-call]
        text = text.replace(number.encode(), tracker.encode())
    return text


class _Loader(pickle.Unpickler):
    """``classes`` are the classes that were pickled by value, with cloudpickle's number of each.

    Broadcast variables are loaded from the files that workers get (``pyspark/core/broadcast.py``),
    whatever the driver has done to their values since.
    """

    def __init__(self, file: io.BytesIO, broadcasts: Mapping[int, str]) -> None:
        super().__init__(file)
        self.classes: list[tuple[type, str]] = []
        self.broadcasts = broadcasts

    def find_class(self, module: str, name: str) -> Any:
        global_object: object = super().find_class(module, name)
        if global_object is _from_id:
            return lambda number: Broadcast(path=self.broadcasts[number])
        if module == cloudpickle.__name__ and name in _MAKERS:
            return self._without_tracking(global_object)
        if isinstance(global_object, FunctionType | type) and is_own_module(module):
            if path_of(global_object) != Path(module, tuple(name.split("."))):
                reason = f"workers import {module} again, and {module}.{name} is another object now"
                raise DeclineSignal("by-reference", reason)
        return global_object

    def _without_tracking(self, make: Any) -> Callable[..., object]:
        """Wrap a maker of cloudpickle so that nobody keeps track of the object."""
        arguments = make.__code__.co_varnames[: make.__code__.co_argcount]
        place = arguments.index("class_tracker_id")

        def make_untracked(*values: object) -> object:
            new_object: object = make(*values[:place], None, *values[place + 1 :])
            if isinstance(new_object, type):
                self.classes.append((new_object, str(values[place])))
            return new_object

        return make_untracked
