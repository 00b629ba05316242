# SPDX-License-Identifier: Apache-2.0
"""Untrusted. What a run says of a baseline, as text and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from presieve.errors import Declined, Span, place_json
from presieve.report import report_text, sentences
from presieve.report.baseline.comparison import Aspect, SiteChange
from presieve.report.baseline.stored_sites import title_of

Status: TypeAlias = Literal["written", "updated", "missing", "same", "different", "gained", "lost"]


class BaselineOutcome(Struct, frozen=True):
    """What a run says of a baseline.

    Attributes:
        file: The file, as the user named it.
        status: ``"written"`` (the job was not in it), ``"updated"`` (on request), ``"missing"``
            (the job is not in it, and did not reach its end), or the outcome of the comparison.
        complete: Whether the job reached its end. If not, nothing is written, and nothing is said
            of what did not run.
        notes: What else differs between the runs.
        changes: The sites that are not as they were.
    """

    file: str
    status: Status
    complete: bool = True
    notes: tuple[str, ...] = ()
    changes: tuple[SiteChange, ...] = ()

    @property
    def is_worse(self) -> bool:
        """Whether something is lost that nobody asked to record."""
        return self.status == "lost"


Naming: TypeAlias = Callable[[Span], Span]
"""Gives a place the name by which to mention its file."""


def outcome_json(outcome: BaselineOutcome, naming: Naming) -> dict[str, Any]:
    """An outcome as JSON types."""
    return {
        "file": outcome.file,
        "status": outcome.status,
        "complete": outcome.complete,
        "notes": list(outcome.notes),
        "changes": [_change_json(c, naming) for c in outcome.changes],
    }


def _change_json(change: SiteChange, naming: Naming) -> dict[str, Any]:
    site = change.before if change.now is None else change.now.site
    assert site is not None  # a change has at least one side
    place = change.place
    return {
        "outcome": change.outcome,
        "section": site.section,
        "operator": site.operator,
        "function": site.function,
        "filter": site.filter or None,
        **place_json(None if place is None else naming(place)),
        "at": [str(naming(span)) for span in change.now.at] if change.now else [],
        "aspects": [
            {"name": a.name, "was": a.was, "now": a.now, "outcome": a.outcome}
            for a in change.aspects
        ],
        "why": [_rename_span(d, naming).to_json() for d in change.why],
        "note": change.note,
    }


def _rename_span(declined: Declined, naming: Naming) -> Declined:
    span = declined.span
    return Declined(declined.code, declined.reason, None if span is None else naming(span))


_HEADS: dict[Status, str] = {
    "written": "the job was not in it; written",
    "updated": "updated",
    "missing": "the job is not in it",
    "same": "nothing changed",
    "different": "nothing is lost, but the job differs",
    "gained": "nothing is lost, and something is gained",
    "lost": "something is lost",
}


def outcome_lines(outcome: BaselineOutcome, naming: Naming) -> Iterator[str]:
    """The lines of an outcome: each change that matters with its place, what was and what is."""
    head = f"baseline {outcome.file}: {_HEADS[outcome.status]}"
    unfinished = (
        "; the job did not reach its end: nothing is written, and only what ran is compared"
    )
    yield head + ("" if outcome.complete else unfinished)
    yield from (f"note: {note}" for note in outcome.notes)
    for change in outcome.changes:
        yield from _change_lines(change, naming)
    codes = [d.code for c in outcome.changes for d in c.why]
    if codes:
        yield f"more: {sentences.why(codes)}"
    if outcome.status in ("lost", "gained", "different") and outcome.complete:
        meant = "if that is meant, " if outcome.is_worse else ""
        yield f"{meant}the same command with --update-baseline records this run"


def _change_lines(change: SiteChange, naming: Naming) -> Iterator[str]:
    site = change.before if change.now is None else change.now.site
    assert site is not None  # a change has at least one side
    place = f"{naming(change.place)}: " if change.place else ""
    above = f", filter {sentences.short(site.filter)}" if site.filter else ""
    yield f"{place}{change.outcome}: {title_of(site)}{above}"
    for aspect in change.aspects:
        yield report_text.field_text(aspect.name, _aspect_text(aspect))
    for declined in change.why:
        yield report_text.field_text("because", str(_rename_span(declined, naming)))
    if change.note:
        yield report_text.field_text("because", change.note)
    if change.now is not None and change.now.at:
        lines = ", ".join(str(naming(span)) for span in change.now.at)
        yield report_text.field_text("run by", lines)


def _aspect_text(aspect: Aspect) -> str:
    if aspect.name == "job" and not (aspect.was and aspect.now):
        return aspect.now
    return f"was {aspect.was or 'nothing'}, now {aspect.now or 'nothing'}"
