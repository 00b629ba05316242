"""Trusted. Implement :class:`Gateway` for classic sessions, by private interfaces of PySpark and of
Spark's JVM. Nothing outside of this folder uses these interfaces.

Everything here was seen to work on the served versions of PySpark, except for the differences in
:mod:`presieve.backend.classic.versions`; it is feature-tested when a gateway is opened. If a call
fails all the same, :class:`GatewayError` carries the error to the entry point of the backend, which
declines and leaves the DataFrame alone. One call over py4j costs about 0.5 ms.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TypeAlias
from weakref import WeakKeyDictionary, ref

from pyspark.sql.dataframe import DataFrame
from pyspark.sql.session import SparkSession

from presieve.backend.catalyst.trees import Node, Tree, expr_id, parse_plan, simple_type
from presieve.backend.classic import leaf_sources, plan_leaves
from presieve.backend.classic.catalyst_builder import Parts
from presieve.backend.classic.column_pruning import prune_columns
from presieve.backend.classic.extract_udfs import separate_calls, to_separate
from presieve.backend.classic.fresh_result_ids import with_own_results
from presieve.backend.classic.missing_json_values import with_unshown
from presieve.backend.classic.nodes import Nodes
from presieve.backend.classic.optimized_preview import condense
from presieve.backend.classic.precheck import (
    filters_an_aggregate,
    filters_an_operator,
    has_boundaries,
)
from presieve.backend.classic.py4j_errors import (
    each,
    java_class,
    java_constant,
    simple_class,
    translate_errors,
)
from presieve.backend.classic.quick_ack import quick_ack
from presieve.backend.classic.replaced_functions import (
    replace_columns,
    replace_group_function,
    replace_table_function,
)
from presieve.backend.classic.scans import reads
from presieve.backend.classic.scans.listings import own_listings
from presieve.backend.classic.scans.readers import own_readers
from presieve.backend.classic.split_aggregate_outputs import to_project, with_projections
from presieve.backend.classic.split_input import split
from presieve.backend.classic.versions import ADAPTERS, ClassicDataFrame
from presieve.backend.gateway import Handle, LeafSource, served_version
from presieve.backend.problems.pickled import loads
from presieve.errors import DeclineSignal
from presieve.plan.algebra import Attribute

Java: TypeAlias = Handle

_PLANS = "org.apache.spark.sql.catalyst.plans.logical"
_EXPRESSIONS = "org.apache.spark.sql.catalyst.expressions"
_OPTIMIZER = "org.apache.spark.sql.catalyst.optimizer"
_PATTERN = "org.apache.spark.sql.catalyst.trees.TreePattern"


def is_classic(df: object) -> bool:
    """Whether the DataFrame is in a JVM next to us (as opposed to Spark Connect)."""
    return isinstance(df, ClassicDataFrame)


@translate_errors
def session_uuid(spark: SparkSession) -> str:
    """Return the JVM's identity of the session: PySpark makes several objects for one session."""
    return str(spark._jsparkSession.sessionUUID())


_OF_SUBQUERIES = (
    "RewriteNonCorrelatedExists",
    "PullupCorrelatedPredicates",
    "RewritePredicateSubquery",
)
"""Rules that turn EXISTS and IN into joins, in Spark's order (``Optimizer.scala``)."""


_analyzed: WeakKeyDictionary[DataFrame, Java] = WeakKeyDictionary()
_drawn: deque[tuple[Callable[[], object], str]] = deque(maxlen=3)


class ClassicGateway:
    """The private interfaces of one session. :class:`Gateway` documents the methods."""

    __slots__ = (
        "_and",
        "_at_once",
        "_byte",
        "_dataset",
        "_filter",
        "_nodes",
        "_one_row",
        "_project",
        "_python",
        "adapter",
        "jsession",
        "spark",
        "version",
    )

    @translate_errors
    def __init__(self, spark: SparkSession, *, at_once: bool = False) -> None:
        """Test the features. Raises :class:`GatewayError` if an interface is missing or the version
        is another one. ``at_once``: the rewritten plan is executed before anything else happens.
        """
        jvm: Java = spark._jvm
        self.version = served_version(spark)
        self.adapter = ADAPTERS[self.version.name]
        self._at_once = at_once
        self.spark = spark
        self.jsession: Java = spark._jsparkSession
        self._nodes = Nodes(jvm)
        self._dataset = java_class(jvm, self.adapter.dataset)
        self._filter = java_class(jvm, f"{_PLANS}.Filter")
        self._project = java_class(jvm, f"{_PLANS}.Project")
        self._one_row = java_class(jvm, f"{_PLANS}.OneRowRelation")
        self._and = java_class(jvm, f"{_EXPRESSIONS}.And")
        self._python = java_class(jvm, "org.apache.spark.api.python.PythonUtils")
        self._byte = java_constant(jvm, "scala.reflect.ClassTag", "Byte")

    # Plans

    @translate_errors
    def analyzed(self, df: DataFrame) -> Java:
        """Implement :class:`Gateway`. The same DataFrame always gives the same object."""
        if df not in _analyzed:
            _analyzed[df] = df._jdf.queryExecution().analyzed()
        return _analyzed[df]

    @translate_errors
    def mentions(self, plan: Java, *patterns: str) -> bool:
        """Whether Catalyst's index of the plan has one of these patterns. Costs next to nothing."""
        jvm: Java = self.spark._jvm
        java_patterns = (java_constant(jvm, _PATTERN, pattern) for pattern in patterns)
        return any(bool(plan.containsPattern(pattern)) for pattern in java_patterns)

    def glance(self, plan: Java, *, skip_hopeless: bool) -> bool:
        """Implement :class:`Gateway`. There is no boundary without a Python function or a filter
        above an aggregate.
        """
        if self.calls_python(plan):
            return True
        if not self.mentions(plan, "FILTER"):
            return False
        return filters_an_aggregate(self, plan, skip_hopeless=skip_hopeless)

    def interesting(self, plan: Java, *, skip_hopeless: bool) -> Node | None:
        text = self.json(plan)
        is_interesting = has_boundaries(text, skip_hopeless=skip_hopeless)
        return self._read_tree(plan, text) if is_interesting else None

    def tree(self, plan: Java) -> Node:
        return self._read_tree(plan, self.json(plan))

    def _read_tree(self, plan: Java, text: str) -> Node:
        root = with_unshown(self, plan, parse_plan(self.adapter.plan_json(text)), text)
        self._nodes.are_read(plan, root)
        return root

    def calls_python(self, plan: Java) -> bool:
        return self.mentions(plan, "PYTHON_UDF", "GENERATOR")

    def has_filtered(self, plan: Java) -> bool:
        return filters_an_operator(self, plan)

    def refers(self, plan: Java) -> bool:
        """Implement :class:`Gateway`. Catalyst's index covers the plans of subqueries, too."""
        return self.mentions(plan, "CTE")

    @translate_errors
    def same(self, plan: Java, other_plan: Java) -> bool:
        """Whether two plans are equal, including the numbers of attributes, or two other
        objects.
        """
        return bool(plan.equals(other_plan))

    @translate_errors
    def json(self, tree: Java) -> str:
        """Return a plan or expression as Catalyst's JSON: its nodes in pre-order."""
        return self.long_text(tree.toJSON)

    @translate_errors
    def node(self, root: Java, path: Sequence[int]) -> Java:
        return self._nodes.at(root, tuple(path))

    @translate_errors
    def schema_json(self, plan: Java) -> str:
        """Return the schema of a plan as ``StructType.json``, with collations and CHAR in
        metadata.
        """
        return self.long_text(plan.schema().json)

    @translate_errors
    def outputs_json(self, aggregate: Java) -> str:
        """Return the outputs of an aggregate as the JSON of a projection."""
        return self.long_text(
            self._project(aggregate.aggregateExpressions(), self._one_row()).toJSON
        )

    @translate_errors
    def output_json(self, plan: Java) -> str:
        """Return the plan's output attributes as the JSON of a projection, in order."""
        return self.long_text(self._project(plan.output(), self._one_row()).toJSON)

    @translate_errors
    def same_output(self, plan: Java, other_plan: Java) -> bool:
        return bool(plan.output().equals(other_plan.output()))

    def attributes(self, plan: Java) -> tuple[Attribute, ...]:
        """Return the output attributes of a plan, in order.

        Numbers come from the attributes' JSON, types from the schema's JSON: only the latter tells
        a CHAR column from a string.
        """
        trees: list[Tree] = json.loads(self.output_json(plan))[0]["projectList"]
        fields = json.loads(self.schema_json(plan))["fields"]
        if len(trees) != len(fields) or any(
            len(t) != 1 or t[0]["name"] != f["name"] for t, f in zip(trees, fields, strict=True)
        ):
            reason = "a plan's schema does not match its output attributes"
            raise DeclineSignal("plan-shape", reason)
        return tuple(
            Attribute(
                expr_id(t[0]),
                str(f["name"]),
                simple_type(f["type"], f.get("metadata")),
                bool(f["nullable"]),
            )
            for t, f in zip(trees, fields, strict=True)
        )

    @translate_errors
    def deterministic(self, plan: Java) -> bool:
        return bool(plan.deterministic())

    @translate_errors
    def repeatable(self, plan: Java) -> bool:
        """Implement :class:`Gateway`. A subquery may be computed for each of its places."""
        again = all(map(plan_leaves.repeatable, each(plan.collectLeaves())))
        return again and not self.mentions(plan, "PLAN_EXPRESSION")

    def unread(self, plan: Java) -> None:
        """Return None: the analyzer has resolved the whole plan, and unknown operators are
        recognized by class.
        """

    def session_declines(self) -> None:
        """Return None: settings have had their effect on an analyzed plan."""

    @translate_errors
    def is_streaming(self, plan: Java) -> bool:
        return bool(plan.isStreaming())

    @translate_errors
    def text(self, plan: Java) -> str:
        """Return Spark's own drawing of a plan. The last drawings are kept, because several steps
        use the same one.
        """
        drawings = [drawing for of, drawing in _drawn if of() is plan]
        if not drawings:
            drawings = [self.long_text(plan.toString)]
            _drawn.append((ref(plan), drawings[0]))
        return drawings[0]

    def long_text(self, answer: Callable[[], object]) -> str:
        """Fetch a text of the JVM that may be long."""
        with quick_ack(self.spark._jvm):
            return str(answer())

    @translate_errors
    def in_order(self, plan: Java) -> Java:
        """Return all operators of a plan, parents first, as a sequence of the JVM."""
        return self._nodes.in_order(plan)

    # Expressions

    @translate_errors
    def condition(self, filter_: Java) -> Java:
        return filter_.condition()

    def condition_tree(self, plan: Java) -> Tree | None:
        top = json.loads(self.json(plan))[0]
        tree: Tree | None = top["condition"] if top["class"] == f"{_PLANS}.Filter" else None
        return tree

    @translate_errors
    def operand(self, conjunction: Java, side: str) -> Java:
        return conjunction.left() if side == "left" else conjunction.right()

    @translate_errors
    def conjunction(self, left: Java, right: Java) -> Java:
        return self._and(left, right)

    @translate_errors
    def sql(self, expression: Java) -> str:
        return str(expression.sql())

    # Building

    @translate_errors
    def filter(self, condition: Java | None, filter_: Java, child: Java) -> Java:
        """Return the filter with another resolved condition, or ``child`` if there is no
        condition.
        """
        return child if condition is None else self._filter(condition, child)

    @translate_errors
    def filter_sql(self, sql: str, child: Java) -> Java:
        return self.dataset(child).filter(sql).queryExecution().analyzed()

    @translate_errors
    def split(self, kept_rows: Java, breaking: Java, rows: Java, by: Sequence[str]) -> Java:
        return split(self, kept_rows, breaking, rows, by)

    def dataset(self, plan: Java) -> Java:
        """Make a ``Dataset`` of a plan, which is analyzed on the way."""
        return self._dataset.ofRows(self.jsession, plan)

    def seq(self, items: Sequence[object]) -> Java:
        """Make a sequence of the JVM."""
        return self._python.toSeq(list(items))

    @translate_errors
    def with_children(self, node: Java, children: Sequence[Java]) -> Java:
        return with_own_results(self, node.withNewChildren(self.seq(children)))

    @translate_errors
    def pruned(self, flat_map: Java, kept_columns: Sequence[Collection[int]]) -> Java:
        return prune_columns(self, flat_map, kept_columns)

    def with_expressions(self, project: Java, expressions: Mapping[int, str]) -> Java:
        return replace_columns(self, project, expressions)

    def own_readers(self, plan: Java) -> Java:
        return own_readers(self, plan)

    def own_listings(self, plan: Java) -> Java:
        return plan if self._at_once else own_listings(self, plan)

    def as_projection(
        self, flat_map: Java, expressions: Sequence[str], condition: str | None
    ) -> Java:
        return replace_table_function(self, flat_map, expressions, condition)

    def as_aggregate(
        self,
        groups: Java,
        keys: Sequence[int],
        aggregates: Mapping[str, str],
        outputs: Mapping[int, str],
    ) -> Java:
        return replace_group_function(self, groups, keys, aggregates, outputs)

    @translate_errors
    def with_plan(self, with_cte: Java, plan: Java) -> Java:
        return with_cte.withNewPlan(plan)

    @translate_errors
    def children(self, node: Java) -> list[Java]:
        seq = node.children()
        return [seq.apply(i) for i in range(seq.size())]

    @translate_errors
    def expressions(self, plan: Java) -> list[Java]:
        """Return the expressions of an operator, in order."""
        seq = plan.expressions()
        return [seq.apply(i) for i in range(seq.size())]

    def inside(self, expression: Java, kind: str) -> Iterator[Java]:
        """Iterate over the parts of an expression that have this class, in the order of its
        JSON.
        """
        pending = [expression]
        while pending:
            part = pending.pop()
            if str(part.getClass().getName()) == kind:
                yield part
            pending.extend(reversed(self.children(part)))

    @translate_errors
    def subqueries(self, plan: Java) -> list[Java]:
        return list(each(plan.subqueriesAll()))

    def dataframe(self, plan: Java) -> DataFrame:
        return ClassicDataFrame(self.dataset(plan), self.spark)

    @translate_errors
    def inline_definitions(self, plan: Java) -> Java:
        """Implement :class:`Gateway`, by the optimizer's own rule (``InlineCTE``)."""
        if not self.refers(plan):
            return plan
        jvm: Java = self.spark._jvm
        rule = java_class(jvm, f"{_OPTIMIZER}.InlineCTE")
        inlined_plan = self.adapter.inline_cte(rule).apply(plan)
        return plan if self.same(plan, inlined_plan) else inlined_plan

    @translate_errors
    def simplify_plan(self, plan: Java) -> Java:
        """Implement :class:`Gateway`. A plan may be kept and run later, so expressions that depend
        on the time of the run (``ComputeCurrentTime``) must not become constants now. The
        projection above the join of a table function reads the function; pruning could take this
        projection away.
        """
        pruned = not (self.deterministic(plan) or self.mentions(plan, "LATERAL_JOIN"))
        asks = self.mentions(plan, "IN_SUBQUERY", "EXISTS_SUBQUERY")
        rules = [*(_OF_SUBQUERIES if asks else ()), *(["ColumnPruning"] if pruned else [])]
        if not self.mentions(plan, "CURRENT_LIKE"):
            rules += ["ConstantFolding", "LikeSimplification"]
        simplified_plan = plan
        for name in rules:
            simplified_plan = java_class(self.spark._jvm, f"{_OPTIMIZER}.{name}").apply(
                simplified_plan
            )
        return (
            plan if simplified_plan is plan or self.same(plan, simplified_plan) else simplified_plan
        )

    @translate_errors
    def replace_calls(self, plan: Java) -> Java:
        """Replace functions such as ``left`` by the expressions that they stand for, to read the
        plan.
        """
        return java_class(self.spark._jvm, f"{_OPTIMIZER}.ReplaceExpressions").apply(plan)

    @translate_errors
    def condense(self, plan: Java) -> Java | None:
        """Implement :class:`Gateway`, by rules of the optimizer."""
        return condense(self, plan)

    def project_computations(self, plan: Java, root: Node) -> Java:
        paths = to_project(root)
        return with_projections(Parts(self), plan, paths) if paths else plan

    def separate_functions(self, plan: Java, root: Node, *, everywhere: bool = False) -> Java:
        paths = to_separate(root, everywhere=everywhere)
        return separate_calls(Parts(self), plan, paths) if paths else plan

    @translate_errors
    def optimized(self, df: DataFrame) -> Java:
        """Return the optimized plan of a DataFrame.

        The DataFrame keeps this plan, so that it is computed once, unless the optimizer depends on
        something that may change before the DataFrame runs: the time, or the directories of a
        table, which it lists (``PruneFileSourcePartitions``). No source gets filters here that it
        would keep.
        """
        plan = self.analyzed(df)
        own = self.own_readers(plan)
        of_now = self.mentions(plan, "CURRENT_LIKE", "PLAN_EXPRESSION")
        stays = not of_now and all(map(plan_leaves.stays, each(plan.collectLeaves())))
        is_reusable = own is plan and (self._at_once or stays)
        return (df._jdf if is_reusable else self.dataset(own)).queryExecution().optimizedPlan()

    # Around the plan

    @translate_errors
    def evaluation_mode(self, aggregate: Java, position: int) -> str:
        function = aggregate.aggregateExpressions().apply(position).child().aggregateFunction()
        return str(self.adapter.evaluation_context(function).evalMode().toString())

    @translate_errors
    def arithmetic_mode(self, aggregate: Java, position: int, number: int) -> str:
        operation = aggregate.aggregateExpressions().apply(position).apply(number)
        return str(self.adapter.evaluation_context(operation).evalMode().toString())

    @translate_errors
    def aggregate_function(self, aggregate: Java, position: int) -> Java:
        alias = aggregate.aggregateExpressions().apply(position)
        return alias.child().aggregateFunction().func()

    @translate_errors
    def row_function(self, project: Java, position: int) -> Java:
        return project.projectList().apply(position).child().func()

    @translate_errors
    def group_function(self, flat_map: Java) -> Java:
        return flat_map.functionExpr().func()

    @translate_errors
    def table_function(self, project: Java) -> Java:
        plan = project.child().right().plan()
        while plan.nodeName() == "SubqueryAlias":
            plan = plan.child()
        return plan.generator().func()

    @translate_errors
    def load(self, python_function: Java) -> object:
        with quick_ack(self.spark._jvm):
            data = bytes(python_function.command().toArray(self._byte))
        return loads(data, self._broadcasts(python_function))

    def _broadcasts(self, python_function: Java) -> dict[int, str]:
        """Return the files of the function's broadcast variables, by number; none if they are
        encrypted.
        """
        broadcasts = python_function.broadcastVars()
        if broadcasts.isEmpty() or self.conf("spark.io.encryption.enabled", "false") != "false":
            return {}
        variables = [broadcasts.get(i) for i in range(broadcasts.size())]
        return {int(v.id()): str(v.value().path()) for v in variables}

    @translate_errors
    def conf(self, key: str, default: str) -> str:
        entry = self.jsession.conf().getOption(key)
        return str(entry.get()) if entry.isDefined() else default

    @translate_errors
    def confs(self) -> Java:
        """Return all configuration entries of the session as an immutable map of the JVM."""
        return self.jsession.conf().getAll()

    @translate_errors
    def conf_names(self) -> list[str]:
        """Return the names of all configuration entries."""
        return str(self.confs().keys().mkString("\n")).splitlines()

    @translate_errors
    def cache_is_empty(self) -> bool:
        return bool(self.jsession.sharedState().cacheManager().isEmpty())

    @translate_errors
    def is_cached(self, plan: Java) -> bool:
        manager = self.jsession.sharedState().cacheManager()
        return bool(self.adapter.cached(manager, self.jsession, plan).isDefined())

    @translate_errors
    def parquet_files(self, relation: Java) -> list[str]:
        return plan_leaves.parquet_files(relation)

    @translate_errors
    def file_stamps(self, relation: Java) -> list[tuple[str, int, int]]:
        return plan_leaves.file_stamps(relation)

    @translate_errors
    def count(self, plan: Java, most: int) -> int:
        return int(self.dataset(plan).limit(most).count())

    @translate_errors
    def skipped(self, relation: Java, condition: str) -> float | None:
        return reads.estimate_skipped_share(self, self.filter_sql(condition, relation))

    @translate_errors
    def stored_columns(self, relation: Java) -> frozenset[str]:
        by_number = self.conf(plan_leaves.BY_FIELD_ID, "false").lower() != "false"
        return frozenset() if by_number else plan_leaves.stored_columns(relation)

    @translate_errors
    def is_settled(self, plan: Java, path: Sequence[int]) -> bool:
        if self._at_once:
            return True
        above = (self.node(plan, path[:n]) for n in range(len(path)))
        return plan_leaves.is_listed_once(self.node(plan, path)) and plan_leaves.VIEW not in map(
            simple_class, above
        )

    @translate_errors
    def source(self, leaf: Java) -> LeafSource:
        return leaf_sources.source(self, leaf)

    @translate_errors
    def scan_metadata(self, plan: Java) -> list[tuple[str, dict[str, str]]]:
        return reads.scans(self.dataset(plan).queryExecution().sparkPlan())

    @translate_errors
    def optimized_text(self, plan: Java) -> str:
        return self.long_text(self.dataset(plan).queryExecution().optimizedPlan().toString)
