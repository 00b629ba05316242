# SPDX-License-Identifier: Apache-2.0
"""Untrusted. A report as plain text."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from presieve.backend.statistics.scan_contracts import ScanContract
from presieve.report import invariant_text, sentences
from presieve.report.remarks import ConjunctFate
from presieve.report.report_data import BoundaryReport, DerivedReport, FunctionReport, ReportData
from presieve.report.small_tables import WIDTH, Grid, MarkedCell, cut
from presieve.report.statements import statements

_LABEL = 14
_ROOM = WIDTH - _LABEL - 2
_AS_IT_IS = frozenset({"source", "to paste"})
"""Labels of texts whose lines are not wrapped."""

_SQL = frozenset({"filter", "pre-filter", "residual"})
"""Labels of conditions in SQL."""

BRIEF = 5
"""The most lines of a brief boundary, without its heading."""


def field_text(label: str, text: str) -> str:
    """Format a label and its text, wrapped with a hanging indent."""
    lines = text.splitlines() or [""]
    if label in _AS_IT_IS:
        return _label_lines(label, lines)
    wrapper = textwrap.TextWrapper(_ROOM, break_long_words=False, break_on_hyphens=False)
    return _label_lines(label, [piece for line in lines for piece in wrapper.wrap(line) or [""]])


def _label_lines(label: str, lines: Iterable[str]) -> str:
    return f"  {label:<{_LABEL}}" + f"\n{' ' * (_LABEL + 2)}".join(lines)


def leading(boundary: BoundaryReport, changed: bool = True) -> Iterator[tuple[str, str]]:
    """The first questions about a boundary, as labels and texts: what is filtered where, what that
    rests on, and why not more. ``changed``: whether the plan is rewritten.
    """
    yield "filter", boundary.written
    if boundary.kind != "none":
        yield "pre-filter", boundary.prefilter
        yield "residual", boundary.remaining
    remedies = {r.text: str(r) for r in boundary.remedies}
    for assumption in boundary.assumptions if boundary.kind != "none" else ():
        label, line = sentences.assumption_field(assumption)
        yield label, "\n".join(filter(None, (line, remedies.get(assumption["text"]))))
    for declined in boundary.declined:
        yield "declined", sentences.tell_reason(declined)
    if not boundary.declined and (boundary.kind == "none" or not changed):
        yield "declined", sentences.no_code(boundary)


def fields(boundary: BoundaryReport, changed: bool = True) -> Iterator[tuple[str, str]]:
    """All fields of a boundary, as labels and texts in reading order."""
    yield from leading(boundary, changed)
    if boundary.declined:
        yield "more", sentences.why(d.code for d in sentences.with_behind(boundary.declined))
    yield "kind", f"{boundary.kind}. {sentences.meaning(boundary)}".strip()
    if boundary.kind != "none":
        yield from _proof_fields(boundary)
    elif len(boundary.conjuncts) > 1:
        yield from (("part", _tell_part(conjunct, boundary)) for conjunct in boundary.conjuncts)
    if boundary.estimated_selectivity is not None:
        yield "rows kept", sentences.tell_kept(boundary)
    if boundary.decision:
        yield "cost", boundary.decision
    if boundary.order:
        yield "row order", str(boundary.order)
    for discharged in boundary.discharged:
        yield "known", f"{discharged['text']} [{discharged['code']}], {discharged['by']}"
    for listing in boundary.listings:
        if any(line.note for line in listing.lines):
            yield "source", "\n".join([listing.file, *listing.marked_lines()])
    for change in boundary.changes:
        yield "by hand", f"{change.what}. Right as long as {change.holds}."
        yield "to paste", change.diff
    yield "effort", sentences.effort(boundary)


def _tell_part(conjunct: ConjunctFate, boundary: BoundaryReport) -> str:
    """The outcome of a conjunct; reasons that stand above are told by their codes."""
    told = {(d.code, d.reason) for d in boundary.declined}
    codes = [d.code for d in boundary.declined]
    is_told = all((w.code, w.reason) in told and codes.count(w.code) == 1 for w in conjunct.why)
    if not conjunct.why or not is_told:
        return str(conjunct)
    named = " ".join(f"[{w.code}]" for w in conjunct.why)
    return f"{conjunct.text}: {conjunct.description}: declined above {named}"


def _proof_fields(boundary: BoundaryReport) -> Iterator[tuple[str, str]]:
    """The fields of a pushed filter: the outcome of each conjunct, how strong it is, why it holds,
    and what reaches the scan.
    """
    for conjunct in boundary.conjuncts:
        yield "part", _tell_part(conjunct, boundary)
    if boundary.strength:
        yield "strength", sentences.strength(boundary.strength)
    if boundary.residual_strength and boundary.kind in sentences.WITH_RESIDUAL:
        yield "conjuncts", sentences.RESIDUAL_STRENGTHS[boundary.residual_strength]
    if boundary.stays:
        yield "conjuncts", boundary.stays
    if boundary.sentences:
        yield "invariant", "\n".join([invariant_text.HEADING, *boundary.sentences])
    elif boundary.invariant:
        yield "invariant", boundary.invariant
    yield "scan filters", sentences.scan(boundary)
    for reach in boundary.reaches:
        if not reach.reached:
            yield "not to scan", str(reach)


def brief_boundary(boundary: BoundaryReport, changed: bool) -> str:
    """Render a boundary briefly: a heading and at most :data:`BRIEF` lines. Each field is cut to
    one line, but the last one gets the remaining lines. A line follows on what runs in place of the
    function.
    """
    texts_by_label: dict[str, list[str]] = {}
    for label, text in leading(boundary, changed):
        line = text.partition("\n")[0]
        texts_by_label.setdefault(label, []).append(
            sentences.short(line) if label in _SQL else line
        )
    lines = [_heading(boundary)]
    for i, (label, texts) in enumerate(texts_by_label.items(), 1):
        most = BRIEF - i + 1 if i == len(texts_by_label) else 1
        cut_off = textwrap.TextWrapper(
            _ROOM, max_lines=most, placeholder="...", break_on_hyphens=False
        )
        lines.append(_label_lines(label, cut_off.wrap("; ".join(texts)) or [""]))
    if boundary.compiled:
        cut_off = textwrap.TextWrapper(_ROOM, max_lines=1, placeholder="...")
        lines.append(_label_lines("runs as", cut_off.wrap(sentences.runs_as(boundary.compiled))))
    return "\n".join(lines)


def _heading(boundary: BoundaryReport) -> str:
    where = f" ({boundary.span})" if boundary.span else ""
    return f"{boundary.operator} {boundary.function}{where}"


def render_boundary(boundary: BoundaryReport, changed: bool = True) -> str:
    """Render one boundary: a heading line and its indented fields."""
    lines = [_heading(boundary)]
    lines += [field_text(label, text) for label, text in fields(boundary, changed)]
    if boundary.trace is not None:
        lines += ["", *str(boundary.trace).splitlines()]
    return "\n".join(lines)


def render_function(function: FunctionReport) -> str:
    """Render one Python function: a heading line and its indented fields."""
    where = f" ({function.span})" if function.span else ""
    lines = [f"{function.operator} {function.function}{where}"]
    lines += [field_text(label, text) for label, text in sentences.function_facts(function)]
    return "\n".join(lines)


def table(plans: Iterable[ReportData], totals: Iterable[tuple[str, float]] = ()) -> Iterator[str]:
    """A table with a row for each boundary of several plans, and for each function that reads fewer
    columns or runs in Spark; equal rows are merged. Nothing if there are none. The ``totals`` are
    further rows: what took how many seconds.
    """
    rows: dict[tuple[str, str, str], list[float | None]] = {}
    for data in plans:
        for row, seconds in _rows(data):
            rows.setdefault(row, []).append(seconds)
    body = []
    for (name, pushed, why), each in rows.items():
        times = f"{name} ({len(each)} times)" if len(each) > 1 else name
        spent = [s for s in each if s is not None]
        cells = (times, pushed, why, f"{sum(spent):.2f}" if spent else "")
        body.append(tuple(MarkedCell(" ".join(c.split())) for c in cells))
    head = ("boundary", "pushed", "pre-filter, or why not", "seconds")
    if body:
        for name, seconds in totals:
            body.append(tuple(map(MarkedCell, (name, "", "", f"{seconds:.2f}"))))
        yield from Grid("", head, tuple(body)).lines()


def _rows(data: ReportData) -> Iterator[tuple[tuple[str, str, str], float | None]]:
    for b in data.boundaries:
        yield sentences.row(b, data.changed and b.kind != "none"), b.seconds
    for function in sentences.functions_apart(data):
        name = f"{function.operator} {function.function}"
        if function.compiled:
            text = f"runs as {sentences.runs_as(function.compiled)}"
            yield (cut(name), "the function", cut(text)), None
        if function.pruned:
            read = sentences.columns(function).partition(". ")[0]
            yield (cut(name), "columns", cut(read)), None


def render(data: ReportData) -> str:
    """Render the whole report."""
    told = map(str, statements(data))
    head = [textwrap.fill(text, WIDTH, break_on_hyphens=False) for text in told]
    head.append(sentences.summary(data))
    if data.left_alone:
        head.append("\n".join(field_text("left alone", str(why)) for why in data.left_alone))
    if len(data.boundaries) > 1:
        head.append("\n".join(table([data])))
    if data.measured:
        head.append(field_text("measured", sentences.tell_measured(data.measured)))
    functions = map(render_function, data.functions)
    boundaries = (render_boundary(b, data.changed) for b in data.boundaries)
    derived = map(render_derived, data.derived)
    scans = (render_scan(s) for s in data.scans if s.offered)
    return "\n\n".join([*head, *boundaries, *functions, *derived, *scans])


def render_derived(derived: DerivedReport) -> str:
    """Render files or rows, and the filter that is derived for them."""
    return "\n".join([derived.place, *(field_text(*f) for f in sentences.tell_derived(derived))])


def render_scan(scan: ScanContract) -> str:
    """Render a scan, and which of its filters it evaluates."""
    return "\n".join([f"Scan {scan.source}", *(field_text(*f) for f in sentences.scan_facts(scan))])
