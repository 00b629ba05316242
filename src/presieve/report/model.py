"""Untrusted. What is told to a person about one DataFrame: the data behind text, HTML and JSON."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from presieve.errors import Declined, Span
from presieve.ir.pushdown import ResidualStrength, Strength
from presieve.report.order import Order
from presieve.report.parts import ConjunctFate, Reach, Remedy
from presieve.report.source.listing import Listing

if TYPE_CHECKING:
    from collections.abc import Callable

    from presieve.backend.statistics.metrics import Measurement
    from presieve.backend.statistics.sizes import Size
    from presieve.report.trace import Trace


@dataclass(frozen=True, slots=True)
class BoundaryReport:
    """One place where a filter meets a UDF or an aggregate.

    ``where``, ``prefilter`` and ``residual`` are Spark SQL; ``seconds`` is the whole time spent on
    this boundary; ``pushed_to_scan`` are the filters that reach the file scan below it, as Spark
    prints them; ``estimated_selectivity`` is a fraction of rows, None where unknown.
    ``assumptions`` are what the proof rests on unproven; ``discharged`` is what it rests on and is
    known, with how it is known under ``by``. ``residual_strength`` says whether a table shows of
    each conjunct of the residual that it is needed; empty where nothing is pushed. ``order`` says
    whether the result depends on the order of rows; None where the function was not read, or
    nobody asked. ``decision`` says whether pushing pays, and why; empty where nothing was proved.
    ``listings`` are the functions, or what stands around the places that are in the way.
    ``conjuncts`` says what became of each conjunct of the filter; ``sentences`` are the invariant
    in words. ``reaches`` says of each conjunct of the pre-filter whether the scan is given it, and
    ``remedies`` what can be done about each of the assumptions. ``trace`` is the search
    told in order, where somebody has asked for it.
    """

    operator: str
    function: str
    kind: str
    where: str
    prefilter: str
    residual: str
    invariant: str = ""
    strength: Strength | Literal[""] = ""
    residual_strength: ResidualStrength | Literal[""] = ""
    assumptions: tuple[dict[str, str], ...] = ()
    declined: tuple[Declined, ...] = ()
    seconds: float = 0.0
    solver_calls: int = 0
    pushed_to_scan: tuple[str, ...] = ()
    estimated_selectivity: float | None = None
    source: str = ""
    span: Span | None = None
    discharged: tuple[dict[str, str], ...] = ()
    order: Order | None = None
    decision: str = ""
    listings: tuple[Listing, ...] = ()
    conjuncts: tuple[ConjunctFate, ...] = ()
    sentences: tuple[str, ...] = ()
    reaches: tuple[Reach, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    trace: Trace | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """One run of the DataFrame as it is written, and one of what ``optimize`` makes of it."""

    written: Measurement
    optimized: Measurement


@dataclass(frozen=True, slots=True)
class ReportData:
    """All boundaries of one plan. ``plan_before`` and ``plan_after`` are Spark's plan trees;
    ``sizes`` are those of the scans whose files can be seen; ``measured`` is None until somebody
    measures. ``searches`` search each of the boundaries once more and tell of it; None for those
    of which nothing was searched.
    """

    boundaries: tuple[BoundaryReport, ...]
    changed: bool
    seconds: float
    plan_before: str = ""
    plan_after: str = ""
    sizes: tuple[Size, ...] = ()
    measured: Measured | None = None
    searches: tuple[Callable[[], Trace] | None, ...] = field(default=(), repr=False, compare=False)

    def traced(self, index: int) -> ReportData:
        """With the trace of one boundary, searched again unless it is there already."""
        boundary = self.boundaries[index]
        search = self.searches[index] if index < len(self.searches) else None
        if boundary.trace is not None or search is None:
            return self
        told = replace(boundary, trace=search())
        boundaries = (*self.boundaries[:index], told, *self.boundaries[index + 1 :])
        return replace(self, boundaries=boundaries)
