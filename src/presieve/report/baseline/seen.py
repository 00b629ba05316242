# SPDX-License-Identifier: Apache-2.0
"""Untrusted. The sites of a job's reports, with the lines and reasons of this run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from pathlib import PurePosixPath

from msgspec import Struct

from presieve.errors import Declined, Span
from presieve.records import replace
from presieve.report import sentences
from presieve.report.baseline.stored_sites import (
    DerivedSite,
    FilterSite,
    FunctionSite,
    Site,
    split_filter,
)
from presieve.report.collector import CollectedReport
from presieve.report.report_data import BoundaryReport, DerivedReport, FunctionReport


class SeenSite(Struct, frozen=True):
    """A site of this run.

    Attributes:
        site: What a baseline keeps of it.
        span: The place of its function, if known.
        why: Why not more is done there.
        note: A reason without a code; may be empty.
        at: The lines of the job that run it.
    """

    site: Site
    span: Span | None = None
    why: tuple[Declined, ...] = ()
    note: str = ""
    at: tuple[Span, ...] = ()


def list_sites(collected: Iterable[CollectedReport]) -> tuple[SeenSite, ...]:
    """List the sites of all reports, each once, with all its lines."""
    by_site: dict[Site, SeenSite] = {}
    for report in collected:
        for seen in _sites(report):
            earlier = by_site.get(seen.site, seen)
            places = dict.fromkeys((*earlier.at, *([report.at] if report.at else [])))
            by_site[seen.site] = replace(earlier, at=tuple(places))
    return tuple(by_site.values())


def _sites(report: CollectedReport) -> Iterator[SeenSite]:
    yield from map(_filter_site, report.data.boundaries)
    yield from _function_sites(report.data.functions)
    yield from map(_derived_site, report.data.derived)


def reasons_left_alone(collected: Iterable[CollectedReport]) -> tuple[Declined, ...]:
    """List why plans, or parts of them that call functions, were not examined."""
    reasons: dict[Declined, None] = {}
    for report in collected:
        declined = report.data.declined
        alone = (*([declined] if declined else []), *report.data.taken_back)
        reasons.update(dict.fromkeys((*alone, *report.data.left_alone)))
    return tuple(reasons)


def _filter_site(b: BoundaryReport) -> SeenSite:
    moved = b.kind != "none"
    site = FilterSite(
        b.operator,
        b.function,
        b.where,
        b.kind,
        split_filter(b.prefilter) if moved else (),
        tuple(r.text for r in b.reaches if r.reached) if moved else (),
        _codes(a["code"] for a in b.assumptions) if moved else (),
        _codes(d.code for d in b.declined),
    )
    unreached = "; ".join(str(r) for r in b.reaches if not r.reached)
    note = b.stays or unreached or ("" if b.declined or moved else sentences.no_code(b))
    why = (*b.declined, *(d for c in b.conjuncts for d in c.why))
    return SeenSite(site, b.span, tuple(dict.fromkeys(why)), note)


def _function_sites(functions: Sequence[FunctionReport]) -> Iterator[SeenSite]:
    """Yield the functions of a plan. Of a function of groups there are two reports, one on its
    columns and one on what may run in its place; they are one site.
    """
    of_name: dict[tuple[str, str], list[FunctionReport]] = {}
    for f in functions:
        of_name.setdefault((f.operator, f.function), []).append(f)
    for reports in of_name.values():
        on_columns = [f for f in reports if f.columns or f.declined]
        others = [f for f in reports if not (f.columns or f.declined)]
        for pair in zip_longest(on_columns, others):
            yield _function_site([f for f in pair if f is not None])


def _function_site(reports: Sequence[FunctionReport]) -> SeenSite:
    first = reports[0]
    forms = [f.compiled.form for f in reports if f.compiled]
    pruned = [f for f in reports if f.pruned and not forms]
    used = [f for f in reports if f.compiled] if forms else pruned
    why = tuple(dict.fromkeys(d for f in reports for d in (*f.not_compiled, *f.declined)))
    site = FunctionSite(
        first.operator,
        first.function,
        forms[0] if forms else "",
        tuple(sorted(pruned[0].read)) if pruned else (),
        _codes(a["code"] for f in used for a in f.assumptions),
        _codes(d.code for d in why),
    )
    return SeenSite(site, first.span, why)


def _derived_site(d: DerivedReport) -> SeenSite:
    is_range = d.operator == "Join"
    site = DerivedSite(
        d.operator,
        d.source if d.operator and not is_range else PurePosixPath(d.source).name,
        _FOLDERS.sub(r"\1", d.where) if is_range else d.where,
        (_FOLDERS.sub(r"\1", d.derived),) if is_range and d.derived else split_filter(d.derived),
        _codes(a["code"] for a in d.assumptions),
        _codes(r.code for r in d.declined),
    )
    return SeenSite(site, None, d.declined)


_FOLDERS = re.compile(r"(?:\w+:)?/{1,3}(?:[^\s/'`]+/)*([^\s/'`]+)")
"""A path in the description of a join, whose folders differ between machines."""


def _codes(codes: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(codes)))
