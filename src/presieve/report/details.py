"""Untrusted. What a person is told of a boundary beyond the proof itself, where a report is asked
for. All of it is derived from what the proof is about, and none of it decides anything.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from presieve.backend.problem import SiteProblem
from presieve.errors import Declined
from presieve.ir.terms import Scope
from presieve.ir.walk import variables
from presieve.report import listing
from presieve.report.listing import Listing
from presieve.report.model import BoundaryReport


def declined_at(report: BoundaryReport) -> BoundaryReport:
    """The report with the source around every place that is in the way."""
    return replace(report, listings=_with_places(report.listings, report.declined))


def of_functions(report: BoundaryReport, site: SiteProblem) -> BoundaryReport:
    """The report with the functions that were read, and the lines in them on which it depends what
    the filter reads.
    """
    read = {v.name for v in variables(site.problem.where) if v.scope is Scope.OUT}
    found: list[Listing] = []
    for function in site.functions:
        outputs = [o.name for o in function.fold.outputs]
        if function.fold.span is None or not function.source:
            continue
        wanted = read & set(outputs)
        shown = listing.of_function(function.fold.span, function.source, wanted, outputs)
        if shown is not None:
            found.append(shown)
    return replace(report, listings=tuple(dict.fromkeys(found)))


def _with_places(
    listings: tuple[Listing, ...], declined: Iterable[Declined]
) -> tuple[Listing, ...]:
    shown = list(listings)
    for why in declined:
        if why.span is None:
            continue
        for i, one in enumerate(shown):
            if listing.holds(one, why.span):
                shown[i] = listing.noted(one, why)
                break
        else:
            around = listing.of_place(why)
            shown += [around] if around is not None else []
    return tuple(shown)
