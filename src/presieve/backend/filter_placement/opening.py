# SPDX-License-Identifier: Apache-2.0
"""Trusted. The operators of a plan that filters may pass, and plans with filters below them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from presieve.backend.catalyst.boundary import simple_kind
from presieve.backend.catalyst.definitions import CTE_DEFINITION
from presieve.backend.catalyst.operators import FILTER, JOIN
from presieve.backend.catalyst.sites import Site, find_sites
from presieve.backend.catalyst.trees import Node, is_leaf, walk
from presieve.backend.catalyst.windows import is_windowed, names_of
from presieve.backend.filter_placement.filtered_leaves import moves_no_filters, read_leaf_site
from presieve.backend.filter_placement.joins import (
    JoinSite,
    is_left_to_spark,
    may_pass_filters,
    read_join_site,
)
from presieve.backend.filter_placement.sides import OperatorInput, SiteContext
from presieve.backend.filter_placement.windows import WindowSite, read_window_site
from presieve.backend.gateway import Gateway, Handle, PlanView, dataframe_of
from presieve.backend.open_plan import CACHED, Opened, is_cached, or_declined, session_declines
from presieve.backend.rewrite import Predicate, insert_filters, predicate
from presieve.errors import Declined, DeclineSignal
from presieve.ir.sorts import BOOL, strip
from presieve.ir.terms import Scope, Term
from presieve.ir.walk import to_scope, variables
from presieve.records import replace
from presieve.semantics.scan import loses

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

AnySite: TypeAlias = WindowSite | JoinSite

_Kinds: TypeAlias = tuple[
    tuple[Callable[[Node], bool], Callable[[SiteContext, Site], AnySite]], ...
]
_KINDS: _Kinds = ((is_windowed, read_window_site), (may_pass_filters, read_join_site))
"""The kinds of operators, each with its reader. A new kind is added here."""
_SOURCES: _Kinds = ((is_leaf, read_leaf_site),)
"""The same for sources, if Spark's optimizer moves no filters."""


class FilteredOperators(Struct, frozen=True):
    """A plan and its operators that are understood, outer ones first; ``declined`` say of others
    below filters why no filter goes below them.
    """

    opened: Opened
    plan: Handle
    found: tuple[AnySite, ...] = ()
    declined: tuple[Declined, ...] = ()


@or_declined
def open_operators(opened: Opened, df: DataFrame) -> FilteredOperators:
    """Find the operators in the plan of ``df`` that may gain something."""
    gateway = opened.gateway
    plan = gateway.analyze_plan(df)
    alone = moves_no_filters(gateway)
    if not (alone or gateway.has_filtered(plan)) or session_declines(gateway, plan) is not None:
        return FilteredOperators(opened, plan)
    # A definition (WITH) that is not inlined stays as it is.
    plan = gateway.rewrite_above_cached(
        plan, lambda p: gateway.simplify_plan(gateway.inline_definitions(p))
    )
    timezone = gateway.conf("spark.sql.session.timeZone", "UTC")
    context = SiteContext(PlanView(gateway, plan, gateway.tree(plan)), timezone)
    kinds = (*_KINDS, *_SOURCES) if alone else _KINDS
    sites = list(_read_sites(context, kinds))
    declined = tuple(s for s in sites if isinstance(s, Declined))
    return FilteredOperators(
        opened, plan, tuple(s for s in sites if not isinstance(s, Declined)), declined
    )


@or_declined
def with_filters(
    gateway: Gateway, plan: Handle, filters: Mapping[tuple[int, ...], Predicate]
) -> DataFrame:
    """Return the DataFrame of a plan with these filters, by the path of the operator below each."""
    timezone = gateway.conf("spark.sql.session.timeZone", "UTC")
    return dataframe_of(gateway, insert_filters(gateway, plan, filters, timezone), plan)[0]


@or_declined
def filter_of(side: OperatorInput, prefilter: Term, timezone: str) -> Predicate:
    """Return a condition on the rows of a side as a filter to insert. If a scan might drop rows for
    which it is true, the filter takes a form that is not handed to scans; a truth value that is
    computed below may be a comparison by which one does.
    """
    prefilter = to_scope(prefilter, Scope.KEY, Scope.ROW)
    read = set(variables(prefilter))
    taken = {number: var for number, var in side.attributes.items() if var in read}
    if not side.errors.exposed.isdisjoint(taken):
        reason = "the filter would compute something that can raise for more rows"
        raise DeclineSignal("may-add-error", reason)
    sources = side.input.sources()
    if sources.aside(taken):
        reason = "a source below is not known to apply filters as Spark does; store its rows first"
        raise DeclineSignal("source", reason)
    filter_ = predicate(prefilter, taken, timezone)
    flags = {number for number, var in taken.items() if strip(var.sort) == BOOL}
    lossy = flags if sources.lossy is None else sources.lossy & flags
    return replace(filter_, aside=True) if lossy or loses(prefilter) else filter_


def _read_sites(context: SiteContext, kinds: _Kinds) -> Iterator[AnySite | Declined]:
    nodes = list(walk(context.view.root))
    if not any(n.kind in (FILTER, JOIN) for n in nodes):
        return
    defined = [n.path for n in nodes if n.kind == CTE_DEFINITION]
    readers = [(n, next((read for is_, read in kinds if is_(n)), None)) for n in nodes]
    by_number = dict(enumerate((n, read) for n, read in readers if read is not None))
    numbered = {
        i: n
        for i, (n, _) in by_number.items()
        if not any(n.path[: len(path)] == path for path in defined)
    }
    for site in find_sites(context.view, context.timezone, numbered, skip_hopeless=False):
        if is_left_to_spark(context, site):
            continue
        try:
            _check(context.view, site)
            yield by_number[site.number][1](context, site)
        except DeclineSignal as signal:
            node, why = site.boundary, signal.declined
            operator = f"{simple_kind(node)} {names_of(node)}".strip()
            reason = f"no filter is pushed below {operator}: {why.reason}"
            yield Declined(why.code, reason, why.span)


def _check(view: PlanView, site: Site) -> None:
    """Raise :class:`DeclineSignal` if nothing may be put below an operator."""
    gateway, plan = view.gateway, view.plan
    unread = gateway.explain_unread(view.handle(site.boundary))
    if unread is not None:
        raise DeclineSignal.of(unread)
    if gateway.reads_cache() and is_cached(gateway, site, plan):
        raise DeclineSignal("cached", CACHED)
    if not site.deterministic:
        raise DeclineSignal("nondeterministic", "something below is not deterministic")
