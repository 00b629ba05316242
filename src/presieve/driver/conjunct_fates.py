# SPDX-License-Identifier: Apache-2.0
"""Trusted. The outcome of conjuncts that the pushdown of a boundary is not about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from presieve.backend.open_plan import Opened, OpenSite
from presieve.backend.problems.problem import SiteDeclined, SiteProblem
from presieve.errors import Declined
from presieve.ir.ops import sql_conjuncts
from presieve.ir.terms import Term
from presieve.records import replace
from presieve.report.remarks import ConjunctFate, Fate
from presieve.report.report_data import BoundaryReport


def plain(why: Declined) -> Declined:
    """Return a reason without the reasons of single conjuncts."""
    return Declined(why.code, why.reason, why.span, why.behind)


def list_unmoved_fates(
    site: OpenSite, report: BoundaryReport, *, is_pushed: bool, partly: bool
) -> Iterator[ConjunctFate]:
    """Yield the outcome of each conjunct that is not moved. If the others are (``is_pushed``),
    their outcome is told elsewhere. ``partly``: the function is read in part, and a filter follows
    from that.
    """
    if report.kind == "empty":
        return
    obstacles: dict[tuple[int, int], Declined | None] = {}
    if isinstance(site.problem, SiteProblem | SiteDeclined):
        obstacles = {(o.operator, o.conjunct): o.why for o in site.problem.obstacles}
    rest = tuple(d for d in report.declined if d not in obstacles.values())
    of_rest: Fate = "part" if partly else "stays" if rest else "nothing"
    texts: dict[str, tuple[int, int]] = {}
    for conjunct in site.conjuncts:
        texts.setdefault(conjunct.text, (conjunct.operator, conjunct.conjunct))
    for text, place in texts.items():
        if place not in obstacles:
            if not is_pushed:
                yield ConjunctFate(text, of_rest, why=rest)
            continue
        why = obstacles[place]
        if why is None:
            yield ConjunctFate(text, "spark")
        else:
            yield ConjunctFate(text, "stays", why=(plain(why),))


def without_notes_on(conjuncts: Iterable[ConjunctFate], residual: Term) -> tuple[ConjunctFate, ...]:
    """Drop the note from conjuncts of the proved residual: they would stay in any case."""
    from presieve.report.trace_steps import sql  # which only people need

    needed = set(map(sql, sql_conjuncts(residual)))
    return tuple(replace(c, note="") if c.text in needed else c for c in conjuncts)


def tell_replaced(report: BoundaryReport) -> BoundaryReport:
    """Say of filters that stay so that a function is called that Spark now computes it itself."""
    conjuncts = tuple(
        replace(c, note=_REPLACED) if c.fate == "stays" and c.note and not c.why else c
        for c in report.conjuncts
    )
    stays = f"the whole filter stays: {_REPLACED}" if report.stays else ""
    return replace(report, conjuncts=conjuncts, stays=stays)


_REPLACED = "Spark evaluates it on what replaces the function"


def without_repetitions(
    reports: tuple[BoundaryReport, ...], opened: Opened
) -> Iterator[BoundaryReport]:
    """Leave out conjuncts that Spark moves past a boundary if another boundary tells of them, or if
    they were not written, but inserted below another boundary.
    """
    written = {_bare(c.text) for site in opened.sites for c in site.conjuncts}
    told = {_bare(c.text) for report in reports for c in report.conjuncts if c.fate != "spark"}
    for report in reports:
        conjuncts = tuple(
            c for c in report.conjuncts if c.fate != "spark" or _bare(c.text) in written - told
        )
        yield replace(report, conjuncts=conjuncts)


def _bare(text: str) -> str:
    """Drop the parentheses that Spark prints around a comparison."""
    inner = text[1:-1]
    return inner if text[:1] == "(" and not {"(", ")"} & set(inner) else text
