"""Untrusted. The few sentences that text and page share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from presieve.ir.pushdown import ResidualStrength, Strength
from presieve.report.model import BoundaryReport, Measured, ReportData

KINDS = {
    "exact": "The pre-filter does all of the filter's work; nothing is left to check above.",
    "split": "Rows are filtered below, and a weaker filter is left above.",
    "partial": "Rows are filtered below, and the filter stays as it is above.",
    "empty": "The filter can never hold, so the result is empty.",
    "none": "Nothing was moved.",
}
"""What each kind of pushdown means."""

STRENGTHS: dict[Strength, str] = {
    "optimal": "every row that it keeps matters in some table, so no right one keeps fewer rows",
    "regions": "every region of rows that the search tells apart is needed by some table; within a"
    " region fewer rows might do",
    "universe": "the strongest of the candidates that were tried; a stronger one may exist",
}
"""What is shown of a pre-filter."""

RESIDUAL_STRENGTHS: dict[ResidualStrength, str] = {
    "needed": "every conjunct is needed, as a table shows for each",
    "unshown": "not every conjunct is shown to be needed",
}
"""What is known of the conjuncts that a residual consists of."""
WITH_RESIDUAL = ("split", "partial")
"""The kinds whose residual has any."""


def strength(shown: Strength) -> str:
    """The word for what is shown of a pre-filter, and what it means."""
    return f"{shown}: {STRENGTHS[shown]}"


def summary(data: ReportData) -> str:
    """One sentence about the whole plan."""
    found = len(data.boundaries)
    if found == 0:
        return "No filter meets a Python UDF in this plan; it is left as it is."
    moved = sum(b.kind != "none" for b in data.boundaries)
    places = "place" if found == 1 else "places"
    state = "The plan is rewritten." if data.changed else "The plan is left as it is."
    return f"{found} {places} where a filter meets a UDF, {moved} with a proven pre-filter. {state}"


ROLES = {
    "written": "what moves has a minus",
    "residual": "the filter that takes its place",
    "function": "Python or an aggregate, which Spark does not look into",
    "prefilter": "proven; what is new has a plus",
    "stays": "nothing is moved from it",
    "scan": "where the rows come from",
}
"""What the operators are that have a part in a picture of a plan."""

SIDES = {"before": "The plan as written", "after": "As presieve rewrites it"}


def ran(data: ReportData) -> dict[str, str]:
    """The time of each measured run, in words, by the side of the picture."""
    if data.measured is None:
        return {"before": "", "after": ""}
    written, optimized = data.measured.written, data.measured.optimized
    times = written.seconds / optimized.seconds if optimized.seconds else 0.0
    faster = f", {times:.1f} times as fast" if times >= 1.05 else ""
    return {"before": f"{written.seconds:.2f} s", "after": f"{optimized.seconds:.2f} s{faster}"}


MarkedText: TypeAlias = tuple[tuple[str, bool], ...]
"""Pieces of text, and whether each is code."""


def answer(data: ReportData) -> list[MarkedText]:
    """For each function in a sentence: which rows still come to it, and what that rests on; or why
    nothing was moved. Of many functions, the first few.
    """
    texts = [_answer(b, data.changed) for b in data.boundaries[:_MAX_ANSWERS]]
    if len(data.boundaries) > _MAX_ANSWERS:
        texts.append(((f"{len(data.boundaries) - _MAX_ANSWERS} more are told below.", False),))
    return texts


_MAX_ANSWERS = 3


def _answer(b: BoundaryReport, changed: bool) -> MarkedText:
    if b.kind == "none" or not changed:
        return _unmoved(b)
    if b.kind == "empty":
        return (("The filter above ", False), (b.function, True), (" can never hold.", False))
    share = b.estimated_selectivity
    kept = f", {about(share)}" if share is not None else ""
    rests = "; ".join(a["text"] for a in b.assumptions)
    proof = f" This holds if {rests}." if rests else " This is proven and assumes nothing."
    return (
        ("Only rows with ", False),
        (b.prefilter, True),
        (" still come to ", False),
        (b.function, True),
        (f"{kept}.{proof}", False),
    )


def about(share: float) -> str:
    """An estimated share of the rows."""
    return f"about {percent(share)} of them" if share >= 0.0001 else "almost none of them"


def _unmoved(b: BoundaryReport) -> MarkedText:
    if b.kind != "none":
        why = "what is proved stands there already"
    elif b.declined:
        first = b.declined[0]
        place = f" ({first.span})" if first.span else ""
        why = f"{first.reason.rstrip('.')}{place}"
    else:
        why = "every row can matter to the filter above it"
    return (("Nothing is moved below ", False), (b.function, True), (f": {why}.", False))


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


def why(codes: Iterable[str]) -> str:
    """The commands that tell more of what was declined, each once; empty where nothing was."""
    return ", ".join(f"presieve why {code}" for code in dict.fromkeys(codes))


def scan(boundary: BoundaryReport) -> str:
    """The filters that the file scan is given, or that it is given none."""
    return ", ".join(boundary.pushed_to_scan) or "none"


def measured(times: Measured) -> str:
    """Two runs in one line: seconds, rows that came out of scans, rows of the results."""
    written, optimized = times.written, times.optimized
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


def size(rows: int, bytes_: int, files: int) -> str:
    """What the footers of a scan's files say."""
    return f"{rows:,} rows, {_bytes(bytes_)} in {files:,} {'file' if files == 1 else 'files'}"


def _bytes(count: float) -> str:
    """A number of bytes with a unit that suits it."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 999.5:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:,.1f} TB"


def effort(boundary: BoundaryReport) -> str:
    """Time and solver calls."""
    calls = f", {boundary.solver_calls} solver calls" if boundary.solver_calls else ""
    return f"{boundary.seconds:.2f} s{calls}"
