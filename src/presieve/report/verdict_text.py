# SPDX-License-Identifier: Apache-2.0
"""Untrusted. A verdict in words and small tables, and as plain text."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import assert_never

from presieve.report.report_text import field_text
from presieve.report.small_tables import WIDTH, Grid, MarkedCell, list_texts, rows_text, value_cell
from presieve.report.trace import TableRun
from presieve.report.verdict_model import ClaimedPushdown, Counterexample, Repair, VerdictData

BLAMED = {
    "prefilter": "the pre-filter drops too much",
    "residual-accepts": "the residual accepts too much",
    "residual-rejects": "the residual rejects too much",
}
AS_IT_IS = "the filter, unchanged"
KEPT = "verdict.certificate.save(FILE) saves the proof, and `presieve check FILE` checks it again"
NO_REPAIR = "presieve finds no pre-filter for this filter; leave it above the function"


def headline(verdict: VerdictData) -> str:
    """The answer in one sentence."""
    match verdict.status:
        case "proved":
            return "Proved: the pushdown changes no result."
        case "refuted":
            example = verdict.counterexample
            return f"Refuted: {BLAMED[example.blame]}." if example else "Refuted."
        case "unknown":
            return "Unknown: the pushdown was neither proved nor refuted. Do not use it as it is."
    assert_never(verdict.status)


def tell_claim(claim: ClaimedPushdown) -> Iterator[tuple[str, str]]:
    """The claim, as labels and texts."""
    yield "function", claim.function + (f" ({claim.span})" if claim.span else "")
    yield "filter", claim.where
    yield "pre-filter", claim.prefilter
    yield "residual", AS_IT_IS if claim.residual is None else claim.residual


def tell_proof(verdict: VerdictData) -> Iterator[tuple[str, str]]:
    """The statement of a proof, and its assumptions."""
    if verdict.certificate is None:
        return
    mode = verdict.claim.mode if verdict.claim else "grouped"
    group = "every table of input rows" if mode == "global" else "every group of input rows"
    yield "proved for", f"{group} in every order: the same output row, or none, and no new error"
    for a in verdict.assumptions:
        yield "assuming", f"{a['text']} [{a['code']}]"
    if not verdict.assumptions:
        yield "assuming", "nothing beyond the schema"


def not_known(verdict: VerdictData) -> Iterator[tuple[str, str]]:
    """Why the status is unknown, and what to do."""
    if verdict.status == "unknown":
        yield "why", verdict.reason
        yield "what to do", verdict.remedy


def repair_fields(repair: Repair) -> Iterator[tuple[str, str]]:
    """The fields of a proven pushdown."""
    yield "pre-filter", repair.prefilter
    yield "residual", repair.residual
    for a in repair.assumptions:
        yield "assuming", f"{a['text']} [{a['code']}]"


def repair_title(repair: Repair) -> str:
    """The title of a repair."""
    if repair.kind == "empty":
        return "This is proved: the filter is never true, so the result is empty"
    return "This pushdown is proved (the strongest that presieve finds)"


def input_grid(example: Counterexample) -> Grid:
    """The rows, and whether the pre-filter keeps each. Columns that play no part are omitted."""
    names = example.columns or tuple(example.rows[0] if example.rows else ())
    body = tuple(
        (
            *(value_cell(row[n]) for n in names),
            MarkedCell("keeps", "kept") if is_kept else MarkedCell("drops", "dropped"),
        )
        for row, is_kept in zip(example.rows, example.kept, strict=True)
    )
    rows = "1 row" if len(body) == 1 else f"{len(body) or 'no'} rows"
    return Grid(f"A table of {rows}", (*names, "pre-filter"), body)


def result_grid(example: Counterexample) -> Grid:
    """The function's results for all rows and for the kept rows, and what happens to them."""
    outputs = example.written.outputs or example.pushed.outputs or {}
    names = tuple(outputs)
    verb = "residual" if example.blame != "prefilter" else "filter"
    runs = ((example.written, "filter"), (example.pushed, verb))
    body = tuple(_result_row(example, run, judge, names) for run, judge in runs)
    return Grid("What the function returns, and what remains", ("", *names, "then"), body)


def _result_row(
    example: Counterexample, run: TableRun, judge: str, names: tuple[str, ...]
) -> tuple[MarkedCell, ...]:
    differ = set(example.differs) if run is example.pushed else set()
    cells = [
        value_cell(run.outputs[n], "differs" if n in differ else "")
        if run.outputs
        else MarkedCell("-")
        for n in names
    ]
    endings = {
        "kept": f"the {judge} keeps it",
        "filtered out": f"the {judge} rejects it",
        "no group": "no row is left, so there is no output",
        "raises": "the function raises",
    }
    ends_otherwise = run is example.pushed and run.result != example.written.result
    return (
        MarkedCell(run.label),
        *cells,
        MarkedCell(endings[run.result], "differs" if ends_otherwise else ""),
    )


def why(example: Counterexample) -> str:
    """The error in the pushdown, in a sentence."""
    match example.blame:
        case "residual-accepts":
            return "The filter rejects this output of the function; the residual keeps it."
        case "residual-rejects":
            return "The filter keeps this output of the function; the residual rejects it."
        case "prefilter":
            return f"Without the dropped rows, {_describe_loss(example)}."
    assert_never(example.blame)


def _describe_loss(example: Counterexample) -> str:
    match example.pushed.result:
        case "no group":
            return "no row is left, and a result row is missing"
        case "raises":
            return "the function raises an error, which it does not as written"
    names = list_texts(example.differs or ("the result",))
    changed = f"{names} differ{'s' if len(example.differs) == 1 else ''}"
    if example.written.result != "kept":
        return f"{changed}, and the result has an extra row"
    if example.pushed.result == "kept":
        return f"{changed} in the result"
    return f"{changed}, and a result row is missing"


def render(verdict: VerdictData) -> str:
    """Render the whole verdict."""
    return "\n".join(_lines(verdict))


def _lines(verdict: VerdictData) -> Iterator[str]:
    yield headline(verdict)
    yield ""
    fields = [*(tell_claim(verdict.claim) if verdict.claim else ()), *tell_proof(verdict)]
    yield from (field_text(*f) for f in [*fields, *not_known(verdict)])
    example = verdict.counterexample
    if example is not None:
        for grid in (input_grid(example), result_grid(example)):
            yield ""
            yield from _grid_lines(grid, example)
        yield ""
        yield from textwrap.wrap(why(example), WIDTH, initial_indent="  ", subsequent_indent="  ")
    if verdict.certificate is not None:
        yield ""
        yield f"  {KEPT}"
    repair = verdict.repair
    if repair is not None:
        yield ""
        yield f"  {repair_title(repair)}:"
        yield from (field_text(*f) for f in repair_fields(repair))
    elif verdict.status == "refuted":
        yield ""
        yield f"  {NO_REPAIR}."


def _grid_lines(grid: Grid, example: Counterexample) -> Iterator[str]:
    yield f"  {grid.heading}:"
    lines = list(grid.lines())
    if max(map(len, lines)) + 4 <= WIDTH or not grid.head[0]:
        yield from (f"    {line}" for line in lines)
        return
    for row, is_kept in zip(example.rows, example.kept, strict=True):
        yield f"    {'keeps' if is_kept else 'drops'} {rows_text([row])}"
