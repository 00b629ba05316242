# SPDX-License-Identifier: Apache-2.0
"""Trusted. Facts about the session and the data that lifting uses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from presieve.dataflow.libraries import Effects
from presieve.lift.forms import Pure
from presieve.lift.values.ranges import Extent, Interval
from presieve.plan.algebra import Attribute
from presieve.semantics.values import MOST_ROWS


class PlanSetting(Struct, frozen=True):
    """Facts that hold for all functions of a plan: the session's time zone, the functions that they
    call and that need not be read, what becomes of calls of unknown code, whether Arrow converts
    integers ``safely`` (``spark.sql.execution.pandas.convertToArrowArraySafely``), whether the
    clocks of the workers are known to show UTC, and facts about the input: its maximum number of
    rows, and the ranges of integer columns, by attribute.
    """

    timezone: str
    pure: tuple[Pure, ...] = ()
    effects: Effects = "auto"
    safely: bool = True
    workers_show_utc: bool = False
    rows: int = MOST_ROWS
    values: Mapping[int, Interval] = field(default_factory=dict)

    def extent(self, inputs: Iterable[Attribute]) -> Extent:
        """Return the number of rows and the ranges of these columns, by name. What is written for a
        group is for one with rows, also where there is none.
        """
        values = {a.name: self.values[a.id] for a in inputs if a.id in self.values}
        return Extent(max(self.rows, 1), values)
