"""Trusted. The boundaries of a plan decided in rounds, and what is decided put into the plan."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from presieve.errors import Declined
from presieve.report.model import BoundaryReport

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from presieve.backend.plans import Opened, OpenSite, SiteEdit
    from presieve.backend.statistics.scan_filters import Scans
    from presieve.report.trace import Trace


@dataclass(frozen=True, slots=True)
class Decided:
    """What came out of one site; ``edit`` is None where the plan stays as it is.
    ``search`` does the search again, to tell of it.
    """

    report: BoundaryReport
    edit: SiteEdit | None
    search: Callable[[], Trace] | None = None


Decide: TypeAlias = "Callable[[Opened, OpenSite], Decided]"
Gate: TypeAlias = "Callable[[Opened, list[Decided]], list[Decided]]"
"""Takes back edits of one round that are not worth while."""

MAX_ROUNDS = 8
"""Boundaries that stand on one another, of which each may pass a filter on to the next."""


def in_rounds(
    df: DataFrame, opened: Opened, decide: Decide, gate: Gate, *, for_report: bool
) -> tuple[DataFrame, list[Decided]]:
    """Every boundary decided once, outer ones first.

    A pre-filter of an outer boundary is one more filter for those below it, so these wait until it
    is there. What comes out may be the plan that was there before.
    """
    from presieve.backend.plans import is_same, open_plan, scan_filters

    first, found = opened, df
    decided: dict[int, Decided] = {}
    for left in reversed(range(MAX_ROUNDS)):
        here = _round(opened, decided, decide, wait=left > 0)
        if not here:
            break
        changed, sites = _apply(found, opened, gate(opened, list(here.values())))
        decided |= zip(here, sites, strict=True)
        if changed is not found:
            found = changed
            if opened.numbers <= decided.keys():
                break  # no boundary is left that a pre-filter could meet
            again = open_plan(changed, pure=opened.pure, before=opened, decided=decided)
            if isinstance(again, Declined):
                break
            opened = again
    numbers = sorted(decided)
    if found is df or is_same(first, found):
        return df, [replace(decided[number], edit=None) for number in numbers]
    scans = scan_filters(first, found) if for_report else ()
    return found, [_with_scans(decided[n], scans[n] if scans else None) for n in numbers]


def _round(
    opened: Opened, decided: Collection[int], decide: Decide, *, wait: bool
) -> dict[int, Decided]:
    """The boundaries that are not decided yet, by number, but for those that are to ``wait``."""
    here: dict[int, Decided] = {}
    above: list[tuple[int, ...]] = []
    for site in opened.sites:
        waits = wait and any(site.path[: len(path)] == path for path in above)
        if site.number in decided or waits:
            continue
        one = decide(opened, site)
        here[site.number] = one
        if one.edit is not None and one.edit.prefilter is not None:
            boundary = one.edit.site.boundary
            above.append(boundary.input_path)
            above += [] if boundary.beside is None else [boundary.beside.input_path]
    return here


def _with_scans(site: Decided, scans: Scans | None) -> Decided:
    if site.edit is None or scans is None:
        return site
    from presieve.report.details import of_scans

    return replace(site, report=of_scans(site.report, site.edit, scans))


def _apply(df: DataFrame, opened: Opened, sites: list[Decided]) -> tuple[DataFrame, list[Decided]]:
    """The DataFrame with every edit made that can be made; the others are told as declined."""
    from presieve.backend.plans import apply_edits

    edits = tuple(s.edit for s in sites if s.edit is not None)
    if not edits:
        return df, sites
    applied = apply_edits(opened, edits)
    if isinstance(applied, Declined):
        alone = [_alone(opened, s, applied, len(edits)) for s in sites]
        if all(new is old for new, old in zip(alone, sites, strict=True)):
            # Each can be made, but not all of them.
            last = max(i for i, s in enumerate(sites) if s.edit is not None)
            alone[last] = _undone(sites[last], applied)
        return _apply(df, opened, alone)
    return applied, sites


def _alone(opened: Opened, site: Decided, together: Declined, count: int) -> Decided:
    """The site without its edit, unless there are others and it can be made without them."""
    from presieve.backend.plans import apply_edits

    if site.edit is None:
        return site
    why = together if count == 1 else apply_edits(opened, (site.edit,))
    return _undone(site, why) if isinstance(why, Declined) else site


def _undone(site: Decided, why: Declined) -> Decided:
    return replace(site, report=undone(site.report, why), edit=None)


def undone(report: BoundaryReport, why: Declined) -> BoundaryReport:
    """The report where nothing is moved after all."""
    return replace(
        report,
        kind="none",
        prefilter="true",
        residual=report.where,
        conjuncts=(),
        declined=(*report.declined, why),
    )
