"""Untrusted. What a report says of one DataFrame: the data behind text, HTML and JSON."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from presieve.errors import Declined, Span
from presieve.ir.pushdown import ResidualStrength, Strength
from presieve.report.order import Order
from presieve.report.parts import Compiled, ConjunctFate, Reach, Remark, Remedy
from presieve.report.source.listing import Listing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from presieve.backend.catalyst.peers import PeerOrder
    from presieve.backend.statistics.metrics import Measurement
    from presieve.backend.statistics.scan_contracts import ScanContract
    from presieve.backend.statistics.sizes import Size
    from presieve.report.trace import Trace


@dataclass(frozen=True, slots=True)
class BoundaryReport:
    """One place where a filter stands above a UDF or an aggregate.

    Attributes:
        operator: Spark's operator.
        function: The function or the aggregate.
        kind: ``"exact"``, ``"split"``, ``"partial"``, ``"empty"`` or ``"none"``.
        where: The filter as written, in Spark SQL.
        prefilter: The filter below the function; ``"true"`` keeps all rows.
        residual: What replaces the filter above the function.
        invariant: What relates the run over all rows to the run over those that pass.
        strength: ``"optimal"``, ``"regions"`` or ``"universe"``; empty if nothing is proved.
        residual_strength: Whether every conjunct of the residual is ``"needed"``, as tables show;
            empty where the plan has another residual than the proof.
        assumptions: What the proof rests on without evidence.
        declined: Why nothing was pushed, with code, reason and place.
        seconds: The whole time for this boundary.
        solver_calls: Questions to the solver.
        pushed_to_scan: The filters that reach the file scan, as Spark prints them.
        estimated_selectivity: The share of rows that the pre-filter keeps; None if unknown.
        source: The function's source, if it is read.
        span: Its place.
        discharged: What the proof rests on with evidence, which is in ``by``.
        order: Whether the result depends on the order of rows; None if that was not decided.
        decision: Whether the pushdown pays, and why.
        listings: The functions, or the code around the places that were declined.
        conjuncts: The outcome of each conjunct of the filter.
        sentences: The invariant in words.
        reaches: For each conjunct of the pre-filter, whether it reaches the scan.
        remedies: What to do about each assumption.
        trace: The steps of the search, if ``report.trace`` was called.
        columns: How many columns a function of tables reads, and of how many; None if unknown.
        keys: The result columns of a function of tables that hold a grouping column.
        compiled: What runs in place of the function; None if the function runs.
        not_compiled: Why the function runs in Python; empty if it does not.
        stays: Why the whole filter stays, although less of it would do; empty if it does not.
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
    compiled: Compiled | None = None
    not_compiled: str = ""
    stays: str = ""


@dataclass(frozen=True, slots=True)
class DerivedReport:
    """One place where files are read, or rows made, and the filter that is derived for them.

    Attributes:
        source: The table or the files, or the functions of an operator.
        where: The condition that Spark evaluates above that, in Spark SQL. It stays.
        derived: The filter that follows, of comparisons with constants; empty if none is added.
        skipped: The share of rows in row groups that it skips; None if unknown.
        declined: Why no filter is added.
        assumptions: What the derived filter may change besides.
        operator: Spark's operator whose rows these are; empty for files. The filter stands on it,
            so that it may go below by a proof of its own.
        certificates: Of each condition, why the filter follows: plain data for ``json``, which
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
        """What the rows are those of."""
        return f"{self.operator} {self.source}".strip() if self.operator else f"Files {self.source}"


@dataclass(frozen=True, slots=True)
class FunctionReport:
    """What holds of a Python function of the plan, whether or not a filter meets it. All but the
    first three is said of functions of tables, by dataflow analysis.

    Attributes:
        operator: Spark's operator.
        function: The function.
        form: What it takes and gives.
        span: Where its text is; None if unknown.
        columns: How many of its input columns it reads, and of how many; None if unknown.
        read: The names of the columns that it reads, grouping columns among them.
        pruned: Whether the other columns are no longer read.
        keys: The result columns that hold a grouping column in every row.
        passes: The result columns that hold an input column's value of their row.
        effects: What the function does besides computing its result.
        notes: What limits these answers, and where.
        declined: Why no column is left out, with code, reason and place.
        assumptions: What leaving out columns, or running an expression, may change besides.
        compiled: What runs in its place; None if the function runs.
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
    compiled: Compiled | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """One run of the DataFrame as written and one as optimized.

    Attributes:
        written: ``seconds``, ``rows`` of the result, and what Spark
            read, shuffled and sent to Python.
        optimized: The same.
    """

    written: Measurement
    optimized: Measurement


@dataclass(frozen=True, slots=True)
class ReportData:
    """All boundaries of one plan, and its Python functions. ``plan_before`` and ``plan_after``
    are Spark's plan trees; ``sizes`` are those of the scans whose files can be seen; ``measured``
    is None until somebody measures. ``searches`` search each of the boundaries once more and tell
    of it; None for those of which nothing was searched. ``declined``: why the plan was not read.
    ``scans`` are those of the plan as rewritten. ``taken_back`` says which passes are, as Spark
    would have made something worse of them; ``peer_orders`` say where another order of rows that
    Spark promises no order of may show.
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

    def traced(self, index: int) -> ReportData:
        """With the trace of one boundary, searched again unless it is there already."""
        boundary = self.boundaries[index]
        search = self.searches[index] if index < len(self.searches) else None
        if boundary.trace is not None or search is None:
            return self
        traced = replace(boundary, trace=search())
        boundaries = (*self.boundaries[:index], traced, *self.boundaries[index + 1 :])
        return replace(self, boundaries=boundaries)
