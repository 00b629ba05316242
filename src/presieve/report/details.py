"""Untrusted. What a person is told of a boundary beyond the proof itself, where a report is asked
for. All of it is derived from what the proof is about, and none of it decides anything.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from presieve.backend.problems.problem import SiteProblem
from presieve.backend.rewrite import SiteEdit
from presieve.backend.statistics.scan_filters import Scans, columns_below
from presieve.errors import Declined
from presieve.ir.fold import Problem
from presieve.ir.terms import Scope, Term
from presieve.ir.walk import variables
from presieve.report import conjuncts, invariant, reaches, remedies
from presieve.report.model import BoundaryReport
from presieve.report.parts import ConjunctFate
from presieve.report.source import listing
from presieve.report.source.listing import Listing
from presieve.report.trace_steps import sql


@dataclass(frozen=True, slots=True)
class ProofParts:
    """What was proved: the kind of pushdown that is made, its residual, and the invariant."""

    kind: str
    residual: Term
    invariant: tuple[Term, ...]


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


def of_proof(report: BoundaryReport, problem: Problem, proof: ProofParts) -> BoundaryReport:
    """The report with what became of the filter's conjuncts, and the invariant in words."""
    told = tuple(
        ConjunctFate(sql(a.term), a.fate, tuple(map(sql, a.above)))
        for a in conjuncts.accounts(proof.kind, problem.where, proof.residual)
    )
    texts = tuple(s.text for s in invariant.sentences(problem, proof.invariant))
    return replace(report, conjuncts=told, sentences=texts)


def of_scans(report: BoundaryReport, edit: SiteEdit, scans: Scans) -> BoundaryReport:
    """The report with the filters that reach the scans, and why others do not."""
    scanned = replace(report, pushed_to_scan=scans.filters)
    if edit.prefilter is None or edit.beside is not None:
        return scanned
    attributes = edit.prefilter.attributes
    found = columns_below(edit.site.site.input, attributes)
    names = {v: found[i] for i, v in attributes.items() if i in found}
    return replace(scanned, reaches=reaches.reaches(edit.prefilter.term, scans, names))


def of_assumptions(report: BoundaryReport, problem: Problem) -> BoundaryReport:
    """The report with what can be done about the assumptions that nobody has discharged."""
    known = {(a.code, a.text): a for a in problem.assumptions}
    found = []
    for said in report.assumptions:
        assumption = known.get((said["code"], said["text"]))
        if assumption is None:
            found.append(remedies.coded(said["code"], said["text"]))
        else:
            found.append(remedies.remedy(assumption))
    return replace(report, remedies=tuple(found))


def _with_places(
    listings: tuple[Listing, ...], declined: Iterable[Declined]
) -> tuple[Listing, ...]:
    marked = list(listings)
    for why in declined:
        if why.span is None:
            continue
        for i, one in enumerate(marked):
            if listing.holds(one, why.span):
                marked[i] = listing.noted(one, why)
                break
        else:
            around = listing.of_place(why)
            marked += [around] if around is not None else []
    return tuple(marked)
