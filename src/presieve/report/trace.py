# SPDX-License-Identifier: Apache-2.0
"""Untrusted. A search step by step, which explains its solution.

The search records what it did (:mod:`presieve.synthesis.events`); results of tables are not taken
from these records but computed again on the reference interpreter.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from msgspec import Struct

from presieve.report.json_fields import JsonFields
from presieve.report.small_tables import WIDTH, row_text, rows_text

MAX_EXHIBITS = 3
"""The most exhibits of one step that are shown in text; JSON has them all."""


class TableRun(JsonFields, Struct, frozen=True):
    """A small table and its result: ``outputs`` of the fold, if there are any, and ``result``:
    "kept", "filtered out", "no group" or "raises".
    """

    label: str
    rows: list[dict[str, object]]
    outputs: dict[str, object] | None
    result: str

    def __str__(self) -> str:
        rows = rows_text(self.rows) or "no rows"
        gives = self.result if self.outputs is None else f"{row_text(self.outputs)} {self.result}"
        return f"{rows} -> {gives}"


class Exhibit(JsonFields, Struct, frozen=True):
    """Tables side by side, and a text on what they show."""

    text: str
    runs: tuple[TableRun, ...]


class Step(JsonFields, Struct, frozen=True):
    """One thing that the search did.

    ``id`` is "2" for the second search and "2.3" for its third step; ``event`` is the kind of the
    step, ``text`` says what was done, ``details`` are further lines.
    """

    id: str
    event: str
    text: str
    details: tuple[str, ...] = ()
    exhibits: tuple[Exhibit, ...] = ()

    @property
    def depth(self) -> int:
        """0 for a search, 1 for a step in it."""
        return self.id.count(".")


TraceLine: TypeAlias = tuple[int, str, str]
"""Depth, a label (or ""), and text."""


class Trace(Struct, frozen=True):
    """The steps of a search, in order; print it. The same input gives the same trace."""

    steps: Sequence[Step]

    def to_json(self) -> list[dict[str, Any]]:
        """As JSON types: one object for each step."""
        return [s.to_json() for s in self.steps]

    def lines(self) -> Iterator[TraceLine]:
        """Depth, label and text of every line, before wrapping."""
        for step in self.steps:
            yield step.depth, f"{step.id} {step.event}", step.text
            for detail in step.details:
                yield step.depth + 1, "", detail
            for exhibit in step.exhibits[:MAX_EXHIBITS]:
                yield step.depth + 1, "", exhibit.text
                for run in exhibit.runs:
                    yield step.depth + 2, run.label, str(run)
            if len(step.exhibits) > MAX_EXHIBITS:
                yield step.depth + 1, "", f"and {len(step.exhibits) - MAX_EXHIBITS} more"

    def __str__(self) -> str:
        return "\n".join(text_line for line in self.lines() for text_line in _wrap_line(*line))


def _wrap_line(depth: int, label: str, text: str) -> list[str]:
    indent = "    " * depth
    return textwrap.wrap(
        f"{label}  {text}" if label else text,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + "  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
