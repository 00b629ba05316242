# SPDX-License-Identifier: Apache-2.0
"""Untrusted. The contents of a report on one DataFrame: the data behind text, HTML and JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from presieve.errors import Declined, Span
from presieve.ir.pushdown import ResidualStrength, Strength
from presieve.records import replace
from presieve.report.remarks import CompiledFunction, ConjunctFate, Reach, Remark, Remedy
from presieve.report.row_order import Order
from presieve.report.source.changes import SourceChange
from presieve.report.source.listing import Listing
from presieve.report.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from presieve.backend.catalyst.peers import PeerOrder
    from presieve.backend.statistics.metrics import Measurement
    from presieve.backend.statistics.scan_contracts import ScanContract
    from presieve.backend.statistics.sizes import Size


def _conjunction(*conditions: str) -> str:
    """Join conditions in SQL."""
    if len(conditions) < 2:
        return "".join(conditions) or "true"
    return " AND ".join(f"({c})" if " OR " in c and c[:1] != "(" else c for c in conditions)


class BoundaryReport(Struct, frozen=True):
    """One place where a filter stands above a UDF or an aggregate.

    Attributes:
        operator: Spark's operator.
        function: The function or the aggregate.
        kind: ``"exact"``, ``"split"``, ``"partial"``, ``"empty"`` or ``"none"``.
        where: The parts of the filter above that the pushdown is about, in Spark SQL; the whole
            filter if nothing is pushed. ``conjuncts`` has all parts.
        prefilter: The filter below the function; ``"true"`` keeps all rows.
        residual: The filter that replaces these parts above the function.
        invariant: The relation between the run over all rows and the run over those that pass.
        strength: ``"optimal"``, ``"regions"`` or ``"universe"``; empty if nothing is proved.
        residual_strength: Whether every conjunct of the residual is ``"needed"``, as tables show;
            empty if the plan has a different residual than the proof.
        assumptions: The assumptions of the proof without evidence.
        declined: Why nothing was pushed, with code, reason and place.
        seconds: The whole time for this boundary.
        solver_calls: Questions to the solver.
        pushed_to_scan: The filters that reach the file scan, as Spark prints them.
        estimated_selectivity: The share of rows that the pre-filter keeps; None if unknown.
        source: The function's source, if it is read.
        span: The place of the function.
        discharged: The assumptions of the proof with evidence, which ``by`` names.
        order: Whether the result depends on the order of rows; None if that was not decided.
        decision: Whether the pushdown pays, and why.
        listings: The functions, or the code around the places that were declined.
        conjuncts: The outcome of each conjunct of the filter.
        sentences: The invariant in words.
        reaches: For each conjunct of the pre-filter, whether it reaches the scan.
        remedies: A remedy for each assumption.
        trace: The steps of the search, if ``report.trace`` was called.
        columns: How many columns a function of tables reads, and how many there are; None if
            unknown.
        keys: The result columns of a function of tables that hold a grouping column.
        compiled: The expression that runs in place of the function; None if the function runs.
        not_compiled: Why the function runs in Python; empty if it does not.
        stays: Why the whole filter stays, although a weaker one would do; empty if it does not.
        changes: Changes of the job's source that do by hand what is proved or advised.
        rows: How many rows the plan as written hands to the function, counted in the footers of
            files; None if that is not certain.
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
    columns: tuple[int, int] | None = None
    keys: tuple[str, ...] = ()
    compiled: CompiledFunction | None = None
    not_compiled: str = ""
    stays: str = ""
    changes: tuple[SourceChange, ...] = ()
    rows: int | None = None

    @property
    def apart(self) -> tuple[str, ...]:
        """The conjuncts that stay above, beside those that the pushdown is about."""
        if self.kind == "none":
            return ()
        return tuple(c.text for c in self.conjuncts if c.fate == "stays" and c.why)

    @property
    def written(self) -> str:
        """The filter above, with all of its conjuncts that Spark does not move itself."""
        return _conjunction(self.where, *self.apart)

    @property
    def remaining(self) -> str:
        """What is left of the filter above: the residual, and the conjuncts that do not move."""
        return _conjunction(*(() if self.residual == "true" else (self.residual,)), *self.apart)


@dataclass(frozen=True, slots=True)
class DerivedReport:
    """One place where files are read or rows are made, and the filter that is derived for them.

    Attributes:
        source: The table or the files, or the functions of an operator.
        where: The condition that Spark evaluates above this place, in Spark SQL. It stays.
        derived: The implied filter of comparisons with constants; empty if none is added.
        skipped: The share of rows in row groups that it skips; None if unknown.
        declined: Why no filter is added.
        assumptions: What else the derived filter may change.
        operator: Spark's operator whose rows these are; empty for files. The filter stands above
            it, so a separate proof may move it below.
        certificates: For each condition, why the filter follows: plain data for ``json``, which
            ``presieve check`` checks again. Not part of the report's own JSON.
    """

    source: str
    where: str
    derived: str = ""
    skipped: float | None = None
    declined: tuple[Declined, ...] = ()
    assumptions: tuple[dict[str, str], ...] = ()
    operator: str = ""
    certificates: tuple[Mapping[str, object], ...] = field(default=(), repr=False)

    @property
    def place(self) -> str:
        """The operator or the files that the rows come from."""
        return f"{self.operator} {self.source}".strip() if self.operator else f"Files {self.source}"


class FunctionReport(Struct, frozen=True):
    """The facts about a Python function of the plan, whether or not a filter meets it. The
    attributes from ``columns`` to ``effects`` are for functions of tables, by dataflow analysis.

    Attributes:
        operator: Spark's operator.
        function: The function.
        form: Its inputs and its result.
        span: The place of its source; None if unknown.
        columns: How many input columns it reads, and how many there are; None if unknown.
        read: The names of the columns that it reads, including grouping columns.
        pruned: Whether the other columns are no longer read.
        keys: The result columns that hold a grouping column in every row.
        passes: The result columns that hold an input column's value of their row.
        effects: Its effects besides computing its result.
        notes: The limits of these answers, and their places.
        declined: Why no column is left out, with code, reason and place.
        assumptions: What else may change if columns are left out or an expression runs.
        compiled: What runs in place of the function; None if the function runs.
        not_compiled: Why the function runs in Python, with code, reason and place.
    """

    operator: str
    function: str
    form: str = ""
    span: Span | None = None
    columns: tuple[int, int] | None = None
    read: tuple[str, ...] = ()
    pruned: bool = False
    keys: tuple[str, ...] = ()
    passes: tuple[str, ...] = ()
    effects: tuple[Remark, ...] = ()
    notes: tuple[Remark, ...] = ()
    declined: tuple[Declined, ...] = ()
    assumptions: tuple[dict[str, str], ...] = ()
    compiled: CompiledFunction | None = None
    not_compiled: tuple[Declined, ...] = ()


@dataclass(frozen=True, slots=True)
class Measured:
    """One run of the DataFrame as written and one as optimized.

    Attributes:
        written: ``seconds``, ``rows`` of the result, and what Spark
            read, shuffled and sent to Python.
        optimized: The same for the optimized run.
        optimize: Seconds that ``optimize`` took before, with checks of the data.
    """

    written: Measurement
    optimized: Measurement
    optimize: float = 0.0

    @property
    def total(self) -> float:
        """Seconds of ``optimize`` and of the optimized run."""
        return self.optimize + self.optimized.seconds


@dataclass(frozen=True, slots=True)
class ReportData:
    """All boundaries of one plan, and its Python functions. ``plan_before`` and ``plan_after``
    are Spark's plan trees, and ``plan_filtered`` that with the filters moved and no function
    replaced, if it is neither of the two; ``sizes`` are those of the scans whose files are visible;
    ``measured`` is None until a measurement. ``searches`` repeat the search for each boundary and
    return its trace; None for boundaries that were not searched. ``declined``: why the plan was not
    read.
    ``scans`` are those of the plan as rewritten. ``taken_back`` lists the passes that were taken
    back because Spark would have made something worse of them; ``left_alone`` says of other
    operators that call functions below filters why no filter moves past them; ``peer_orders`` lists
    places where a different order of rows may show, for rows whose order Spark does not promise.
    ``optimizing`` are the seconds of ``optimize``, which are all ``seconds`` but those that only a
    report takes; ``checking`` and ``compiling`` are the parts of it in which data were checked, and
    functions replaced by expressions of Spark.
    """

    boundaries: tuple[BoundaryReport, ...]
    changed: bool
    seconds: float
    plan_before: str = ""
    plan_after: str = ""
    sizes: tuple[Size, ...] = ()
    measured: Measured | None = None
    searches: tuple[Callable[[], Trace] | None, ...] = field(default=(), repr=False, compare=False)
    functions: tuple[FunctionReport, ...] = ()
    declined: Declined | None = None
    derived: tuple[DerivedReport, ...] = ()
    scans: tuple[ScanContract, ...] = ()
    taken_back: tuple[Declined, ...] = ()
    peer_orders: tuple[PeerOrder, ...] = ()
    left_alone: tuple[Declined, ...] = ()
    plan_filtered: str = ""
    optimizing: float = 0.0
    checking: float = 0.0
    compiling: float = 0.0

    def trace_lines(self, index: int) -> ReportData:
        """Add the trace of one boundary, by a new search unless the trace exists already."""
        boundary = self.boundaries[index]
        search = self.searches[index] if index < len(self.searches) else None
        if boundary.trace is not None or search is None:
            return self
        traced = replace(boundary, trace=search())
        boundaries = (*self.boundaries[:index], traced, *self.boundaries[index + 1 :])
        return replace(self, boundaries=boundaries)
