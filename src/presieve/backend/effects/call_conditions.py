# SPDX-License-Identifier: Apache-2.0
"""Trusted. The condition of filters above a projection under which Spark calls its functions.

Spark moves a filter that reads no result of a function below the call
(``PushPredicateThroughNonJoin``, ``PushDownPredicates``), so that the function never sees the rows
that the filter drops. An expression in place of the function stands in one filter with that
condition, and may be evaluated first. It raises for the same rows if it raises only where the
condition holds.

Lemma: where the condition does not hold, the row has no influence on what the plan returns, so that
the expression may have any value there. Where it holds and the function raises, it raises as
written: no filter keeps Spark from calling it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from msgspec import Struct, field

from presieve.backend.catalyst.definitions import CTE_DEFINITION
from presieve.backend.catalyst.operators import FILTER, JOIN, UNION, conditions
from presieve.backend.catalyst.operators import outputs as outputs_of
from presieve.backend.catalyst.sites import read_conjuncts_above
from presieve.backend.catalyst.trees import ALIAS, Node, expr_id, nodes_above, references, walk
from presieve.backend.catalyst.variable_columns import distinct
from presieve.backend.effects.may_raise import may_drop_rows, trees
from presieve.backend.gateway import PlanView
from presieve.errors import Declined
from presieve.ir.fold import Column
from presieve.ir.ops import sql_conjunction
from presieve.ir.sorts import strip
from presieve.ir.terms import SQL_TRUE, Scope, Term, Var
from presieve.ir.walk import rewrite, variables
from presieve.plan.algebra import attribute_id
from presieve.semantics.types import row_column
from presieve.sql.case_values import as_filter
from presieve.sql.expressions.raising import can_raise


class CallCondition(Struct, frozen=True):
    """The condition under which a function is called, over KEY, and the ``columns`` that it reads,
    by attribute.
    """

    term: Term = SQL_TRUE
    columns: Mapping[int, Column] = field(default_factory=dict)

    @property
    def variables(self) -> dict[int, Var]:
        """The variables of the columns, by attribute."""
        return {i: Var(Scope.KEY, c.name, c.sort) for i, c in self.columns.items()}


def read_call_condition(
    view: PlanView, projection: Node, outputs: Set[int], timezone: str
) -> CallCondition | None:
    """Return the condition under which Spark calls a function of a projection; None if it is not
    known. A conjunct that reads one of the function's ``outputs`` is not part of it: it cannot be
    evaluated before the call. Raises :class:`DeclineSignal` if a column's name is not unique.
    """
    dropping = [n for n in nodes_above(view.root, projection.path) if may_drop_rows(n)]
    if not dropping:
        return CallCondition()
    nodes, arriving = read_conjuncts_above(view, timezone, projection)
    read = {n.path for n in nodes}
    if any(n.kind != FILTER or not (n.path in read or _reads_all(n, outputs)) for n in dropping):
        return None
    terms = []
    for moved in arriving:
        if moved.reads & outputs:
            continue
        tree = conditions(nodes[moved.operator])[moved.conjunct].tree
        if isinstance(moved.term, Declined) or can_raise(tree):
            return None
        terms.append(as_filter(moved.term))
    return _over_columns(view, projection.children[0], terms)


def may_raise_over(view: PlanView, projection: Node, outputs: Set[int]) -> bool:
    """Whether a condition above may raise for a value of the ``outputs``. Spark evaluates it after
    the call, and so after the filters that it moves below the call; over an expression, it
    evaluates it together with these.
    """
    above = list(nodes_above(view.root, projection.path))
    if any(n.kind == CTE_DEFINITION for n in above):
        # Its columns have other numbers where it is read.
        return any(can_raise(c.tree) for n in walk(view.root) for c in conditions(n))
    computed, raising = set(outputs), set[int]()
    for node in reversed(above):
        tested = node.kind in (FILTER, JOIN)
        for tree in [c.tree for c in conditions(node)] if tested else trees(node):
            read = references(tree)
            raises = bool(read & raising) or (bool(read & computed) and can_raise(tree))
            if tested and raises:
                return True
            if tree[0]["class"] == ALIAS and read & computed:
                computed.add(expr_id(tree[0]))
                raising |= {expr_id(tree[0])} if raises else set()
        if node.kind == UNION:  # which numbers its columns anew
            raising |= set(outputs_of(node) or ()) if raising else set()
            computed |= set(outputs_of(node) or ())
    return False


def _reads_all(node: Node, outputs: Set[int]) -> bool:
    """Whether every conjunct of a filter reads a result."""
    return all(references(c.tree) & outputs for c in conditions(node))


def _over_columns(view: PlanView, below: Node, terms: Sequence[Term]) -> CallCondition | None:
    """Write conditions over the columns of the operator below; None if a type is not modelled."""
    attributes = {a.id: a for a in view.gateway.attributes(view.handle(below))}
    read = {attribute_id(v): v for v in variables(*terms)}
    inputs = (a for i, a in attributes.items() if i in read)
    columns = {a.id: row_column(a.name, a.type, a.nullable) for a in inputs}
    tested = {i: c for i, c in columns.items() if c is not None}
    if any(i not in tested or strip(tested[i].sort) != strip(v.sort) for i, v in read.items()):
        return None
    names = {c.name.upper().lower() for c in tested.values()}
    distinct((a for a in attributes.values() if a.name.upper().lower() in names), "of the input")
    condition = CallCondition(columns=tested)
    by_id = condition.variables
    parts = (rewrite(t, lambda v: by_id[attribute_id(v)]) for t in terms)
    return CallCondition(sql_conjunction(parts), tested)
