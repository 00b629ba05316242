# SPDX-License-Identifier: Apache-2.0
"""Untrusted. The obstacles behind the one at which the lifter stops.

The lifter reads the function again with a hole where it stopped, and then stops at the next
obstacle. A hole may have any value. What is met only because of one is passed over as well, and is
no obstacle of its own: it may vanish with the obstacle before.
"""

from __future__ import annotations

from collections.abc import Callable

from presieve.errors import Declined, DeclineSignal, PresieveError
from presieve.lift.values.holes import Holes, Place, Trail

MOST = 4
"""The most obstacles that are looked for behind one."""

_ROUNDS = 24
"""The most times that a function is read again."""

_UNEXPECTED = (
    *(PresieveError, AssertionError, AttributeError, LookupError, TypeError, ValueError),
    *(ArithmeticError, RecursionError),
)
"""What may be raised where a hole is met, but a value of a certain kind is expected."""


def obstacles(
    read: Callable[[Holes], object], tell: Callable[[DeclineSignal], Declined]
) -> tuple[Declined, ...]:
    """Return the obstacles in the order in which the lifter meets them, the first one included.
    ``read`` reads the function with holes, ``tell`` gives the reason of a signal.
    """
    holes, listed = Holes(), dict[tuple[str, str, int], Declined]()
    for _ in range(_ROUNDS):
        signal = _signal_of(read, holes)
        if signal is None or not isinstance(signal.trail, Trail):
            break
        trail, declined = signal.trail, tell(signal)
        is_first = not holes.places
        if is_first or (trail.places[0] not in holes.places and not trail.follows):
            listed.setdefault(line_of(declined), declined)
        next_place = _next_place(trail, holes)
        if next_place is None or len(listed) > MOST:
            break
        holes.places.add(next_place)
    return tuple(listed.values())


def _signal_of(read: Callable[[Holes], object], holes: Holes) -> DeclineSignal | None:
    """Return where the lifter stops; None if it does not, or if it cannot go on with the holes."""
    holes.forks = False
    try:
        read(holes)
    except DeclineSignal as signal:
        return signal
    except _UNEXPECTED:
        return None
    return None


def _next_place(trail: Trail, holes: Holes) -> Place | None:
    """Return the innermost place that is not passed over yet."""
    return next((p for p in trail.places if p not in holes.places), None)


def line_of(declined: Declined) -> tuple[str, str, int]:
    """Return the code, the file and the line."""
    file, line = ("", 0) if declined.span is None else (declined.span.file, declined.span.line)
    return declined.code, file, line
