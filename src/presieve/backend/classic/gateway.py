# SPDX-License-Identifier: Apache-2.0
"""Trusted. Implement :class:`Gateway` for classic sessions, by private interfaces of PySpark and of
Spark's JVM. Nothing outside of this folder uses these interfaces.

Everything here was seen to work on the served versions of PySpark, except for the differences in
:mod:`presieve.backend.classic.version_differences`; it is feature-tested when a gateway is opened.
If a call fails all the same, :class:`GatewayError` carries the error to the entry point of the
backend, which declines and leaves the DataFrame alone. One call over py4j costs about 0.5 ms.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from weakref import WeakKeyDictionary

from pyspark.sql.dataframe import DataFrame
from pyspark.sql.session import SparkSession

from presieve.backend.catalyst.trees import (
    Node,
    Tree,
    node_at,
    parse_plan,
    simple_type,
)
from presieve.backend.classic.catalyst_builder import Parts
from presieve.backend.classic.column_pruning import prune_arguments, prune_columns
from presieve.backend.classic.extract_udfs import separate_calls, to_separate
from presieve.backend.classic.jvm_plans import JvmPlans
from presieve.backend.classic.missing_json_values import with_unshown
from presieve.backend.classic.optimized_preview import condense
from presieve.backend.classic.precheck import (
    filters_an_aggregate,
    filters_an_operator,
    has_boundaries,
)
from presieve.backend.classic.py4j_errors import (
    ask_once,
    java_class,
    java_constant,
    translate_errors,
)
from presieve.backend.classic.quick_ack import quick_ack
from presieve.backend.classic.replaced_functions import (
    replace_columns,
    replace_group_function,
    replace_table_function,
)
from presieve.backend.classic.running.job_properties import described_jobs
from presieve.backend.classic.scans import plan_leaves, reads
from presieve.backend.classic.scans.cached import cached_reads, rewrite_above_cached
from presieve.backend.classic.scans.listings import own_listings
from presieve.backend.classic.scans.readers import own_readers
from presieve.backend.classic.split_aggregate_outputs import to_project, with_projections
from presieve.backend.classic.split_input import split
from presieve.backend.classic.version_differences import ClassicDataFrame
from presieve.backend.gateway import Handle, LeafSource
from presieve.backend.problems.pickled import loads
from presieve.errors import DeclineSignal
from presieve.plan.algebra import Attribute

_PLANS = "org.apache.spark.sql.catalyst.plans.logical"
_EXPRESSIONS = "org.apache.spark.sql.catalyst.expressions"


def is_classic(df: object) -> bool:
    """Whether the DataFrame is in a JVM next to us (as opposed to Spark Connect)."""
    return isinstance(df, ClassicDataFrame)


@translate_errors
def session_uuid(spark: SparkSession) -> str:
    """Return the JVM's identity of the session: PySpark makes several objects for one session."""
    return str(spark._jsparkSession.sessionUUID())


_SUBQUERIES = ("IN_SUBQUERY", "EXISTS_SUBQUERY", "SCALAR_SUBQUERY")
_OF_SUBQUERIES = (
    "RewriteNonCorrelatedExists",
    "PullupCorrelatedPredicates",
    "RewriteCorrelatedScalarSubquery",
    "RewritePredicateSubquery",
    "analysis.UpdateAttributeNullability",
)
"""Rules that turn EXISTS, IN and correlated scalar subqueries into joins, in Spark's order
(``Optimizer.scala``). What an outer join of them gives may be NULL.
"""


_analyzed: WeakKeyDictionary[DataFrame, Handle] = WeakKeyDictionary()
_executions: WeakKeyDictionary[DataFrame, Handle] = WeakKeyDictionary()


def _execution(df: DataFrame) -> Handle:
    """Return the JVM's ``QueryExecution`` of a DataFrame, which the DataFrame keeps."""
    if df not in _executions:
        _executions[df] = df._jdf.queryExecution()
    return _executions[df]


class ClassicGateway(JvmPlans):
    """The interfaces of one session, for one call of ``optimize``: settings and facts about plans
    are requested once. :class:`Gateway` documents the methods.
    """

    __slots__ = ("_and", "_at_once", "_byte", "_filter", "_is_guarded", "_written")

    rewrites_above_cached = True

    @translate_errors
    def __init__(
        self,
        spark: SparkSession,
        settings: Mapping[str, str] | None = None,
        *,
        at_once: bool = False,
        written: DataFrame | None = None,
    ) -> None:
        """Test the features. Raises :class:`GatewayError` if an interface is missing or the version
        is another one. ``settings`` are the entries that are set in the session, if they were read.
        ``at_once``: the rewritten plan is executed before anything else happens. ``written``: what
        is optimized; rewritten plans read from the cache what it reads.
        """
        super().__init__(spark, settings)
        self._at_once = at_once
        self._written = written
        self._is_guarded = False
        self._filter = java_class(self.jvm, f"{_PLANS}.Filter")
        self._and = java_class(self.jvm, f"{_EXPRESSIONS}.And")
        self._byte = java_constant(self.jvm, "scala.reflect.ClassTag", "Byte")

    # Plans

    @translate_errors
    def analyze_plan(self, df: DataFrame) -> Handle:
        """Implement :class:`Gateway`. The same DataFrame always gives the same object."""
        if df not in _analyzed:
            _analyzed[df] = _execution(df).analyzed()
        return _analyzed[df]

    def may_have_site(self, plan: Handle, *, skip_hopeless: bool) -> bool:
        """Implement :class:`Gateway`. There is no boundary without a Python function or a filter
        above an aggregate.
        """
        if self.calls_python(plan):
            return True
        if not self.mentions(plan, "FILTER"):
            return False
        return filters_an_aggregate(self, plan, skip_hopeless=skip_hopeless)

    def tree_if_relevant(self, plan: Handle, *, skip_hopeless: bool) -> Node | None:
        text = self.json(plan)
        is_interesting = has_boundaries(text, skip_hopeless=skip_hopeless)
        return self._read_tree(plan, text) if is_interesting else None

    def tree(self, plan: Handle) -> Node:
        return self._nodes.tree_of(plan) or self._read_tree(plan, self.json(plan))

    def _read_tree(self, plan: Handle, text: str) -> Node:
        root = with_unshown(self, plan, parse_plan(self.adapter.plan_json(text)), text)
        self._nodes.are_read(plan, root)
        return root

    def refers(self, plan: Handle) -> bool:
        """Implement :class:`Gateway`. Catalyst's index covers the plans of subqueries, too."""
        return self.mentions(plan, "CTE")

    @translate_errors
    def same(self, plan: Handle, other_plan: Handle) -> bool:
        """Whether two plans are equal, including the numbers of attributes, or two other
        objects.
        """
        return bool(plan.equals(other_plan))

    @translate_errors
    def same_output(self, plan: Handle, other_plan: Handle) -> bool:
        return bool(self.output(plan).equals(self.output(other_plan)))

    @ask_once
    @translate_errors
    def attributes(self, plan: Handle) -> tuple[Attribute, ...]:
        """Return the output attributes of a plan, in order.

        Numbers come from the attributes themselves, types from the schema's JSON: only the latter
        tells a CHAR column from a string.
        """
        return tuple(
            Attribute(
                number,
                str(f["name"]),
                simple_type(f["type"], f.get("metadata")),
                bool(f["nullable"]),
            )
            for number, f in zip(self.numbers(plan), self.fields(plan), strict=True)
        )

    @translate_errors
    def repeatable(self, plan: Handle) -> bool:
        """Implement :class:`Gateway`. A subquery may be computed for each of its places."""
        again = all(leaf.is_repeatable for leaf in plan_leaves.leaves_of(self, plan))
        return again and not self.mentions(plan, "PLAN_EXPRESSION")

    def explain_unread(self, plan: Handle) -> None:
        """Return None: the analyzer has resolved the whole plan, and unknown operators are
        recognized by class.
        """

    def session_declines(self) -> None:
        """Return None: settings have had their effect on an analyzed plan."""

    @ask_once
    @translate_errors
    def is_streaming(self, plan: Handle) -> bool:
        return bool(plan.isStreaming())

    # Expressions

    @translate_errors
    def condition(self, filter_: Handle) -> Handle:
        return filter_.condition()

    def condition_tree(self, plan: Handle) -> Tree | None:
        top = json.loads(self.json(plan))[0]
        tree: Tree | None = top["condition"] if top["class"] == f"{_PLANS}.Filter" else None
        return tree

    @translate_errors
    def operand(self, conjunction: Handle, side: str) -> Handle:
        return conjunction.left() if side == "left" else conjunction.right()

    @translate_errors
    def computes_same(self, first: tuple[Handle, int], second: tuple[Handle, int]) -> bool:
        one, other = (project.projectList().apply(i).child() for project, i in (first, second))
        return bool(one.semanticEquals(other))

    @translate_errors
    def conjunction(self, left: Handle, right: Handle) -> Handle:
        return self._and(left, right)

    # Building

    @translate_errors
    def filter(self, condition: Handle | None, filter_: Handle, child: Handle) -> Handle:
        """Return the filter with another resolved condition, or ``child`` if there is no
        condition.
        """
        return child if condition is None else self._filter(condition, child)

    def own_listings(self, plan: Handle) -> Handle:
        return plan if self._at_once else own_listings(self, plan, self.tree(plan))

    @translate_errors
    def with_plan(self, with_cte: Handle, plan: Handle) -> Handle:
        return with_cte.withNewPlan(plan)

    def dataframe(self, plan: Handle) -> DataFrame:
        if not self._reads_as_written(plan):
            raise DeclineSignal("cached", "the plan would read something else from the cache")
        dataset = self.dataset(plan)
        df = ClassicDataFrame(dataset, self.spark)
        _analyzed[df] = dataset.logicalPlan()
        return df

    @ask_once
    @translate_errors
    def inline_definitions(self, plan: Handle) -> Handle:
        """Implement :class:`Gateway`, by the optimizer's own rule (``InlineCTE``)."""
        if not self.refers(plan):
            return plan
        inline = java_class(self.jvm, "org.apache.spark.sql.catalyst.optimizer.InlineCTE")
        inlined_plan = self.adapter.inline_cte(inline).apply(plan)
        return plan if self.same(plan, inlined_plan) else inlined_plan

    @ask_once
    @translate_errors
    def simplify_plan(self, plan: Handle) -> Handle:
        """Implement :class:`Gateway`. A plan may be kept and run later, so expressions that depend
        on the time of the run (``ComputeCurrentTime``) must not become constants now. The
        projection above the join of a table function reads the function; pruning could take this
        projection away.
        """
        pruned = not (self.deterministic(plan) or self.mentions(plan, "LATERAL_JOIN"))
        rules = [*self._rules_of_subqueries(plan), *(["ColumnPruning"] if pruned else [])]
        if not self.mentions(plan, "CURRENT_LIKE"):
            rules += ["ConstantFolding", "LikeSimplification"]
        return self._apply_rules(plan, rules)

    @ask_once
    @translate_errors
    def join_subqueries(self, plan: Handle) -> Handle:
        """Turn EXISTS, IN and correlated scalar subqueries into the joins that Spark's optimizer
        makes of them.
        """
        return self._apply_rules(plan, self._rules_of_subqueries(plan))

    def _rules_of_subqueries(self, plan: Handle) -> Sequence[str]:
        return _OF_SUBQUERIES if self.mentions(plan, *_SUBQUERIES) else ()

    def _apply_rules(self, plan: Handle, rules: Sequence[str]) -> Handle:
        """Apply rules of Spark; the same plan if they change nothing."""
        changed_plan = plan
        for name in rules:
            changed_plan = self.rule(name).apply(changed_plan)
        return plan if changed_plan is plan or self.same(plan, changed_plan) else changed_plan

    @ask_once
    @translate_errors
    def replace_calls(self, plan: Handle) -> Handle:
        """Replace functions such as ``left`` by the expressions that they stand for, to read the
        plan.
        """
        return self.rule("ReplaceExpressions").apply(plan)

    def project_computations(self, plan: Handle, root: Node) -> Handle:
        paths = to_project(root)
        return with_projections(Parts(self), plan, paths) if paths else plan

    def separate_functions(self, plan: Handle, root: Node, *, everywhere: bool = False) -> Handle:
        paths = to_separate(root, everywhere=everywhere)
        return separate_calls(Parts(self), plan, paths) if paths else plan

    @translate_errors
    def optimize_plan(self, df: DataFrame, prepared: Handle | None = None) -> Handle:
        """Return the optimized plan of a DataFrame, or of the plan that was ``prepared`` from its
        plan.

        The DataFrame keeps this plan, so that it is computed once, unless the optimizer depends on
        something that may change before the DataFrame runs: the time, or the directories of a
        table, which it lists (``PruneFileSourcePartitions``). No source gets filters here that it
        would keep.
        """
        analyzed = self.analyze_plan(df)
        plan = analyzed if prepared is None else prepared
        own = self.own_readers(plan)
        of_now = self.mentions(plan, "CURRENT_LIKE", "PLAN_EXPRESSION")
        stays = not of_now and all(leaf.is_fixed for leaf in plan_leaves.leaves_of(self, plan))
        is_reusable = own is analyzed and (self._at_once or stays)
        execution = _execution(df) if is_reusable else self.dataset(own).queryExecution()
        return execution.optimizedPlan()

    # Around the plan

    @translate_errors
    def evaluation_mode(self, aggregate: Handle, position: int) -> str:
        function = aggregate.aggregateExpressions().apply(position).child().aggregateFunction()
        return str(self.adapter.evaluation_context(function).evalMode().toString())

    @translate_errors
    def arithmetic_mode(self, aggregate: Handle, position: int, number: int) -> str:
        operation = aggregate.aggregateExpressions().apply(position).apply(number)
        return str(self.adapter.evaluation_context(operation).evalMode().toString())

    @ask_once
    @translate_errors
    def aggregate_function(self, aggregate: Handle, position: int) -> Handle:
        alias = aggregate.aggregateExpressions().apply(position)
        return alias.child().aggregateFunction().func()

    @ask_once
    @translate_errors
    def row_function(self, project: Handle, position: int) -> Handle:
        return project.projectList().apply(position).child().func()

    @ask_once
    @translate_errors
    def group_function(self, flat_map: Handle) -> Handle:
        return flat_map.functionExpr().func()

    @ask_once
    @translate_errors
    def table_function(self, project: Handle) -> Handle:
        plan = project.child().right().plan()
        while plan.nodeName() == "SubqueryAlias":
            plan = plan.child()
        return plan.generator().func()

    @translate_errors
    def load(self, python_function: Handle) -> object:
        return loads(*self._read_command(self.identity(python_function), python_function))

    def _read_command(self, number: int, python_function: Handle) -> tuple[bytes, dict[int, str]]:
        """Return the command of a function with this number (:meth:`identity`), and the files of
        its broadcast variables, by number: none if they are encrypted.
        """
        key = ("_read_command", number)
        if key not in self.answers:
            with quick_ack(self.jvm):
                command = bytes(python_function.command().toArray(self._byte))
            self.answers[key] = command, self._broadcasts(python_function)
        answer: tuple[bytes, dict[int, str]] = self.answers[key]
        return answer

    def _broadcasts(self, python_function: Handle) -> dict[int, str]:
        broadcasts = python_function.broadcastVars()
        if broadcasts.isEmpty() or self.conf("spark.io.encryption.enabled", "false") != "false":
            return {}
        variables = [broadcasts.get(i) for i in range(broadcasts.size())]
        return {int(v.id()): str(v.value().path()) for v in variables}

    def reads_cache(self) -> bool:
        as_written = self._cached_as_written()
        return not self.cache_is_empty() if as_written is None else bool(as_written)

    def rewrite_above_cached(self, plan: Handle, rewrite: Callable[[Handle], Handle]) -> Handle:
        return rewrite_above_cached(self, plan, rewrite)

    def _reads_as_written(self, plan: Handle) -> bool:
        """Whether the plan reads from the cache what the plan as written reads, and that only as
        often, unless a guard reads its input again.
        """
        as_written = self._cached_as_written()
        if as_written is None:
            return True
        reads = cached_reads(self, plan)
        return reads == as_written or (self._is_guarded and reads.keys() == as_written.keys())

    def _cached_as_written(self) -> Counter[int] | None:
        """Return what is read from the cache as written; None if no plan was given."""
        written = self._written
        return None if written is None else cached_reads(self, self.analyze_plan(written))

    @translate_errors
    def is_cached(self, plan: Handle) -> bool:
        return bool(self.adapter.look_up_cache(self.cache_manager, self.jsession, plan).isDefined())

    @translate_errors
    def parquet_files(self, relation: Handle) -> list[str]:
        files = plan_leaves.leaf_of(self, relation).files
        return files.paths if files is not None and files.is_parquet else []

    @translate_errors
    def file_stamps(self, relation: Handle) -> list[tuple[str, int, int]]:
        files = plan_leaves.leaf_of(self, relation).files
        return sorted(files.stamps) if files is not None and files.is_parquet else []

    @translate_errors
    def count(self, plan: Handle, most: int) -> int:
        with described_jobs(self.spark, "presieve: a check of the data", over=True):
            return int(self.dataset(plan).limit(most).count())

    @translate_errors
    def estimate_skipped_share(self, relation: Handle, condition: str) -> float | None:
        return reads.estimate_skipped_share(self, self.filter_sql(condition, relation))

    @translate_errors
    def stored_columns(self, relation: Handle) -> frozenset[str]:
        by_number = self.conf(plan_leaves.BY_FIELD_ID, "false").lower() != "false"
        files = plan_leaves.leaf_of(self, relation).files
        return frozenset() if by_number or files is None else files.stored_columns

    @translate_errors
    def is_settled(self, plan: Handle, path: tuple[int, ...]) -> bool:
        if self._at_once:
            return True
        root = self.tree(plan)
        above = (node_at(root, path[:n]).kind for n in range(len(path)))
        leaf = plan_leaves.leaf_of(self, self.node(plan, path))
        return leaf.is_listed_once and plan_leaves.VIEW not in above

    @translate_errors
    def scan_metadata(self, plan: Handle) -> list[tuple[str, dict[str, str]]]:
        return reads.scans(self.dataset(plan).queryExecution().sparkPlan())

    @translate_errors
    def optimized_text(self, plan: Handle) -> str:
        return self.long_text(self.dataset(plan).queryExecution().optimizedPlan().toString)

    # In files of their own

    has_filtered = filters_an_operator
    condense = translate_errors(condense)

    @translate_errors
    def split(self, kept_rows: Handle, breaking: Handle, rows: Handle, by: Sequence[str]) -> Handle:
        self._is_guarded = True
        return split(self, kept_rows, breaking, rows, by)

    prune_columns = translate_errors(prune_columns)
    prune_arguments = translate_errors(prune_arguments)
    with_expressions = replace_columns
    as_projection = replace_table_function
    as_aggregate = replace_group_function
    own_readers = own_readers

    @translate_errors
    def source(self, leaf: Handle) -> LeafSource:
        return plan_leaves.leaf_of(self, leaf).source
