"""Trusted. Joins and set operations with filters above them that say something of both sides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from presieve.backend.catalyst.boundary import LOGICAL, simple_kind
from presieve.backend.catalyst.operators import JOIN, conditions
from presieve.backend.catalyst.sites import Site
from presieve.backend.catalyst.trees import EXPRESSIONS, Node
from presieve.backend.effects.raising import trees_raise
from presieve.backend.filtered.sides import Context, FilteredSite, columns_of, over
from presieve.errors import Declined, DeclineSignal
from presieve.ir.ops import app, sql_conjunction, sql_conjuncts
from presieve.ir.terms import Op, Scope, Term, Var
from presieve.ir.walk import variables
from presieve.plan.algebra import Attribute
from presieve.semantics.joins import Join
from presieve.sql.catalyst import expression


@dataclass(frozen=True, slots=True)
class JoinSite(FilteredSite):
    """A join, or a set operation, whose left side is KEY and whose right side is ROW."""

    join: Join


_PRESERVED = {
    "Inner$": (False, False),
    "LeftOuter$": (True, False),
    "RightOuter$": (False, True),
    "FullOuter$": (True, True),
    "LeftSemi$": (True, False),
    "LeftAnti$": (True, False),
}
"""Whether rows of each side that have no partner decide on what is in the result. A semi or anti
join shows of a row whether a left outer join shows it with a partner.
"""
_SETS = (LOGICAL + "Intersect", LOGICAL + "Except")
"""These are semi and anti joins by all columns (``ReplaceIntersectWithSemiJoin``)."""

_NULL_SAFE = EXPRESSIONS + "EqualNullSafe"


def is_paired(node: Node) -> bool:
    """Whether Spark leaves filters on what two sides compare to one of them: both sides are
    preserved, or NULL is equal to NULL (``InferFiltersFromConstraints`` looks for ``=`` alone).
    """
    if node.kind != JOIN:
        return node.kind in _SETS
    kind = join_kind(node)
    safe = any(n["class"] == _NULL_SAFE for c in conditions(node) for n in c.tree)
    return kind == FULL_OUTER or (safe and kind in _PRESERVED)


FULL_OUTER = "FullOuter$"


def join_kind(node: Node) -> str:
    """The name of Spark's class of the kind of join."""
    return str(node.fields["joinType"].get("object")).rsplit(".", 1)[-1]


def read_join_site(context: Context, site: Site) -> JoinSite:
    """A join, or INTERSECT or EXCEPT. Raises :class:`DeclineSignal`."""
    node = site.boundary
    inputs = [_nullable(context.attributes(child)) for child in node.children]
    if len(inputs) != 2 or {a.id for a in inputs[0]} & {a.id for a in inputs[1]}:
        raise DeclineSignal("plan-shape", "the operator has not two inputs of different columns")
    sides = [_variables(i, scope) for i, scope in zip(inputs, _SCOPES, strict=True)]
    here = sides[0] | sides[1]
    where = sql_conjunction(over(site, here))
    if not sql_conjuncts(where):
        raise DeclineSignal("keys-only", "the filter reads what proofs cannot speak of")
    on = sql_conjunction(_equal(inputs, here) if node.kind in _SETS else _on(context, node, here))
    above = any(map(trees_raise, site.nodes))
    left, right = (True, False) if node.kind in _SETS else _PRESERVED[join_kind(node)]
    read = set(variables(where, on))
    found = tuple(
        context.side(child, known, {v for v in read if v.scope is scope}, guarded=True)
        for child, known, scope in zip(node.children, inputs, _SCOPES, strict=True)
    )
    erases = trees_raise(node) or above or any(s.errors.may_raise for s in found)
    join = Join(on, left, right, raises=above)
    return JoinSite(site.number, simple_kind(node), "", where, found, erases, False, join)


_SCOPES = (Scope.KEY, Scope.ROW)


def _on(context: Context, node: Node, here: Mapping[int, Var]) -> Iterator[Term]:
    """The condition of a join, as far as proofs can speak of it."""
    parts = (expression(c.tree, dict(here), context.timezone) for c in conditions(node))
    yield from (p for p in parts if not isinstance(p, Declined))


def _equal(inputs: Sequence[Sequence[Attribute]], here: Mapping[int, Var]) -> Iterator[Term]:
    """That rows of both sides are equal, column by column."""
    for left, right in zip(*inputs, strict=True):
        if left.type == right.type and {left.id, right.id} <= here.keys():
            yield app(Op.SQL_EQ_NULLSAFE, here[left.id], here[right.id])


def _nullable(inputs: tuple[Attribute, ...]) -> tuple[Attribute, ...]:
    """The columns of a side, each of which may be NULL in the result."""
    return tuple(replace(a, nullable=True) for a in inputs)


def _variables(inputs: tuple[Attribute, ...], scope: Scope) -> dict[int, Var]:
    known, _ = columns_of(inputs)
    return {i: replace(v, scope=scope) for i, v in known.items()}
