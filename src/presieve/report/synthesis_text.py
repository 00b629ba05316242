"""Untrusted. What ``synthesize`` found, for people: names and texts, or one plain text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from presieve.errors import Declined, Span
from presieve.ir.pushdown import Kind, ResidualStrength, Strength
from presieve.report import words
from presieve.report.source import listing
from presieve.report.text import field_text


class SynthesisFields(Protocol):
    """What is printed of a :class:`presieve.Synthesis`."""

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
    """What was found and what it rests on, in reading order."""
    yield "kind", f"{synthesis.kind}. {words.KINDS[synthesis.kind]}"
    if synthesis.kind != "none":
        yield "pre-filter", synthesis.prefilter
        yield "residual", synthesis.residual
        yield "invariant", synthesis.invariant
        yield "strength", words.strength(synthesis.strength)
    if synthesis.kind in words.WITH_RESIDUAL:
        yield "conjuncts", words.RESIDUAL_STRENGTHS[synthesis.residual_strength]
    for assumption in synthesis.assumptions:
        yield "assuming", f"{assumption['text']} [{assumption['code']}]"


def declined(synthesis: SynthesisFields) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each reason that something could not be handled, and the lines around its place, if it has
    one: a mark in front of the line, a caret below the column.
    """
    for one in synthesis.declined:
        why = _declined(one)
        around = listing.of_place(why)
        yield str(why), () if around is None else tuple(around.marked_lines())


def effort(synthesis: SynthesisFields) -> str:
    """Time and solver calls."""
    return f"{synthesis.seconds:.3f} s, {synthesis.solver_calls} solver calls"


def render(synthesis: SynthesisFields) -> str:
    """All of it, without the order of rows, which takes a search of its own."""
    lines = [field_text(label, text) for label, text in fields(synthesis)]
    for why, around in declined(synthesis):
        lines += [field_text("declined", why), *(f"    {line}" for line in around)]
    if synthesis.declined:
        lines.append(field_text("more", words.why(str(d["code"]) for d in synthesis.declined)))
    return "\n".join([*lines, field_text("effort", effort(synthesis))])


def _declined(data: dict[str, object]) -> Declined:
    """From the public shape."""
    file, line, column = data.get("file"), data.get("line"), data.get("column")
    span = Span(str(file), int(str(line)), int(str(column or 0))) if line else None
    return Declined(str(data["code"]), str(data["reason"]), span if file else None)
