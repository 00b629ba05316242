# SPDX-License-Identifier: Apache-2.0
"""Trusted. Plans of Spark Connect for the rest of the backend; handles are resolved operators."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING

from presieve.backend.catalyst.operators import FILTER, UNION
from presieve.backend.catalyst.trees import Node, Tree, node_at, walk
from presieve.backend.connect import resolved_plan, server_sql
from presieve.backend.connect.client import Client, load_function, message
from presieve.backend.connect.column_pruning import prune_columns
from presieve.backend.connect.expression_trees import (
    conjunction,
    display_sql,
    from_text,
    is_deterministic,
)
from presieve.backend.connect.extract_udfs import separate_calls
from presieve.backend.connect.relations import PAIR_RULES, RULES
from presieve.backend.connect.resolved_plan import (
    Condition,
    Expression,
    Operator,
    Relation,
    copy_of,
    inner,
    inputs,
    serialize_message,
)
from presieve.backend.connect.resolver import Resolver
from presieve.backend.connect.split_input import repeatable, split
from presieve.backend.effects.trusted_scans import PARSED, SERVER_FORMATS, by_columns
from presieve.backend.filter_placement.filtered_leaves import moves_no_filters
from presieve.backend.gateway import GatewayError, LeafSource, served_version
from presieve.backend.session.settings import ALLOWED, LEGACY, SETTINGS
from presieve.backend.unpushed_functions import NOTES
from presieve.errors import Declined, DeclineSignal
from presieve.plan.algebra import Attribute
from presieve.records import replace

if TYPE_CHECKING:
    from pyspark.sql.connect.plan import LogicalPlan
    from pyspark.sql.dataframe import DataFrame
    from pyspark.sql.session import SparkSession


class ConnectGateway:
    """The interfaces of one session of Spark Connect."""

    __slots__ = ("_cache", "_client", "_opened", "_origin", "_resolver", "_right", "version")

    rewrites_above_cached = False

    def __init__(self, spark: SparkSession) -> None:
        """Raises :class:`GatewayError` if an interface is missing."""
        self.version = served_version(spark)
        self._client = Client(spark)
        timezone = self._client.conf("spark.sql.session.timeZone", "UTC")
        self._resolver = Resolver(self._client, timezone, RULES, PAIR_RULES, count(1))
        self._origin: LogicalPlan | None = None
        self._opened: Operator | None = None
        self._cache: bool | None = None
        self._right: dict[bytes, bool] = {}

    # Plans

    def analyze_plan(self, df: DataFrame) -> Operator:
        """Return the resolved plan; a plan with nothing to do is not resolved."""
        if self._origin is None:
            self._origin = self._client.origin(df)
        relation = self._with_texts(self._client.relation(df))
        # If the optimizer moves no filters, sources may get them.
        if not is_interesting(relation) and not (
            _filters(_each(relation)) and moves_no_filters(self)
        ):
            return Operator(_UNREAD, {NOTES: server_sql.notes(relation)}, (), (), relation, ())
        plan = self._resolve(relation)
        self._opened = self._opened or plan
        return plan

    def _resolve(self, relation: Relation) -> Operator:
        plan = self._resolver.resolve(relation)
        plan_notes = server_sql.notes(relation)
        return replace(plan, fields={**plan.fields, NOTES: plan_notes}) if plan_notes else plan

    def _with_texts(self, relation: Relation) -> Relation:
        """Return the plan with queries in SQL text replaced by messages, if these are right."""
        queries = {serialize_message(t): t for t in server_sql.texts(relation)}
        read = {k: m for k, t in queries.items() if (m := server_sql.read_query(t)) is not None}
        if not read or not is_interesting(server_sql.put_in(relation, read)):
            return relation
        for k, replacement in read.items():
            if k not in self._right:
                self._right[k] = server_sql.is_right(self._client, queries[k], replacement)
        return server_sql.put_in(relation, {k: m for k, m in read.items() if self._right[k]})

    def may_have_site(self, plan: Operator, *, skip_hopeless: bool) -> bool:
        """Always true: reading the plan costs no call of the server."""
        return True

    def tree_if_relevant(self, plan: Operator, *, skip_hopeless: bool) -> Node | None:
        nothing = plan.kind == _UNREAD and not plan.fields[NOTES]
        return None if nothing else resolved_plan.as_tree(plan)

    def tree(self, plan: Operator) -> Node:
        return resolved_plan.as_tree(plan)

    def calls_python(self, plan: Operator) -> bool:
        """Always true: there may be a Python function in any plan."""
        return True

    def has_filtered(self, plan: Operator) -> bool:
        """True for every plan that is read: there may be such an operator in any of them."""
        return plan.kind != _UNREAD

    def refers(self, plan: Operator) -> bool:
        """Always true: there may be a reference in any plan."""
        return True

    def same(self, plan: Operator, other_plan: Operator) -> bool:
        """Whether two plans are the same message."""
        return serialize_message(plan.message) == serialize_message(other_plan.message)

    def same_output(self, plan: Operator, other_plan: Operator) -> bool:
        """Whether the server gives both the same schema."""
        fields = self._client.fields
        return list(fields(plan.message)) == list(fields(other_plan.message))

    def node(self, root: Operator, path: Sequence[int]) -> Operator:
        return node_at(root, path)

    def attributes(self, plan: Operator) -> tuple[Attribute, ...]:
        return tuple(f.attribute for f in plan.output)

    def deterministic(self, plan: Operator) -> bool:
        return all(o.steady for o in walk(plan))

    def repeatable(self, plan: Operator) -> bool:
        return repeatable(plan)

    def explain_unread(self, plan: Operator) -> Declined | None:
        """Return the reason of the first operator that is not understood, if there is one."""
        return next((o.unread for o in walk(plan) if o.unread is not None), None)

    def session_declines(self) -> Declined | None:
        """Return the setting under which names and texts would not mean what is read here."""
        confs = self._client.confs()
        for key, expected in SETTINGS.items():
            value = confs.get(key, expected)
            if value.lower() != expected:
                return Declined("conf", f"{key} is {value}; on Spark Connect it must be {expected}")
        odd = sorted(k for k in confs if k.startswith(LEGACY) and not k.startswith(ALLOWED))
        if odd:
            return Declined("conf", f"{odd[0]} is set; on Spark Connect it must be unset")
        return None

    def is_streaming(self, plan: Operator) -> bool:
        leaves = [o for o in walk(plan) if not o.children]
        if all(leaf.unread is None for leaf in leaves):
            return False  # such leaves decline
        return self._client.is_streaming(plan.message)

    # Expressions

    def condition(self, filter_: Operator) -> tuple[Condition, Operator]:
        """Return the condition of a filter, and the filter."""
        assert filter_.condition is not None
        return filter_.condition, filter_

    def condition_tree(self, plan: Operator) -> Tree | None:
        return plan.condition.tree if plan.condition is not None else None

    def operand(
        self, conjunction: tuple[Condition, Operator], side: str
    ) -> tuple[Condition, Operator]:
        both, filter_ = conjunction
        assert both.sides is not None
        return both.sides[0 if side == "left" else 1], filter_

    def computes_same(self, first: tuple[Operator, int], second: tuple[Operator, int]) -> bool:
        return False

    def conjunction(
        self, left: tuple[Condition, Operator], right: tuple[Condition, Operator]
    ) -> tuple[Condition, Operator]:
        return conjunction(left[0], right[0]), left[1]

    def sql(self, expression: tuple[Condition, Operator]) -> str:
        condition, filter_ = expression
        return display_sql(condition, self._resolver.scope(*filter_.children))

    # Building

    def filter(
        self, condition: tuple[Condition, Operator] | None, filter_: Operator, child: Operator
    ) -> Operator:
        """Return the filter with another condition over another child. Without a condition, it
        becomes a filter that keeps every row: columns may refer to it by its number.
        """
        new_condition = self._true(child) if condition is None else condition[0]
        over = resolved_plan.with_children(filter_, (child,))
        relation = copy_of(over.message)
        relation.filter.condition.CopyFrom(new_condition.expression)
        return replace(
            over,
            relation=relation,
            condition=new_condition,
            fields={"condition": new_condition.tree},
        )

    def _true(self, child: Operator) -> Condition:
        return from_text(type(message("Expression")), "true", self._resolver.scope(child))

    def filter_sql(self, sql: str, child: Operator) -> Operator:
        new_condition = from_text(type(message("Expression")), sql, self._resolver.scope(child))
        relation = message("Relation")
        relation.filter.input.CopyFrom(child.message)
        relation.filter.condition.CopyFrom(new_condition.expression)
        return Operator(
            FILTER,
            {"condition": new_condition.tree},
            (child,),
            child.output,
            relation,
            steady=is_deterministic(new_condition.tree),
            condition=new_condition,
        )

    def split(
        self, passing: Operator, breaking: Operator, rows: Operator, by: Sequence[str]
    ) -> Operator:
        relation = split(passing, breaking, rows, by)
        return replace(
            rows, kind=UNION, fields={}, children=(passing, rows), relation=relation, slots=()
        )

    def with_children(self, node: Operator, children: Sequence[Operator]) -> Operator:
        return resolved_plan.with_children(node, children)

    def prune_columns(self, flat_map: Operator, numbers: Sequence[Collection[int]]) -> Operator:
        return prune_columns(flat_map, numbers)

    def prune_arguments(self, project: Operator, kept: Mapping[int, Collection[int]]) -> Operator:
        """Raise :class:`GatewayError`: calls in plans of Spark Connect stay as they are."""
        raise GatewayError("on Spark Connect, scalar UDFs get the arguments as written")

    def with_expressions(self, project: Operator, expressions: Mapping[int, str]) -> Operator:
        """Raise :class:`GatewayError`: what an expression means there is seen when it runs."""
        raise GatewayError("on Spark Connect, functions are not compiled")

    def as_projection(
        self, flat_map: Operator, expressions: Sequence[str], condition: str | None
    ) -> Operator:
        """Raise :class:`GatewayError`, as :meth:`with_expressions` does."""
        raise GatewayError("on Spark Connect, functions are not compiled")

    def as_aggregate(
        self,
        groups: Operator,
        keys: Sequence[int],
        aggregates: Mapping[str, str],
        outputs: Mapping[int, str],
    ) -> Operator:
        """Raise :class:`GatewayError`, as :meth:`with_expressions` does."""
        raise GatewayError("on Spark Connect, functions are not compiled")

    def with_plan(self, with_cte: Operator, plan: Operator) -> Operator:
        """Raise :class:`GatewayError`: plans of Spark Connect have no shared definitions."""
        raise GatewayError("Spark Connect has no WithCTE")

    def children(self, node: Operator) -> list[Operator]:
        return list(node.children)

    def dataframe(self, plan: Operator) -> DataFrame:
        """Return a DataFrame of the plan. Raises :class:`DeclineSignal` if it would read a cache
        that the original does not read: the cache may be out of date.
        """
        if not self.reads_cache() and self._reads_cache(plan):
            raise DeclineSignal("cached", "the plan would be read from the cache, which may be old")
        assert self._origin is not None
        return self._client.dataframe(plan.message, self._origin)

    def condense(self, plan: Operator) -> None:
        """Return None: messages are read directly."""

    def inline_definitions(self, plan: Operator) -> Operator:
        """Return the plan unchanged: definitions occur only in SQL text, which is not read here."""
        return plan

    def simplify_plan(self, plan: Operator) -> Operator:
        """Return the plan unchanged: there is no optimizer on this side."""
        return plan

    def project_computations(self, plan: Operator, root: Node) -> Operator:
        """Return the plan unchanged: only the server could say what the calls return."""
        return plan

    def separate_functions(
        self, plan: Operator, root: Node, *, everywhere: bool = False
    ) -> Operator:
        """Return the plan with calls as columns of their own, if there are any."""
        relation, changed = separate_calls(plan, self._resolver.timezone)
        return self._resolve(relation) if changed else plan

    # Functions

    def evaluation_mode(self, aggregate: Operator, position: int) -> str:
        """Return what a ``Sum`` does on overflow, which the session's settings decide."""
        ansi = self._client.conf("spark.sql.ansi.enabled", "true").lower()
        return "ANSI" if ansi == "true" else "LEGACY"

    def arithmetic_mode(self, aggregate: Operator, position: int, number: int) -> str:
        """Return the same mode: other arithmetic is another function (``try_add``)."""
        return self.evaluation_mode(aggregate, position)

    def aggregate_function(self, aggregate: Operator, position: int) -> Relation:
        return _python(aggregate.fields["aggregateExpressions"][position])

    def row_function(self, project: Operator, position: int) -> Relation:
        return _python(project.fields["projectList"][position])

    def group_function(self, flat_map: Operator) -> Relation:
        return _python(flat_map.fields["functionExpr"])

    def table_function(self, project: Operator) -> Relation:
        """Raise :class:`GatewayError`: no table function is read in plans of Spark Connect."""
        raise GatewayError("table functions are not read in plans of Spark Connect")

    def load(self, python_function: Relation) -> object:
        return load_function(bytes(python_function.command))

    # Around the plan

    def conf(self, key: str, default: str) -> str:
        return self._client.conf(key, default)

    def workers_show_utc(self) -> bool:
        return False

    def reads_cache(self) -> bool:
        if self._cache is None:
            assert self._opened is not None
            self._cache = self._reads_cache(self._opened)
        return self._cache

    def rewrite_above_cached(
        self, plan: Operator, rewrite: Callable[[Operator], Operator]
    ) -> Operator:
        """Return a plan that reads from the cache unchanged: messages do not show where it does."""
        rewritten = rewrite(plan)
        # The server is asked only if something is to be rewritten.
        return plan if rewritten is plan or self.reads_cache() else rewritten

    def _reads_cache(self, plan: Operator) -> bool:
        """Whether Spark's text mentions the cache; a column of such a name does no harm."""
        text = self._client.explain_plan(plan.message, "extended")
        return "InMemoryRelation" in text or "InMemoryTableScan" in text

    def is_cached(self, plan: Operator) -> bool:
        return self._client.is_cached(plan.message)

    def subqueries(self, plan: Operator) -> list[Operator]:
        """Return nothing: plans with subqueries in expressions are not read."""
        return []

    def own_readers(self, plan: Operator) -> Operator:
        """Return the plan: a server creates all sources of a plan anew each time."""
        return plan

    def parquet_files(self, relation: Operator) -> list[str]:
        """Return nothing: the server's files need not exist here, or may be others."""
        return []

    def file_stamps(self, relation: Operator) -> list[tuple[str, int, int]]:
        """Return nothing, as for :meth:`parquet_files`."""
        return []

    def count(self, plan: Operator, most: int) -> int:
        """Raise :class:`GatewayError`: no job is run on a server."""
        raise GatewayError("data are not checked on Spark Connect")

    def estimate_skipped_share(self, relation: Operator, condition: str) -> None:
        """Return None (not known), as for :meth:`parquet_files`."""

    def stored_columns(self, relation: Operator) -> frozenset[str]:
        """Return nothing, as there are no files."""
        return frozenset()

    def own_listings(self, plan: Operator) -> Operator:
        """Return the plan: no decision here rests on files."""
        return plan

    def is_settled(self, plan: Operator, path: tuple[int, ...]) -> bool:
        """Always false: the server lists files whenever it resolves a name."""
        return False

    def source(self, leaf: Operator) -> LeafSource:
        """Return what a message says about a leaf: the format of files, or where the rows are. For
        a table, the server is asked.
        """
        kind = leaf.kind.removeprefix("presieve.")
        if kind != "read":
            return LeafSource((kind,))
        read = inner(leaf.message)
        if not read.HasField("data_source"):
            table = _format(self._client.provider(str(read.named_table.unparsed_identifier)))
            return replace(table, by_columns=table.names[-1] in PARSED)
        source = _format(str(read.data_source.format))
        form, options = source.names[-1], dict(read.data_source.options)
        names = [f.name for f in leaf.output]
        return replace(source, by_columns=by_columns(form, options, lambda: names, self.conf))

    def scan_metadata(self, plan: Operator) -> list[tuple[str, dict[str, str]]]:
        """Return what Spark's text of the physical plan says about scans."""
        text = self._client.explain_plan(plan.message, "formatted")
        return [(name, dict(_FACT.findall(facts))) for name, facts in _SCAN.findall(text)]

    def optimized_text(self, plan: Operator) -> str:
        text = self._client.explain_plan(plan.message, "extended")
        _, _, after = text.partition("== Optimized Logical Plan ==\n")
        return after.partition("\n== Physical Plan ==")[0]


def _format(name: str) -> LeafSource:
    files = name.lower() in SERVER_FORMATS
    return LeafSource(("files" if files else "source", name.lower()), files=files)


_UNREAD = "presieve.not_read"
_SCAN = re.compile(r"^\(\d+\) (Scan [^\n]*)\n((?:[^\n]+\n)*)", re.MULTILINE)
_FACT = re.compile(r"^(\w+): (.*)$", re.MULTILINE)


def _python(tree: Tree) -> Relation:
    """Return the function of a call in a tree."""
    for node in tree:
        if "function" in node:
            return node["function"]
    raise GatewayError("there is no Python function")


def is_interesting(relation: Relation) -> bool:
    """Whether a plan has a filter or a join condition, and something that it might be moved
    through; or a function of tables, which need not receive all columns.
    """
    every = list(_each(relation))
    if any(r.WhichOneof("rel_type") in _OF_TABLES for r in every):
        return True
    if not _filters(every):
        return False
    return any(_is_boundary(r) or _calls(inner(r)) for r in every)


def _each(relation: Relation) -> Iterator[Relation]:
    """Yield the relations of a plan."""
    stack = [relation]
    while stack:
        current = stack.pop()
        if current.WhichOneof("rel_type") is not None:
            yield current
        stack += [part for _, part in inputs(current)]


def _filters(relations: Iterable[Relation]) -> bool:
    """Whether one of the relations is a filter, or a join with a condition."""
    return any(
        r.WhichOneof("rel_type") == "filter"
        or (r.WhichOneof("rel_type") == "join" and r.join.HasField("join_condition"))
        for r in relations
    )


def _is_boundary(relation: Relation) -> bool:
    kind = relation.WhichOneof("rel_type")
    is_full = kind == "join" and relation.join.join_type == relation.join.JOIN_TYPE_FULL_OUTER
    return kind in _BOUNDARIES or is_full


_OF_TABLES = ("group_map", "co_group_map", "map_partitions")
_BOUNDARIES = ("aggregate", "limit", *_OF_TABLES)


def _calls(body: Expression) -> bool:
    """Whether there is a Python function or a window in a message, ignoring the relations in it."""
    for field, value in body.ListFields():
        if field.message_type is None or field.message_type.name == "Relation":
            continue
        if field.message_type.name in ("CommonInlineUserDefinedFunction", "Window"):
            return True
        if field.message_type.GetOptions().map_entry:
            continue
        if any(_calls(v) for v in (value if field.is_repeated else [value])):
            return True
    return False
