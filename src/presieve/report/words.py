"""Untrusted. The few sentences that text and page share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from presieve.ir.pushdown import ResidualStrength, Strength
from presieve.report.model import BoundaryReport, FunctionReport, Measured, ReportData

KINDS = {
    "exact": "The pre-filter replaces the filter; nothing is left to check above.",
    "split": "Rows are filtered below the function; a weaker filter remains above it.",
    "partial": "Rows are filtered below the function; the whole filter remains above it.",
    "empty": "The filter is never true, so the result is empty.",
    "none": "Nothing was pushed.",
}
"""What each kind of pushdown means."""

STRENGTHS: dict[Strength, str] = {
    "optimal": "every row that it keeps matters in some table; no correct one keeps fewer",
    "regions": "every region of rows that the search distinguishes is needed by some table;"
    " within a region, fewer rows might do",
    "universe": "the strongest of the candidates tried; a stronger one may exist",
}
"""What is shown of a pre-filter."""

RESIDUAL_STRENGTHS: dict[ResidualStrength, str] = {
    "needed": "every conjunct is needed, with a table for each",
    "unshown": "not every conjunct is known to be needed",
}
"""What is known of the conjuncts that a residual consists of."""
WITH_RESIDUAL = ("split", "partial")
"""The kinds whose residual has any."""


def strength(shown: Strength) -> str:
    """The word for what is shown of a pre-filter, and what it means."""
    return f"{shown}: {STRENGTHS[shown]}"


def summary(data: ReportData) -> str:
    """One sentence about the whole plan."""
    if data.declined is not None:
        return f"The plan is unchanged: {data.declined}"
    found = len(data.boundaries)
    moved = sum(b.kind != "none" for b in data.boundaries)
    filters = (
        f"{_count(found, 'place')} where a filter meets a UDF, {moved} with a proven pre-filter."
    )
    if found == 0:
        filters = "No filter stands above a Python UDF in this plan."
    pruned = sum(f.pruned for f in data.functions)
    columns = f"{_count(pruned, 'function')} of tables with fewer columns." if pruned else ""
    state = "The plan is rewritten." if data.changed else "The plan is unchanged."
    return " ".join(filter(None, (filters, columns, state)))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def columns(function: FunctionReport) -> str:
    """Which columns a function of tables reads."""
    if function.columns is None:
        return "all are read, as far as is known"
    read, total = function.columns
    names = f": {', '.join(function.read)}" if read < total else ""
    rest = ". The others are no longer read" if function.pruned else ""
    return f"reads {read} of {total}{names}{rest}"


def function_line(function: FunctionReport) -> str:
    """One line about a Python function."""
    said = columns(function) if function.columns or function.declined else function.form
    return f"{function.operator} {function.function}: {said}"


def function_facts(function: FunctionReport) -> Iterator[tuple[str, str]]:
    """What there is to say about a Python function, as names and texts in reading order."""
    if function.form:
        yield "form", function.form
    if function.columns or function.declined:
        yield "columns", columns(function)
    if function.keys:
        yield "keys", f"pass: {', '.join(function.keys)}"
    if function.passes:
        yield "rows", f"pass {', '.join(function.passes)}, each row by itself"
    for effect in function.effects:
        yield "effect", f"{effect} [{effect.subject}]"
    for note in function.notes:
        yield f"for {note.subject}", str(note)
    for assumption in function.assumptions:
        yield "assuming", f"{assumption['text']} [{assumption['code']}]"
    for declined in function.declined:
        yield "all columns", str(declined)


ROLES = {
    "written": "conditions that move have a minus",
    "residual": "what replaces the filter",
    "function": "Python or an aggregate; opaque to Spark",
    "prefilter": "proven; new conditions have a plus",
    "stays": "nothing is pushed from it",
    "scan": "where the rows come from",
}
"""What the operators are that have a part in a picture of a plan."""

SIDES = {"before": "The plan as written", "after": "The plan as rewritten"}


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
    """For each function in a sentence: which rows still reach it, and what that rests on; or why
    nothing was moved. Of many functions, the first few.
    """
    texts = [_answer(b, data.changed) for b in data.boundaries[:_MAX_ANSWERS]]
    if len(data.boundaries) > _MAX_ANSWERS:
        texts.append(((f"{len(data.boundaries) - _MAX_ANSWERS} more below.", False),))
    return texts


_MAX_ANSWERS = 3
_ERASES = "may-erase-error"
"""No condition on data: what a pushdown may do."""


def _answer(b: BoundaryReport, changed: bool) -> MarkedText:
    if b.kind == "none" or not changed:
        return _unmoved(b)
    if b.kind == "empty":
        return (("The filter above ", False), (b.function, True), (" is never true.", False))
    share = b.estimated_selectivity
    kept = f", {about(share)}" if share is not None else ""
    rests = "; ".join(a["text"] for a in b.assumptions if a["code"] != _ERASES)
    proof = f" This holds if {rests}." if rests else " This is proven without assumptions."
    if any(a["code"] == _ERASES for a in b.assumptions):
        proof += " An error on a dropped row may disappear."
    return (
        ("Only rows with ", False),
        (b.prefilter, True),
        (" still reach ", False),
        (b.function, True),
        (f"{kept}.{proof}", False),
    )


def about(share: float) -> str:
    """An estimated share of the rows."""
    return f"about {percent(share)} of them" if share >= 0.0001 else "almost none of them"


def _unmoved(b: BoundaryReport) -> MarkedText:
    if b.kind != "none":
        why = "the proven pre-filter is there already"
    elif b.declined:
        first = b.declined[0]
        place = f" ({first.span})" if first.span else ""
        why = f"{first.reason.rstrip('.')}{place}"
    else:
        why = "every row may affect the filter above it"
    return (("Nothing is pushed below ", False), (b.function, True), (f": {why}.", False))


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
        reasons = "the proven pre-filter is there already"
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
