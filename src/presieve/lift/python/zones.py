# SPDX-License-Identifier: Apache-2.0
"""Trusted. Time zones with a constant offset: there, local times and instants correspond one to
one.

In any other zone two instants share a local time when clocks are put back, so the value that Python
sees does not determine the value that SQL compares.
"""

from __future__ import annotations

import re

from msgspec import Struct

from presieve.errors import DeclineSignal

_UTC = frozenset({"UTC", "Etc/UTC", "GMT", "Etc/GMT", "Z", "Etc/UCT", "UCT", "Zulu", "Etc/Zulu"})
_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{2}):(\d{2})", re.ASCII)
_ETC = re.compile(r"Etc/GMT([+-])(\d{1,2})", re.ASCII)


class Zone(Struct, frozen=True):
    """The session's time zone, by name."""

    name: str

    def fixed(self) -> int | None:
        """Return how many microseconds local time is ahead of UTC; None if that may change."""
        minutes = _minutes(self.name)
        return None if minutes is None else minutes * 60_000_000

    def check(self, column: str) -> None:
        """Decline ``timestamp-zone`` for a column of instants if the zone changes its clocks."""
        if self.fixed() is None:
            raise DeclineSignal(
                "timestamp-zone",
                f"column {column} is a timestamp, and in the session time zone {self.name} two "
                "instants can have one local time: cast it to timestamp_ntz below the function, or "
                "use a session time zone with a fixed offset, such as UTC",
            )


def _minutes(name: str) -> int | None:
    if name in _UTC:
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
