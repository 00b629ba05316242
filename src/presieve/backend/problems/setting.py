"""Trusted. What lifting knows of the session and of the data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from presieve.lift.forms import Pure
from presieve.lift.values.ranges import Extent, Interval
from presieve.plan.algebra import Attribute
from presieve.semantics.values import MOST_ROWS


@dataclass(frozen=True, slots=True)
class Setting:
    """What holds for all functions of a plan: the session's time zone, which functions that they
    call need not be read, and what is known of the input: at most how many rows it has, and
    between which values integer columns lie, by attribute.
    """

    timezone: str
    pure: tuple[Pure, ...] = ()
    rows: int = MOST_ROWS
    values: Mapping[int, Interval] = field(default_factory=dict)

    def extent(self, inputs: Iterable[Attribute]) -> Extent:
        """What is known of these columns, by name."""
        return Extent(self.rows, {a.name: self.values[a.id] for a in inputs if a.id in self.values})
