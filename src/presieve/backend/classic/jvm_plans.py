"""Trusted. Read and build the plans of classic sessions in the JVM. All other files of this folder
call these methods.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any
from weakref import ref

from pyspark.sql.session import SparkSession

from presieve.backend.classic.fresh_result_ids import with_own_results
from presieve.backend.classic.nodes import Nodes
from presieve.backend.classic.py4j_errors import (
    ask_once,
    class_name,
    each,
    java_class,
    java_constant,
    java_method,
    to_seq,
    translate_errors,
)
from presieve.backend.classic.quick_ack import quick_ack
from presieve.backend.classic.versions import ADAPTERS
from presieve.backend.gateway import Handle, served_version

_PLANS = "org.apache.spark.sql.catalyst.plans.logical"
_PATTERN = "org.apache.spark.sql.catalyst.trees.TreePattern"

_drawn: deque[tuple[Callable[[], object], str]] = deque(maxlen=3)


class JvmPlans:
    """The plans and expressions of one session. :class:`Gateway` documents the methods that have no
    docstring here. All methods may raise :class:`GatewayError`.
    """

    __slots__ = (
        "_conf",
        "_nodes",
        "_of_rows",
        "_project",
        "adapter",
        "answers",
        "jsession",
        "jvm",
        "spark",
        "version",
    )

    @translate_errors
    def __init__(self, spark: SparkSession) -> None:
        """Test the features. Raises :class:`GatewayError` if an interface is missing or the version
        is another one.
        """
        self.version = served_version(spark)
        self.adapter = ADAPTERS[self.version.name]
        self.spark = spark
        self.jsession: Handle = spark._jsparkSession
        self._conf = self.jsession.conf()
        self.jvm: Handle = spark._jvm
        self.answers: dict[tuple[object, ...], Any] = {}
        self._nodes = Nodes(self.jvm)
        self._of_rows = java_method(self.jvm, self.adapter.dataset, "ofRows")
        self._project = java_class(self.jvm, f"{_PLANS}.Project")

    # The session

    @ask_once
    @translate_errors
    def conf(self, key: str, default: str) -> str:
        entry = self._conf.getOption(key)
        return str(entry.get()) if entry.isDefined() else default

    @translate_errors
    def confs(self) -> Handle:
        """Return all configuration entries of the session as an immutable map of the JVM."""
        return self._conf.getAll()

    @translate_errors
    def cache_is_empty(self) -> bool:
        return bool(self.jsession.sharedState().cacheManager().isEmpty())

    def rule(self, name: str) -> Handle:
        """Return a rule of Spark's optimizer."""
        return java_class(self.jvm, f"org.apache.spark.sql.catalyst.optimizer.{name}")

    def seq(self, items: Iterable[object]) -> Handle:
        """Make a sequence of the JVM."""
        return to_seq(self.jvm, items)

    # Plans

    @ask_once
    @translate_errors
    def mentions(self, plan: Handle, *patterns: str) -> bool:
        """Whether Catalyst's index of the plan has one of these patterns. Costs next to nothing."""
        java_patterns = (java_constant(self.jvm, _PATTERN, pattern) for pattern in patterns)
        return any(bool(plan.containsPattern(pattern)) for pattern in java_patterns)

    def calls_python(self, plan: Handle) -> bool:
        return self.mentions(plan, "PYTHON_UDF", "GENERATOR")

    @translate_errors
    def json(self, tree: Handle) -> str:
        """Return a plan or expression as Catalyst's JSON: its nodes in pre-order."""
        return self.long_text(tree.toJSON)

    @ask_once
    def _one_row(self) -> Handle:
        return java_class(self.jvm, f"{_PLANS}.OneRowRelation")()

    @translate_errors
    def list_json(self, columns: Handle) -> str:
        """Return a sequence of columns as the JSON of a projection."""
        return self.long_text(self._project(columns, self._one_row()).toJSON)

    def long_text(self, answer: Callable[[], object]) -> str:
        """Fetch a text of the JVM that may be long."""
        with quick_ack(self.jvm):
            return str(answer())

    @translate_errors
    def text(self, plan: Handle) -> str:
        """Return Spark's own drawing of a plan. The last drawings are kept, because several steps
        use the same one.
        """
        drawings = [drawing for of, drawing in _drawn if of() is plan]
        if not drawings:
            drawings = [self.long_text(plan.toString)]
            _drawn.append((ref(plan), drawings[0]))
        return drawings[0]

    @translate_errors
    def in_order(self, plan: Handle) -> Handle:
        """Return all operators of a plan, parents first, as a sequence of the JVM."""
        return self._nodes.in_order(plan)

    @translate_errors
    def node(self, root: Handle, path: Sequence[int]) -> Handle:
        return self._nodes.at(root, tuple(path))

    @translate_errors
    def deterministic(self, plan: Handle) -> bool:
        return bool(plan.deterministic())

    @translate_errors
    def children(self, node: Handle) -> list[Handle]:
        return list(each(node.children()))

    def dataset(self, plan: Handle) -> Handle:
        """Make a ``Dataset`` of a plan, which is analyzed on the way."""
        return self._of_rows(self.jsession, plan)

    @translate_errors
    def filter_sql(self, sql: str, child: Handle) -> Handle:
        return self.dataset(child).filter(sql).queryExecution().analyzed()

    @translate_errors
    def with_children(self, node: Handle, children: Sequence[Handle]) -> Handle:
        return with_own_results(self.jvm, self.adapter, node.withNewChildren(self.seq(children)))

    # Expressions

    @translate_errors
    def expressions(self, plan: Handle) -> list[Handle]:
        """Return the expressions of an operator, in order."""
        return list(each(plan.expressions()))

    def inside(self, expression: Handle, kind: str) -> Iterator[Handle]:
        """Iterate over the parts of an expression that have this class, in the order of its
        JSON.
        """
        pending = [expression]
        while pending:
            part = pending.pop()
            if class_name(part) == kind:
                yield part
            pending.extend(reversed(self.children(part)))

    @translate_errors
    def sql(self, expression: Handle) -> str:
        return str(expression.sql())
