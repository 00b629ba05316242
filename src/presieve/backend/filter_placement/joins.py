# SPDX-License-Identifier: Apache-2.0
"""Trusted. Joins and set operations with filters above them that are about both sides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from presieve.backend.catalyst.boundary import LOGICAL, simple_kind
from presieve.backend.catalyst.operators import JOIN, conditions
from presieve.backend.catalyst.sites import Site
from presieve.backend.catalyst.trees import Node
from presieve.backend.effects.may_raise import trees_raise
from presieve.backend.filter_placement.sides import FilteredSite, SiteContext, columns_of, over
from presieve.errors import Declined, DeclineSignal
from presieve.ir.ops import app, sql_conjunction, sql_conjuncts
from presieve.ir.terms import Op, Scope, Term, Var
from presieve.ir.walk import variables
from presieve.plan.algebra import Attribute, attribute_id
from presieve.records import replace
from presieve.semantics.joins import Join
from presieve.sql.catalyst import expression
from presieve.sql.expressions import predicates


class JoinSite(FilteredSite, frozen=True):
    """A join or a set operation, with its left side as KEY and its right side as ROW. ``masked``
    are the conjuncts about one side that stand inside a condition about both, where Spark does not
    look: ``coalesce(l.x > 1 AND r.y > 1, false)``.
    """

    join: Join
    masked: frozenset[Term]


_PRESERVED = {
    "Inner$": (False, False),
    "LeftOuter$": (True, False),
    "RightOuter$": (False, True),
    "FullOuter$": (True, True),
    "LeftSemi$": (True, False),
    "LeftAnti$": (True, False),
}
"""Whether rows of each side that have no partner affect the result. A semi or anti join tells for
each row whether a left outer join shows it with a partner.
"""
_SETS = (LOGICAL + "Intersect", LOGICAL + "Except")
"""Set operations that are semi and anti joins by all columns (``ReplaceIntersectWithSemiJoin``)."""

_NULL_SAFE = predicates.EQUAL_NULL_SAFE.class_name


def is_paired(node: Node) -> bool:
    """Whether Spark applies filters on what two sides compare to one of the sides only: both sides
    are preserved, or NULL equals NULL (``InferFiltersFromConstraints`` looks only for ``=``).
    """
    if node.kind != JOIN:
        return node.kind in _SETS
    kind = join_kind(node)
    safe = any(n["class"] == _NULL_SAFE for c in conditions(node) for n in c.tree)
    return kind == FULL_OUTER or (safe and kind in _PRESERVED)


FULL_OUTER = "FullOuter$"
_OUTER = (FULL_OUTER, "LeftOuter$", "RightOuter$")


def may_pass_filters(node: Node) -> bool:
    """Whether filters above may go below its sides where Spark leaves them: it is paired, or keeps
    rows without a partner beside NULLs.
    """
    return is_paired(node) or (node.kind == JOIN and join_kind(node) in _OUTER)


def is_left_to_spark(context: SiteContext, site: Site) -> bool:
    """Whether Spark itself moves the filters above a join: no condition reads both sides."""
    if site.boundary.kind != JOIN or is_paired(site.boundary):
        return False
    try:
        sides = [{a.id for a in context.attributes(n)} for n in site.boundary.children]
    except DeclineSignal:
        return True
    terms = (m.term for m in site.arriving if not isinstance(m.term, Declined))
    reads = ({attribute_id(v) for v in variables(t)} for t in terms)
    return not any(all(read & side for side in sides) for read in reads)


def join_kind(node: Node) -> str:
    """Return the name of Spark's class for the kind of join."""
    return str(node.fields["joinType"].get("object")).rsplit(".", 1)[-1]


def read_join_site(context: SiteContext, site: Site) -> JoinSite:
    """Read a join, INTERSECT or EXCEPT. Raises :class:`DeclineSignal`."""
    node = site.boundary
    inputs = [_nullable(context.attributes(child)) for child in node.children]
    if len(inputs) != 2 or {a.id for a in inputs[0]} & {a.id for a in inputs[1]}:
        raise DeclineSignal("plan-shape", "the operator has not two inputs of different columns")
    sides = [_variables(i, scope) for i, scope in zip(inputs, _SCOPES, strict=True)]
    variables_by_id = sides[0] | sides[1]
    above_both = tuple(over(site, variables_by_id))
    where = sql_conjunction(above_both)
    if not sql_conjuncts(where):
        raise DeclineSignal("keys-only", "the filter reads what proofs cannot speak of")
    on = sql_conjunction(
        _equal(inputs, variables_by_id)
        if node.kind in _SETS
        else _on(context, node, variables_by_id)
    )
    above = any(map(trees_raise, site.nodes))
    left, right = (True, False) if node.kind in _SETS else _PRESERVED[join_kind(node)]
    read = set(variables(where, on))
    join_sides = tuple(
        context.side(child, columns, {v for v in read if v.scope is scope}, guarded=True)
        for child, columns, scope in zip(node.children, inputs, _SCOPES, strict=True)
    )
    erases = trees_raise(node) or above or any(s.errors.may_raise for s in join_sides)
    join = Join(on, left, right, raises=above)
    masked = frozenset(part for t in above_both if len(_scopes(t)) > 1 for part in sql_conjuncts(t))
    return JoinSite(
        site.number, simple_kind(node), "", where, join_sides, erases, False, join, masked
    )


_SCOPES = (Scope.KEY, Scope.ROW)


def _scopes(term: Term) -> set[Scope]:
    return {v.scope for v in variables(term)}


def _on(context: SiteContext, node: Node, variables_by_id: Mapping[int, Var]) -> Iterator[Term]:
    """Yield the conjuncts of a join's condition that proofs can express."""
    parts = (expression(c.tree, dict(variables_by_id), context.timezone) for c in conditions(node))
    yield from (p for p in parts if not isinstance(p, Declined))


def _equal(
    inputs: Sequence[Sequence[Attribute]], variables_by_id: Mapping[int, Var]
) -> Iterator[Term]:
    """Yield the equalities of rows of both sides, column by column."""
    for left, right in zip(*inputs, strict=True):
        if left.type == right.type and {left.id, right.id} <= variables_by_id.keys():
            yield app(Op.SQL_EQ_NULLSAFE, variables_by_id[left.id], variables_by_id[right.id])


def _nullable(inputs: tuple[Attribute, ...]) -> tuple[Attribute, ...]:
    """Return the columns of a side, each of which may be NULL in the result."""
    return tuple(replace(a, nullable=True) for a in inputs)


def _variables(inputs: tuple[Attribute, ...], scope: Scope) -> dict[int, Var]:
    row_variables, _ = columns_of(inputs)
    return {i: replace(v, scope=scope) for i, v in row_variables.items()}
