# SPDX-License-Identifier: Apache-2.0
"""Trusted. Names that Python itself adds to a class, by its version or when it is used."""

from __future__ import annotations

ADDED_BY_PYTHON = frozenset(
    (
        *("__module__", "__qualname__", "__doc__", "__dict__", "__weakref__", "__annotations__"),
        *("__orig_bases__", "__parameters__", "__type_params__", "__annotations_cache__"),
        *("__static_attributes__", "__firstlineno__", "__annotate__", "__annotate_func__"),
        "__slotnames__",
    )
)
"""Of every class. The last one appears when an instance is pickled for the first time."""
