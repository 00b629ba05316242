# SPDX-License-Identifier: Apache-2.0
"""Trusted. Windows, and ``ORDER BY ... LIMIT``, with filters above them: what has to be proved."""

from __future__ import annotations

from collections.abc import Sequence

from presieve.backend.catalyst.boundary import simple_kind
from presieve.backend.catalyst.equal_columns import equal_to_keys
from presieve.backend.catalyst.exchange_reuse import sharing_exchange
from presieve.backend.catalyst.sites import Site
from presieve.backend.catalyst.windows import (
    WindowInput,
    functions_raise,
    input_of,
    names_of,
    partition_keys,
    read_clock,
    read_window,
    whole_fold,
)
from presieve.backend.effects.erased_errors import is_guarded_by
from presieve.backend.effects.may_raise import trees_raise
from presieve.backend.filter_placement.sides import FilteredSite, SiteContext, columns_of, over
from presieve.errors import Declined, DeclineSignal
from presieve.ir.fold import Column, Mode, Problem
from presieve.ir.ops import sql_conjunction, sql_conjuncts
from presieve.ir.terms import Scope, Var
from presieve.ir.walk import to_scope, variables
from presieve.plan.algebra import Attribute, attribute_id
from presieve.records import replace
from presieve.semantics.windows import HERE, Window, WindowFrame, of_row

WINDOW_FRAME = "window-frame"
"""The code of the reason that no filter can go below a window."""


class WindowSite(FilteredSite, frozen=True):
    """A window; its filters are over KEY. Spark itself moves those over the columns ``by_spark``
    (``PushPredicateThroughNonJoin``). ``whole`` is the problem for functions that read a whole
    partition, if their meaning is known (:func:`presieve.semantics.windows.of_row`).
    """

    window: Window
    by_spark: frozenset[Var] = frozenset()
    whole: Problem | None = None


def read_window_site(context: SiteContext, site: Site) -> WindowSite:
    """Read a window or a limit. Raises :class:`DeclineSignal`."""
    node, below = site.boundary, input_of(site.boundary)
    inputs = context.attributes(below)
    attributes, _ = columns_of(inputs)
    condition = sql_conjunction(over(site, attributes))
    named = {i for i, v in attributes.items() if v in variables(condition)}
    equal = tuple(equal_to_keys(context.view, below, partition_keys(node), named))
    clock, types = read_clock(node, named), {a.id: a.type for a in inputs}
    of = WindowInput(attributes, types, context.timezone, equal, clock)
    above = any(map(trees_raise, site.nodes))
    window = replace(read_window(node, of), raises=above or functions_raise(node))
    where = to_scope(condition, Scope.ROW, Scope.KEY)
    if not sql_conjuncts(where):
        reason = "the filter reads only what it computes from the rows of a partition"
        raise DeclineSignal(WINDOW_FRAME, reason)
    read = set(variables(where, *window.partition, *(k.value for k in window.order)))
    guarded = is_guarded_by(site, _unmoved_conjuncts(site))
    side = context.side(below, inputs, read, guarded=guarded)
    whole_problem = None
    if WindowFrame() in window.frames and not window.raises:
        whole_problem = _make_partition_problem(context, site, of, inputs, side.columns)
    return WindowSite(
        site.number,
        simple_kind(node),
        names_of(node),
        where,
        (side,),
        side.errors.may_raise or window.raises or (clock is None and window.bounds_raise),
        len(sharing_exchange(context.view, node)) > 1,
        window,
        frozenset(v for i, v in attributes.items() if i in partition_keys(node)),
        whole_problem,
    )


def _make_partition_problem(
    context: SiteContext,
    site: Site,
    of: WindowInput,
    inputs: Sequence[Attribute],
    columns: Sequence[Column],
) -> Problem | None:
    """Return what has to be proved if functions read whole partitions of these columns. Rows that
    fail the filter above may get other values, so nothing may raise on them.
    """
    window_columns = [a for a in context.attributes(site.boundary) if a.id not in of.types]
    read = whole_fold(site.boundary, of, window_columns)
    if read is None:
        return None
    every = {c.name: c for c in (*read.columns, *columns)}
    if sum(a.name in every for a in inputs) != len(every):
        return None  # two columns have one name
    fold = of_row(replace(read, columns=tuple(every.values())))
    variables_by_id = {i: fold.key(HERE + v.name) for i, v in of.columns.items() if v.name in every}
    by_name = {o.name: Var(Scope.OUT, o.name, o.sort) for o in fold.outputs}
    variables_by_id |= {a.id: by_name[a.name] for a in window_columns}
    return Problem(fold, sql_conjunction(over(site, variables_by_id)), Mode.GLOBAL)


def _unmoved_conjuncts(site: Site) -> frozenset[tuple[int, int]]:
    """Return the conjuncts that Spark leaves above: those not on a window's partition alone."""
    keys = partition_keys(site.boundary)
    return frozenset(
        (m.operator, m.conjunct)
        for m in site.arriving
        if not isinstance(m.term, Declined)
        and not {attribute_id(v) for v in variables(m.term)} <= keys
    )
