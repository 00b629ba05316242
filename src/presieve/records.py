# SPDX-License-Identifier: Apache-2.0
"""Trusted. Immutable records: structs of msgspec, and data classes where these will not do.

A struct is made forty times as fast as a data class, and Python makes almost 400 of them before
the first plan is read. Data classes remain where a record holds records of its own kind, because
the hash of nested structs has no limit of recursion, and where a field does not count in
comparisons or is computed once.
"""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar

from msgspec import Struct, structs

R = TypeVar("R")


def replace(record: R, /, **changes: object) -> R:
    """Return a copy of a record with other values of some fields."""
    if isinstance(record, Struct):
        return structs.replace(record, **changes)
    return dataclasses.replace(record, **changes)  # type: ignore[type-var]


def is_record(value: Any) -> bool:
    """Whether a value, or a class, is a record."""
    return isinstance(value, Struct) or _is_struct(value) or dataclasses.is_dataclass(value)


def field_names(record: Any) -> tuple[str, ...]:
    """Return the names of the fields of a record, or of a class of records."""
    if isinstance(record, Struct) or _is_struct(record):
        names: tuple[str, ...] = record.__struct_fields__
        return names
    return tuple(f.name for f in dataclasses.fields(record))


def _is_struct(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Struct)
