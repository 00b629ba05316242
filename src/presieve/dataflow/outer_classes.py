# SPDX-License-Identifier: Apache-2.0
"""Trusted. Which classes of the program are read: those whose instances run no other code."""

from __future__ import annotations

import collections
import dataclasses
import typing

from presieve.lift.python.shipping import is_generated, is_own_module, under
from presieve.python_library.class_names import ADDED_BY_PYTHON

_PLAIN = ADDED_BY_PYTHON | {
    *("__slots__", "__match_args__", "__dataclass_fields__", "__dataclass_params__", "__init__"),
    *("__post_init__", "__hash__", "__getnewargs__", "__replace__", "__call__"),
}
"""Special names whose presence does not matter to those who use an instance."""
_BASES = (object, tuple)


def is_small(cls: type) -> bool:
    """Whether a class of the program runs no code besides its constructor and its methods."""
    if type(cls) is not type or not is_own_module(cls.__module__):
        return False
    return all(c in _BASES or _is_plain(c) for c in cls.__mro__)


def _is_plain(cls: type) -> bool:
    if not is_own_module(cls.__module__):
        return False
    special = (n for n in vars(cls) if n.startswith("__") and n.endswith("__"))
    return all(n in _PLAIN or is_generated_member(cls, n) for n in special)


def is_generated_member(cls: type, name: str) -> bool:
    """Whether Python made a method of a class, as for dataclasses and named tuples."""
    function = under(vars(cls).get(name))
    file = getattr(getattr(function, "__code__", None), "co_filename", "")
    return is_generated(function) or file in _FILES


_FILES = (dataclasses.__file__, collections.__file__, typing.__file__)
