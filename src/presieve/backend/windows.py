"""Trusted. Windows, and ``ORDER BY ... LIMIT``, with filters above them: what is to be proved of
them, and filters put below them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from presieve.backend.catalyst.boundary import simple_kind
from presieve.backend.catalyst.definitions import CTE_DEFINITION
from presieve.backend.catalyst.exchange_reuse import sharing_exchange
from presieve.backend.catalyst.names import Names, distinct
from presieve.backend.catalyst.operators import FILTER, WINDOW, conditions
from presieve.backend.catalyst.sites import Site, find_sites
from presieve.backend.catalyst.trees import ATTRIBUTE, Node, expr_id, walk
from presieve.backend.catalyst.windows import (
    Columns,
    functions_raise,
    input_of,
    is_windowed,
    names_of,
    read_window,
    whole_fold,
)
from presieve.backend.effects.errors import is_guarded_by
from presieve.backend.effects.raising import errors_in_input, trees_raise
from presieve.backend.effects.sources import scanned
from presieve.backend.gateway import Handle
from presieve.backend.plans import CACHED, Opened, is_cached, or_declined, session_declines
from presieve.backend.problems.problem import BoundaryInput
from presieve.backend.rewrite import Predicate, insert_filters, predicate
from presieve.errors import Declined, DeclineSignal
from presieve.ir.fold import Column, Mode, Problem
from presieve.ir.ops import sql_conjunction, sql_conjuncts
from presieve.ir.sorts import strip
from presieve.ir.terms import Scope, Term, Var
from presieve.ir.walk import rewrite, to_scope, variables
from presieve.plan.algebra import Attribute, attribute_id
from presieve.semantics.types import column
from presieve.semantics.windows import HERE, Window, of_row
from presieve.sql.catalyst import expression
from presieve.sql.emit import normalized

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, slots=True)
class WindowSite:
    """A window with filters above it; ``number`` is its place among those of the plan, outer ones
    first, which no filter changes. ``where`` is what they say of its rows, over KEY, and
    ``columns`` are those of its input, with their attributes. ``known`` are the conditions that
    stand right below it. ``erases``: an error may be gone if there is a filter below. ``shared``:
    an exchange below is used elsewhere, too. ``whole`` is the problem of what the functions compute
    of a whole partition, where that is known (:func:`presieve.semantics.windows.of_row`).
    """

    number: int
    operator: str
    functions: str
    window: Window
    columns: tuple[Column, ...]
    attributes: Mapping[int, Var]
    where: Term
    known: frozenset[Term]
    exposed: frozenset[int]
    erases: bool
    shared: bool
    input: BoundaryInput
    whole: Problem | None = None

    @property
    def input_path(self) -> tuple[int, ...]:
        """Where a filter goes."""
        return self.input.node.path


@dataclass(frozen=True, slots=True)
class Windows:
    """A plan and those of its windows that are understood, outer ones first."""

    opened: Opened
    plan: Handle
    found: tuple[WindowSite, ...] = ()


@or_declined
def open_windows(opened: Opened, df: DataFrame) -> Windows:
    """The windows of the plan of ``df`` that have something to gain."""
    gateway = opened.gateway
    plan = gateway.analyzed(df)
    if not gateway.has_windows(plan) or session_declines(gateway, plan) is not None:
        return Windows(opened, plan)
    if gateway.cache_is_empty():
        plan = gateway.inlined(plan)  # what stays a definition (WITH) is left as it is
    root = gateway.tree(plan)
    reader = _Reader(opened, plan, root)
    return Windows(opened, plan, tuple(reader.found()))


@or_declined
def with_filters(windows: Windows, filters: Mapping[tuple[int, ...], Predicate]) -> DataFrame:
    """The DataFrame with these filters below windows, by the path of what they stand on."""
    gateway = windows.opened.gateway
    timezone = gateway.conf("spark.sql.session.timeZone", "UTC")
    df = gateway.dataframe(insert_filters(gateway, windows.plan, filters, timezone))
    if not gateway.same_output(windows.plan, gateway.analyzed(df)):
        raise DeclineSignal("plan-shape", "the rewritten plan has different columns")
    return df


@or_declined
def filter_of(site: WindowSite, prefilter: Term, timezone: str) -> Predicate:
    """A condition over ROW as a filter to insert."""
    read = set(variables(prefilter))
    taken = {number: var for number, var in site.attributes.items() if var in read}
    if not site.exposed.isdisjoint(taken):
        reason = "the filter would compute something that can raise for more rows"
        raise DeclineSignal("may-add-error", reason)
    if site.input.sources().aside(taken):
        reason = "a source below is not known to apply filters as Spark does; store its rows first"
        raise DeclineSignal("source", reason)
    return predicate(prefilter, taken, timezone)


@dataclass(frozen=True, slots=True)
class _Reader:
    opened: Opened
    plan: Handle
    root: Node

    def found(self) -> Iterator[WindowSite]:
        gateway = self.opened.gateway
        timezone = gateway.conf("spark.sql.session.timeZone", "UTC")
        nodes = list(walk(self.root))
        defined = [n.path for n in nodes if n.kind == CTE_DEFINITION]
        numbered = {
            i: n
            for i, n in enumerate(n for n in nodes if is_windowed(n))
            if not any(n.path[: len(path)] == path for path in defined)
        }
        if not any(n.kind == FILTER for n in nodes):
            return
        sites = find_sites(gateway, self.root, self.plan, timezone, numbered, skip_hopeless=False)
        for site in sites:
            try:
                yield self._read(site, timezone)
            except DeclineSignal:
                continue

    def _read(self, site: Site, timezone: str) -> WindowSite:
        gateway, node, below = self.opened.gateway, site.boundary, input_of(site.boundary)
        unread = gateway.unread(gateway.node(self.plan, node.path))
        if unread is not None:
            raise DeclineSignal.of(unread)
        if not gateway.cache_is_empty() and is_cached(gateway, site, self.plan):
            raise DeclineSignal("cached", CACHED)
        if not site.deterministic:
            raise DeclineSignal("nondeterministic", "something below is not deterministic")
        inputs = gateway.attributes(gateway.node(self.plan, below.path))
        attributes, columns = _columns(inputs)
        of = Columns(attributes, {a.id: a.type for a in inputs}, timezone)
        above = any(map(trees_raise, site.nodes))
        window = replace(read_window(node, of), raises=above or functions_raise(node))
        where = to_scope(sql_conjunction(_over(site, attributes)), Scope.ROW, Scope.KEY)
        if not sql_conjuncts(where):
            raise DeclineSignal("keys-only", "the filter reads what the window computes")
        read = set(variables(where, *window.partition, *(k.value for k in window.order)))
        names = {v.name for v in read}
        used = [a for a in inputs if a.name in names]
        used_columns = tuple(c for c in columns if c.name in names)
        folded = {n.lower() for n in names}
        distinct((a for a in inputs if a.name.lower() in folded), "below a window")
        errors = errors_in_input(below, self.root, is_guarded_by(site, _bound(site)))
        sources = partial(scanned, gateway, self.plan, self.root, [below.path], native=False)
        return WindowSite(
            site.number,
            simple_kind(node),
            names_of(node),
            window,
            used_columns,
            {i: v for i, v in attributes.items() if v.name in names},
            where,
            _standing(below, attributes, timezone),
            errors.exposed,
            errors.may_raise or window.raises,
            len(sharing_exchange(gateway, self.plan, self.root, node)) > 1,
            BoundaryInput(below, Names((), tuple(used), (), {}), sources),
            None if window.raises else self._whole(site, of, inputs, used_columns),
        )

    def _whole(
        self, site: Site, of: Columns, inputs: Sequence[Attribute], columns: Sequence[Column]
    ) -> Problem | None:
        """What is to be proved where functions read whole partitions, of these columns. Rows of
        which the filter above is not true may get other values, so that nothing may raise on them.
        """
        gateway = self.opened.gateway
        outputs = gateway.attributes(gateway.node(self.plan, site.boundary.path))
        made = [a for a in outputs if a.id not in of.types]
        read = whole_fold(site.boundary, of, made)
        if read is None:
            return None
        every = {c.name: c for c in (*read.columns, *columns)}
        if sum(a.name in every for a in inputs) != len(every):
            return None  # two columns have one name
        fold = of_row(replace(read, columns=tuple(every.values())))
        here = {i: fold.key(HERE + v.name) for i, v in of.columns.items() if v.name in every}
        by_name = {o.name: Var(Scope.OUT, o.name, o.sort) for o in fold.outputs}
        here |= {a.id: by_name[a.name] for a in made}
        return Problem(fold, sql_conjunction(_over(site, here)), Mode.GLOBAL)


def _bound(site: Site) -> frozenset[tuple[int, int]]:
    """The conjuncts that Spark does not move below: all but those of columns by which a window is
    partitioned.
    """
    node = site.boundary
    by = list(node.fields["partitionSpec"]) if node.kind == WINDOW else []
    keys = {expr_id(t[0]) for t in by if len(t) == 1 and t[0]["class"] == ATTRIBUTE}
    return frozenset(
        (m.operator, m.conjunct)
        for m in site.arriving
        if not isinstance(m.term, Declined)
        and not {attribute_id(v) for v in variables(m.term)} <= keys
    )


def _columns(inputs: tuple[Attribute, ...]) -> tuple[dict[int, Var], list[Column]]:
    """The columns that proofs can speak of, as variables of ROW by attribute."""
    found = [(a.id, column(a.name, a.type, a.nullable)) for a in inputs]
    known = [(i, c) for i, c in found if c is not None]
    return {i: Var(Scope.ROW, c.name, c.sort) for i, c in known}, [c for _, c in known]


def _over(site: Site, here: Mapping[int, Var]) -> Iterator[Term]:
    """What filters above say, over these variables, of what they are there."""
    for moved in site.arriving:
        if isinstance(moved.term, Declined):
            continue
        pairs = [(v, here.get(attribute_id(v))) for v in variables(moved.term)]
        if pairs and all(k is not None and strip(k.sort) == strip(v.sort) for v, k in pairs):
            yield rewrite(moved.term, lambda v: here[attribute_id(v)])


def _standing(below: Node, attributes: Mapping[int, Var], timezone: str) -> frozenset[Term]:
    """The conditions of a filter right below."""
    parts = conditions(below) if below.kind == FILTER else ()
    terms = (expression(c.tree, dict(attributes), timezone) for c in parts)
    return frozenset(normalized(t) for t in terms if not isinstance(t, Declined))
