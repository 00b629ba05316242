"""A module of settings, which workers import."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from enum import Enum
from typing import ClassVar, NamedTuple

LIMIT = 100.0
WORDS = ["a", "b"]
FROM_ENVIRONMENT = float(os.environ.get("NOT_THERE", "1"))
CHANGED = 1.0


class Tier(Enum):
    GOLD = "gold"
    OTHER = "other"


class Status:
    OK = "ok"
    CHANGED = "x"


@dataclass
class Settings:
    limit: float
    words: tuple[str, ...] = ("a", "b")
    extra: dict[str, float] = field(default_factory=dict)


class Bounds(NamedTuple):
    low: float
    limit: float = 100.0


class Defaults:
    limit = 100.0


class Chosen:
    def __init__(self, limit: float, most: int = 3) -> None:
        self.limit = limit
        self.most: int = most
        self.unit = 1.0


SETTINGS = Settings(limit=100.0)
BOUNDS = Bounds(0.0)
DEFAULTS = Defaults()
CHOSEN = Chosen(100.0)


@dataclass
class Doubled:
    limit: float

    def __post_init__(self) -> None:
        self.limit = 2 * self.limit


@dataclass
class Raised:
    limit: float

    def lift(self) -> None:
        self.limit = 100.0


class Counted:
    made = 99.0

    def __init__(self) -> None:
        Counted.made = Counted.made + 1
        self.limit = Counted.made


@dataclass
class Listed:
    limit: float


@dataclass(frozen=True)
class Computed:
    limit: float = field(default_factory=lambda: float(os.environ.get("NOT_THERE", "100")))


class Watched:
    reads: ClassVar[list[str]] = []

    def __init__(self, limit: float) -> None:
        self.limit = limit

    @property
    def limit(self) -> float:
        self.reads.append("limit")
        return 100.0

    @limit.setter
    def limit(self, limit: float) -> None: ...


class Loose:
    limit = 100.0

    def __init__(*args: object) -> None: ...


WATCHED = Watched(100.0)
LOOSE = Loose()
DOUBLED = Doubled(50.0)
RAISED = Raised(50.0)
RAISED.lift()
COUNTED = Counted()
LISTED = Listed(100.0)
ALL = [LISTED]
COMPUTED = Computed()
ALTERED = Settings(limit=1.0)
