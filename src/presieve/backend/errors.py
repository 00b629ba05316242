"""Trusted. Errors of a boundary itself, and of what moves past it: which may be erased or added."""

from __future__ import annotations

from collections.abc import Iterator

from presieve.backend.boundary import COGROUPS, FLAT_MAPS, MAPS, TABLE_FUNCTION, Boundary
from presieve.backend.catalyst_json import Node
from presieve.backend.catalyst_operators import FILTER
from presieve.backend.catalyst_plan import Site
from presieve.backend.footers import within_python
from presieve.backend.gateway import Gateway, Handle
from presieve.backend.raising import can_raise, guards
from presieve.ir.terms import Scope, Term
from presieve.ir.walk import variables
from presieve.plan.pushdown import Moved
from presieve.semantics.types import decimal_type

_ALWAYS_SENT = frozenset(
    ("boolean", "tinyint", "smallint", "int", "bigint", "unsupported:float", "double", "string")
) | {"binary"}
"""Types all of whose values Python can hold, decimals besides. Not so timestamps (pandas counts
nanoseconds from 1677 to 2262, and Spark's conversion raises beyond) and dates (Python's end with
the year 9999).
"""


_ALWAYS_CALLED = FLAT_MAPS | COGROUPS | MAPS | {TABLE_FUNCTION}
"""Operators whose function Spark calls whether or not somebody reads a column of what it gives."""


def is_on_demand(boundary: Boundary) -> bool:
    """Whether Spark leaves out a call of which nobody reads what it gives, now or once somebody
    selects columns of the DataFrame: the columns of a projection and of an aggregate
    (``ColumnPruning``).
    """
    return boundary.kind not in _ALWAYS_CALLED


def is_guarded(site: Site, moved: tuple[tuple[Moved, Term], ...]) -> bool:
    """Whether Spark may move other filters below the boundary than those that are moved here.

    Of these, too, Spark moves what reads no result of the boundary.
    """
    bound = {(m.operator, m.conjunct) for m, t in moved if _reads_result(t)}
    filters = {
        node.path: all((level, i) in bound for i in range(len(site.conjuncts[level])))
        for level, node in enumerate(site.nodes)
        if node.kind == FILTER
    }
    over = _above(site.root, site.boundary.path)
    return any(guards(n, site.boundary.path, filters) for n in over)


def _above(root: Node, path: tuple[int, ...]) -> Iterator[Node]:
    """The nodes on the way down to the one at ``path``, without it."""
    for number in path:
        yield root
        root = root.children[number]


def _reads_result(term: Term) -> bool:
    return any(v.scope is Scope.OUT for v in variables(term))


def others_raise(node: Node, boundary: Boundary) -> bool:
    """Whether a column of a projection that is not among its calls can raise.

    Lemma: a filter moves below a projection whose expressions are all deterministic, whatever they
    are, and computes them for fewer rows.
    """
    known = {call.position for call in boundary.calls}
    if boundary.kind != "Project":
        return False
    columns = node.fields["projectList"]
    return any(can_raise(tree) for i, tree in enumerate(columns) if i not in known)


def arrives_in_python(gateway: Gateway, site: Site, boundary: Boundary, plan: Handle) -> bool:
    """Whether Python can hold every value of the columns that the boundary's functions are sent."""
    sent = {i for call in boundary.calls if call.native is None for i in call.arguments}
    always = {a.id for a in boundary.inputs if a.type in _ALWAYS_SENT or decimal_type(a.type)}
    asked = [a for a in boundary.inputs if a.id in sent - always]
    if not all(a.type in ("timestamp", "timestamp_ntz", "date") for a in asked):
        return False
    ids = {a.id for a in asked}
    return not ids or ids <= within_python(gateway, plan, site.input, ids)
