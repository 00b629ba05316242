"""All functions of the collection, and what the analysis says of each."""

from __future__ import annotations

from functools import cache

from tests.reach.entries import Entry, Question, RowEntry, names_of
from tests.reach.expected import (
    batches,
    building,
    cleaning,
    cogrouped,
    models,
    scalars,
    series,
    summaries,
)

from presieve.dataflow.analysis import Dataflow, dataflow
from presieve.dataflow.context import Request
from presieve.driver.synthesize import Synthesis, synthesize

TABLES: tuple[Entry, ...] = (
    *models.ENTRIES,
    *series.ENTRIES,
    *cleaning.ENTRIES,
    *summaries.ENTRIES,
    *building.ENTRIES,
    *cogrouped.ENTRIES,
    *batches.ENTRIES,
)
ROWS: tuple[RowEntry, ...] = tuple(scalars.ENTRIES)
QUESTIONS: tuple[Question, ...] = ("keys", "columns", "rows", "effects")


@cache
def answer(entry: Entry) -> Dataflow:
    """What the analysis says."""
    beside = (names_of(entry.beside), entry.grouping) if entry.beside else None
    form = "group" if entry.by else "batches"
    asked = Request(
        entry.function, "group" if form == "group" else "batches", entry.columns, entry.grouping
    )
    if beside is not None:
        asked = Request(entry.function, "group", entry.columns, entry.grouping, beside)
    return dataflow(asked)


@cache
def solved(entry: RowEntry) -> Synthesis:
    """The filter on the parameters that is found."""
    return synthesize(
        entry.function,
        entry.where,
        schema=entry.parameters,
        returns=f"c {entry.returns}",
        mode="row",
    )


def kinds(said: Dataflow) -> frozenset[str]:
    """The kinds of effects."""
    return frozenset(e.kind for e in said.effects)


def as_expected(entry: Entry, question: Question) -> bool:
    """Whether the answer is what a person expects."""
    said = answer(entry)
    match question:
        case "keys":
            return dict(said.keys) == entry.expected_keys
        case "columns":
            return said.reads == entry.expected_reads
        case "rows":
            return dict(said.passes or {}) == entry.expected_passes
        case "effects":
            return kinds(said) == entry.expected_effects
