# SPDX-License-Identifier: Apache-2.0
"""Trusted. Build the rewritten plan: pre-filters below boundaries, residuals above them.

A predicate is passed to Spark as SQL text, so it is read back: the condition that Spark made of the
text, with its attributes by number, must be the very term that was proved.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from msgspec import Struct

from presieve.backend.catalyst.operators import FILTER
from presieve.backend.catalyst.trees import Conjunct, Node, split_conjuncts
from presieve.backend.catalyst.variable_columns import above, distinct, input_vars, output_vars
from presieve.backend.gateway import Handle, PlanBuilder
from presieve.backend.problems.problem import SiteProblem
from presieve.errors import Declined, DeclineSignal, PresieveError
from presieve.ir.ops import app, sql_conjunction, sql_conjuncts
from presieve.ir.terms import App, Op, Scope, Term, Var
from presieve.ir.walk import rewrite, variables
from presieve.plan.algebra import JoinNullable, Union, struct_id
from presieve.records import replace
from presieve.semantics.types import column
from presieve.sql.catalyst import expression
from presieve.sql.emit import aside, emit_checked, normalize
from presieve.sql.scan_filters import without_equalities


class Lasting(Struct, frozen=True):
    """The part of a filter that holds at any time: its text and its meaning."""

    sql: str
    term: Term


class Predicate(Struct, frozen=True):
    """A filter to insert: its text, its meaning, and the attributes of its variables. ``aside``: in
    the form that scans are not given. ``during``: a condition on the current time while which it
    holds; ``lasting`` is what holds at any other time, too.
    """

    sql: str
    term: Term
    attributes: Mapping[int, Var]
    aside: bool = False
    during: str = ""
    lasting: Lasting | None = None

    @property
    def text(self) -> str:
        """The text of the filter with its time."""
        if not self.during:
            return self.sql
        passing = f"NOT ({self.during}) OR ({self.sql})"
        return passing if self.lasting is None else f"({self.lasting.sql}) AND ({passing})"


class Guard(Struct, frozen=True):
    """``breaking`` is true at least for the rows that break an assumption of the proof, and ``by``
    are the columns that determine a row's class (:mod:`presieve.backend.guard`).
    """

    breaking: Predicate
    by: tuple[str, ...]


class SiteEdit(Struct, frozen=True):
    """The changes at one site.

    ``prefilter`` is None if nothing is inserted below the boundary (because it is there already, or
    is true), and ``residual`` is None if nothing is inserted above it. ``removed`` are the
    conjuncts that the residual replaces: (operator, conjunct) of the path. ``beside`` is the
    pre-filter of the second input, if there is one. ``stays``: the reason why the filters stay,
    although a weaker filter may suffice; empty if they do not stay. ``guard`` restricts the
    pre-filter to the data for which its proof holds.
    """

    site: SiteProblem
    prefilter: Predicate | None
    residual: Predicate | None
    removed: frozenset[tuple[int, int]]
    beside: Predicate | None = None
    stays: str = ""
    guard: Guard | None = None

    @property
    def changes(self) -> bool:
        """Whether the edit changes the plan."""
        return bool(self.prefilter or self.residual or self.removed or self.beside)


KeptColumns: TypeAlias = tuple[frozenset[int], ...]
"""The numbers of the columns that a function of tables is handed, for each of its inputs."""

KeptArguments: TypeAlias = Mapping[int, frozenset[int]]
"""The numbers of the arguments that a scalar UDF is handed, or of the fields of a struct that it is
given, by the number of the column in the projection.
"""

Expressions: TypeAlias = Mapping[int, str]
"""SQL over the input of a projection for some of its columns, by number."""


class RowTexts(Struct, frozen=True):
    """SQL over the columns of a row, for each output of a function and for whether there is a row
    at all (None: there is).
    """

    outputs: tuple[str, ...]
    row: str | None = None


class GroupTexts(Struct, frozen=True):
    """SQL in place of functions of groups. The ``aggregates``, over the rows and grouped by the
    attributes ``keys``, define columns with these names; over these columns, there is an expression
    for each of the functions' ``outputs``, by attribute.
    """

    keys: tuple[int, ...]
    aggregates: Mapping[str, str]
    outputs: Mapping[int, str]


@dataclass(slots=True)
class _Edits:
    """All edits, by the path of the node to which they apply."""

    wrap: dict[tuple[int, ...], list[Predicate]] = field(default_factory=dict)
    guards: dict[tuple[int, ...], Guard] = field(default_factory=dict)
    keep: dict[tuple[int, ...], tuple[Conjunct, ...]] = field(default_factory=dict)
    columns: Mapping[tuple[int, ...], KeptColumns] = field(default_factory=dict)
    arguments: Mapping[tuple[int, ...], KeptArguments] = field(default_factory=dict)
    expressions: Mapping[tuple[int, ...], Expressions] = field(default_factory=dict)
    tables: Mapping[tuple[int, ...], RowTexts] = field(default_factory=dict)
    groups: Mapping[tuple[int, ...], GroupTexts] = field(default_factory=dict)
    paths: set[tuple[int, ...]] = field(default_factory=set)


PARTLY = "the function is understood for some rows alone"
CALLED = "it makes Spark call functions that may raise an error"
MOVABLE = "Spark may hand parts of it to a source that need not apply them as they say"
NOT_SHOWN = "what would do reads columns that the result does not have"
FIELDS = "filters on fields of a struct are not weakened"
PARTNERS = "it also drops rows of the other side of a join that find no partner"
OTHER_INPUTS = "the other inputs of the union need it, too"
OF_JOIN = "a join needs it, too"
"""Reasons why filters stay."""


def why_copied(site: SiteProblem) -> str:
    """Say why the copied conjuncts of a site stay where they are."""
    reasons = ((JoinNullable, PARTNERS), (Union, OTHER_INPUTS))
    kinds = {type(operator) for operator in site.site.path}
    return next((why for kind, why in reasons if kind in kinds), OF_JOIN)


def edit(site: SiteProblem, prefilter: Term, residual: Term, timezone: str) -> SiteEdit:
    """Make the edit for a proven pushdown, for both inputs if there are two (see :func:`_edit`). If
    a function may raise and it is not certain that it is called, the filters stay: no row that is
    kept loses its error.
    """
    site_edit = _edit(site, prefilter, site.taken if site.unsure else residual, timezone)
    less = site.unsure and normalize(residual) != normalize(site.taken)
    stays = PARTLY if site.partly else CALLED if less else site_edit.stays
    site_edit = replace(site_edit, stays=stays)
    return _for_sources(site, replace(site_edit, beside=_beside(site, prefilter, timezone)))


def _for_sources(site: SiteProblem, planned: SiteEdit) -> SiteEdit:
    """Put pre-filters into a form that no source takes, if a source may not apply them as they
    say.
    """
    read = (
        i for p in (planned.prefilter, planned.beside) if p is not None for i in _attributes_read(p)
    )
    if not site.sources().aside(read):
        return planned
    if not site.sources().faithful:
        # Spark may move parts of the filters down to the source, which takes them as it likes.
        planned = replace(planned, residual=None, removed=frozenset(), stays=MOVABLE)
    first, second = (p and replace(p, aside=True) for p in (planned.prefilter, planned.beside))
    return replace(planned, prefilter=first, beside=second)


def _attributes_read(predicate: Predicate) -> Iterator[int]:
    """Return the attributes that a predicate reads."""
    read = set(variables(predicate.term))
    return (number for number, variable in predicate.attributes.items() if variable in read)


def guarded_edit(
    site: SiteProblem,
    prefilter: Term,
    breaking: Term,
    by: tuple[str, ...] | None,
    timezone: str,
) -> SiteEdit:
    """Make the edit of a pre-filter that is right if no row is ``breaking`` an assumption. The
    filters above stay. Without ``by``, each row is a class of its own. Raises
    :class:`DeclineSignal`.
    """
    if by is None:
        either = app(Op.SQL_OR, prefilter, breaking)
        return _for_sources(site, _edit(site, either, site.taken, timezone))
    site_edit = _edit(site, prefilter, site.taken, timezone)
    _check_exposed(site, breaking)
    _check_names(site, breaking)
    if site_edit.prefilter is None:
        return site_edit  # the filter is there already, and the rows are the same without a guard
    broken = predicate(breaking, input_vars(site.names), timezone)
    if site.sources().aside((*_attributes_read(site_edit.prefilter), *_attributes_read(broken))):
        raise DeclineSignal("source", "a source may evaluate filters differently")
    return replace(site_edit, guard=Guard(broken, by))


def _beside(site: SiteProblem, prefilter: Term, timezone: str) -> Predicate | None:
    """Return the pre-filter of the second input: the same predicate on its own grouping columns."""
    side = site.boundary.beside
    if side is None or not sql_conjuncts(prefilter):
        return None
    by_id = {a.id: a for a in side.inputs}
    first = input_vars(site.names)
    own: dict[Var, tuple[int, Var]] = {}
    for left, right in zip(site.boundary.keys, side.keys, strict=True):
        other_key = column(by_id[right].name, by_id[right].type, by_id[right].nullable)
        if left in first and other_key is not None:
            own[first[left]] = (right, Var(Scope.KEY, other_key.name, other_key.sort))
    read = set(variables(prefilter))
    if not read <= set(own) or any(own[v][0] in site.input_errors().exposed for v in read):
        raise DeclineSignal("may-add-error", "the second input would be filtered too early")
    if any(own[v][1].sort != v.sort for v in read):
        raise DeclineSignal("key-type", NULLABLE)
    named = {own[v][1].name.upper().lower() for v in read}
    distinct((a for a in side.inputs if a.name.upper().lower() in named), "of the second input")
    term = rewrite(prefilter, lambda v: own[v][1])
    return predicate(term, dict(own.values()), timezone)


NULLABLE = "one grouping column of cogroup is NOT NULL and one is not; make both of them nullable"


def _edit(site: SiteProblem, prefilter: Term, residual: Term, timezone: str) -> SiteEdit:
    """Make the edit for a proven pushdown. Raises :class:`DeclineSignal`.

    If the residual equals the filters that would be removed, they stay where they are. They also
    stay if the residual reads a field of a struct.
    """
    below = None
    _check_exposed(site, prefilter)
    if site.opaque and any(v.scope is not Scope.KEY for v in variables(prefilter)):
        raise DeclineSignal("part-of-group", "a part of a group's rows would be dropped")
    _check_names(site, prefilter)
    forms = [prefilter]
    if site.input_errors().may_raise and site.sources().faithful:
        forms.append(without_equalities(prefilter))
    if sql_conjuncts(prefilter) and not any(_is_implied_below(site, t, timezone) for t in forms):
        below = predicate(forms[-1], input_vars(site.names), timezone)
    if normalize(residual) == normalize(site.taken):
        return SiteEdit(site, below, None, frozenset())
    if not sql_conjuncts(residual):
        return SiteEdit(site, below, None, site.moved)
    shown = set(output_vars(site.names, site.problem.fold).values())
    if site.boundary.single and not set(variables(residual)) <= shown:
        # It also restricts the rows that the function gives: the filters do the rest.
        return SiteEdit(site, below, None, frozenset(), stays=NOT_SHOWN)
    fields = {a.name for a in site.names.outputs if struct_id(a.id) != a.id}
    if any(v.scope is Scope.OUT and v.name in fields for v in variables(residual)):
        # A proof with a weaker residual holds with the filter, too: it keeps fewer of these rows.
        return SiteEdit(site, below, None, frozenset(), stays=FIELDS)
    term, outputs = above(site.names, site.problem.fold, residual)
    return SiteEdit(site, below, predicate(term, outputs, timezone), site.moved)


def _check_exposed(site: SiteProblem, prefilter: Term) -> None:
    read = set(variables(prefilter))
    for variable, why in unreadable_columns(site).items():
        if variable in read:
            raise DeclineSignal.of(why)


def unreadable_columns(site: SiteProblem) -> dict[Var, Declined]:
    """Map the columns that a pre-filter of the site must not read to the reason."""
    errors = site.input_errors()
    columns: dict[Var, Declined] = {}
    for number, variable in input_vars(site.names).items():
        if number in errors.called:
            reason = (
                f"the pre-filter would read {variable.name!r}, so that Spark would call the Python"
                " function that computes it twice for each row; such a function is followed where"
                " it is read as a whole, in a projection right below, and is handed its values as"
                " the one above is, pickled or by Arrow, but not as pandas columns"
            )
            columns[variable] = Declined("may-add-error", reason)
        elif number in errors.exposed:
            reason = (
                f"the pre-filter would compute {variable.name!r}, which can raise, for more rows;"
                " compute it in a way that cannot, such as try_divide"
            )
            columns[variable] = Declined("may-add-error", reason)
    return columns


def _check_names(site: SiteProblem, prefilter: Term) -> None:
    """Check that names are unambiguous. They are resolved against all columns of the input, and a
    fold may read only a few of them.
    """
    read = {v.name.upper().lower() for v in variables(prefilter)}
    distinct((a for a in site.boundary.inputs if a.name.upper().lower() in read), "of the input")


def _is_implied_below(site: SiteProblem, prefilter: Term, timezone: str) -> bool:
    """Whether the filter right below the boundary already implies the pre-filter: conjunct by
    conjunct, literally, or by comparing a column that must not be NULL with something.
    """
    node = site.site.input
    if node.kind != FILTER:
        return False
    inside = input_vars(site.names)
    parts = (
        expression(c.tree, inside, timezone) for c in split_conjuncts(node.fields["condition"])
    )
    read = (normalize(t) for t in parts if not isinstance(t, Declined))
    present_conjuncts = {c for t in read for c in sql_conjuncts(t)}
    present_conjuncts |= {
        app(Op.SQL_NOT, app(Op.SQL_IS_NULL, a))
        for t in present_conjuncts
        if isinstance(t, App) and t.op in _COMPARISONS
        for a in t.args
        if isinstance(a, Var)
    }
    return all(normalize(c) in present_conjuncts for c in sql_conjuncts(prefilter))


_COMPARISONS = (Op.SQL_EQ, Op.SQL_LT, Op.SQL_LE, Op.SQL_GT, Op.SQL_GE)
"""Comparisons that are NULL, and so not true, if an operand is NULL."""


def predicate(term: Term, attributes: Mapping[int, Var], timezone: str) -> Predicate:
    """Write a condition on these attributes as a filter to insert. Raises :class:`DeclineSignal` if
    it has no text.
    """
    names = {v.name: v for v in attributes.values()}
    try:
        sql = emit_checked(term, names, timezone)
    except PresieveError as error:
        # There is no text with the same meaning, or the check found a bug of ours: both are safe.
        raise DeclineSignal("no-text", f"a filter cannot be written as SQL: {error}") from error
    return Predicate(sql, term, attributes)


def rewrite_plan(
    gateway: PlanBuilder, root: Handle, edits: tuple[SiteEdit, ...], timezone: str
) -> Handle:
    """Return the plan with all edits applied. Raises :class:`DeclineSignal`."""
    return _build(gateway, root, _collect(edits), timezone)


def prune_plan(
    gateway: PlanBuilder, root: Handle, kept_columns: Mapping[tuple[int, ...], KeptColumns]
) -> Handle:
    """Hand fewer columns to the functions of tables at these paths. Raises
    :class:`DeclineSignal`.
    """
    return _change_plan(gateway, root, _Edits(columns=kept_columns), kept_columns)


def prune_arguments(
    gateway: PlanBuilder, root: Handle, kept: Mapping[tuple[int, ...], KeptArguments]
) -> Handle:
    """Hand NULL to the scalar UDFs of the projections at these paths in place of arguments. Raises
    :class:`DeclineSignal`.
    """
    return _change_plan(gateway, root, _Edits(arguments=kept), kept)


def replace_functions(
    gateway: PlanBuilder,
    root: Handle,
    columns: Mapping[tuple[int, ...], Expressions],
    tables: Mapping[tuple[int, ...], RowTexts],
) -> Handle:
    """Replace columns of the projections at these paths by other expressions, and functions of
    tables by projections. Raises :class:`DeclineSignal`.
    """
    edits = _Edits(expressions=columns, tables=tables)
    return _change_plan(gateway, root, edits, [*columns, *tables])


def replace_groups(
    gateway: PlanBuilder, root: Handle, groups: Mapping[tuple[int, ...], GroupTexts]
) -> Handle:
    """Replace the operators at these paths by aggregates of Spark. Raises
    :class:`DeclineSignal`.
    """
    return _change_plan(gateway, root, _Edits(groups=groups), groups)


def insert_filters(
    gateway: PlanBuilder, root: Handle, filters: Mapping[tuple[int, ...], Predicate], timezone: str
) -> Handle:
    """Insert filters on the output of the nodes at these paths. Raises :class:`DeclineSignal`."""
    edits = _Edits(wrap={path: [filter_] for path, filter_ in filters.items()})
    return _change_plan(gateway, root, edits, filters, timezone)


def _change_plan(
    gateway: PlanBuilder,
    root: Handle,
    edits: _Edits,
    paths: Iterable[tuple[int, ...]],
    timezone: str = "UTC",
) -> Handle:
    for path in paths:
        edits.paths.update(path[:n] for n in range(len(path) + 1))
    return _build(gateway, root, edits, timezone)


def _build(gateway: PlanBuilder, root: Handle, edits: _Edits, timezone: str) -> Handle:
    if not edits.paths:
        return root
    builder = _Builder(gateway, root, edits, timezone, gateway.reads_cache())
    return builder.build(gateway.tree(root))


def _collect(edits: tuple[SiteEdit, ...]) -> _Edits:
    collected = _Edits()
    for site_edit in edits:
        boundary = site_edit.site.boundary
        if site_edit.prefilter is not None:
            collected.wrap.setdefault(boundary.input_path, []).append(site_edit.prefilter)
        if site_edit.guard is not None:
            collected.guards[boundary.input_path] = site_edit.guard
        if site_edit.beside is not None and boundary.beside is not None:
            collected.wrap.setdefault(boundary.beside.input_path, []).append(site_edit.beside)
        if site_edit.residual is not None:
            # In front: the residual belongs right on the boundary, below what an outer one adds.
            collected.wrap.setdefault(boundary.path, []).insert(0, site_edit.residual)
        for level, node in enumerate(site_edit.site.site.nodes):
            gone = {number for where, number in site_edit.removed if where == level}
            if gone:
                written_conjuncts = site_edit.site.site.conjuncts[level]
                # Another site may have removed some, as for the two sides of a join.
                parts = collected.keep.get(node.path, written_conjuncts)
                taken = {written_conjuncts[i].route for i in gone}
                collected.keep[node.path] = tuple(c for c in parts if c.route not in taken)
    for path in [*collected.wrap, *collected.keep]:
        collected.paths.update(path[:n] for n in range(len(path) + 1))
    return collected


class _Builder(Struct, frozen=True):
    gateway: PlanBuilder
    root: Handle
    edits: _Edits
    timezone: str
    caches: bool

    def build(self, at: Node) -> Handle:
        """Return the operator with all edits in it applied; the operator itself if there are
        none.
        """
        path, node = at.path, self.gateway.node(self.root, at.path)
        if path not in self.edits.paths:
            return node
        below = [self.gateway.node(self.root, child.path) for child in at.children]
        children = [self.build(child) for child in at.children]
        same = all(new is old for new, old in zip(children, below, strict=True))
        result = node if same and path not in self.edits.keep else self._node(node, path, children)
        if path in self.edits.columns:
            result = self.gateway.prune_columns(result, self.edits.columns[path])
        if path in self.edits.arguments:
            result = self.gateway.prune_arguments(result, self.edits.arguments[path])
        if path in self.edits.expressions:
            result = self.gateway.with_expressions(result, self.edits.expressions[path])
        if path in self.edits.tables:
            texts = self.edits.tables[path]
            result = self.gateway.as_projection(result, texts.outputs, texts.row)
        if path in self.edits.groups:
            of = self.edits.groups[path]
            result = self.gateway.as_aggregate(result, of.keys, of.aggregates, of.outputs)
        if result is not node:
            self._check_uncached(result)
        for predicate in self.edits.wrap.get(path, ()):
            result = self._filter(predicate, result)
            self._check_uncached(result)
        guard = self.edits.guards.get(path)
        return result if guard is None else self._split(guard, result, node)

    def _filter(self, made_of: Predicate, child: Handle) -> Handle:
        return checked_filter(self.gateway, made_of, child, self.timezone)

    def _split(self, guard: Guard, kept_rows: Handle, rows: Handle) -> Handle:
        """Combine ``kept_rows`` and all ``rows`` below as the guard says."""
        breaking = self._filter(guard.breaking, rows)
        self._check_uncached(breaking)
        guarded_plan = self.gateway.split(kept_rows, breaking, rows, guard.by)
        if not self.gateway.same_output(rows, guarded_plan):
            raise DeclineSignal("plan-shape", "the guarded input has different columns")
        return guarded_plan

    def _check_uncached(self, new_node: Handle) -> None:
        """Decline if a new node would come from the cache, which may be out of date."""
        if self.caches and self.gateway.is_cached(new_node):
            raise DeclineSignal("cached", "the plan would be read from the cache, which may be old")

    def _node(self, node: Handle, path: tuple[int, ...], children: list[Handle]) -> Handle:
        parts = self.edits.keep.get(path)
        if parts is None:
            return self.gateway.with_children(node, children)
        if not parts:
            return self.gateway.filter(None, node, children[0])
        condition = self.gateway.condition(node)
        kept_conjuncts = [self._operand(condition, c.route) for c in parts]
        joined = kept_conjuncts[0]
        for part in kept_conjuncts[1:]:
            joined = self.gateway.conjunction(joined, part)
        return self.gateway.filter(joined, node, children[0])

    def _operand(self, condition: Handle, route: tuple[str, ...]) -> Handle:
        for side in route:
            condition = self.gateway.operand(condition, side)
        return condition


def checked_filter(
    gateway: PlanBuilder, made_of: Predicate, child: Handle, timezone: str
) -> Handle:
    """Put a filter above ``child`` and read it back. Raises :class:`DeclineSignal` on any
    difference.
    """
    if made_of.during:
        # The part about the time has no meaning here, and Spark decides it before it runs the plan.
        passing = replace(made_of, lasting=None)
        checked_filter(gateway, replace(passing, during=""), child, timezone)
        if made_of.lasting is not None:
            lasting = Predicate(made_of.lasting.sql, made_of.lasting.term, made_of.attributes)
            child = checked_filter(gateway, lasting, child, timezone)
        return gateway.filter_sql(passing.text, child)
    sql = aside(made_of.sql) if made_of.aside else made_of.sql
    new_filter = gateway.filter_sql(sql, child)
    tree = gateway.condition_tree(new_filter)
    if tree is None:
        raise DeclineSignal("read-back", "Spark changed a filter")
    parts = [c.tree for c in split_conjuncts(tree)]
    if made_of.aside and len(parts) > 1:
        raise DeclineSignal("read-back", "Spark split a filter")
    terms = [expression(t, made_of.attributes, timezone) for t in parts]
    for term in terms:
        if isinstance(term, Declined):
            raise DeclineSignal("read-back", f"a filter came back changed: {term.reason}")
    again = sql_conjunction(t for t in terms if not isinstance(t, Declined))
    if normalize(again) != normalize(made_of.term):
        raise DeclineSignal("read-back", f"Spark reads {made_of.sql} differently")
    return new_filter
