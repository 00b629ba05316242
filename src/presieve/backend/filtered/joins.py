"""Trusted. Full outer joins with filters above them that speak of both sides."""

from __future__ import annotations

from dataclasses import dataclass, replace

from presieve.backend.catalyst.boundary import simple_kind
from presieve.backend.catalyst.operators import JOIN, conditions
from presieve.backend.catalyst.sites import Site
from presieve.backend.catalyst.trees import Node
from presieve.backend.effects.raising import trees_raise
from presieve.backend.filtered.sides import Context, FilteredSite, columns_of, over
from presieve.errors import Declined, DeclineSignal
from presieve.ir.ops import sql_conjunction, sql_conjuncts
from presieve.ir.terms import Scope, Var
from presieve.ir.walk import variables
from presieve.plan.algebra import Attribute
from presieve.semantics.joins import Join
from presieve.sql.catalyst import expression


@dataclass(frozen=True, slots=True)
class JoinSite(FilteredSite):
    """A join, whose left side is KEY and whose right side is ROW."""

    join: Join


FULL_OUTER = "FullOuter$"


def is_full_join(node: Node) -> bool:
    """Whether both sides are preserved. Of other joins Spark moves filters itself."""
    kind = str(node.fields["joinType"].get("object")) if node.kind == JOIN else ""
    return kind.endswith(FULL_OUTER)


def read_join_site(context: Context, site: Site) -> JoinSite:
    """A join. Raises :class:`DeclineSignal`."""
    node = site.boundary
    inputs = [_nullable(context.attributes(child)) for child in node.children]
    sides = [_variables(i, scope) for i, scope in zip(inputs, _SCOPES, strict=True)]
    here = sides[0] | sides[1]
    where = sql_conjunction(over(site, here))
    if not sql_conjuncts(where):
        raise DeclineSignal("keys-only", "the filter reads what proofs cannot speak of")
    parts = (expression(c.tree, dict(here), context.timezone) for c in conditions(node))
    on = sql_conjunction(p for p in parts if not isinstance(p, Declined))
    above = any(map(trees_raise, site.nodes))
    join = Join(on, left=True, right=True, raises=above)
    read = set(variables(where, on))
    found = tuple(
        context.side(child, known, {v for v in read if v.scope is scope}, guarded=True)
        for child, known, scope in zip(node.children, inputs, _SCOPES, strict=True)
    )
    erases = trees_raise(node) or above or any(s.errors.may_raise for s in found)
    return JoinSite(site.number, simple_kind(node), "", where, found, erases, False, join)


_SCOPES = (Scope.KEY, Scope.ROW)


def _nullable(inputs: tuple[Attribute, ...]) -> tuple[Attribute, ...]:
    """The columns of a side, each of which may be NULL in the result."""
    return tuple(replace(a, nullable=True) for a in inputs)


def _variables(inputs: tuple[Attribute, ...], scope: Scope) -> dict[int, Var]:
    known, _ = columns_of(inputs)
    return {i: replace(v, scope=scope) for i, v in known.items()}
