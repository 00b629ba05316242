# SPDX-License-Identifier: Apache-2.0
"""Trusted. The interface of passes: what a pass is run on, and what it returns."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct

from presieve.backend.gateway import Gateway
from presieve.backend.open_plan import Opened, OpenSite, Reading
from presieve.driver.options import Options
from presieve.driver.stages.decisions import Decision
from presieve.errors import Declined
from presieve.report import progress

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

LEAST = 0.1
"""Minimum seconds for a boundary, even after the budget: small problems need less."""

PREFILTERS = "pre-filters"
"""The name of the pass of pre-filters. If it is off, proofs are searched, but no edit is made."""
REMOVAL = "the removal of filters"
"""The part of that pass that removes or weakens filters above a boundary."""

D = TypeVar("D", bound=Decision[object])


class Optimization(Struct, frozen=True):
    """One optimization of the ``written`` DataFrame, which began at ``started``
    (``time.perf_counter``).
    """

    written: DataFrame
    options: Options
    reading: Reading
    started: float

    @property
    def seconds_left(self) -> float:
        """The rest of the budget, at least :data:`LEAST`."""
        return max(self.started + self.options.budget - time.perf_counter(), LEAST)

    def show_progress(self, site: OpenSite) -> AbstractContextManager[None]:
        """Show progress to a waiting user."""
        return progress.indicator(site.function or site.operator, self.started, self.options.budget)


@dataclass(slots=True)
class Spent:
    """Seconds of one job, all runs of its passes together: those of ``checking`` data, and of
    ``compiling`` functions, that is, replacing them by expressions of Spark.
    """

    checking: float = 0.0
    compiling: float = 0.0


class PassResult(Struct, frozen=True):
    """The resulting DataFrame, the input DataFrame itself if nothing changes, and the decisions.

    ``opened`` is the plan, if the pass opened it. ``notes`` say why operators are left alone.
    """

    df: DataFrame
    decisions: tuple[Decision[object], ...] = ()
    opened: Opened | None = None
    notes: tuple[Declined, ...] = ()


@dataclass(slots=True)
class PlanState:
    """The plan between two passes, or after all of them.

    ``gateway`` are the interfaces of Spark that all passes share. The passes and parts of passes in
    ``off`` are left out, with the reason. ``df`` is the current DataFrame; in the end it is the
    written one if nothing changes. ``opened`` is the plan that was opened last, ``first`` the one
    that was opened first, which is the plan of ``start``. ``results`` are those of the passes so
    far, and ``steps`` the DataFrames of those that changed the plan. ``examined`` are the sites
    that were examined for pre-filters. ``spent`` counts the seconds of the whole job.
    """

    job: Optimization
    gateway: Gateway
    off: dict[str, Declined]
    df: DataFrame
    spent: Spent
    start: DataFrame = field(init=False)
    first: Opened = field(init=False)
    opened: Opened = field(init=False)
    results: dict[Pass, PassResult] = field(default_factory=dict)
    steps: list[tuple[Pass, DataFrame]] = field(default_factory=list)
    examined: list[OpenSite] = field(default_factory=list)

    @property
    def options(self) -> Options:
        """The options of the job."""
        return self.job.options

    @property
    def is_changed(self) -> bool:
        """Whether the plan differs from the one that was opened first."""
        return self.df is not self.start

    @property
    def taken_back(self) -> tuple[Declined, ...]:
        """Why passes are left out."""
        return tuple(why for name, why in self.off.items() if name != REMOVAL)

    def select(self, kind: type[D]) -> tuple[D, ...]:
        """Return the decisions of one kind."""
        every = (d for result in self.results.values() for d in result.decisions)
        return tuple(d for d in every if isinstance(d, kind))

    @property
    def notes(self) -> tuple[Declined, ...]:
        """Why operators below filters are left alone, each reason once."""
        every = (note for result in self.results.values() for note in result.notes)
        return tuple(dict.fromkeys([*self.first.notes, *every]))

    def record(self, pass_: Pass, result: PassResult) -> None:
        """Go on with the result of a pass."""
        if result.df is not self.df:
            self.steps.append((pass_, result.df))
        self.df, self.results[pass_] = result.df, result
        if result.opened is not None:
            self.opened = result.opened


class Pass(Struct, frozen=True):
    """A pass, by its name for people; ``run`` declines if nothing can be done with the plan.

    ``reported`` says that people want its decisions even if nothing may be changed.
    """

    name: str
    run: Callable[[PlanState], PassResult | Declined]
    reported: bool = False
