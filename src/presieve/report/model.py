"""Untrusted. What is told to a person about one DataFrame: the data behind text, HTML and JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from presieve.errors import Declined, Span
from presieve.ir.pushdown import ResidualStrength
from presieve.report.conjuncts import Conjunct
from presieve.report.listing import Listing
from presieve.report.order import Order

if TYPE_CHECKING:
    from presieve.backend.measured import Run
    from presieve.backend.sizes import Size


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
    in words.
    """

    operator: str
    function: str
    kind: str
    where: str
    prefilter: str
    residual: str
    invariant: str = ""
    strength: str = ""
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
    conjuncts: tuple[Conjunct, ...] = ()
    sentences: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Measured:
    """One run of the DataFrame as it is written, and one of what ``optimize`` makes of it."""

    written: Run
    optimized: Run


@dataclass(frozen=True, slots=True)
class ReportData:
    """All boundaries of one plan. ``plan_before`` and ``plan_after`` are Spark's plan trees;
    ``sizes`` are those of the scans whose files can be seen; ``measured`` is None until somebody
    measures.
    """

    boundaries: tuple[BoundaryReport, ...]
    changed: bool
    seconds: float
    plan_before: str = ""
    plan_after: str = ""
    sizes: tuple[Size, ...] = ()
    measured: Measured | None = None
