# SPDX-License-Identifier: Apache-2.0
"""Trusted. Filters that files can evaluate, derived from conditions that they cannot, with a proof.

Spark hands a scan only comparisons of columns with constants. ``year(ts) = 2024`` implies a range
of ``ts``. The search for such consequences is not trusted (:mod:`presieve.synthesis.scan_filters`):
the checker evaluates the condition outside of the range. The condition stays in the plan.

In the same way, conditions that proofs do not read contribute to pre-filters of functions: their
consequences for the rows of a function become one more filter above it, which may go below it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct

from presieve.backend.catalyst.leaf_conditions import conjunction
from presieve.backend.catalyst.trees import Tree, references
from presieve.backend.filter_placement.opening import with_filters
from presieve.backend.gateway import Gateway, GatewayError
from presieve.backend.open_plan import or_declined
from presieve.backend.rewrite import Lasting, Predicate, predicate
from presieve.backend.statistics.edits import of_scan
from presieve.certificate.checker import Rejected, Verified, check
from presieve.certificate.scan_filters import DerivedCertificate
from presieve.cost.estimate import skipped_share
from presieve.cost.parquet_scan import Scan
from presieve.driver.declare import computed_columns
from presieve.driver.options import Options
from presieve.driver.solve import MAY_ERASE
from presieve.driver.stages.cost_gate import COST
from presieve.driver.stages.decisions import Decision
from presieve.driver.stages.declared_columns import standing
from presieve.driver.stages.passes import PassResult, PlanState
from presieve.errors import Declined, DeclineSignal
from presieve.ir.sorts import STRING, strip
from presieve.ir.walk import variables
from presieve.records import replace
from presieve.semantics.intervals import Interval, ValueSet, values, without_holes
from presieve.semantics.scan import loses
from presieve.semantics.values import INTEGERS
from presieve.sql.catalyst_tree import ExprNode, build
from presieve.sql.expressions.raising import can_raise
from presieve.sql.piecewise import Zones, domain
from presieve.sql.scan_filters import predicate_of, without_equalities
from presieve.synthesis.scan_filters import NOTHING_KNOWN, beyond, cuts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from presieve.backend.classic.scan_filters import RowSource, RowSources

LEAST_SKIPPED = 0.05
"""Minimum share of the files' rows that a filter must skip to pay off."""
LEAST_OF_TEXTS = 0.6
"""The same for texts: comparing the remaining rows costs about as much as reading them."""

_READ = "the filter is not known to skip row groups or pages of the files"


class DerivedDecision(Decision["RowSource"], frozen=True):
    """The filter derived for the files at one place, with a proof for each condition there, or the
    reason why there is none.

    ``skipped`` is the share of the files' rows that the filter skips, if known. ``erases`` says
    that the conditions may raise an error for rows that are no longer read.
    """

    predicate: Predicate | None = None
    verified: tuple[Verified[DerivedCertificate], ...] = ()
    skipped: float | None = None
    erases: bool = False
    declared: tuple[str, ...] = ()


def add_derived_filters(state: PlanState) -> PassResult:
    """Add derived filters directly above the files.

    A large plan is read as written only if there is something to gain or to report.
    """
    from presieve.backend.classic.scan_filters import ScanFilterSearch, open_sources

    options, reading = state.options, state.job.reading
    declared = tuple(computed_columns(options.declare))
    search = ScanFilterSearch(_may_follow, declared, trusting=options.policy == "assume")
    sources = open_sources(state.opened, state.df, replace(search, first=not reading.for_report))
    if isinstance(sources, Declined) or sources is None or not sources.first:
        return _add_filters(sources, state.df, options)
    if all(d.predicate is None for d in _decisions(sources, options)):
        return PassResult(state.df)
    return _add_filters(open_sources(state.opened, state.df, search), state.df, options)


def add_readable_filters(state: PlanState) -> PassResult:
    """Add filters directly above functions, and columns for the values that aggregate functions
    compute from a row.

    The filters follow from conditions that proofs about these functions do not read.
    """
    return readable_filters(state.gateway, state.df, state.options)


def readable_filters(gateway: Gateway, df: DataFrame, options: Options) -> PassResult:
    """Do that for a DataFrame."""
    from presieve.backend.classic.scan_filters import open_functions

    return _add_filters(open_functions(gateway, df), df, options)


def _add_filters(
    sources: RowSources | Declined | None, df: DataFrame, options: Options
) -> PassResult:
    if sources is None or isinstance(sources, Declined):
        return PassResult(df)
    decisions = _decisions(sources, options)
    filters = {d.site.path: d.predicate for d in decisions if d.predicate is not None}
    changed = filters or sources.changed
    new_df = _with(sources, filters, [d.site for d in decisions]) if changed else df
    if isinstance(new_df, Declined):
        refused = (replace(d, predicate=None, declined=new_df) for d in decisions)
        return PassResult(df, tuple(refused))
    return PassResult(new_df, tuple(decisions))


def _decisions(sources: RowSources, options: Options) -> list[DerivedDecision]:
    every = (_decide(sources, source, options) for source in sources.found)
    return [decision for decision in every if decision is not None]


@or_declined
def _with(
    sources: RowSources, filters: Mapping[tuple[int, ...], Predicate], read: Sequence[RowSource]
) -> DataFrame | Declined:
    """Add these filters to the plan."""
    claims = any(source.claims for source in read if source.path in filters)
    plan = sources.gateway.own_readers(sources.plan) if claims else sources.plan
    return with_filters(sources.gateway, plan, filters)


def _decide(sources: RowSources, source: RowSource, options: Options) -> DerivedDecision | None:
    """Derive a filter for one place; None if nothing follows beyond what Spark pushes itself."""
    plain = _consequences_of(sources, source, ())
    facts = standing(source, sources.zones)
    consequences = _consequences_of(sources, source, list(facts.values())) if facts else plain
    if consequences is None or plain is None or not consequences.claimed:
        return None
    uses_facts = consequences.claimed != plain.claimed
    decision = DerivedDecision(source, declared=tuple(facts) if uses_facts else ())
    consequences = consequences if uses_facts else plain
    proofs = []
    for condition, node in zip(consequences.conditions, consequences.nodes, strict=True):
        ends = cuts(node, sources.zones, consequences.known)
        claim = DerivedCertificate(condition, consequences.claimed, sources.zones, ends)
        proof = check(claim)
        if isinstance(proof, Rejected):
            return decision.decline("no-proof", f"the filter is not proved: {proof.reason}")
        proofs.append(proof)
    decision = replace(decision, erases=any(map(can_raise, source.evaluated)))
    if options.policy == "strict" and decision.erases:
        return decision.take_back(MAY_ERASE)
    decision = replace(decision, verified=tuple(proofs))
    return _build_filter(sources, decision, consequences, options)


class _Followed(Struct, frozen=True):
    """The consequences of conditions, which are given as JSON and as nodes. The ``passing`` ones
    hold while each symbol of the current time has a value in its ``known`` set.
    """

    conditions: tuple[Tree, ...]
    nodes: tuple[ExprNode, ...]
    clauses: tuple[Mapping[int, ValueSet], ...]
    passing: tuple[Mapping[int, ValueSet], ...] = ()
    known: Mapping[int, ValueSet] = NOTHING_KNOWN

    @property
    def claimed(self) -> tuple[Mapping[int, ValueSet], ...]:
        """What holds at any time: a passing one, or it is another time."""
        other_times = {number: period.complement() for number, period in self.known.items()}
        return (*self.clauses, *({**clause, **other_times} for clause in self.passing))


def _consequences_of(
    sources: RowSources, source: RowSource, facts: Sequence[Tree]
) -> _Followed | None:
    """Return the consequences of the conditions; None if one has an unsupported form."""
    trees = tuple(conjunction([c, *facts]) for c in source.conditions)
    numbers = frozenset().union(*map(references, trees))
    times = sources.times
    known = {number: times[number].values for number in sorted(numbers & times.keys())}
    try:
        nodes = tuple(build(tree, 0, 0)[0] for tree in trees)
        clauses = beyond(nodes, sources.zones)
        passing = beyond(nodes, sources.zones, known) if known else []
    except (DeclineSignal, OverflowError, ValueError, TypeError):  # an unsupported shape
        return None
    of_now = [clause for clause in passing if clause not in clauses]
    lasting, at_times = (tuple(_said_by(source, every)) for every in (clauses, of_now))
    return _Followed(trees, nodes, lasting, at_times, known)


def _said_by(
    source: RowSource, clauses: Sequence[Mapping[int, ValueSet]]
) -> Iterator[Mapping[int, ValueSet]]:
    """Yield the clauses that a filter on the source's columns can say.

    Holes of one value are filled: they skip only row groups that contain nothing but that value.
    """
    for clause in clauses:
        filled = {n: without_holes(s) for n, s in clause.items()}
        if filled.keys() <= source.columns.keys() and _says(source, filled):
            yield filled


def _may_follow(condition: Tree, zones: Zones, known: Mapping[int, ValueSet]) -> bool:
    """Whether a condition, or a part of it, may imply something that Spark does not push."""
    try:
        return bool(beyond([build(condition, 0, 0)[0]], zones, known))
    except (DeclineSignal, OverflowError, ValueError, TypeError):  # an unsupported shape
        return True


def _says(source: RowSource, clause: Mapping[int, ValueSet]) -> bool:
    """Whether a clause drops more than NULL and one end of a type, and no scan loses a row by it.

    An end of a type is, for example, the least integer, which has no opposite.
    """
    empty = any(_drops_nothing(s, domain(source.types[n])) for n, s in clause.items())
    return not empty and not _is_lossy(source, clause)


def _drops_nothing(passing: ValueSet, within: Interval) -> bool:
    """Whether every value passes, or, for integers, every value except the first or the last."""
    dropped = passing.complement().intersection(values([within])).intervals
    if not dropped or within not in _INTEGERS or len(dropped) != 1:
        return not dropped
    (low, high), (first, end) = dropped[0], within
    return (low, high) in ((first, first + 1), (end - 1, end))  # type: ignore[operator]


def _is_lossy(source: RowSource, clause: Mapping[int, ValueSet]) -> bool:
    """Whether a scan may drop rows for which the clause holds."""
    return loses(predicate_of([clause], source.columns, source.types))


def _build_filter(
    sources: RowSources, decision: DerivedDecision, consequences: _Followed, options: Options
) -> DerivedDecision:
    """Build the proved filter, if it pays off."""
    source = decision.site
    try:
        new_predicate = _predicate(sources, source, consequences)
    except DeclineSignal as signal:
        return decision.take_back(signal.declined)
    texts = any(strip(v.sort) == STRING for v in variables(new_predicate.term))
    least = LEAST_OF_TEXTS if texts else LEAST_SKIPPED
    share = _share_skipped(sources, source, new_predicate, least) if source.asked else None
    decision = replace(decision, skipped=share)
    if options.cost != "always" and share is not None and share < least:
        return decision.decline(COST, _READ)
    return replace(decision, predicate=new_predicate)


def _predicate(sources: RowSources, source: RowSource, consequences: _Followed) -> Predicate:
    """Write consequences as a filter; those that pass hold during a time. Raises
    :class:`DeclineSignal`.
    """
    raising = any(can_raise(tree) for s in sources.found for tree in s.evaluated)

    def write(clauses: Sequence[Mapping[int, ValueSet]]) -> Predicate:
        term = predicate_of(clauses, source.columns, source.types)
        term = without_equalities(term) if raising else term
        return predicate(term, source.columns, sources.timezone)

    if not consequences.passing:
        return write(consequences.clauses)
    lasting = None
    if consequences.clauses:
        always = write(consequences.clauses)
        lasting = Lasting(always.sql, always.term)
    during = " AND ".join(sources.times[n].sql for n in consequences.known)
    return replace(write(consequences.passing), during=during, lasting=lasting)


def _share_skipped(
    sources: RowSources, source: RowSource, new_predicate: Predicate, least: float
) -> float | None:
    """Return the share of the files' rows that the filter skips; None if it is unknown.

    Use the files' footers if they show at least ``least``; otherwise ask Spark's own scan, which
    uses all that it goes by.
    """

    def skips() -> float | None:
        try:
            return sources.gateway.estimate_skipped_share(leaf, new_predicate.text)
        except GatewayError:
            return None

    columns = {v: v.name for v in variables(new_predicate.term)}
    leaf = sources.gateway.node(sources.plan, source.path)
    scan = Scan(source.files, columns, new_predicate.term, skips=skips)
    return of_scan(lambda: scan, partial(skipped_share, least=least))


_INTEGERS = frozenset(domain(name) for name in INTEGERS)
