"""All functions of the collection, and what the analysis says of each."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from types import FunctionType

from tests.reach.entries import Entry, Question, RowEntry, names_of
from tests.reach.expected import (
    batches,
    building,
    changing,
    cleaning,
    cogrouped,
    columns,
    everyday,
    models,
    row_batches,
    scalars,
    series,
    summaries,
)
from tests.reach.jobs import module

from presieve.dataflow.analysis import Dataflow, dataflow
from presieve.dataflow.context import AnalysisRequest, Form
from presieve.driver.synthesize import Synthesis, synthesize
from presieve.errors import DeclineSignal
from presieve.sql.ddl import parse_schema

TABLES: tuple[Entry, ...] = (
    *models.ENTRIES,
    *series.ENTRIES,
    *cleaning.ENTRIES,
    *summaries.ENTRIES,
    *building.ENTRIES,
    *changing.ENTRIES,
    *cogrouped.ENTRIES,
    *batches.ENTRIES,
    *row_batches.ENTRIES,
)
ROWS: tuple[RowEntry, ...] = (*scalars.ENTRIES, *columns.ENTRIES, *everyday.ENTRIES)
QUESTIONS: tuple[Question, ...] = ("keys", "columns", "rows", "effects")


@cache
def answer(entry: Entry) -> Dataflow:
    """What the analysis says of a function of a job."""
    return dataflow(_request(entry, entry.function))


def answer_in_a_module(entry: Entry) -> Dataflow | None:
    """What it says where workers import the function's file; None where it declines."""
    path = Path(entry.function.__code__.co_filename)
    for found in vars(module(path.stem)).values():
        code = getattr(found, "__code__", None)
        if code is not None and code.co_firstlineno == entry.function.__code__.co_firstlineno:
            try:
                return dataflow(_request(entry, found))
            except DeclineSignal:
                return None
    raise AssertionError(f"{path} has no {entry}")


def _request(entry: Entry, function: FunctionType) -> AnalysisRequest:
    form: Form = "group" if entry.by else "batches"
    beside = (names_of(entry.beside), entry.grouping) if entry.beside else None
    types = {c.name: c.type for c in parse_schema(entry.schema)}
    return AnalysisRequest(function, form, entry.columns, entry.grouping, beside, types)


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
