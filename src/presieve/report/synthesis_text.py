# SPDX-License-Identifier: Apache-2.0
"""Untrusted. The result of ``synthesize``, for people: names and texts, or one plain text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from presieve.errors import Behind, Declined, Span
from presieve.ir.pushdown import Kind, ResidualStrength, Strength
from presieve.report import sentences
from presieve.report.report_text import field_text
from presieve.report.source import listing


class SynthesisFields(Protocol):
    """The fields of a :class:`presieve.Synthesis` that are printed."""

    @property
    def kind(self) -> Kind: ...
    @property
    def prefilter(self) -> str: ...
    @property
    def residual(self) -> str: ...
    @property
    def invariant(self) -> str: ...
    @property
    def strength(self) -> Strength: ...
    @property
    def residual_strength(self) -> ResidualStrength: ...
    @property
    def assumptions(self) -> list[dict[str, str]]: ...
    @property
    def declined(self) -> list[dict[str, object]]: ...
    @property
    def seconds(self) -> float: ...
    @property
    def solver_calls(self) -> int: ...


def fields(synthesis: SynthesisFields) -> Iterator[tuple[str, str]]:
    """The solution and its assumptions, in reading order."""
    yield "kind", f"{synthesis.kind}. {sentences.KINDS[synthesis.kind]}"
    if synthesis.kind != "none":
        yield "pre-filter", synthesis.prefilter
        yield "residual", synthesis.residual
        yield "invariant", synthesis.invariant
        yield "strength", sentences.strength(synthesis.strength)
    if synthesis.kind in sentences.WITH_RESIDUAL:
        yield "conjuncts", sentences.RESIDUAL_STRENGTHS[synthesis.residual_strength]
    for assumption in synthesis.assumptions:
        yield "assuming", f"{assumption['text']} [{assumption['code']}]"


def tell_declined(synthesis: SynthesisFields) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each reason why something was declined, and the lines around its place, if it has one: with a
    mark before the line and a caret below the column.
    """
    for decline_data in synthesis.declined:
        why = _parse_declined(decline_data)
        around = listing.of_place(why)
        yield sentences.tell_reason(why), () if around is None else tuple(around.marked_lines())


def effort(synthesis: SynthesisFields) -> str:
    """Time and solver calls."""
    return f"{synthesis.seconds:.3f} s, {synthesis.solver_calls} solver calls"


def render(synthesis: SynthesisFields) -> str:
    """Render everything except the order of rows, which needs its own search."""
    lines = [field_text(label, text) for label, text in fields(synthesis)]
    for why, around in tell_declined(synthesis):
        lines += [field_text("declined", why), *(f"    {line}" for line in around)]
    if synthesis.declined:
        lines.append(field_text("more", sentences.why(str(d["code"]) for d in synthesis.declined)))
    return "\n".join([*lines, field_text("effort", effort(synthesis))])


def fragment(synthesis: SynthesisFields) -> str:
    """The result for a notebook."""
    from presieve.report import html, synthesis_text

    return html.render("synthesis.html", synthesis=synthesis, words=synthesis_text)


def _parse_declined(data: dict[str, object]) -> Declined:
    """Convert public data to a :class:`Declined`, with what comes behind it."""
    file, line, column = data.get("file"), data.get("line"), data.get("column")
    span = Span(str(file), int(str(line)), int(str(column or 0))) if line else None
    behind = data.get("behind")
    later = tuple(map(_parse_declined, behind)) if isinstance(behind, list) else ()
    place = span if file else None
    return Declined(str(data["code"]), str(data["reason"]), place, Behind(lambda: later))
