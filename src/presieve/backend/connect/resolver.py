# SPDX-License-Identifier: Apache-2.0
"""Trusted. Resolve the messages of a plan of Spark Connect: leaves, and operators by rules.

Of a message without a rule, only the inputs are read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, TypeAlias

from presieve.backend.catalyst.trees import MAX_DEPTH, Tree
from presieve.backend.connect.expression_trees import alias, unknown_tree
from presieve.backend.connect.resolved_plan import (
    UNKNOWN,
    Operator,
    Relation,
    ResolvedColumn,
    Schema,
    inner,
    inputs,
)
from presieve.backend.connect.scope import OperatorScope, parts_of
from presieve.backend.connect.server_sql import UNREAD_TEXT, shows_a_table
from presieve.errors import Declined, DeclineSignal
from presieve.records import replace

if TYPE_CHECKING:
    from presieve.backend.connect.client import Client


@dataclass(frozen=True, slots=True)
class Resolver:
    """Resolves the messages of one plan, by a rule for each kind of relation."""

    server: Client
    timezone: str
    rules: Mapping[str, Rule]
    pair_rules: Mapping[str, PairRule]
    numbers: count[int]

    def resolve(self, relation: Relation, depth: int = 0) -> Operator:
        """Resolve the relation with everything below it. Raises :class:`DeclineSignal`."""
        if depth > MAX_DEPTH:
            reason = f"the plan has more than {MAX_DEPTH} operators in a row"
            raise DeclineSignal("plan-depth", reason)
        kind = relation.WhichOneof("rel_type")
        slots = inputs(relation)
        children = [self.resolve(part, depth + 1) for _, part in slots]
        names = tuple(name for name, _ in slots)
        if not children:
            return self._leaf(relation, str(kind))
        operator = self._by_rule(relation, str(kind), children)
        if operator is not None:
            return replace(operator, slots=names)
        why = Declined("operator", f"{kind} of Spark Connect is not understood")
        return self.opaque(relation, children, why)

    def _by_rule(self, relation: Relation, kind: str, children: list[Operator]) -> Operator | None:
        if kind == "with_relations":  # followed by the relations that its subqueries read
            output = children[0].output
            return Operator("presieve.with_relations", {}, tuple(children), output, relation)
        match children:
            case [child] if kind in self.rules:
                return self.rules[kind](self, relation, child)
            case [left, right] if kind in self.pair_rules:
                return self.pair_rules[kind](self, relation, left, right)
        return None

    def scope(self, *operators: Operator) -> OperatorScope:
        """Return the columns of the operators, for expressions over them."""
        return OperatorScope(operators, self.timezone)

    def schema(self, relation: Relation) -> Schema:
        """Return the columns of the relation, which are requested when needed."""
        return Schema(lambda: self.server.fields(relation))

    def fresh(self, schema: Schema, qualifier: str = UNKNOWN) -> tuple[ResolvedColumn, ...]:
        """Return all columns of a schema under new numbers."""
        return tuple(
            ResolvedColumn(next(self.numbers), str(f["name"]), schema, at, qualifier)
            for at, f in enumerate(schema.fields)
        )

    def opaque(
        self,
        relation: Relation,
        children: Sequence[Operator],
        why: Declined,
        kind: str | None = None,
    ) -> Operator:
        """Return a relation whose columns may be computed from anything below."""
        output = self.fresh(self.schema(relation))
        trees = unknown_columns(output, why, children)
        return Operator(
            kind or "presieve." + str(relation.WhichOneof("rel_type")),
            {"groupingExpressions": [], "aggregateExpressions": trees},
            tuple(children),
            output,
            relation,
            tuple(name for name, _ in inputs(relation)),
            unread=why,
            steady=False,
        )

    def _leaf(self, relation: Relation, kind: str) -> Operator:
        why = self._leaf_declines(relation, inner(relation), kind)
        output = self.fresh(self.schema(relation), _relation_name(inner(relation), kind))
        trees = [] if why is None else unknown_columns(output, why, ())
        name = "presieve." + kind
        return Operator(name, {"unread": trees}, (), output, relation, (), why, why is None)

    def _leaf_declines(self, relation: Relation, body: Relation, kind: str) -> Declined | None:
        """Return why nothing is known about a leaf, or None."""
        if kind == "read":
            if body.is_streaming:
                reason = "streams are left alone; optimize the batches in foreachBatch"
                return Declined("streaming", reason)
            table = str(body.named_table.unparsed_identifier)
            if body.HasField("data_source") or self.server.is_stored(table):
                return None
            if shows_a_table(self.server.explain_plan(relation, "extended")):
                return None
            reason = f"{table} is a view that computes something, by a plan that is on the server"
            return Declined("view", f"{reason}; use its DataFrame instead")
        if kind == "sql":
            return Declined("sql-text", UNREAD_TEXT)
        if kind in LEAVES:
            return None
        return Declined("operator", f"{kind} of Spark Connect is not understood")


def _relation_name(body: Relation, kind: str) -> str:
    """Return the last part of a table's or a view's name; the other parts are not needed."""
    if kind == "read" and body.HasField("named_table"):
        with suppress(DeclineSignal):
            return parts_of(str(body.named_table.unparsed_identifier))[-1]
        return UNKNOWN
    return "" if kind == "read" or kind in NAMELESS else UNKNOWN


NAMELESS = ("local_relation", "cached_local_relation", "chunked_cached_local_relation", "range")
LEAVES = (*NAMELESS, "cached_remote_relation")
"""Relations without inputs that have nothing to know but their columns."""


def unknown_columns(
    output: Sequence[ResolvedColumn], why: Declined, children: Sequence[Operator]
) -> list[Tree]:
    """Return columns each of which may be computed from everything below, and may raise."""
    below = [f.tree for c in children for f in c.output]
    tree = unknown_tree(why, below, deterministic=False)
    return [alias(f.id, f.name, tree) for f in output]


Rule: TypeAlias = Callable[[Resolver, Relation, Operator], Operator | None]
PairRule: TypeAlias = Callable[[Resolver, Relation, Operator, Operator], Operator | None]
"""Resolve a message from its resolved inputs; None if its form is not understood."""
