# SPDX-License-Identifier: Apache-2.0
"""Untrusted. What happens to the rows of each function, in sentences that text and page share.

Each sentence follows from the report's data alone, and is true of the plan that runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from msgspec import Struct

from presieve.ir.assumption_codes import BY_CALLER, BY_GUARD
from presieve.report import sentences
from presieve.report.drawing.drawn_plan import DrawnOperator, parse
from presieve.report.drawing.roles import calls_function_of
from presieve.report.report_data import BoundaryReport, FunctionReport, ReportData
from presieve.report.sentences import is_effect

MarkedText: TypeAlias = tuple[tuple[str, bool], ...]
"""Pieces of text, and whether each is code."""

_MOST_STATEMENTS = 3


class Statement(Struct, frozen=True):
    """What becomes of the rows of a function, and the sentences on which that rests."""

    claim: MarkedText
    basis: str = ""

    def __str__(self) -> str:
        claim = "".join(text for text, _ in self.claim)
        return f"{claim} {self.basis}".rstrip()


def statements(data: ReportData) -> list[Statement]:
    """A statement for each boundary, and for each other function that changes: which rows reach the
    function, or that none does. If there are many, the first few.
    """
    told = [*_of_boundaries(data), *_of_functions(data)]
    shown = told[:_MOST_STATEMENTS]
    if len(told) > len(shown):
        shown.append(Statement(((f"{len(told) - len(shown)} more below.", False),)))
    return shown


def is_moved(b: BoundaryReport, changed: bool) -> bool:
    """Whether a pre-filter is in the plan that is not in the plan as written."""
    return changed and b.kind != "none"


def is_replaced(b: BoundaryReport, data: ReportData) -> bool:
    """Whether the function of a boundary no longer runs, as far as its plan is drawn."""
    is_compiled = data.changed and b.compiled is not None
    return is_compiled and not _number_of_calls(parse(data.plan_after), b)


def _number_of_calls(plan: Sequence[DrawnOperator], report: BoundaryReport | FunctionReport) -> int:
    return sum(calls_function_of(op, report) for op in plan)


def _of_boundaries(data: ReportData) -> Iterator[Statement]:
    plan = parse(data.plan_before)
    for b in data.boundaries:
        claim = _claim(b, data)
        if _number_of_calls(plan, b) > 1:
            (text, code), *others = claim
            lowered = (text[:1].lower() + text[1:], code)
            claim = (("At the filter ", False), (b.where, True), (": ", False), lowered, *others)
        yield Statement(claim, _basis(b, data))


def _claim(b: BoundaryReport, data: ReportData) -> MarkedText:
    """Which rows reach the function of a boundary."""
    name = b.function or b.operator
    replaced = is_replaced(b, data)
    if not is_moved(b, data.changed):
        if not replaced:
            return (("Nothing is pushed below ", False), (name, True), (f": {_why(b)}.", False))
        return (*_no_row(name), (f". No filter moves below it: {_why(b)}.", False))
    if b.kind == "empty":
        claim = (("The filter above ", False), (name, True))
        return (*claim, (" is never true, so no row reaches it.", False))
    share = b.estimated_selectivity
    share_text = f", {sentences.about(share)}" if share is not None else ""
    rest = (f"{share_text}{_tell_guarded_groups(b)}.{_tell_residual(b)}", False)
    if replaced:
        return (*_no_row(name), (", from rows with ", False), (b.prefilter, True), rest)
    rows = (("Only rows with ", False), (b.prefilter, True))
    return (*rows, (" reach ", False), (name, True), rest)


def _no_row(name: str) -> MarkedText:
    text = " in Python: Spark computes its result itself"
    return (("No row reaches ", False), (name, True), (text, False))


def _tell_guarded_groups(b: BoundaryReport) -> str:
    """Which other rows pass, if the plan checks conditions while it runs."""
    guarded = [d["text"] for d in b.discharged if d["by"] == BY_GUARD]
    if not guarded:
        return ""
    return f", and all rows of groups in which it may not hold that {' and that '.join(guarded)}"


def _tell_residual(b: BoundaryReport) -> str:
    """What is left of the filter above."""
    match b.kind:
        case "exact" if b.apart:
            return f" {' AND '.join(b.apart)} {'stays' if len(b.apart) == 1 else 'stay'} above."
        case "exact":
            return " Nothing is left to check above."
        case "partial":
            return " The filter above stays."
    return ""


def _why(b: BoundaryReport) -> str:
    if b.kind != "none" or not b.declined:
        return sentences.no_code(b)
    first = b.declined[0]
    place = f" ({first.span})" if first.span else ""
    return f"{first.reason.rstrip('.')}{place}"


def _basis(b: BoundaryReport, data: ReportData) -> str:
    """What a claim about a boundary rests on, and which errors may disappear."""
    moved, replaced = is_moved(b, data.changed), is_replaced(b, data)
    if not moved and not replaced:
        return ""
    own = b.assumptions if moved else ()
    of_function = (a for f in _replaced_by(b, data) for a in f.assumptions) if replaced else ()
    return _rests_on((*own, *of_function), b.discharged if moved else ())


def _replaced_by(b: BoundaryReport, data: ReportData) -> Iterator[FunctionReport]:
    return (f for f in data.functions if f.function == b.function and f.compiled == b.compiled)


def _rests_on(assumptions: Iterable[dict[str, str]], known: Sequence[dict[str, str]] = ()) -> str:
    every = tuple(assumptions)
    declared = [f"{d['text']}, as declared" for d in known if d["by"] == BY_CALLER]
    conditions = [*(a["text"] for a in every if not is_effect(a)), *declared]
    evidence = [(d["text"], d["by"]) for d in known if d["by"] not in (BY_CALLER, BY_GUARD)]
    facts = [f"{text} ({by.partition(', ')[0]})" for text, by in evidence]
    proof = "This is proven without assumptions."
    if facts:
        proof = f"This is proven, given that {_join_texts(facts)}."
    if conditions:
        proof = f"This holds if {_join_texts(conditions)}."
    return f"{proof} {_effects(every)}".rstrip()


def _join_texts(texts: Sequence[str]) -> str:
    return "; ".join(dict.fromkeys(texts))


def _effects(assumptions: Iterable[dict[str, str]]) -> str:
    """What may change, each effect once."""
    texts = dict.fromkeys(a["text"] for a in assumptions if is_effect(a))
    return " ".join(f"{text[:1].upper()}{text[1:]}." for text in texts)


def _of_functions(data: ReportData) -> Iterator[Statement]:
    written, runs = parse(data.plan_before), parse(data.plan_after)
    for f in functions_alone(data):
        name = (f.function, True)
        if f.compiled and _number_of_calls(runs, f):
            claim: MarkedText = (("Spark computes a call of ", False), name)
            claim += ((" itself. Other calls stay in Python.", False),)
            yield Statement(claim, _rests_on(f.assumptions))
        elif f.compiled:
            yield Statement((*_no_row(f.function), (".", False)), _rests_on(f.assumptions))
        elif f.columns is not None:
            read, total = f.columns
            names = f": {', '.join(f.read)}" if f.read else ""
            text = f" gets {read} of {total} columns{names}."
            one_of = (("A call of ", False),) if _number_of_calls(written, f) > 1 else ()
            yield Statement((*one_of, name, (text, False)), _effects(f.assumptions))


def functions_alone(data: ReportData) -> tuple[FunctionReport, ...]:
    """The functions that change in a way that no statement about a boundary tells."""
    if not data.changed:
        return ()
    told = {(b.function, b.compiled) for b in data.boundaries}
    return tuple(
        f
        for f in data.functions
        if f.pruned or (f.compiled and (f.function, f.compiled) not in told)
    )


class RowStep(Struct, frozen=True):
    """A step on the way of the rows, from the result down: conditions or names as ``code``, and
    ``notes``. ``new`` says that it is not in the plan as written.
    """

    heading: str
    code: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    new: bool = False


def flow(b: BoundaryReport, data: ReportData) -> Iterator[RowStep]:
    """What the rows of a function meet, from the result down."""
    yield RowStep("Filter, as written", (b.written,))
    moved = is_moved(b, data.changed)
    if moved:
        yield _residual(b)
    yield _function(b, data)
    if not moved:
        yield RowStep("Pre-filter", (), (f"none: {_why(b)}",))
        return
    notes = [f"strength {sentences.strength(b.strength)}"] if b.strength else []
    if b.estimated_selectivity is not None:
        notes.append(f"keeps {sentences.tell_kept(b)} of the rows")
    yield RowStep("Pre-filter, below it", (b.prefilter,), tuple(notes), new=True)
    missed = (f"not pushed to the scan: `{r.text}`: {r.why}" for r in b.reaches if not r.reached)
    pushed = () if b.pushed_to_scan else ("none",)
    yield RowStep("Filters that reach the file scan", b.pushed_to_scan, (*pushed, *missed))


def _function(b: BoundaryReport, data: ReportData) -> RowStep:
    """The function, and what runs in its place."""
    if b.kind == "empty" and is_moved(b, data.changed):
        return RowStep("Function", (b.function or b.operator,), ("gets no row",), new=True)
    if is_replaced(b, data) and b.compiled is not None:
        how = f"does not run: Spark computes its result, by {sentences.FORMS[b.compiled.form]}"
        return RowStep("Function", (b.function,), (how,), new=True)
    return RowStep("Function" if b.function else "Operator", (b.function or b.operator,))


def _residual(b: BoundaryReport) -> RowStep:
    """What is left of the filter."""
    heading = "Residual, left above"
    if b.kind == "empty":
        return RowStep(heading, (), ("the filter is never true, so the result is empty",), new=True)
    if b.remaining == "true":
        return RowStep(heading, (), (sentences.NOTHING_LEFT,), new=True)
    notes = [b.stays] if b.stays else []
    if b.residual_strength and b.kind in sentences.WITH_RESIDUAL:
        notes.insert(0, sentences.RESIDUAL_STRENGTHS[b.residual_strength])
    return RowStep(heading, (b.remaining,), tuple(notes), new=b.kind != "partial")
