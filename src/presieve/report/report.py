# SPDX-License-Identifier: Apache-2.0
"""Untrusted. The public report on one DataFrame."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from presieve.backend.statistics.scan_contracts import ScanContract
from presieve.errors import UsageError
from presieve.records import replace
from presieve.report import html, report_text
from presieve.report.json_fields import FORMAT, fields_json
from presieve.report.report_data import (
    BoundaryReport,
    DerivedReport,
    FunctionReport,
    Measured,
    ReportData,
)
from presieve.report.runs.boundary_runs import runs_of, sum_up
from presieve.report.trace import Trace


def boundary_json(boundary: BoundaryReport) -> dict[str, Any]:
    """A boundary as JSON types: names as in the dataclass, ``span`` as file, line and column;
    ``trace`` is included only if it was requested.
    """
    trace = {} if boundary.trace is None else {"trace": boundary.trace.to_json()}
    return {**fields_json(boundary, "trace"), **trace}


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

        The report then shows both run times, the time of ``optimize`` and, from Spark's metrics,
        the rows and bytes into shuffles, the bytes into Python, and the rows out of scans. In its
        JSON, each boundary has ``written`` and ``run``: rows, bytes and seconds of its function,
        or None where no Python function runs. Times vary from run to run; measure again to compare.

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
            "format": FORMAT,
            "changed": self.changed,
            "seconds": self.data.seconds,
            "optimize": {
                "seconds": self.data.optimizing,
                "checking": self.data.checking,
                "compiling": self.data.compiling,
            },
            "boundaries": [{**boundary_json(b), **self._sum_up_runs(b)} for b in self.boundaries],
            "functions": [fields_json(f) for f in self.functions],
            "derived": [fields_json(d, "certificates") for d in self.derived],
            "contract": [fields_json(s) for s in self.scans],
            "left_alone": [d.to_json() for d in self.data.left_alone],
            "peer_orders": [fields_json(p) for p in self.data.peer_orders],
            "plan_before": self.data.plan_before,
            "plan_filtered": self.data.plan_filtered,
            "plan_after": self.data.plan_after,
            "scans": [fields_json(s) for s in self.data.sizes],
            "measured": fields_json(self.data.measured) if self.data.measured else None,
        }

    def _sum_up_runs(self, boundary: BoundaryReport) -> dict[str, Any]:
        """What was measured at a boundary's function, in both runs."""
        measured = self.data.measured
        if measured is None:
            return {}
        sides = {"written": measured.written, "run": measured.optimized}
        return {side: sum_up(runs_of(run.python, boundary.function)) for side, run in sides.items()}

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
