"""Trusted. Records that go back to what they were when something is tried and given up."""

from __future__ import annotations

from typing import Any, ClassVar, TypeAlias

Checkpoint: TypeAlias = tuple[object, ...]


class Restorable:
    """A dataclass of which every field goes back: its values are immutable, and replaced."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Any]]

    def checkpoint(self) -> Checkpoint:
        """What it holds now."""
        return tuple(getattr(self, name) for name in self.__dataclass_fields__)

    def rollback(self, saved: Checkpoint) -> None:
        """Hold again what it held then."""
        for name, value in zip(self.__dataclass_fields__, saved, strict=True):
            setattr(self, name, value)
