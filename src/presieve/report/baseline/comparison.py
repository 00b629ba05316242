# SPDX-License-Identifier: Apache-2.0
"""Untrusted. What became of the sites of a baseline: lost, gained or otherwise different."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from presieve.errors import Declined, Span
from presieve.report.baseline.matching import match_sites
from presieve.report.baseline.seen import SeenSite
from presieve.report.baseline.stored_sites import (
    DerivedSite,
    FilterSite,
    FunctionSite,
    Site,
    shape_of,
    shapes_of,
    split_filter,
)

Outcome: TypeAlias = Literal["lost", "gained", "different"]

KIND_RANKS = {"none": 0, "partial": 1, "split": 2, "exact": 3, "empty": 4}
"""How much a kind of pushdown saves, as a rank."""


class Aspect(Struct, frozen=True):
    """One thing about a site that is not as it was.

    Attributes:
        name: ``"job"`` (the site itself), ``"filter"``, ``"pushed"`` (the kind), ``"pre-filter"``,
            ``"scan"``, ``"runs as"``, ``"columns"``, ``"derived"`` or ``"assuming"``.
        was: In the baseline; empty if there was nothing.
        now: In this run.
        outcome: Whether that is less than it was.
    """

    name: str
    was: str
    now: str
    outcome: Outcome


class SiteChange(Struct, frozen=True):
    """A site that is not as it was.

    Attributes:
        outcome: ``"lost"`` if an aspect is lost, else ``"gained"`` if one is gained.
        before: The site of the baseline; None if it is new.
        now: The site of this run; None if it is gone.
        aspects: What differs.
        why: The reasons of this run, if something is lost.
        note: A reason without a code.
    """

    outcome: Outcome
    before: Site | None
    now: SeenSite | None
    aspects: tuple[Aspect, ...]
    why: tuple[Declined, ...] = ()
    note: str = ""

    @property
    def place(self) -> Span | None:
        """The line to look at: the first obstacle's, else the function's, else the job's."""
        function = () if self.now is None or self.now.span is None else (self.now.span,)
        lines = () if self.now is None else self.now.at
        spans = (*(d.span for d in self.why if d.span is not None), *function, *lines)
        return spans[0] if spans else None


def compare_sites(
    before: Sequence[Site],
    now: Sequence[SeenSite],
    left_alone: tuple[Declined, ...],
    *,
    complete: bool,
) -> tuple[SiteChange, ...]:
    """Compare the sites of a baseline with those of a run. ``left_alone``: why parts of plans were
    not examined. ``complete``: whether the job reached its end; if not, nothing is known of what
    did not run. What is lost comes first.
    """
    changes: list[SiteChange] = []
    for section in (FilterSite, FunctionSite, DerivedSite):
        matching = match_sites(
            (s for s in before if isinstance(s, section)),
            (s for s in now if isinstance(s.site, section)),
        )
        changes += (_change(site, seen) for site, seen in matching.pairs)
        if complete:
            changes += (
                _compare_missing_site(site, now, left_alone) for site in matching.only_before
            )
        changes += (_new(s) for s in matching.only_now if s.site.is_kept)
    order: list[Outcome] = ["lost", "gained", "different"]
    return tuple(sorted((c for c in changes if c.aspects), key=lambda c: order.index(c.outcome)))


def _change(site: Site, seen: SeenSite) -> SiteChange:
    aspects = tuple(_aspects(site, seen.site))
    if _outcome(aspects) == "lost":
        return SiteChange("lost", site, seen, aspects, seen.why, seen.note)
    return SiteChange(_outcome(aspects), site, seen, aspects)


def _outcome(aspects: Iterable[Aspect]) -> Outcome:
    outcomes = {a.outcome for a in aspects}
    return "lost" if "lost" in outcomes else "gained" if "gained" in outcomes else "different"


def _compare_missing_site(
    site: Site, now: Sequence[SeenSite], left_alone: tuple[Declined, ...]
) -> SiteChange:
    """A site that no DataFrame of this run has. It is lost if presieve did something there: whether
    it was deleted on purpose is for a person to say. The reasons are those of the same function
    elsewhere, and of what was not examined.
    """
    outcome: Outcome = "lost" if site.is_better_than_written else "different"
    same = (s for s in now if s.site.function == site.function and type(s.site) is type(site))
    why = dict.fromkeys((*(d for s in same for d in s.why), *left_alone))
    aspects = (
        Aspect("job", "in the job", "in no plan of this run", outcome),
        *_list_aspects_before(site, outcome),
    )
    return SiteChange(outcome, site, None, aspects, tuple(why) if outcome == "lost" else ())


def _list_aspects_before(site: Site, outcome: Outcome) -> Iterator[Aspect]:
    """Yield what there was at a site that is gone."""
    empty: Site
    match site:
        case FilterSite():
            empty = FilterSite(site.operator, site.function, site.filter)
        case FunctionSite():
            empty = FunctionSite(site.operator, site.function)
        case DerivedSite():
            empty = DerivedSite(site.operator, site.function, site.filter)
    for aspect in _aspects(site, empty):
        if aspect.was:
            yield Aspect(aspect.name, aspect.was, "", outcome)


def _new(seen: SeenSite) -> SiteChange:
    outcome: Outcome = "gained" if seen.site.is_better_than_written else "different"
    return SiteChange(outcome, None, seen, (Aspect("job", "", "new in the job", outcome),))


def _aspects(before: Site, now: Site) -> Iterator[Aspect]:
    """Yield what differs between two sites."""
    if before.operator != now.operator or before.function != now.function:
        was = f"{before.operator} {before.function}".strip()
        yield Aspect("job", was, f"{now.operator} {now.function}".strip(), "different")
    if shape_of(before.filter) != shape_of(now.filter):
        yield Aspect("filter", before.filter, now.filter, "different")
    match before, now:
        case FilterSite(), FilterSite():
            yield from _compare_pushdown(before, now)
        case FunctionSite(), FunctionSite():
            yield from _of_function(before, now)
        case DerivedSite(), DerivedSite():
            yield from _conditions("derived", before.derived, now.derived)
    if now.is_better_than_written and before.is_better_than_written:
        yield from _assuming(before.assuming, now.assuming)


def _compare_pushdown(before: FilterSite, now: FilterSite) -> Iterator[Aspect]:
    """Yield what differs in the pushdown of a filter. If conjuncts were added to the filter, all
    that was pushed should be; if some were deleted or changed, something should be.
    """
    rank, old_rank = KIND_RANKS.get(now.kind, 0), KIND_RANKS.get(before.kind, 0)
    old, new = _shapes_of_filter(before), _shapes_of_filter(now)
    if rank != old_rank:
        outcome: Outcome = "gained" if rank > old_rank else "lost"
        if old != new and rank and old_rank:
            outcome = "different"
        yield Aspect("pushed", before.kind, now.kind, outcome)
    if "empty" in (before.kind, now.kind):
        return
    comparable = old <= new or not rank
    parts = [("pre-filter", before.prefilter, now.prefilter)]
    parts += [("scan", before.scan, now.scan)] if rank and old_rank else []
    for name, had, has in parts:
        for aspect in _conditions(name, had, has):
            lost_for_good = aspect.outcome == "lost" and not comparable
            yield Aspect(name, aspect.was, aspect.now, "different") if lost_for_good else aspect


def _shapes_of_filter(site: FilterSite) -> frozenset[str]:
    return shapes_of(split_filter(site.filter))


def _conditions(name: str, before: tuple[str, ...], now: tuple[str, ...]) -> Iterator[Aspect]:
    """Yield a difference of conjuncts, other than in constants."""
    old, new = shapes_of(before), shapes_of(now)
    if old != new:
        outcome: Outcome = "gained" if old < new else "lost"
        yield Aspect(name, " AND ".join(before), " AND ".join(now), outcome)


def _of_function(before: FunctionSite, now: FunctionSite) -> Iterator[Aspect]:
    if before.runs_as != now.runs_as:
        outcome: Outcome = "lost" if not now.runs_as else "different"
        outcome = "gained" if not before.runs_as else outcome
        yield Aspect("runs as", before.runs_as, now.runs_as, outcome)
    if before.columns != now.columns and not (before.runs_as or now.runs_as):
        outcome = "lost" if not now.columns else "different"
        outcome = "gained" if not before.columns else outcome
        yield Aspect("columns", ", ".join(before.columns), ", ".join(now.columns), outcome)


def _assuming(before: tuple[str, ...], now: tuple[str, ...]) -> Iterator[Aspect]:
    """Yield a difference of assumptions: resting on more is a loss."""
    if set(before) != set(now):
        outcome: Outcome = "lost" if set(now) - set(before) else "gained"
        yield Aspect("assuming", ", ".join(before), ", ".join(now), outcome)
