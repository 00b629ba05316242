# SPDX-License-Identifier: Apache-2.0
"""Trusted. Determine which errors of a boundary and its surroundings may vanish or appear."""

from __future__ import annotations

from collections.abc import Collection, Set

from msgspec import Struct

from presieve.backend.catalyst.boundary import COGROUPS, FLAT_MAPS, MAPS, TABLE_FUNCTION, Boundary
from presieve.backend.catalyst.operators import FILTER
from presieve.backend.catalyst.sites import Site
from presieve.backend.catalyst.trees import Node, nodes_above
from presieve.backend.effects.may_raise import may_drop_rows
from presieve.backend.effects.utf8 import valid_utf8
from presieve.backend.gateway import PlanView
from presieve.backend.statistics.footers import within_python
from presieve.ir.terms import Scope, Term
from presieve.ir.walk import variables
from presieve.plan.algebra import Attribute
from presieve.plan.reaching_conjuncts import Moved
from presieve.semantics.types import decimal_type
from presieve.sql.expressions.raising import can_raise

_ALWAYS_SENT = frozenset(
    ("boolean", "tinyint", "smallint", "int", "bigint", "unsupported:float", "double", "binary")
)
"""Types all of whose values reach a worker with the bits that a file may hold (``test_transport``).

Timestamps do not (pandas counts nanoseconds from 1677 to 2262, and Spark's conversion raises
beyond), and dates do not (Python's end with the year 9999). Arrow raises on strings that are not
UTF-8, and Spark, on its way to Arrow, on decimals with more digits than their type has: files may
hold both.
"""


_ALWAYS_CALLED = FLAT_MAPS | COGROUPS | MAPS | {TABLE_FUNCTION}
"""Operators whose function Spark calls whether or not anybody reads a column of its result."""


def is_on_demand(boundary: Boundary) -> bool:
    """Whether Spark leaves out a call whose result nobody reads, now or after somebody selects
    columns of the DataFrame. That holds for the columns of a projection and of an aggregate
    (``ColumnPruning``).
    """
    return boundary.kind not in _ALWAYS_CALLED


def is_guarded(site: Site, moved: tuple[tuple[Moved, Term], ...]) -> bool:
    """Whether Spark may move other filters below the boundary than the filters that are moved here.

    Of the filters that are moved here, Spark itself moves those that read no result of the
    boundary.
    """
    of_results = (m for m, t in moved if any(v.scope is Scope.OUT for v in variables(t)))
    return is_guarded_by(site, {(m.operator, m.conjunct) for m in of_results})


def is_guarded_by(site: Site, bound: Set[tuple[int, int]]) -> bool:
    """Whether Spark may move filters below the boundary. It does not move conjuncts that are
    ``bound``, which are given by operator and number.
    """
    bound_filters = {
        node.path
        for level, node in enumerate(site.nodes)
        if node.kind == FILTER
        and all((level, i) in bound for i in range(len(site.conjuncts[level])))
    }
    above = nodes_above(site.root, site.boundary.path)
    return any(may_drop_rows(n) and n.path not in bound_filters for n in above)


def others_raise(node: Node, boundary: Boundary) -> bool:
    """Whether a column of a projection that is not among its calls can raise.

    Lemma: a filter moves below a projection if all expressions of the projection are deterministic,
    whatever they are, and the projection then computes them for fewer rows.
    """
    call_positions = {call.position for call in boundary.calls}
    if boundary.kind != "Project":
        return False
    columns = node.fields["projectList"]
    return any(can_raise(tree) for i, tree in enumerate(columns) if i not in call_positions)


class Sent(Struct, frozen=True):
    """Whether all values that the functions of a boundary are sent arrive at the workers. Of the
    ``texts``, only values that are UTF-8 arrive.
    """

    arrives: bool
    texts: frozenset[str] = frozenset()


def sent_to_python(view: PlanView, site: Site, boundary: Boundary) -> Sent:
    """Whether a worker gets every value of the columns that the boundary's functions are sent."""
    calls = [c for c in boundary.calls if c.native is None]
    scalar = boundary.kind == "Project"
    by_arrow = {i for c in calls if c.arrow or not scalar for i in c.arguments}
    sent = {i for c in calls for i in c.arguments}
    columns = tuple(a for a in boundary.inputs if a.id in sent)
    incomplete, texts = may_not_arrive(view, site.input, columns, by_arrow)
    if incomplete:
        return Sent(False)
    return Sent(True, frozenset(a.name for a in boundary.inputs if a.id in texts))


def may_not_arrive(
    view: PlanView, input_: Node, columns: Collection[Attribute], by_arrow: Collection[int]
) -> tuple[frozenset[int], frozenset[int]]:
    """Return the columns whose values may not all reach a worker, and the texts whose values reach
    it if they are UTF-8. ``input_`` is the operator that gives the columns.
    """
    types = {a.id: a.type for a in columns if a.type not in _ALWAYS_SENT}
    texts = {i for i, type_ in types.items() if type_ == "string"}
    numbers = {i for i, type_ in types.items() if decimal_type(type_)}
    moments = {i for i, t in types.items() if t in ("timestamp", "timestamp_ntz", "date")}
    incomplete = types.keys() - texts - numbers - moments
    doubtful = moments | {i for i in numbers if i in by_arrow}
    incomplete |= (
        doubtful - within_python(view.gateway, view.plan, input_, doubtful) if doubtful else set()
    )
    doubtful = {i for i in texts if i in by_arrow}
    doubtful -= valid_utf8(view, input_, doubtful) if doubtful else frozenset()
    return frozenset(incomplete), frozenset(doubtful)
