# SPDX-License-Identifier: Apache-2.0
"""Untrusted. The details of a boundary that a report adds to the proof itself, computed only on
request. All of them are derived from the subject of the proof, and no decision depends on them.
"""

from __future__ import annotations

from collections.abc import Iterable

from presieve.backend.problems.problem import SiteProblem
from presieve.backend.rewrite import SiteEdit, why_copied
from presieve.backend.statistics.pushed_filters import Scans, columns_below
from presieve.errors import Declined, Span
from presieve.ir.fold import Problem
from presieve.ir.ops import sql_conjuncts
from presieve.ir.terms import Term
from presieve.report import conjuncts, invariant_text, remedies, scan_pushdown
from presieve.report.remarks import ConjunctFate, Reach, Remedy
from presieve.report.report_data import BoundaryReport
from presieve.report.sentences import with_behind
from presieve.report.source import changes, listing
from presieve.report.source.changes import SourceChange
from presieve.report.source.listing import Listing
from presieve.report.trace_steps import sql


def functions(site: SiteProblem) -> tuple[Listing, ...]:
    """The functions that were read."""
    listings = (
        listing.of_function(f.fold.span, f.source)
        for f in site.functions
        if f.fold.span is not None and f.source
    )
    return tuple(dict.fromkeys(x for x in listings if x is not None))


def with_places(listings: tuple[Listing, ...], declined: Iterable[Declined]) -> tuple[Listing, ...]:
    """Add a note to the listings at every declined place and at those behind, and add the source
    around places that no listing contains.
    """
    noted = list(listings)
    for why in with_behind(declined):
        if why.span is None:
            continue
        for i, old_listing in enumerate(noted):
            if listing.holds(old_listing, why.span):
                noted[i] = listing.add_note(old_listing, why)
                break
        else:
            around = listing.of_place(why)
            noted += [around] if around is not None else []
    return tuple(noted)


def changes_of(report: BoundaryReport, place: Span | None, typed: str) -> tuple[SourceChange, ...]:
    """Changes of the job's source that do by hand what the report says. ``place`` is in the
    function, if the report has none; ``typed`` is the pre-filter, empty if a person cannot type it.
    """
    facts = tuple(a["text"] for a in (*report.discharged, *report.assumptions))
    reasons = with_behind((*report.declined, *(d for c in report.conjuncts for d in c.why)))
    places = (report.span, *(why.span for why in reasons), place)
    inside = next((p for p in places if p is not None), None)
    return changes.changes_by_hand(
        changes.Advised(report.function, inside, report.where, typed, facts, reasons)
    )


def conjuncts_of(
    kind: str, site: SiteProblem, where: Term, residual: Term, why: str
) -> tuple[ConjunctFate, ...]:
    """The outcome of the conjuncts of the proof's filter, given the kind of the rewrite, what
    stands above then, and why the filters stay, if they do.
    """
    copied = set(sql_conjuncts(site.copied))
    return tuple(
        ConjunctFate(
            sql(a.term),
            a.fate,
            tuple(map(sql, a.above)),
            note=why_copied(site) if a.term in copied else why,
        )
        for a in conjuncts.accounts(kind, where, residual)
    )


def sentences(problem: Problem, clauses: tuple[Term, ...]) -> tuple[str, ...]:
    """The invariant in words."""
    return tuple(s.text for s in invariant_text.sentences(problem, clauses))


def reaches_of(edit: SiteEdit, scans: Scans) -> tuple[Reach, ...]:
    """Which conjuncts of the pre-filter reach the scans, and why the others do not."""
    if edit.prefilter is None or edit.beside is not None:
        return ()
    attributes = edit.prefilter.attributes
    columns = columns_below(edit.site.site.input, attributes)
    names = {v: columns[i] for i, v in attributes.items() if i in columns}
    return scan_pushdown.reaches(edit.prefilter.term, scans, names)


def remedies_of(assumptions: Iterable[dict[str, str]], problem: Problem) -> tuple[Remedy, ...]:
    """What to do about each assumption that is not discharged."""
    assumption_of = {(a.code, a.text): a for a in problem.assumptions}
    return tuple(
        remedies.remedy_of_code(a["code"], a["text"])
        if (assumption := assumption_of.get((a["code"], a["text"]))) is None
        else remedies.remedy(assumption)
        for a in assumptions
    )
