# SPDX-License-Identifier: Apache-2.0
"""Untrusted. The sentences that text and page share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter

from presieve.backend.statistics.scan_contracts import ScanContract
from presieve.errors import Declined
from presieve.ir.assumption_codes import MAY_ERASE_ERROR
from presieve.ir.pushdown import ResidualStrength, Strength
from presieve.report.remarks import CompiledForm, CompiledFunction
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
    "split": "Rows are filtered below; a weaker filter remains above.",
    "partial": "Rows are filtered below; the whole filter remains above.",
    "empty": "The filter is never true, so the result is empty.",
    "none": "Nothing was pushed.",
}
"""The meaning of each kind of pushdown."""

KINDS_OF_PARTS = {
    "exact": "The pre-filter replaces the parts of the filter that move; the others remain above.",
    "split": "Rows are filtered below; a weaker filter and the parts that do not move remain"
    " above.",
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


def is_effect(assumption: dict[str, str]) -> bool:
    """Whether an assumption is no condition, but says what may change."""
    return assumption["code"] == MAY_ERASE_ERROR


def assumption_field(assumption: dict[str, str]) -> tuple[str, str]:
    """A label and a text: a condition that must hold, or what may change."""
    label = "may change" if is_effect(assumption) else "assuming"
    return label, f"{assumption['text']} [{assumption['code']}]"


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
    gets = "gets" if pruned == 1 else "get"
    columns = f"{_number_of(pruned, 'function')} {gets} fewer columns." if pruned else ""
    never = {b.function for b in data.boundaries if b.kind == "empty"}
    compiled = sum(bool(f.compiled) for f in data.functions if f.function not in never)
    runs = "runs" if compiled == 1 else "run"
    native = (
        f"{_number_of(compiled, 'function')} {runs} in Spark, without Python." if compiled else ""
    )
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
        yield assumption_field(assumption)


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
    "Window": "a window",
    "GlobalLimit": "a limit",
    **dict.fromkeys(("Join", "Intersect", "Except"), "a join"),
    "Aggregate": "an aggregate",
}
"""The words for operators below filters, by the name of the operator; the others are UDFs."""


def _number_of(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def columns(function: FunctionReport) -> str:
    """Which columns a function of tables reads, or a scalar UDF."""
    if function.columns is None:
        return "all may be read"
    read, total = function.columns
    names = f": {', '.join(function.read)}" if read < total else ""
    others = "NULL in place of the others" if function.operator == "Project" else "no other ones"
    unread_note = f". It gets {others}" if function.pruned else ""
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


def runs_as(compiled: CompiledFunction) -> str:
    """What runs in place of a function: its expression, or words if that has names of its own."""
    return FORMS[compiled.form] if compiled.names else _shown(compiled.expression)


def _shown(expression: str) -> str:
    """An expression with long constants, such as tables of letters, cut off."""
    return _LONG_CONSTANT.sub(lambda match: f"'{match[1]}..'", expression)


_LONG_CONSTANT = re.compile(r"'((?:[^'\\]|\\.){24})(?:[^'\\]|\\.){276,}'")


def function_line(function: FunctionReport) -> str:
    """One line about a Python function."""
    if function.compiled:
        return f"{function.operator} {function.function}: runs as {runs_as(function.compiled)}"
    text = columns(function) if function.columns or function.declined else function.form
    return f"{function.operator} {function.function}: {text}"


def function_facts(function: FunctionReport) -> Iterator[tuple[str, str]]:
    """All fields of a Python function, as labels and texts in reading order."""
    if function.form:
        yield "form", function.form
    if function.compiled:
        yield "runs as", runs_as(function.compiled)
        if function.compiled.names:
            yield "expression", _shown(function.compiled.expression)
        for name in function.compiled.names:
            yield "name", f"`{name.name}`: {name.meaning}"
    if function.columns or function.declined:
        yield "columns", columns(function)
    if function.keys:
        yield "keys", f"pass: {', '.join(function.keys)}"
    if function.passes:
        yield "rows", f"pass {', '.join(function.passes)}, each row by itself"
    for effect in function.effects:
        yield "effect", f"{effect} ({effect.subject})"
    for note in function.notes:
        yield f"for {note.subject}", str(note)
    for assumption in function.assumptions:
        yield assumption_field(assumption)
    for declined in function.declined:
        yield "all columns", str(declined)


ROLES = {
    "written": "conditions that go have a minus",
    "residual": "what is left of the filter",
    "function": "no filter moves below it by itself",
    "replacement": "runs in place of a function",
    "prefilter": "proven; new conditions have a plus",
    "check": "finds groups in which a condition on the data does not hold",
    "stays": "stays as it is; what follows from it may have moved",
    "scan": "where the rows come from",
}
"""The meaning of each role in a picture of a plan."""

FORMS: dict[CompiledForm, str] = {
    "expression": "an expression for each row",
    "aggregates": "aggregates of its own",
    "list": "a fold over the list of each group's rows",
}
"""How Spark computes the result of a function."""

NOTHING_LEFT = "nothing is left to check"
"""What stands in the place of a filter that is gone."""
IN_OTHER_NAMES = "on the values that replace the function's"
"""What is said of a condition whose text has names that only presieve knows."""
FROM_REPLACEMENT = "computed from what replaces the function"
"""The same, of columns."""
OF_CLASSES = "sets groups apart in which a condition does not hold"
"""The same, of the numbers of groups in a plan that checks conditions while it runs."""


def side_titles(data: ReportData, sides: Sequence[str]) -> dict[str, str]:
    """The title of each plan of a picture, by its side."""
    if len(sides) == 1:
        return {"written": "As written, and as it runs"}
    moved = any(b.kind != "none" for b in data.boundaries)
    runs = "With the filter, as it runs" if moved and "filtered" not in sides else "As it runs"
    return {"written": "As written", "filtered": "With the filter", "runs": runs}


def describe_scan(rows: int, stored: int | None) -> str:
    """The measured number of rows out of a scan, and whether it skipped some of those that are
    stored.
    """
    all_read = ", the scan skips none" if stored == rows else ""
    return f"{rows:,} rows measured{all_read}"


def ran(data: ReportData) -> dict[str, str]:
    """The time of each measured run, in words, by the side of the picture."""
    if data.measured is None:
        return {}
    written, optimized = data.measured.written, data.measured.optimized
    runs = f"{optimized.seconds:.2f} s{_and_optimize(data.measured)}{_speedup(data.measured)}"
    return {"written": f"{written.seconds:.2f} s", "runs": runs}


def about(share: float) -> str:
    """An estimated share of the rows."""
    return (
        f"about {as_percentage(share)} of the rows"
        if share >= 0.0001
        else "almost none of the rows"
    )


def line(boundary: BoundaryReport, changed: bool) -> str:
    """One line about a boundary, where a report does not fit: what was pushed, or why nothing was.
    ``changed``: whether the boundary is rewritten.
    """
    name = _name(boundary)
    if changed:
        listed = "; ".join(a["text"] for a in boundary.assumptions if not is_effect(a))
        effects = "".join(f"; {a['text']}" for a in boundary.assumptions if is_effect(a))
        decision = f"; {boundary.decision}" if boundary.decision else ""
        return (
            f"{name}: {boundary.kind}; pre-filter {boundary.prefilter}; residual"
            f" {boundary.remaining}; assuming {listed or 'nothing'}{effects}{decision}"
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
        codes = dict.fromkeys(f"[{a['code']}]" for a in boundary.assumptions if not is_effect(a))
        assuming = f", assuming {' '.join(codes)}" if codes else ""
        erases = ", errors may disappear" if any(map(is_effect, boundary.assumptions)) else ""
        return name, boundary.kind + function, cut(short(boundary.prefilter)) + assuming + erases
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
    later = (f"; and then {_write_with_line(d, file)}" for d in declined.behind())
    return "".join((str(declined), *later))


def _write_with_line(declined: Declined, file: str | None) -> str:
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


def measured_amounts(times: Measured) -> list[tuple[str, str, str, float]]:
    """What both runs moved, the smallest remaining share first: the amount in words, as written and
    as optimized, and the share.
    """
    written, optimized = times.written, times.optimized
    amounts = (
        ("rows into shuffles", written.shuffled, optimized.shuffled),
        ("bytes into shuffles", written.shuffled_bytes, optimized.shuffled_bytes),
        ("bytes into Python", written.python_bytes, optimized.python_bytes),
        ("rows out of scans", written.scanned, optimized.scanned),
    )
    moved = []
    for what, before, after in amounts:
        if before or after:
            show = _bytes if what.startswith("bytes") else "{:,}".format
            moved.append((what, show(before), show(after), after / before if before else 2.0))
    return sorted(moved, key=itemgetter(3))


def tell_measured(times: Measured) -> str:
    """Compare two runs in one line: seconds with those of ``optimize``, the savings (smallest
    remaining share first), and the rows of the results.
    """
    written, optimized = times.written, times.optimized
    parts = [
        f"{before} and {after} {what.removeprefix('bytes ')}{_share_text(share)}"
        for what, before, after, share in measured_amounts(times)
    ]
    rows = f"the result has {written.rows:,} rows"
    if written.rows != optimized.rows:
        rows += f" as written and {optimized.rows:,} as optimized"
    seconds = f"{written.seconds:.2f} s and {optimized.seconds:.2f} s"
    seconds += f"{_and_optimize(times)}{_speedup(times)}"
    return "; ".join([f"as written and as optimized: {seconds}", *parts, rows])


def measured_table(times: Measured) -> list[tuple[str, str, str, str]]:
    """The same as rows: what it is, as written, as it runs, and what remains."""
    written, optimized = times.written, times.optimized
    seconds = (f"{written.seconds:.2f} s", f"{optimized.seconds:.2f} s")
    shares = {"in all": times.total / written.seconds if written.seconds else 2.0}
    rows = [
        ("time of the query", *seconds),
        ("time of optimize", "", f"{times.optimize:.2f} s"),
        ("in all", f"{written.seconds:.2f} s", f"{times.total:.2f} s"),
    ]
    for what, before, after, share in measured_amounts(times):
        rows.append((what, before, after))
        shares[what] = share
    rows.append(("rows of the result", f"{written.rows:,}", f"{optimized.rows:,}"))
    remain = {what: as_percentage(share) for what, share in shares.items() if share < 1}
    return [(*row, remain.get(row[0], "")) for row in rows]


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


def tell_kept(boundary: BoundaryReport) -> str:
    """The share of rows that a pre-filter keeps."""
    share = boundary.estimated_selectivity or 0.0
    return "none" if boundary.kind == "empty" else tell_estimated(share)


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
