# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Small parts of the report on a boundary, as data."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from msgspec import Struct

from presieve.errors import Declined, Span, place_json
from presieve.report.json_fields import JsonFields

Fate: TypeAlias = Literal[
    "below", "implied", "weakened", "replaced", "part", "stays", "spark", "nothing"
]

FATES: dict[Fate, str] = {
    "below": "pushed; nothing remains above",
    "implied": "implied by the rest of the filter; nothing remains above",
    "weakened": "weakened; what remains above is",
    "replaced": "replaced; what remains above is",
    "part": "stays above; a part of the function is read, and rows that fail there are dropped",
    "stays": "stays above",
    "spark": "moved by Spark itself",
    "nothing": "stays above; no filter on the rows was found that follows from it",
}
"""The meaning of each fate, for people."""

NEEDED = "it is not known to hold for all rows that pass the pre-filter"
"""Why a conjunct stays, if there is no other reason."""


class ConjunctFate(JsonFields, Struct, frozen=True):
    """A conjunct of the filter and its outcome.

    Attributes:
        text: The conjunct, in Spark SQL.
        fate: ``"below"`` (no part of it is checked above), ``"implied"`` (the other conjuncts imply
            it), ``"weakened"`` (it implies ``above``), ``"replaced"`` (``above`` stands for all
            replaced conjuncts), ``"part"`` (a filter follows from the part of the function that is
            read), ``"stays"`` (the residual has it), ``"spark"`` (it reads no
            result of the function) or ``"nothing"`` (the search found no pre-filter for it).
        above: The new conjuncts of the residual, in Spark SQL.
        why: Why it stays, if it was not moved.
        note: Why it stays, if rows are filtered below.
    """

    text: str
    fate: Fate
    above: tuple[str, ...] = ()
    why: tuple[Declined, ...] = ()
    note: str = ""

    def __str__(self) -> str:
        above = f" {' AND '.join(self.above)}" if self.above else ""
        why = f": {'; '.join(map(str, self.why))}" if self.why else ""
        return f"{self.text}: {self.description}{above}{why}"

    @property
    def description(self) -> str:
        """The outcome in words."""
        if self.fate != "stays" or self.why:
            return FATES[self.fate]
        return f"{FATES[self.fate]}: {self.note or NEEDED}"


class Reach(JsonFields, Struct, frozen=True):
    """A conjunct of the pre-filter.

    Attributes:
        text: The conjunct, in Spark SQL.
        reached: Whether Spark pushes it to the scan.
        why: The reason if it is not pushed.
    """

    text: str
    reached: bool
    why: str = ""

    def __str__(self) -> str:
        return f"{self.text}: {self.why or 'pushed to the scan'}"


CompiledForm: TypeAlias = Literal["expression", "aggregates", "list"]


class InnerName(JsonFields, Struct, frozen=True):
    """A name in a plan that nobody but presieve gave.

    Attributes:
        name: The name.
        meaning: What it stands for, in words; names of a function or of columns are between
            backticks.
    """

    name: str
    meaning: str


class CompiledFunction(Struct, frozen=True):
    """The expression that Spark runs in place of a function, with a proof.

    Attributes:
        form: ``"expression"`` of a row, Spark's own ``"aggregates"``, or a fold over the ``"list"``
            of a group's rows, perhaps together with aggregates.
        expression: Its text, in Spark SQL.
        names: What the names in it stand for that are no columns of the input or the result.
    """

    form: CompiledForm
    expression: str
    names: tuple[InnerName, ...] = ()


class Remedy(JsonFields, Struct, frozen=True):
    """What to do about an assumption.

    Attributes:
        text: The assumption.
        declare: What to pass as ``declare=`` if it is known to hold; may be empty.
        advice: Other advice; may be empty.
    """

    text: str
    declare: str
    advice: str

    def __str__(self) -> str:
        declaration = (
            f"if you know that it holds, pass declare={self.declare!r}" if self.declare else ""
        )
        return "; ".join(filter(None, (declaration, self.advice)))


class Remark(Struct, frozen=True):
    """A remark about a place in a function.

    Attributes:
        subject: The subject: ``"keys"``, ``"columns"``, ``"rows"``, or the kind of an effect.
        text: A sentence.
        span: The place; None if unknown.
    """

    subject: str
    text: str
    span: Span | None = None

    def __str__(self) -> str:
        place = f"line {self.span.line}: " if self.span else ""
        return f"{place}{self.text}"

    def to_json(self) -> dict[str, Any]:
        """As JSON types."""
        return {"subject": self.subject, "text": self.text, **place_json(self.span)}
