"""Untrusted. A report as plain text."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from presieve.report import invariant, words
from presieve.report.model import BoundaryReport, FunctionReport, ReportData

WIDTH = 100
"""Columns of text, the labels among them."""

_LABEL = 14
_AS_IT_IS = frozenset({"source"})
"""Labels of texts whose lines are not broken."""


def field_text(label: str, text: str) -> str:
    """A name and its text, wrapped with a hanging indent."""
    hang = " " * (_LABEL + 2)
    first = f"  {label:<{_LABEL}}"
    lines = text.splitlines() or [""]
    if label in _AS_IT_IS:
        return first + f"\n{hang}".join(lines)
    wrapped = [
        piece
        for line in lines
        for piece in textwrap.wrap(
            line, WIDTH - len(hang), break_long_words=False, break_on_hyphens=False
        )
        or [""]
    ]
    return first + f"\n{hang}".join(wrapped)


def fields(boundary: BoundaryReport) -> Iterator[tuple[str, str]]:
    """What there is to say about a boundary, as names and texts in reading order."""
    yield "filter", boundary.where
    if boundary.kind == "none":
        yield "kind", f"none. {words.KINDS['none']}"
    else:
        yield "pre-filter", boundary.prefilter
        yield "residual", boundary.residual
        yield "kind", f"{boundary.kind}. {words.KINDS.get(boundary.kind, '')}".strip()
        for conjunct in boundary.conjuncts:
            yield "part", str(conjunct)
        if boundary.strength:
            yield "strength", words.strength(boundary.strength)
        if boundary.residual_strength and boundary.kind in words.WITH_RESIDUAL:
            yield "conjuncts", words.RESIDUAL_STRENGTHS[boundary.residual_strength]
        if boundary.sentences:
            yield "invariant", "\n".join([invariant.HEADING, *boundary.sentences])
        elif boundary.invariant:
            yield "invariant", boundary.invariant
        yield "scan filters", words.scan(boundary)
        for reach in boundary.reaches:
            if not reach.reached:
                yield "not to scan", str(reach)
    if boundary.estimated_selectivity is not None:
        yield "rows kept", words.estimated(boundary.estimated_selectivity)
    if boundary.decision:
        yield "cost", boundary.decision
    if boundary.order:
        yield "row order", str(boundary.order)
    remedies = {r.text: str(r) for r in boundary.remedies}
    for assumption in boundary.assumptions:
        told = f"{assumption['text']} [{assumption['code']}]"
        yield "assuming", "\n".join(filter(None, (told, remedies.get(assumption["text"]))))
    for known in boundary.discharged:
        yield "known", f"{known['text']} [{known['code']}], {known['by']}"
    for declined in boundary.declined:
        yield "declined", str(declined)
    if boundary.declined:
        yield "more", words.why(d.code for d in boundary.declined)
    for listing in boundary.listings:
        yield "source", "\n".join([listing.file, *listing.marked_lines()])
    yield "effort", words.effort(boundary)


def render_boundary(boundary: BoundaryReport) -> str:
    """One boundary: a heading line and its indented fields."""
    where = f" ({boundary.span})" if boundary.span else ""
    lines = [f"{boundary.operator} {boundary.function}{where}"]
    lines += [field_text(label, text) for label, text in fields(boundary)]
    if boundary.trace is not None:
        lines += ["", *str(boundary.trace).splitlines()]
    return "\n".join(lines)


def render_function(function: FunctionReport) -> str:
    """One Python function: a heading line and its indented fields."""
    where = f" ({function.span})" if function.span else ""
    lines = [f"{function.operator} {function.function}{where}"]
    lines += [field_text(label, text) for label, text in words.function_facts(function)]
    return "\n".join(lines)


def render(data: ReportData) -> str:
    """The whole report."""
    head = [words.summary(data)]
    if data.measured:
        head.append(field_text("measured", words.measured(data.measured)))
    functions = map(render_function, data.functions)
    return "\n\n".join([*head, *map(render_boundary, data.boundaries), *functions])
