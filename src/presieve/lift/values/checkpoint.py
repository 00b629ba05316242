# SPDX-License-Identifier: Apache-2.0
"""Trusted. Records that can be rolled back when an attempt is given up."""

from __future__ import annotations

from typing import Any, ClassVar, TypeAlias

Checkpoint: TypeAlias = tuple[object, ...]


class Restorable:
    """A dataclass that can be rolled back: the values of its fields are immutable."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Any]]

    def checkpoint(self) -> Checkpoint:
        """Return the current values of the fields."""
        return tuple(getattr(self, name) for name in self.__dataclass_fields__)

    def rollback(self, saved: Checkpoint) -> None:
        """Restore the saved values of the fields."""
        for name, value in zip(self.__dataclass_fields__, saved, strict=True):
            setattr(self, name, value)
