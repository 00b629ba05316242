# SPDX-License-Identifier: Apache-2.0
"""Trusted. Time zones with a constant offset: there, local times and instants correspond one to
one.

In any other zone two instants share a local time when clocks are put back, so the value that Python
sees does not determine the value that SQL compares.
"""

from __future__ import annotations

from msgspec import Struct

from presieve.errors import DeclineSignal
from presieve.semantics.fixed_offsets import fixed_offset


class Zone(Struct, frozen=True):
    """The session's time zone, by name."""

    name: str

    def fixed_offset(self) -> int | None:
        """Return how many microseconds local time is ahead of UTC; None if that may change."""
        return fixed_offset(self.name)

    def check(self, column: str) -> None:
        """Decline ``timestamp-zone`` for a column of instants if the zone changes its clocks."""
        if self.fixed_offset() is None:
            raise DeclineSignal(
                "timestamp-zone",
                f"column {column} is a timestamp, and in the session time zone {self.name} two "
                "instants can have one local time: cast it to timestamp_ntz below the function, or "
                "use a session time zone with a fixed offset, such as UTC",
            )
