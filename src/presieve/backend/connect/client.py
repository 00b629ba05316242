"""Trusted. The private interfaces of PySpark's client for Spark Connect, which nothing else touches
but ``measured.py`` here.

Seen to work on PySpark 4.3. Where a call fails, :class:`GatewayError` carries it to the entry point
of the backend, which declines and leaves the DataFrame alone. One call takes some milliseconds, and
more where the server is far.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

import pyspark.sql.connect.proto as messages
from google.protobuf.message import Error as MessageError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql.connect.dataframe import DataFrame as ConnectDataFrame
from pyspark.sql.connect.plan import LogicalPlan
from pyspark.sql.dataframe import DataFrame
from pyspark.sql.session import SparkSession

from presieve.backend.connect.operators import FieldJson, Relation
from presieve.backend.gateway import GatewayError
from presieve.backend.problems.pickled import loads
from presieve.backend.session.spark_errors import guarding

P = ParamSpec("P")
T = TypeVar("T")

MAX_CALLS = 100
"""Calls of the server for one plan: more would take too long."""

# MessageError: messages are copied by way of bytes, which Python reads a hundred levels deep.


def _guarded(call: Callable[P, T]) -> Callable[P, T]:
    """Errors of the client and of Spark become :class:`GatewayError`, with their first line."""
    return guarding(AttributeError, MessageError)(call)


class Plan(LogicalPlan):
    """A plan that is a message already, with the number that it has there: columns may refer to it.

    ``origin`` is kept alive: what the client holds on the server (checkpoints) is dropped with it.
    """

    def __init__(self, relation: Relation, origin: LogicalPlan) -> None:
        """The message, and the plan that it was made from."""
        super().__init__(None)
        self._relation = relation
        self._origin = origin
        if relation.common.HasField("plan_id"):
            self._root_plan_id = relation.common.plan_id

    def plan(self, session: Any) -> Relation:
        """A message of its own, as callers may put it into others."""
        made = messages.Relation()
        made.CopyFrom(self._relation)
        return made

    @property
    def observations(self) -> dict[str, Any]:
        """Those of the plan that it was made from."""
        return self._origin.observations

    def print(self, indent: int = 0) -> str:
        """The plan that it was made from, for a person."""
        return f"{' ' * indent}<Optimized>\n{self._origin.print(indent + 2)}"


class Client:
    """The client of one session, and the answers that the server gave for one plan."""

    __slots__ = ("_client", "_confs", "_known", "_left", "_spark", "_texts")

    @_guarded
    def __init__(self, spark: SparkSession) -> None:
        """Raises :class:`GatewayError` where the session has no client."""
        session: Any = spark
        self._spark = session
        self._client = session._client
        self._confs: dict[str, str] | None = None
        self._known: dict[bytes, Sequence[FieldJson]] = {}
        self._texts: dict[tuple[str, bytes], str] = {}
        self._left = MAX_CALLS

    @_guarded
    def relation(self, df: DataFrame) -> Relation:
        """The message that the client sends for a DataFrame."""
        plan: Any = df
        return plan._plan.plan(self._client)

    @_guarded
    def origin(self, df: DataFrame) -> LogicalPlan:
        """The client's plan of a DataFrame."""
        plan: Any = df
        found: LogicalPlan = plan._plan
        return found

    @_guarded
    def dataframe(self, relation: Relation, origin: LogicalPlan) -> DataFrame:
        """A DataFrame of a message."""
        made: Any = ConnectDataFrame(Plan(relation, origin), self._spark)
        found: DataFrame = made
        return found

    def _plan(self, relation: Relation) -> Any:
        self._left -= 1
        if self._left < 0:
            raise GatewayError(f"more than {MAX_CALLS} calls of the server for one plan")
        return messages.Plan(root=relation)

    @_guarded
    def fields(self, relation: Relation) -> Sequence[FieldJson]:
        """The columns of a relation, each as the JSON of its ``StructField``."""
        key = relation.SerializeToString(deterministic=True)
        if key not in self._known:
            schema = self._client.schema(self._plan(relation))
            self._known[key] = [field.jsonValue() for field in schema.fields]
        return self._known[key]

    @_guarded
    def same_semantics(self, one: Relation, other: Relation) -> bool:
        """Whether two relations are analyzed to the same plan, but for names and numbers."""
        return bool(self._client.same_semantics(self._plan(one), self._plan(other)))

    @_guarded
    def is_streaming(self, relation: Relation) -> bool:
        """Whether a streaming source is below."""
        plan = self._plan(relation)
        return bool(self._client._analyze(method="is_streaming", plan=plan).is_streaming)

    @_guarded
    def is_cached(self, relation: Relation) -> bool:
        """Whether the result of exactly this relation is cached."""
        found = self._client._analyze(method="get_storage_level", relation=relation)
        level = found.storage_level
        return bool(level.useMemory or level.useDisk or level.useOffHeap)

    @_guarded
    def explained(self, relation: Relation, mode: str) -> str:
        """What ``explain`` says."""
        key = (mode, relation.SerializeToString(deterministic=True))
        if key not in self._texts:
            self._texts[key] = str(self._client.explain_string(self._plan(relation), mode))
        return self._texts[key]

    @_guarded
    def confs(self) -> dict[str, str]:
        """The settings of the session that were made, by the user or by the cluster."""
        if self._confs is None:
            found = self._spark.conf.getAll
            self._confs = {str(k): str(v) for k, v in found.items()}
        return self._confs

    @_guarded
    def conf(self, key: str, default: str) -> str:
        """A setting of the session: where it is not made, what Spark takes it to be, and
        ``default`` only where Spark has no such setting.
        """
        if key not in self.confs():
            try:
                self.confs()[key] = str(self._spark.conf.get(key))
            except PySparkException:
                return default
        return self.confs()[key]

    @_guarded
    def is_stored(self, table: str) -> bool:
        """Whether the name is that of a table, not of a view."""
        found = self._spark.catalog.getTable(table)
        return found.tableType in ("MANAGED", "EXTERNAL") and not found.isTemporary

    @_guarded
    def provider(self, table: str) -> str:
        """The format of a table of Spark's own catalog whose partitions Spark chooses itself; empty
        for everything else.
        """
        rows = self._spark.sql(f"DESCRIBE TABLE EXTENDED {table}").collect()
        names = [str(r.col_name) for r in rows]
        if "# Detailed Table Information" not in names:
            return ""
        start = names.index("# Detailed Table Information")
        about = {str(r.col_name): str(r.data_type) for r in rows[start:]}
        own = about.get("Catalog") == "spark_catalog" and about.get("Type") in _TABLES
        chosen = "# Partition Information" not in names[:start]
        chosen = chosen or self.conf("spark.sql.catalogImplementation", "hive") == "in-memory"
        return about.get("Provider", "") if own and chosen else ""


_TABLES = ("MANAGED", "EXTERNAL")


def message(kind: str) -> Any:
    """A new message of Spark Connect."""
    return getattr(messages, kind)()


@_guarded
def loaded(command: bytes) -> object:
    """What a pickled command of a function holds."""
    return loads(command)


def same(one: Relation, other: Relation) -> bool:
    """Whether two messages are equal."""
    a, b = (r.SerializeToString(deterministic=True) for r in (one, other))
    return bool(a == b)
