# SPDX-License-Identifier: Apache-2.0
"""Trusted. The parts of a fold's execution."""

from __future__ import annotations

from enum import Enum


class Stage(Enum):
    """Which part of a fold is executed."""

    BEFORE = "before the loop"
    LOOP = "in the loop"
    AFTER = "after the loop"
