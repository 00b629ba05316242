# SPDX-License-Identifier: Apache-2.0
"""Trusted. The time zones whose clocks never change, by their names in Java: there, local times and
instants correspond one to one.
"""

from __future__ import annotations

import re

UTC_NAMES = frozenset(
    {"UTC", "Etc/UTC", "GMT", "Etc/GMT", "Z", "Etc/UCT", "UCT", "Zulu", "Etc/Zulu"}
)
"""The names of UTC, which Java and POSIX read alike."""
_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{2}):(\d{2})", re.ASCII)
_ETC = re.compile(r"Etc/GMT([+-])(\d{1,2})", re.ASCII)


def fixed_offset(zone: str) -> int | None:
    """Return how many microseconds local time is ahead of UTC; None if that may change."""
    minutes = _minutes(zone)
    return None if minutes is None else minutes * 60_000_000


def _minutes(name: str) -> int | None:
    if name in UTC_NAMES:
        return 0
    if match := _OFFSET.fullmatch(name):
        size = int(match[2]) * 60 + int(match[3])
        if int(match[3]) < 60 and size <= 18 * 60:
            return size if match[1] == "+" else -size
    if match := _ETC.fullmatch(name):
        # POSIX counts westward: Etc/GMT+5 is five hours behind UTC.
        hours = int(match[2])
        if hours <= (12 if match[1] == "+" else 14):
            return -60 * hours if match[1] == "+" else 60 * hours
    return None
