"""Untrusted. The public report on one DataFrame."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from presieve.backend.statistics.scan_contracts import ScanContract
from presieve.errors import UsageError
from presieve.report import html, report_text
from presieve.report.report_data import (
    BoundaryReport,
    DerivedReport,
    FunctionReport,
    Measured,
    ReportData,
)
from presieve.report.trace import Trace


def boundary_json(boundary: BoundaryReport) -> dict[str, Any]:
    """A boundary as JSON types: names as in the dataclass, ``span`` as file, line and column;
    ``trace`` is included only if it was requested.
    """
    plain = asdict(replace(boundary, trace=None))
    del plain["trace"]
    if boundary.trace is not None:
        plain["trace"] = boundary.trace.to_json()
    plain["declined"] = [d.to_json() for d in boundary.declined]
    plain["assumptions"] = [dict(a) for a in boundary.assumptions]
    plain["discharged"] = [dict(d) for d in boundary.discharged]
    plain["order"] = boundary.order.to_json() if boundary.order else None
    plain["listings"] = [x.to_json() for x in boundary.listings]
    plain["conjuncts"] = [c.to_json() for c in boundary.conjuncts]
    plain["sentences"] = list(boundary.sentences)
    plain["reaches"] = [r.to_json() for r in boundary.reaches]
    plain["remedies"] = [r.to_json() for r in boundary.remedies]
    plain["pushed_to_scan"] = list(boundary.pushed_to_scan)
    plain["keys"] = list(boundary.keys)
    plain["columns"] = list(boundary.columns) if boundary.columns else None
    return plain


def function_json(function: FunctionReport) -> dict[str, Any]:
    """A Python function as JSON types."""
    plain = asdict(function)
    plain["declined"] = [d.to_json() for d in function.declined]
    plain["assumptions"] = [dict(a) for a in function.assumptions]
    plain["effects"] = [e.to_json() for e in function.effects]
    plain["notes"] = [n.to_json() for n in function.notes]
    plain["columns"] = list(function.columns) if function.columns else None
    lists = ("read", "keys", "passes")
    return {**plain, **{name: list(plain[name]) for name in lists}}


def derived_json(files: DerivedReport) -> dict[str, Any]:
    """Files and the filter that is derived for them, as JSON types."""
    plain = asdict(replace(files, certificates=()))
    del plain["certificates"]
    plain["declined"] = [d.to_json() for d in files.declined]
    plain["assumptions"] = [dict(a) for a in files.assumptions]
    return plain


def scan_json(scan: ScanContract) -> dict[str, Any]:
    """A scan as JSON types."""
    return {**asdict(scan), "offered": [asdict(o) for o in scan.offered], "notes": list(scan.notes)}


class Report:
    """What :func:`presieve.optimize` does to a DataFrame, and why it leaves the rest alone.

    Print it, show it in a notebook, or :meth:`save` it as a page.
    """

    __slots__ = ("_runs", "data")

    def __init__(self, data: ReportData, runs: Callable[[], Measured] | None = None) -> None:
        """``runs`` runs and measures both DataFrames, if they are available."""
        self.data = data
        self._runs = runs

    @property
    def boundaries(self) -> tuple[BoundaryReport, ...]:
        """One entry for each place where a filter stands above a UDF or an aggregate."""
        return self.data.boundaries

    @property
    def functions(self) -> tuple[FunctionReport, ...]:
        """One entry for each Python function of the plan, whether or not a filter meets it."""
        return self.data.functions

    @property
    def derived(self) -> tuple[DerivedReport, ...]:
        """One entry for each place where files are read, or rows made, and a filter follows that
        Spark would not push to the scan.
        """
        return self.data.derived

    @property
    def scans(self) -> tuple[ScanContract, ...]:
        """One entry for each scan of the plan as rewritten: which of its filters it evaluates, and
        which row groups they let it skip.
        """
        return self.data.scans

    @property
    def changed(self) -> bool:
        """Whether ``optimize`` rewrites anything."""
        return self.data.changed

    def measure(self) -> Measured:
        """Run the DataFrame as written and as optimized, once each, in this order.

        The report then shows both run times and, from Spark's metrics, the rows and bytes into
        shuffles, the bytes into Python, and the rows out of scans. Times vary from run to
        run; measure again to compare.

        Raises:
            PresieveError: The report has no DataFrame to run.
            Exception: Whatever the job raises.
        """
        if self._runs is None:
            raise UsageError("only a report from presieve.explain can be measured")
        measured = self._runs()
        self.data = replace(self.data, measured=measured)
        return measured

    def trace(self, index: int = 0) -> Trace:
        """Repeat the search for one boundary and return its steps; print them.

        The report shows the trace from then on.

        Args:
            index: Which boundary, counted from 0.

        Raises:
            PresieveError: There is no such boundary, or there was no search for it.
        """
        if not 0 <= index < len(self.boundaries):
            raise UsageError(f"the report has {len(self.boundaries)} boundaries, counted from 0")
        self.data = self.data.trace_lines(index)
        boundary_trace = self.boundaries[index].trace
        if boundary_trace is None:
            raise UsageError("there was no search for this boundary: see why it was declined")
        return boundary_trace

    def __str__(self) -> str:
        return report_text.render(self.data)

    def __repr__(self) -> str:
        return f"<presieve.Report: {len(self.boundaries)} boundaries, changed={self.changed}>"

    def _repr_html_(self) -> str:
        return html.notebook_fragment(self.data)

    def to_json(self) -> dict[str, Any]:
        """The report as JSON types."""
        return {
            "changed": self.changed,
            "seconds": self.data.seconds,
            "boundaries": [boundary_json(b) for b in self.boundaries],
            "functions": [function_json(f) for f in self.functions],
            "derived": [derived_json(d) for d in self.derived],
            "contract": [scan_json(s) for s in self.scans],
            "peer_orders": [asdict(p) for p in self.data.peer_orders],
            "plan_before": self.data.plan_before,
            "plan_after": self.data.plan_after,
            "scans": [{**asdict(s), "columns": list(s.columns)} for s in self.data.sizes],
            "measured": asdict(self.data.measured) if self.data.measured else None,
        }

    def save(self, path: str | Path) -> None:
        """Write a page or the data.

        Args:
            path: A file that ends in ``.html`` or ``.json``.

        Raises:
            PresieveError: The file has another suffix.
            OSError: The file cannot be written.
        """
        page = partial(html.page, "presieve report", [html.Section(self.data)])
        html.save(path, "report", page, self.to_json)
