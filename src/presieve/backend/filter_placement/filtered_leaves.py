# SPDX-License-Identifier: Apache-2.0
"""Trusted. Sources with filters far above them, in sessions whose optimizer does not move these.

A row of a source is used if what comes of it passes the filters
(:mod:`presieve.plan.reaching_conjuncts`). So a source is an operator that shows each of its rows as
it is, and computes nothing from others.
"""

from __future__ import annotations

from presieve.backend.catalyst.operators import FILTER
from presieve.backend.catalyst.sites import Site
from presieve.backend.effects.may_raise import trees_raise
from presieve.backend.filter_placement.sides import SiteContext, columns_of, over, standing
from presieve.backend.filter_placement.windows import WindowSite
from presieve.backend.gateway import SessionReader
from presieve.errors import DeclineSignal
from presieve.ir.ops import sql_conjunction, sql_conjuncts
from presieve.ir.terms import Scope
from presieve.ir.walk import to_scope, variables
from presieve.plan.algebra import Alias, Filter, Project
from presieve.records import replace
from presieve.semantics.windows import Window

_EXCLUDED = "spark.sql.optimizer.excludedRules"
_MOVING = ("PushDownPredicates", "PushPredicateThroughJoin", "PushPredicateThroughNonJoin")
"""The optimizer's rules that move filters to sources."""

RELATION = "Relation"
"""Stands for the name of each of these operators."""

_NEAR = (Filter, Project, Alias)
"""Operators between a scan and its filters that Spark skips, too (``PhysicalOperation``)."""


def moves_no_filters(gateway: SessionReader) -> bool:
    """Whether the session's optimizer does not move filters to sources."""
    excluded = gateway.conf(_EXCLUDED, "")
    return any(rule in excluded for rule in _MOVING)


def read_leaf_site(context: SiteContext, site: Site) -> WindowSite:
    """Read a source with distant conditions on its rows. Raises :class:`DeclineSignal`."""
    node, path = site.boundary, site.path
    far = tuple(
        m
        for m in site.arriving
        if not all(isinstance(operator, _NEAR) for operator in path[: m.operator + 1])
    )
    inputs = context.attributes(node)
    attributes, _ = columns_of(inputs)
    where = to_scope(
        sql_conjunction(over(replace(site, arriving=far), attributes)), Scope.ROW, Scope.KEY
    )
    if not sql_conjuncts(where):
        raise DeclineSignal("keys-only", "the filters are at the source already")
    side = context.side(node, inputs, set(variables(where)), guarded=False)
    above = site.nodes[0]
    if above.kind == FILTER:
        side = replace(side, known=standing(above, attributes, context.timezone))
    raises = any(map(trees_raise, site.nodes))
    window = Window((), (), (), raises)
    erases = side.errors.may_raise or raises
    return WindowSite(site.number, RELATION, "", where, (side,), erases, False, window)
