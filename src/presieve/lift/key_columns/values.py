"""Trusted. What is known of values over a group's table: which hold its key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Frame:
    """A table: each of the columns ``held``, if it is there, has a key column's value in each row.

    ``whole``: it has all rows of its group, and so at least one.
    """

    held: frozenset[tuple[str, str]]
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Key:
    """The tuple of a group's key."""


@dataclass(frozen=True, slots=True)
class Held:
    """The value of this key column; ``many``: a Series of it, or a list of one such value."""

    key: str
    many: bool = False


@dataclass(frozen=True, slots=True)
class Flat:
    """A scalar other than None, or something of one dimension with such in it."""

    scalar: bool = False


@dataclass(frozen=True, slots=True)
class Window:
    """A Series to be reduced row by row."""


@dataclass(frozen=True, slots=True)
class Other:
    """Anything."""


TableValue: TypeAlias = Frame | Key | Held | Flat | Window | Other


Env: TypeAlias = dict[str, TableValue]
