# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Obstacles that are passed over, so that those behind them are met.

Nothing that is lifted with holes is used: only where the lifter stops counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from msgspec import Struct

from presieve.errors import DeclineSignal, Span

_WITH_ANY_VALUES = frozenset(("impure-io", "impure-clock", "impure-global"))
"""Codes of what a function does, whatever the values are with which it does it."""


class Place(Struct, frozen=True):
    """A statement, or an expression by its kind and end."""

    span: Span
    expression: str = ""


class Trail(Struct, frozen=True):
    """Where the lifter stopped: the places from the innermost one outwards. ``follows``: maybe only
    because of a hole.
    """

    places: tuple[Place, ...]
    follows: bool


@dataclass(slots=True)
class SyntaxLevel:
    """A statement or an expression while it is executed. ``reads``: a hole plays a part in it.
    ``same``: it reads nothing that is another value for another row.
    """

    place: Place
    reads: bool = False
    same: bool = True
    forks: bool = False
    """It depends on a hole that is the same for all rows which code runs."""
    is_loop: bool = False
    """It is the loop over the rows, of which its statements are no part."""

    def join(self, inner: SyntaxLevel) -> None:
        """Add what a statement inside reads."""
        if not self.is_loop:
            self.reads, self.same = self.reads or inner.reads, self.same and inner.same


@dataclass(slots=True)
class Holes:
    """The places that are passed over, and what was passed over with them."""

    places: set[Place] = field(default_factory=set)
    columns: set[str] = field(default_factory=set)
    """Columns of tables that are assigned in such a place."""
    levels: list[SyntaxLevel] = field(default_factory=list)
    """What is being executed, from the outermost."""
    forks: bool = False
    """Somewhere it depends on a hole that is the same for all rows which code runs."""

    @contextmanager
    def level(self, place: Place, *, is_dead: bool = False) -> Iterator[SyntaxLevel]:
        """Execute something; a signal that it raises gets its trail. ``is_dead``: the code may
        never run.
        """
        level = SyntaxLevel(place)
        self.levels.append(level)
        try:
            yield level
        except DeclineSignal as signal:
            if signal.trail is None:
                places = tuple(each.place for each in reversed(self.levels))
                reads = level.reads and signal.declined.code not in _WITH_ANY_VALUES
                signal.trail = Trail(places, reads or is_dead)
            raise
        finally:
            self.levels.pop()

    @contextmanager
    def loop(self, place: Place) -> Iterator[None]:
        """Read the loop over the rows. A signal about the loop as a whole, such as one about the
        types of a variable, gets its trail: holes have no type, so it does not come from them.
        """
        level = SyntaxLevel(place, is_loop=True)
        self.levels.append(level)
        try:
            yield
        except DeclineSignal as signal:
            if signal.trail is None:
                span = signal.declined.span
                stop = place if span is None else Place(span)
                signal.trail = Trail((stop, place), self.forks or level.reads)
            raise
        finally:
            self.levels.pop()

    def fork(self) -> None:
        """Note that a hole that is the same for all rows decides which code runs."""
        self.forks = True
        for level in self.levels:
            level.forks = True
