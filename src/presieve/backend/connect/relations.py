"""Trusted. Messages of Spark Connect as resolved operators: relations of one input, and leaves.

The rules follow what ``SparkConnectPlanner`` of Spark 4.3 makes of a message. Of a message without
a rule, only the inputs are read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count
from typing import Protocol

from presieve.backend.catalyst.boundary import LOGICAL
from presieve.backend.catalyst.operators import DEDUPLICATE, FILTER, SUBQUERY_ALIAS
from presieve.backend.catalyst.trees import ATTRIBUTE, Tree
from presieve.backend.catalyst.windows import GLOBAL_LIMIT, LOCAL_LIMIT, SORT
from presieve.backend.connect import grouped, joins, projected
from presieve.backend.connect.expression_trees import (
    alias,
    condition,
    is_deterministic,
    read_tree,
    unknown_tree,
    why_undetermined,
)
from presieve.backend.connect.resolved_plan import (
    UNKNOWN,
    Expression,
    FieldJson,
    Operator,
    Relation,
    ResolvedColumn,
    Schema,
    inner,
)
from presieve.backend.connect.scope import OperatorScope, fold, parts_of
from presieve.backend.connect.server_sql import UNREAD_TEXT, shows_a_table
from presieve.backend.connect.windows import sort_orders
from presieve.errors import Declined, DeclineSignal
from presieve.ir.terms import SQL_TRUE

MAX_DEPTH = 300


class AnalysisServer(Protocol):
    """What resolving asks of the server."""

    def fields(self, relation: Relation) -> Sequence[FieldJson]:
        """Return the columns of a relation, each as the JSON of its ``StructField``."""

    def is_stored(self, table: str) -> bool:
        """Whether the name belongs to a table, not to a view."""

    def explain_plan(self, relation: Relation, mode: str) -> str:
        """Return the text of ``explain``."""


@dataclass(frozen=True, slots=True)
class Resolver:
    """Resolves the messages of one plan."""

    server: AnalysisServer
    timezone: str
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
        rule = RULES.get(str(kind))
        if rule is not None:
            operator = rule(self, relation, children)
            if operator is not None:
                return replace(operator, slots=names)
        why = Declined("operator", f"{kind} of Spark Connect is not understood")
        return self.opaque(relation, children, why)

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
        """Return a relation of which only the columns are known: each may be computed from anything
        below.
        """
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


def inputs(relation: Relation) -> list[tuple[str, Relation]]:
    """Return the relations in a message, with the names of their slots."""
    slots: list[tuple[str, Relation]] = []
    if relation.WhichOneof("rel_type") is None:
        return slots
    body = inner(relation)
    for field, value in body.ListFields():
        if field.message_type is None or field.message_type.name != "Relation":
            continue
        if field.is_repeated:
            slots += [(f"{field.name}#{i}", part) for i, part in enumerate(value)]
        else:
            slots.append((field.name, value))
    return slots


def unknown_columns(
    output: Sequence[ResolvedColumn], why: Declined, children: Sequence[Operator]
) -> list[Tree]:
    """Return columns each of which may be computed from everything below, and may raise."""
    below = [f.tree for c in children for f in c.output]
    tree = unknown_tree(why, below, deterministic=False)
    return [alias(f.id, f.name, tree) for f in output]


# --- relations of one input -----------------------------------------------------------------

Rule = Callable[[Resolver, Relation, list[Operator]], Operator | None]
"""Resolves a message from its resolved inputs; None if its form is not understood."""


def _filter(resolver: Resolver, relation: Relation, children: list[Operator]) -> Operator:
    (child,) = children
    read_ = condition(relation.filter.condition, resolver.scope(child))
    if read_.tree[0].get("term") == SQL_TRUE:
        # A used-up or idle filter: every row passes, as through an alias.
        return Operator(SUBQUERY_ALIAS, {}, (child,), child.output, relation)
    fixed = is_deterministic(read_.tree)
    why = why_undetermined([read_.tree])
    fields = {"condition": read_.tree}
    return Operator(
        FILTER,
        fields,
        (child,),
        child.output,
        relation,
        unread=why,
        steady=fixed,
        condition=read_,
    )


def _alias(resolver: Resolver, relation: Relation, children: list[Operator]) -> Operator:
    (child,) = children
    name = str(relation.subquery_alias.alias)
    output = tuple(replace(f, qualifier=name) for f in child.output)
    return Operator(SUBQUERY_ALIAS, {}, (child,), output, relation)


def _passing_rule(kind: str) -> Callable[[Resolver, Relation, list[Operator]], Operator]:
    """Return the rule for operators whose output is that of their input."""

    def rule(resolver: Resolver, relation: Relation, children: list[Operator]) -> Operator:
        (child,) = children
        scope = resolver.scope(child)
        trees = [read_tree(e, scope) for e in expressions(inner(relation))]
        why = why_undetermined(trees)
        fixed = all(is_deterministic(t) for t in trees)
        fields = {"expressions": trees}
        return Operator(kind, fields, (child,), child.output, relation, unread=why, steady=fixed)

    return rule


def _sort(resolver: Resolver, relation: Relation, children: list[Operator]) -> Operator:
    """Read a sorted relation. A key without columns may be a literal, which is the position of a
    column (``SubstituteUnresolvedOrdinals``): such an order is not read.
    """
    operator = _passing_rule(SORT)(resolver, relation, children)
    order = sort_orders(relation.sort.order, resolver.scope(*children))
    if not all(any(node["class"] == ATTRIBUTE for node in key) for key in order):
        return operator
    return replace(operator, fields={"order": order, "global": relation.sort.is_global})


def _limit(resolver: Resolver, relation: Relation, children: list[Operator]) -> Operator:
    """Read a limit: the first rows of every partition, and the first of these."""
    below = _passing_rule(LOCAL_LIMIT)(resolver, relation, children)
    return replace(below, kind=GLOBAL_LIMIT, children=(replace(below, relation=None),))


def _deduplicate(
    resolver: Resolver, relation: Relation, children: list[Operator]
) -> Operator | None:
    """Read ``distinct`` and ``dropDuplicates``: by all columns, or by some."""
    (child,) = children
    body = relation.deduplicate
    if body.within_watermark:
        return None
    wanted = {fold(n) for n in body.column_names}
    keys = [f.tree for f in child.output if body.all_columns_as_keys or fold(f.name) in wanted]
    return Operator(DEDUPLICATE, {"keys": keys}, (child,), child.output, relation)


def expressions(body: Relation) -> list[Expression]:
    """Return the expressions in a message itself, without those in its inputs."""
    own_expressions: list[Expression] = []
    for field, value in body.ListFields():
        if field.message_type is None:
            continue
        parts = list(value) if field.is_repeated else [value]
        if field.message_type.name == "Expression":
            own_expressions += parts
        elif field.message_type.name == "SortOrder":
            own_expressions += [p.child for p in parts]
    return own_expressions


def _root(resolver: Resolver, relation: Relation, children: list[Operator]) -> Operator:
    """Return a relation with the relations that its subqueries read."""
    return Operator("presieve.with_relations", {}, tuple(children), children[0].output, relation)


RULES: dict[str, Rule] = {
    "filter": _filter,
    "subquery_alias": _alias,
    "sort": _sort,
    "limit": _limit,
    "offset": _passing_rule(LOGICAL + "Offset"),
    "tail": _passing_rule(LOGICAL + "Tail"),
    "sample": _passing_rule(LOGICAL + "Sample"),
    "deduplicate": _deduplicate,
    "hint": _passing_rule(LOGICAL + "ResolvedHint"),
    "repartition": _passing_rule(LOGICAL + "Repartition"),
    "repartition_by_expression": _passing_rule(LOGICAL + "RepartitionByExpression"),
    "collect_metrics": _passing_rule(LOGICAL + "CollectMetrics"),
    "drop_na": _passing_rule("presieve.drop_na"),
    "with_relations": _root,
    "project": projected.project,
    "with_columns": projected.with_columns,
    "with_columns_renamed": projected.read_renaming,
    "drop": projected.drop,
    "to_df": projected.to_df,
    "fill_na": projected.read_replacement,
    "replace": projected.read_replacement,
    "aggregate": grouped.aggregate,
    "group_map": grouped.group_map,
    "co_group_map": grouped.co_group_map,
    "map_partitions": grouped.read_map,
    "join": joins.join,
    "set_op": joins.set_operation,
}
"""The rules for the relations that are understood."""
