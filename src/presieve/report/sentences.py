"""Untrusted. The sentences that text and page share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from operator import itemgetter
from typing import TypeAlias

from presieve.backend.statistics.scan_contracts import ScanContract
from presieve.errors import Declined
from presieve.ir.assumption_codes import MAY_ERASE_ERROR
from presieve.ir.pushdown import ResidualStrength, Strength
from presieve.report.report_data import (
    BoundaryReport,
    DerivedReport,
    FunctionReport,
    Measured,
    ReportData,
)
from presieve.report.small_tables import cut

KINDS = {
    "exact": "The pre-filter replaces the filter; nothing is left to check above.",
    "split": "Rows are filtered below the function; a weaker filter remains above it.",
    "partial": "Rows are filtered below the function; the whole filter remains above it.",
    "empty": "The filter is never true, so the result is empty.",
    "none": "Nothing was pushed.",
}
"""The meaning of each kind of pushdown."""

KINDS_OF_PARTS = {
    "exact": "The pre-filter replaces the parts of the filter that move; the others remain above.",
    "split": "Rows are filtered below the function; a weaker filter and the parts that do not move"
    " remain above it.",
}
"""The same if parts of the filter do not move."""

STRENGTHS: dict[Strength, str] = {
    "optimal": "every row that it keeps matters in some table; no correct one keeps fewer",
    "regions": "every region of rows that the search distinguishes is needed by some table;"
    " within a region, fewer rows might do",
    "universe": "the strongest of the candidates tried; a stronger one may exist",
}
"""The meaning of each strength of a pre-filter."""

RESIDUAL_STRENGTHS: dict[ResidualStrength, str] = {
    "needed": "every conjunct is needed, with a table for each",
    "unshown": "not every conjunct is known to be needed",
}
"""The meaning of each strength of a residual."""
WITH_RESIDUAL = ("split", "partial")
"""The kinds whose residual has conjuncts."""


def meaning(boundary: BoundaryReport) -> str:
    """The meaning of the kind of a pushdown."""
    stays = any(c.why for c in boundary.conjuncts)
    of_parts = KINDS_OF_PARTS.get(boundary.kind, "") if stays else ""
    return of_parts or KINDS.get(boundary.kind, "")


def strength(shown: Strength) -> str:
    """The strength of a pre-filter, and its meaning."""
    return f"{shown}: {STRENGTHS[shown]}"


def summary(data: ReportData) -> str:
    """One sentence about the whole plan."""
    if data.declined is not None:
        return f"The plan is unchanged: {data.declined}"
    places = len(data.boundaries)
    moved = sum(b.kind != "none" for b in data.boundaries)
    met = dict.fromkeys(_MET.get(b.operator, "a UDF") for b in data.boundaries)
    filters = (
        f"{_number_of(places, 'place')} where a filter meets {' or '.join(met)}, "
        f"{moved} with a proven pre-filter."
    )
    if places == 0:
        filters = NO_FILTER if not data.left_alone else ""
    elsewhere = len(data.left_alone)
    alone = f"{_number_of(elsewhere, 'place')} left alone." if elsewhere else ""
    pruned = sum(f.pruned for f in data.functions)
    columns = f"{_number_of(pruned, 'function')} of tables with fewer columns." if pruned else ""
    compiled = sum(bool(f.compiled) for f in data.functions)
    native = f"{_number_of(compiled, 'function')} as an expression of Spark." if compiled else ""
    added = sum(bool(d.derived) for d in data.derived if not d.operator)
    files = f"{_number_of(added, 'filter')} derived for files." if added else ""
    state = "The plan is rewritten." if data.changed else "The plan is unchanged."
    remarks = " ".join(f"{remark}." for remark in (*data.taken_back, *data.peer_orders))
    return " ".join(filter(None, (filters, alone, columns, native, files, state, remarks)))


NO_FILTER = "No filter of this plan is held up by a Python function, an aggregate or a window."
"""What is said of a plan without a place that filters could move past."""


def tell_derived(files: DerivedReport) -> Iterator[tuple[str, str]]:
    """The fields of files or rows and of the filter that is derived for them."""
    yield "filter", files.where
    yield "derived", files.derived or "nothing"
    if files.skipped is not None:
        yield "skips", f"{as_percentage(files.skipped)} of the rows, in row groups or pages"
    for reason in files.declined:
        yield "declined", str(reason)
    for assumption in files.assumptions:
        yield "assuming", f"{assumption['text']} [{assumption['code']}]"


def scan_facts(scan: ScanContract) -> Iterator[tuple[str, str]]:
    """The fields of a scan and its filters."""
    for offered in scan.offered:
        yield offered.contract, str(offered)
    if scan.files_read is not None and scan.files_read != scan.files:
        yield "files", f"{scan.files_read} of {scan.files} are read"
    if scan.groups is not None:
        yield "row groups", f"{scan.groups_read} of {scan.groups} are read"
    if scan.rows and scan.rows_read is not None:
        yield "rows", f"{as_percentage(scan.rows_read / scan.rows)} of {scan.rows:,} are read"
    for note in scan.notes:
        yield "note", note


_MET = {
    **dict.fromkeys(("Window", "GlobalLimit"), "a window"),
    **dict.fromkeys(("Join", "Intersect", "Except"), "a join"),
    "Aggregate": "an aggregate",
}
"""The words for operators below filters, by the name of the operator; the others are UDFs."""


def _number_of(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def columns(function: FunctionReport) -> str:
    """Which columns a function of tables reads."""
    if function.columns is None:
        return "all are read, as far as is known"
    read, total = function.columns
    names = f": {', '.join(function.read)}" if read < total else ""
    unread_note = ". The others are no longer read" if function.pruned else ""
    return f"reads {read} of {total}{names}{unread_note}"


def functions_apart(data: ReportData) -> Iterator[FunctionReport]:
    """The functions whose boundaries do not say everything about them."""
    boundary_functions = {
        (b.function, b.compiled.expression) for b in data.boundaries if b.compiled
    }
    for f in data.functions:
        if (
            f.pruned
            or not f.compiled
            or (f.function, f.compiled.expression) not in boundary_functions
        ):
            yield f


def function_line(function: FunctionReport) -> str:
    """One line about a Python function."""
    if function.compiled:
        return f"{function.operator} {function.function}: runs as {function.compiled.expression}"
    text = columns(function) if function.columns or function.declined else function.form
    return f"{function.operator} {function.function}: {text}"


def function_facts(function: FunctionReport) -> Iterator[tuple[str, str]]:
    """All fields of a Python function, as labels and texts in reading order."""
    if function.form:
        yield "form", function.form
    if function.compiled:
        yield "runs as", function.compiled.expression
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
"""The meaning of each role in a picture of a plan."""

SIDES = {"before": "The plan as written", "after": "The plan as rewritten"}


def ran(data: ReportData) -> dict[str, str]:
    """The time of each measured run, in words, by the side of the picture."""
    if data.measured is None:
        return {"before": "", "after": ""}
    written, optimized = data.measured.written, data.measured.optimized
    after = f"{optimized.seconds:.2f} s{_and_optimize(data.measured)}"
    return {
        "before": f"{written.seconds:.2f} s",
        "after": f"{after}{_speedup(data.measured)}",
    }


MarkedText: TypeAlias = tuple[tuple[str, bool], ...]
"""Pieces of text, and whether each is code."""


def answer(data: ReportData) -> list[MarkedText]:
    """A sentence for each boundary: which rows still reach the function, and what that rests on; or
    why nothing was moved. If there are many, only for the first few.
    """
    texts = [_answer(b, data.changed) for b in data.boundaries[:_MAX_ANSWERS]]
    if len(data.boundaries) > _MAX_ANSWERS:
        texts.append(((f"{len(data.boundaries) - _MAX_ANSWERS} more below.", False),))
    return texts


_MAX_ANSWERS = 3


def _answer(b: BoundaryReport, changed: bool) -> MarkedText:
    if b.kind == "none" or not changed:
        return _answer_unmoved(b)
    if b.kind == "empty":
        return (("The filter above ", False), (b.function, True), (" is never true.", False))
    share = b.estimated_selectivity
    share_text = f", {about(share)}" if share is not None else ""
    rests = "; ".join(a["text"] for a in b.assumptions if a["code"] != MAY_ERASE_ERROR)
    proof = f" This holds if {rests}." if rests else " This is proven without assumptions."
    if any(a["code"] == MAY_ERASE_ERROR for a in b.assumptions):
        proof += " An error on a dropped row may disappear."
    return (
        ("Only rows with ", False),
        (b.prefilter, True),
        (" still reach ", False),
        (b.function, True),
        (f"{share_text}.{proof}", False),
    )


def about(share: float) -> str:
    """An estimated share of the rows."""
    return f"about {as_percentage(share)} of them" if share >= 0.0001 else "almost none of them"


def _answer_unmoved(b: BoundaryReport) -> MarkedText:
    why = no_code(b)
    if b.kind == "none" and b.declined:
        first = b.declined[0]
        place = f" ({first.span})" if first.span else ""
        why = f"{first.reason.rstrip('.')}{place}"
    return (("Nothing is pushed below ", False), (b.function, True), (f": {why}.", False))


def line(boundary: BoundaryReport, changed: bool) -> str:
    """One line about a boundary, where a report does not fit: what was pushed, or why nothing was.
    ``changed``: whether the boundary is rewritten.
    """
    name = _name(boundary)
    if changed:
        listed = "; ".join(a["text"] for a in boundary.assumptions)
        decision = f"; {boundary.decision}" if boundary.decision else ""
        return (
            f"{name}: {boundary.kind}; pre-filter {boundary.prefilter}; residual"
            f" {boundary.residual}; assuming {listed or 'nothing'}{decision}"
        )
    declined = boundary.declined if boundary.kind == "none" else ()
    reasons = "; ".join(map(str, declined)) or no_code(boundary)
    return f"{name} left as it is: {reasons}"


def short(sql: str) -> str:
    """A condition with long texts cut, so that more of it is visible."""
    return _LONG_TEXT.sub(r"\1...'", sql)


_LONG_TEXT = re.compile(r"('(?:[^']){12})[^']{8,}'")


def row(boundary: BoundaryReport, changed: bool) -> tuple[str, str, str]:
    """A table row about a boundary, in a few words: the boundary, the kind of pushdown or "no",
    with "the function" if Spark runs it, and the pre-filter with the codes of its assumptions, or
    why nothing was pushed.
    """
    name = cut(_name(boundary))
    function = ", the function" if boundary.compiled else ""
    if changed:
        codes = dict.fromkeys(f"[{a['code']}]" for a in boundary.assumptions)
        assuming = f", assuming {' '.join(codes)}" if codes else ""
        return name, boundary.kind + function, cut(short(boundary.prefilter)) + assuming
    if boundary.kind == "none" and boundary.declined:
        first = boundary.declined[0]
        return name, "no" + function, cut(f"[{first.code}] {first.reason}", _REASON)
    return name, "no" + function, no_code(boundary)


_REASON = 80
"""The width of a reason in a table, in columns."""


def _name(boundary: BoundaryReport) -> str:
    return f"{boundary.operator} {boundary.function}".strip()


def no_code(boundary: BoundaryReport) -> str:
    """Why nothing was pushed although nothing was declined."""
    if boundary.kind != "none":
        return "the proven pre-filter is there already"
    return "no pre-filter was found"


def tell_reason(declined: Declined) -> str:
    """A reason, and what comes behind it once it is removed."""
    file = declined.span.file if declined.span else None
    later = (f"; and then {_placed(d, file)}" for d in declined.behind())
    return "".join((str(declined), *later))


def _placed(declined: Declined, file: str | None) -> str:
    """A reason with its line in front, if it is in this file."""
    if declined.span is None or declined.span.file != file:
        return str(declined)
    return f"line {declined.span.line}: [{declined.code}] {declined.reason}"


def with_behind(reasons: Iterable[Declined]) -> tuple[Declined, ...]:
    """The reasons, each with what comes behind it."""
    return tuple(dict.fromkeys(d for first in reasons for d in (first, *first.behind())))


def why(codes: Iterable[str]) -> str:
    """The commands that explain declined codes, each once; empty if nothing was declined."""
    return ", ".join(f"presieve why {code}" for code in dict.fromkeys(codes))


def scan(boundary: BoundaryReport) -> str:
    """The filters that are pushed to the file scan, or "none"."""
    return ", ".join(boundary.pushed_to_scan) or "none"


def tell_measured(times: Measured) -> str:
    """Compare two runs in one line: seconds with those of ``optimize``, the savings (smallest
    remaining share first), and the rows of the results.
    """
    written, optimized = times.written, times.optimized
    shares = []
    for as_written, as_optimized, text in (
        (written.shuffled, optimized.shuffled, "{:,} and {:,} rows into shuffles"),
        (written.shuffled_bytes, optimized.shuffled_bytes, "{} and {} into shuffles"),
        (written.python_bytes, optimized.python_bytes, "{} and {} into Python"),
        (written.scanned, optimized.scanned, "{:,} and {:,} rows out of scans"),
    ):
        if as_written or as_optimized:
            as_bytes = "{}" in text
            both = (
                (_bytes(as_written), _bytes(as_optimized))
                if as_bytes
                else (as_written, as_optimized)
            )
            shares.append((as_optimized / as_written if as_written else 2.0, text.format(*both)))
    parts = [f"{text}{_share_text(share)}" for share, text in sorted(shares, key=itemgetter(0))]
    rows = f"the result has {written.rows:,} rows"
    if written.rows != optimized.rows:
        rows += f" as written and {optimized.rows:,} as optimized"
    seconds = f"{written.seconds:.2f} s and {optimized.seconds:.2f} s"
    seconds += f"{_and_optimize(times)}{_speedup(times)}"
    return "; ".join([f"as written and as optimized: {seconds}", *parts, rows])


def _share_text(share: float) -> str:
    """The remaining share in brackets, if it is less than all."""
    return f" ({as_percentage(share)})" if share < 1 else ""


def _and_optimize(times: Measured) -> str:
    return f" + {times.optimize:.2f} s of optimize" if times.optimize else ""


def _speedup(times: Measured) -> str:
    """How many times as fast the DataFrame is with all that presieve takes."""
    factor = times.written.seconds / times.total if times.total else 0.0
    return f", {factor:.1f} times as fast" if factor >= 1.05 else ""


def tell_changes(data: ReportData) -> str:
    """Sum up in a few words what was rewritten, for Spark's UI."""
    compiled = sum(f.compiled is not None for f in data.functions)
    pruned = sum(f.pruned for f in data.functions)
    parts = [
        (sum(b.kind != "none" for b in data.boundaries), "pre-filter"),
        (sum(bool(d.derived) for d in data.derived), "derived filter"),
    ]
    texts = [_number_of(number, noun) for number, noun in parts if number]
    texts += [f"{_number_of(compiled, 'function')} without Python"] if compiled else []
    texts += [f"{_number_of(pruned, 'function')} with fewer columns"] if pruned else []
    return ", ".join(texts) or "rewritten"


def tell_spent(plans: Iterable[ReportData]) -> Iterator[tuple[str, float]]:
    """What all of ``optimize`` took, in seconds, and the parts of it that took any."""
    every = list(plans)
    yield "optimize", sum(data.optimizing for data in every)
    for name, seconds in (
        ("of this, checks of the data", sum(data.checking for data in every)),
        ("of this, compiling functions", sum(data.compiling for data in every)),
    ):
        if seconds >= 0.005:
            yield name, seconds


def as_percentage(fraction: float) -> str:
    """A share of rows, with more digits if it is small."""
    if 0 < fraction < 0.0001:
        return "< 0.01%"
    return f"{fraction:.1%}" if fraction >= 0.01 else f"{fraction:.2%}"


def tell_estimated(fraction: float) -> str:
    """An estimated share of rows: even an estimate of zero may stand for a few rows."""
    return f"about {as_percentage(fraction)}" if fraction >= 0.0001 else "< 0.01%"


def size(rows: int, bytes_: int, files: int) -> str:
    """The size of a scan, from the footers of its files."""
    return f"{rows:,} rows, {_bytes(bytes_)} in {files:,} {'file' if files == 1 else 'files'}"


def _bytes(count: float) -> str:
    """A number of bytes with a suitable unit."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 999.5:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:,.1f} TB"


def effort(boundary: BoundaryReport) -> str:
    """Time and solver calls."""
    calls = f", {boundary.solver_calls} solver calls" if boundary.solver_calls else ""
    return f"{boundary.seconds:.2f} s{calls}"
