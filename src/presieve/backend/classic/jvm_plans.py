# SPDX-License-Identifier: Apache-2.0
"""Trusted. Read and build the plans of classic sessions in the JVM. All other files of this folder
call these methods.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any
from weakref import ref

from pyspark.sql.session import SparkSession

from presieve.backend.catalyst.boundary import AGGREGATE
from presieve.backend.catalyst.trees import JsonNode
from presieve.backend.classic.fresh_result_ids import with_own_results
from presieve.backend.classic.nodes import Nodes
from presieve.backend.classic.py4j_errors import (
    ask_once,
    class_name,
    each,
    java_class,
    java_constant,
    java_method,
    java_module,
    to_seq,
    translate_errors,
)
from presieve.backend.classic.quick_ack import quick_ack
from presieve.backend.classic.session_configuration import (
    read_default,
    read_settings,
    runtime_conf,
    workers_show_utc,
)
from presieve.backend.classic.version_differences import ADAPTERS
from presieve.backend.gateway import Handle, served_version
from presieve.errors import DeclineSignal

_PLANS = "org.apache.spark.sql.catalyst.plans.logical"
_PATTERN = "org.apache.spark.sql.catalyst.trees.TreePattern"

_BETWEEN = "\n\0\n"
"""Stands between two attributes in the text of all of them."""
_NUMBER = re.compile(r"#(\d+)L?$")
"""The end of an attribute as Spark prints it; ``L`` stands for integers of 64 bits."""

_drawn: deque[tuple[Callable[[], object], str]] = deque(maxlen=3)


class JvmPlans:
    """The plans and expressions of one session. :class:`Gateway` documents the methods that have no
    docstring here. All methods may raise :class:`GatewayError`.
    """

    __slots__ = (
        "_cache_manager",
        "_conf",
        "_nodes",
        "_numbered",
        "_of_rows",
        "_project",
        "adapter",
        "answers",
        "jsession",
        "jvm",
        "settings",
        "spark",
        "version",
    )

    @translate_errors
    def __init__(self, spark: SparkSession, settings: Mapping[str, str] | None = None) -> None:
        """Test the features. Raises :class:`GatewayError` if an interface is missing or the version
        is another one. ``settings`` are the entries that are set in the session, if they were read.
        """
        self.settings = read_settings(spark) if settings is None else settings
        self.version = served_version(spark, self.settings)
        self.adapter = ADAPTERS[self.version.name]
        self.spark = spark
        self.jsession: Handle = spark._jsparkSession
        self._conf = runtime_conf(spark)
        self.jvm: Handle = spark._jvm
        self.answers: dict[tuple[object, ...], Any] = {}
        self._nodes = Nodes(self.jvm)
        self._numbered: Handle = java_class(self.jvm, "java.util.IdentityHashMap")()
        self._cache_manager: Handle | None = None
        self._of_rows = java_method(self.jvm, self.adapter.dataset, "ofRows")
        self._project = java_class(self.jvm, f"{_PLANS}.Project")

    # The session

    @translate_errors
    def conf(self, key: str, default: str) -> str:
        if key in self.settings:
            return self.settings[key]
        value = self._read_default(key)
        return default if value is None else value

    @ask_once
    def _read_default(self, key: str) -> str | None:
        return read_default(self.jvm, self._conf, key)

    @translate_errors
    @ask_once
    def workers_show_utc(self) -> bool:
        return workers_show_utc(self.spark, self.jvm)

    @translate_errors
    @ask_once
    def cache_is_empty(self) -> bool:
        return bool(self.cache_manager.isEmpty())

    @property
    def cache_manager(self) -> Handle:
        """The JVM's manager of what is cached."""
        if self._cache_manager is None:
            self._cache_manager = self.jsession.sharedState().cacheManager()
        return self._cache_manager

    def rule(self, name: str) -> Handle:
        """Return a rule of Spark's optimizer that has no parameters, or of another package below
        ``catalyst`` that is named.
        """
        place = name if "." in name else f"optimizer.{name}"
        return java_module(self.jvm, f"org.apache.spark.sql.catalyst.{place}")

    def seq(self, items: Iterable[object]) -> Handle:
        """Make a sequence of the JVM."""
        return to_seq(self.jvm, items)

    def prepend(self, item: object, sequence: Handle) -> Handle:
        """Put an item before a ``List`` of the JVM."""
        return getattr(sequence, "$colon$colon")(item)

    # Plans

    def mentions(self, plan: Handle, *patterns: str) -> bool:
        """Whether Catalyst's index of the plan has one of these patterns. Costs next to nothing."""
        return any(self._has_pattern(plan, pattern) for pattern in patterns)

    @ask_once
    @translate_errors
    def _has_pattern(self, plan: Handle, pattern: str) -> bool:
        return bool(plan.containsPattern(java_constant(self.jvm, _PATTERN, pattern)))

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

    @ask_once
    @translate_errors
    def schema_json(self, plan: Handle) -> str:
        """Return the schema of a plan as ``StructType.json``, with collations and CHAR in
        metadata.
        """
        return self.long_text(plan.schema().json)

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

    @ask_once
    def identity(self, thing: Handle) -> int:
        """Return a number of an object of the JVM, the same one each time. py4j gives an object
        another number each time that it is returned.
        """
        number = len(self.answers)
        earlier = self._numbered.putIfAbsent(thing, number)
        return number if earlier is None else int(earlier)

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

    @ask_once
    def leaves(self, plan: Handle) -> list[Handle]:
        """Return the leaves of a plan, in order."""
        return list(each(plan.collectLeaves()))

    @ask_once
    def output(self, plan: Handle) -> Handle:
        """Return the output attributes of a plan, as a sequence of the JVM."""
        return plan.output()

    def fields(self, plan: Handle) -> list[JsonNode]:
        """Return the columns of a plan, as in ``StructType.json``."""
        fields: list[JsonNode] = json.loads(self.schema_json(plan))["fields"]
        return fields

    @ask_once
    def numbers(self, plan: Handle) -> list[int]:
        """Return the numbers of a plan's output attributes. Raises :class:`DeclineSignal` if they
        have other names than the plan's :meth:`fields`.
        """
        names = [str(f["name"]) for f in self.fields(plan)]
        drawn = str(self.output(plan).mkString(_BETWEEN)).split(_BETWEEN) if names else []
        ends = [_NUMBER.search(text) for text in drawn]
        if [t[: e.start()] for t, e in zip(drawn, ends, strict=True) if e is not None] != names:
            reason = "a plan's schema does not match its output attributes"
            raise DeclineSignal("plan-shape", reason)
        return [int(end[1]) for end in ends if end is not None]

    @translate_errors
    def children(self, node: Handle) -> list[Handle]:
        return list(each(node.children()))

    @translate_errors
    def subqueries(self, plan: Handle) -> list[Handle]:
        """Implement :class:`Gateway`. Catalyst's index says whether there are any."""
        if not self.mentions(plan, "PLAN_EXPRESSION"):
            return []
        return list(each(plan.subqueriesAll()))

    def replace_operators(
        self, plan: Handle, substitute: Callable[[Handle], Handle | None]
    ) -> Handle:
        """Replace operators by what ``substitute`` returns for them, outer ones first; None leaves
        an operator as it is, and goes on below it.
        """
        replacement = substitute(plan)
        if replacement is not None:
            return replacement
        below = self.children(plan)
        children = [self.replace_operators(child, substitute) for child in below]
        same = all(new is old for new, old in zip(children, below, strict=True))
        return plan if same else self.with_children(plan, children)

    def dataset(self, plan: Handle) -> Handle:
        """Make a ``Dataset`` of a plan, which is analyzed on the way. The analyzed plan is its
        ``logicalPlan``, because there are no commands in such plans.
        """
        return self._of_rows(self.jsession, plan)

    @translate_errors
    def filter_sql(self, sql: str, child: Handle) -> Handle:
        return self.dataset(child).filter(sql).logicalPlan()

    @translate_errors
    def select_sql(self, texts: Mapping[str, str], child: Handle) -> Handle:
        """Return the analyzed plan that selects SQL expressions from a plan, by name."""
        columns = [f"({sql}) AS `{name}`" for name, sql in texts.items()]
        return self.dataset(child).selectExpr(self.seq(columns)).logicalPlan()

    @translate_errors
    def with_children(self, node: Handle, children: Sequence[Handle]) -> Handle:
        new_node, kind = node.withNewChildren(self.seq(children)), self._nodes.kind_of(node)
        is_other = kind is not None and kind != AGGREGATE
        return new_node if is_other else with_own_results(self.jvm, self.adapter, new_node)

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
