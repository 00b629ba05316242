"""Untrusted. The few sentences that text and page share."""

from __future__ import annotations

from presieve.ir.pushdown import ResidualStrength
from presieve.report.model import BoundaryReport, Measured, ReportData

KINDS = {
    "exact": "The pre-filter does all of the filter's work; nothing is left to check above.",
    "split": "Rows are filtered below, and a weaker filter is left above.",
    "partial": "Rows are filtered below, and the filter stays as it is above.",
    "empty": "The filter can never hold, so the result is empty.",
    "none": "Nothing was moved.",
}
"""What each kind of pushdown means."""


RESIDUAL_STRENGTHS: dict[ResidualStrength, str] = {
    "needed": "every conjunct is needed, as a table shows for each",
    "unshown": "not every conjunct is shown to be needed",
}
"""What is known of the conjuncts that a residual consists of."""
WITH_RESIDUAL = ("split", "partial")
"""The kinds whose residual has any."""


def summary(data: ReportData) -> str:
    """One sentence about the whole plan."""
    found = len(data.boundaries)
    if found == 0:
        return "No filter meets a Python UDF in this plan; it is left as it is."
    moved = sum(b.kind != "none" for b in data.boundaries)
    places = "place" if found == 1 else "places"
    state = "The plan is rewritten." if data.changed else "The plan is left as it is."
    return f"{found} {places} where a filter meets a UDF, {moved} with a proven pre-filter. {state}"


def line(boundary: BoundaryReport, changed: bool) -> str:
    """One line about a boundary, where there is no room for a report: what was pushed, or why
    nothing was. ``changed``: whether the plan is another one there.
    """
    name = f"{boundary.operator} {boundary.function}".strip()
    if changed:
        listed = "; ".join(a["text"] for a in boundary.assumptions)
        told = f"; {boundary.decision}" if boundary.decision else ""
        return (
            f"{name}: {boundary.kind}; pre-filter {boundary.prefilter}; residual"
            f" {boundary.residual}; assuming {listed or 'nothing'}{told}"
        )
    reasons = "; ".join(str(d) for d in boundary.declined) or "no row can be dropped below it"
    if boundary.kind != "none":
        reasons = "what is proved of it stands there already"
    return f"{name} left as it is: {reasons}"


def scan(boundary: BoundaryReport) -> str:
    """The filters that the file scan is given, or that it is given none."""
    return ", ".join(boundary.pushed_to_scan) or "none"


def measured(found: Measured) -> str:
    """Two runs in one line: seconds, rows that came out of scans, rows of the results."""
    written, optimized = found.written, found.optimized
    share = f" ({percent(optimized.scanned / written.scanned)})" if written.scanned else ""
    rows = f"{written.rows:,} rows"
    if written.rows != optimized.rows:
        rows += f" as written and {optimized.rows:,} as optimized"
    return (
        f"as written {written.seconds:.2f} s and {written.scanned:,} rows out of scans; as"
        f" optimized {optimized.seconds:.2f} s and {optimized.scanned:,}{share}; the result has"
        f" {rows}"
    )


def percent(fraction: float) -> str:
    """A share of rows, with more digits where it is small."""
    return f"{fraction:.1%}" if fraction >= 0.01 else f"{fraction:.2%}"


def effort(boundary: BoundaryReport) -> str:
    """Time and solver calls."""
    calls = f", {boundary.solver_calls} solver calls" if boundary.solver_calls else ""
    return f"{boundary.seconds:.2f} s{calls}"
