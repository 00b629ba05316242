"""Trusted. Filters that files can evaluate, derived from conditions that they cannot, with a proof.

Spark hands a scan comparisons of columns with constants and nothing else. From ``year(ts) = 2024``
follows a range of ``ts``. The search for what follows is not trusted
(:mod:`presieve.synthesis.storage`): the checker evaluates the condition outside of it. The
condition stays.

In the same way conditions that proofs do not read have a share in what goes below functions: what
follows from them on the rows of a function is one more filter there, which may go below it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from presieve.backend.catalyst.leaf_conditions import conjunction
from presieve.backend.catalyst.trees import Tree
from presieve.backend.filtered.opening import with_filters
from presieve.backend.gateway import GatewayError
from presieve.backend.plans import Opened, or_declined
from presieve.backend.rewrite import Predicate, predicate
from presieve.backend.statistics.edits import of_scan
from presieve.certificate.check import Rejected
from presieve.certificate.derived import DerivedCertificate, VerifiedDerived, check_derived
from presieve.cost.estimate import skipped
from presieve.cost.scan import Scan
from presieve.driver.declare import computed_columns
from presieve.driver.solve import ERASED_TEXT, ERASES
from presieve.driver.stages.computed_columns import standing
from presieve.driver.stages.gate import COST
from presieve.errors import Declined, DeclineSignal
from presieve.ir.sorts import STRING, strip
from presieve.ir.walk import variables
from presieve.semantics.intervals import Interval, ValueSet, values, without_holes
from presieve.semantics.scan import loses
from presieve.sql.catalyst_tree import ExprNode, build
from presieve.sql.expressions.raising import can_raise
from presieve.sql.piecewise import INTEGERS, Zones, domain
from presieve.sql.storage import predicate_of, without_equalities
from presieve.synthesis.storage import beyond, cuts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from presieve.backend.classic.derived import RowSource, RowSources
    from presieve.driver.options import Options

LEAST_SKIPPED = 0.05
"""The share of rows that a filter skips in the files from which on it pays."""
LEAST_OF_TEXTS = 0.6
"""The same of texts: to compare the rows that are left costs about as much as to read as many."""

_READ = "the filter is not known to skip row groups or pages of the files"


@dataclass(frozen=True, slots=True)
class DerivedDecision:
    """What is derived for the files at one place, with a proof for each of the conditions there,
    or why nothing is. ``skipped`` is the share of rows that the filter skips in the files, if
    that is known; ``erases``: the conditions may raise for rows that are not read any more.
    """

    source: RowSource
    predicate: Predicate | None = None
    verified: tuple[VerifiedDerived, ...] = ()
    declined: Declined | None = None
    skipped: float | None = None
    erases: bool = False
    declared: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Derived:
    """The DataFrame that comes out, which is the one that went in where nothing changes."""

    df: DataFrame
    decisions: tuple[DerivedDecision, ...] = ()


def with_derived_filters(opened: Opened, df: DataFrame, options: Options) -> Derived:
    """The DataFrame with derived filters right above its files. A large plan is read as it is
    written only if there is something to gain, or to be reported.
    """
    from presieve.backend.classic.derived import Search, open_sources

    if options.cost == "never":
        return Derived(df)
    declared = tuple(computed_columns(options.declare))
    search = Search(_may_follow, declared, trusting=options.policy == "assume")
    found = open_sources(opened, df, replace(search, first=not opened.reading.for_report))
    if isinstance(found, Declined) or found is None or not found.first:
        return _derived(found, df, options)
    if all(d.predicate is None for d in _decisions(found, options)):
        return Derived(df)
    return _derived(open_sources(opened, df, search), df, options)


def with_readable_filters(df: DataFrame, options: Options) -> Derived:
    """The DataFrame with filters right above its functions, which follow from conditions that
    proofs of these do not read, and with columns for what aggregate functions compute of a row.
    """
    from presieve.backend.classic.gateway import is_classic

    if options.cost == "never" or not is_classic(df):
        return Derived(df)
    from presieve.backend.classic.derived import open_functions

    return _derived(open_functions(df), df, options)


def _derived(sources: RowSources | Declined | None, df: DataFrame, options: Options) -> Derived:
    if sources is None or isinstance(sources, Declined):
        return Derived(df)
    decisions = _decisions(sources, options)
    filters = {d.source.path: d.predicate for d in decisions if d.predicate is not None}
    changed = filters or sources.changed
    made = _with(sources, filters, [d.source for d in decisions]) if changed else df
    if isinstance(made, Declined):
        refused = (replace(d, predicate=None, declined=made) for d in decisions)
        return Derived(df, tuple(refused))
    return Derived(made, tuple(decisions))


def _decisions(sources: RowSources, options: Options) -> list[DerivedDecision]:
    every = (_decided(sources, source, options) for source in sources.found)
    return [decision for decision in every if decision is not None]


@or_declined
def _with(
    sources: RowSources, filters: Mapping[tuple[int, ...], Predicate], read: Sequence[RowSource]
) -> DataFrame | Declined:
    """The DataFrame with these filters."""
    claims = any(source.claims for source in read if source.path in filters)
    plan = sources.gateway.own_readers(sources.plan) if claims else sources.plan
    return with_filters(sources.gateway, plan, filters)


def _decided(sources: RowSources, source: RowSource, options: Options) -> DerivedDecision | None:
    """What is derived for one place; None where nothing follows that Spark does not push."""
    plain = _followed(sources, source, ())
    facts = standing(source, sources.zones)
    found = _followed(sources, source, list(facts.values())) if facts else plain
    if found is None or plain is None or not found.clauses:
        return None
    rests = found.clauses != plain.clauses
    decision = DerivedDecision(source, declared=tuple(facts) if rests else ())
    found = found if rests else plain
    proofs = []
    for condition, node in zip(found.conditions, found.nodes, strict=True):
        ends = cuts(node, sources.zones)
        proof = check_derived(DerivedCertificate(condition, found.clauses, sources.zones, ends))
        if isinstance(proof, Rejected):
            reason = f"the filter is not proved: {proof.reason}"
            return replace(decision, declined=Declined("no-proof", reason))
        proofs.append(proof)
    decision = replace(decision, erases=any(map(can_raise, source.evaluated)))
    if options.policy == "strict" and decision.erases:
        return replace(decision, declined=Declined(ERASES, ERASED_TEXT))
    return _made(sources, decision, proofs, options)


@dataclass(frozen=True, slots=True)
class _Followed:
    """What follows from conditions, which are given as JSON and as nodes."""

    conditions: tuple[Tree, ...]
    nodes: tuple[ExprNode, ...]
    clauses: Sequence[Mapping[int, ValueSet]]


def _followed(sources: RowSources, source: RowSource, facts: Sequence[Tree]) -> _Followed | None:
    """None where a condition is of a form that is not known."""
    trees = tuple(conjunction([c, *facts]) for c in source.conditions)
    try:
        nodes = tuple(build(tree, 0, 0)[0] for tree in trees)
        found = beyond(nodes, sources.zones)
    except (DeclineSignal, OverflowError, ValueError, TypeError):  # an expression of other shape
        return None
    # No row group is skipped because it may have one value only.
    filled = ({n: without_holes(s) for n, s in clause.items()} for clause in found)
    clauses = [c for c in filled if c.keys() <= source.columns.keys() and _says(source, c)]
    return _Followed(trees, nodes, clauses)


def _may_follow(condition: Tree, zones: Zones) -> bool:
    """Whether something may follow from a condition, or parts of it, that Spark does not push."""
    try:
        return bool(beyond([build(condition, 0, 0)[0]], zones))
    except (DeclineSignal, OverflowError, ValueError, TypeError):  # a part may have another shape
        return True


def _says(source: RowSource, clause: Mapping[int, ValueSet]) -> bool:
    """Whether a clause drops more than NULL and an end of a type, such as the least integer, which
    has no opposite, and whether a scan loses no row by it.
    """
    empty = any(_drops_nothing(s, domain(source.types[n])) for n, s in clause.items())
    return not empty and not _is_lossy(source, clause)


def _drops_nothing(kept: ValueSet, within: Interval) -> bool:
    """Whether every value is kept, or of integers all but the first, or the last."""
    dropped = kept.complement().intersection(values([within])).intervals
    if not dropped or within not in _INTEGERS or len(dropped) != 1:
        return not dropped
    (low, high), (first, end) = dropped[0], within
    return (low, high) in ((first, first + 1), (end - 1, end))  # type: ignore[operator]


def _is_lossy(source: RowSource, clause: Mapping[int, ValueSet]) -> bool:
    """Whether a scan may drop rows for which the clause holds."""
    return loses(predicate_of([clause], source.columns, source.types))


def _made(
    sources: RowSources,
    decision: DerivedDecision,
    proofs: Sequence[VerifiedDerived],
    options: Options,
) -> DerivedDecision:
    """The filter that is proved, if it pays."""
    source, clauses = decision.source, proofs[0].certificate.clauses
    term = predicate_of(clauses, source.columns, source.types)
    if any(can_raise(tree) for s in sources.found for tree in s.evaluated):
        term = without_equalities(term)
    try:
        made = predicate(term, source.columns, sources.timezone)
    except DeclineSignal as signal:
        return replace(decision, declined=signal.declined)
    texts = any(strip(v.sort) == STRING for v in variables(term))
    least = LEAST_OF_TEXTS if texts else LEAST_SKIPPED
    share = _skipped(sources, source, made, least) if source.asked else None
    decision = replace(decision, verified=tuple(proofs), skipped=share)
    if options.cost != "always" and share is not None and share < least:
        return replace(decision, declined=Declined(COST, _READ))
    return replace(decision, predicate=made)


def _skipped(sources: RowSources, source: RowSource, made: Predicate, least: float) -> float | None:
    """The share of rows that the filter skips in the files, by their footers if that is ``least``,
    and else by all that Spark's own scan goes by; None where nothing is known.
    """

    def skips() -> float | None:
        try:
            return sources.gateway.skipped(leaf, made.sql)
        except GatewayError:
            return None

    columns = {v: v.name for v in variables(made.term)}
    leaf = sources.gateway.node(sources.plan, source.path)
    scan = Scan(source.files, columns, made.term, skips=skips)
    return of_scan(lambda: scan, partial(skipped, least=least))


_INTEGERS = frozenset(domain(name) for name in INTEGERS)
