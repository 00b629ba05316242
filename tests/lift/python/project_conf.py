"""A module of settings, which workers import."""

from __future__ import annotations

import os
from enum import Enum

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
