"""Trusted. Read and build the plans of classic sessions in the JVM. All other files of this folder
call these methods.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary, ref

from pyspark.sql.session import SparkSession

from presieve.backend.classic.fresh_result_ids import with_own_results
from presieve.backend.classic.nodes import Nodes
from presieve.backend.classic.py4j_errors import (
    ask_once,
    class_name,
    each,
    java_class,
    java_method,
    java_module,
    to_seq,
    translate_errors,
)
from presieve.backend.classic.quick_ack import quick_ack
from presieve.backend.classic.settings import read_default, read_settings, runtime_conf
from presieve.backend.classic.versions import ADAPTERS
from presieve.backend.gateway import GatewayError, Handle, served_version

_PLANS = "org.apache.spark.sql.catalyst.plans.logical"
_PATTERN = "org.apache.spark.sql.catalyst.trees.TreePattern"

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
        value = self._default(key)
        return default if value is None else value

    @ask_once
    def _default(self, key: str) -> str | None:
        return read_default(self.jvm, self._conf, key)

    @translate_errors
    def cache_is_empty(self) -> bool:
        return bool(self.cache_manager.isEmpty())

    @property
    def cache_manager(self) -> Handle:
        """The JVM's manager of what is cached."""
        if self._cache_manager is None:
            self._cache_manager = self.jsession.sharedState().cacheManager()
        return self._cache_manager

    def rule(self, name: str) -> Handle:
        """Return a rule of Spark's optimizer."""
        return java_class(self.jvm, f"org.apache.spark.sql.catalyst.optimizer.{name}")

    def seq(self, items: Iterable[object]) -> Handle:
        """Make a sequence of the JVM."""
        return to_seq(self.jvm, items)

    # Plans

    @translate_errors
    def mentions(self, plan: Handle, *patterns: str) -> bool:
        """Whether Catalyst's index of the plan has one of these patterns."""
        return not self._patterns(plan).isdisjoint(_pattern_numbers(self.jvm, patterns))

    @ask_once
    def _patterns(self, plan: Handle) -> frozenset[int]:
        """Return the numbers of all patterns in the index."""
        text = str(plan.treePatternBits().iterator().mkString(" "))
        return frozenset(map(int, text.split()))

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


def _pattern_numbers(jvm: Handle, patterns: Iterable[str]) -> set[int]:
    """Return the numbers of patterns. Raises :class:`GatewayError` if this Spark lacks one."""
    if jvm not in _numbers:
        module = java_module(jvm, _PATTERN)
        names = str(module.values().toSeq().mkString(" ")).split()
        _numbers[jvm] = {name: i for i, name in enumerate(names)}
    try:
        return {_numbers[jvm][pattern] for pattern in patterns}
    except KeyError as error:
        raise GatewayError(f"this Spark has no pattern {error}") from None


_numbers: WeakKeyDictionary[Handle, dict[str, int]] = WeakKeyDictionary()
