# SPDX-License-Identifier: Apache-2.0
"""Trusted. The private interfaces of PySpark's client for Spark Connect. Only this module and
``run_metrics.py`` touch them.

Seen to work on PySpark 4.3. If a call fails, :class:`GatewayError` carries the failure to the entry
point of the backend, which declines and leaves the DataFrame alone. One call takes some
milliseconds, and more if the server is far away.
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

from presieve.backend.connect.resolved_plan import FieldJson, Relation, copy_of, serialize_message
from presieve.backend.gateway import GatewayError
from presieve.backend.problems.pickled import loads
from presieve.backend.session.spark_errors import guarding

P = ParamSpec("P")
T = TypeVar("T")

MAX_CALLS = 100
"""The most calls of the server for one plan; more would take too long."""

# MessageError: messages are copied through bytes, which Python reads a hundred levels deep.


def _guard_errors(call: Callable[P, T]) -> Callable[P, T]:
    """Turn errors of the client and of Spark into :class:`GatewayError`, with their first line."""
    return guarding(AttributeError, MessageError)(call)


class Plan(LogicalPlan):
    """A plan that already is a message, under its number there, since columns may refer to it.

    ``origin`` is kept alive: what the client holds on the server (checkpoints) is dropped with it.
    """

    def __init__(self, relation: Relation, origin: LogicalPlan) -> None:
        """Store the message, and the plan that it was made from."""
        super().__init__(None)
        self._relation = relation
        self._origin = origin
        if relation.common.HasField("plan_id"):
            self._root_plan_id = relation.common.plan_id

    def plan(self, session: Any) -> Relation:
        """Return a copy of the message, as callers may put it into others."""
        return copy_of(self._relation)

    @property
    def observations(self) -> dict[str, Any]:
        """The observations of the plan that this one was made from."""
        return self._origin.observations

    def print(self, indent: int = 0) -> str:
        """Return the text of the plan that this one was made from, for a person."""
        return f"{' ' * indent}<Optimized>\n{self._origin.print(indent + 2)}"


class Client:
    """The client of one session, and the answers that the server gave for one plan."""

    __slots__ = ("_client", "_confs", "_known", "_left", "_spark", "_texts")

    @_guard_errors
    def __init__(self, spark: SparkSession) -> None:
        """Raises :class:`GatewayError` if the session has no client."""
        session: Any = spark
        self._spark = session
        self._client = session._client
        self._confs: dict[str, str] | None = None
        self._known: dict[bytes, Sequence[FieldJson]] = {}
        self._texts: dict[tuple[str, bytes], str] = {}
        self._left = MAX_CALLS

    @_guard_errors
    def relation(self, df: DataFrame) -> Relation:
        """Return the message that the client sends for a DataFrame."""
        plan: Any = df
        return plan._plan.plan(self._client)

    @_guard_errors
    def origin(self, df: DataFrame) -> LogicalPlan:
        """Return the client's plan of a DataFrame."""
        plan: Any = df
        logical_plan: LogicalPlan = plan._plan
        return logical_plan

    @_guard_errors
    def dataframe(self, relation: Relation, origin: LogicalPlan) -> DataFrame:
        """Return a DataFrame of a message."""
        connect_df: Any = ConnectDataFrame(Plan(relation, origin), self._spark)
        df: DataFrame = connect_df
        return df

    def _plan(self, relation: Relation) -> Any:
        self._left -= 1
        if self._left < 0:
            raise GatewayError(f"more than {MAX_CALLS} calls of the server for one plan")
        return messages.Plan(root=relation)

    @_guard_errors
    def fields(self, relation: Relation) -> Sequence[FieldJson]:
        """Return the columns of a relation, each as the JSON of its ``StructField``."""
        key = serialize_message(relation)
        if key not in self._known:
            schema = self._client.schema(self._plan(relation))
            self._known[key] = [field.jsonValue() for field in schema.fields]
        return self._known[key]

    @_guard_errors
    def same_semantics(self, first: Relation, second: Relation) -> bool:
        """Whether two relations are analyzed to the same plan, up to names and numbers."""
        return bool(self._client.same_semantics(self._plan(first), self._plan(second)))

    @_guard_errors
    def is_streaming(self, relation: Relation) -> bool:
        """Whether the relation reads a streaming source."""
        plan = self._plan(relation)
        return bool(self._client._analyze(method="is_streaming", plan=plan).is_streaming)

    @_guard_errors
    def is_cached(self, relation: Relation) -> bool:
        """Whether the result of exactly this relation is cached."""
        answer = self._client._analyze(method="get_storage_level", relation=relation)
        level = answer.storage_level
        return bool(level.useMemory or level.useDisk or level.useOffHeap)

    @_guard_errors
    def explain_plan(self, relation: Relation, mode: str) -> str:
        """Return the text of ``explain``."""
        key = (mode, serialize_message(relation))
        if key not in self._texts:
            self._texts[key] = str(self._client.explain_string(self._plan(relation), mode))
        return self._texts[key]

    @_guard_errors
    def confs(self) -> dict[str, str]:
        """Return the settings of the session that the user or the cluster has set."""
        if self._confs is None:
            settings = self._spark.conf.getAll
            self._confs = {str(k): str(v) for k, v in settings.items()}
        return self._confs

    @_guard_errors
    def conf(self, key: str, default: str) -> str:
        """Return a setting of the session: if it is not set, Spark's own value, and ``default``
        only if Spark has no such setting.
        """
        if key not in self.confs():
            try:
                self.confs()[key] = str(self._spark.conf.get(key))
            except PySparkException:
                return default
        return self.confs()[key]

    @_guard_errors
    def is_stored(self, table: str) -> bool:
        """Whether the name belongs to a table, not to a view."""
        entry = self._spark.catalog.getTable(table)
        return entry.tableType in ("MANAGED", "EXTERNAL") and not entry.isTemporary

    @_guard_errors
    def provider(self, table: str) -> str:
        """Return the format of a table of Spark's own catalog whose partitions Spark itself
        chooses; empty for everything else.
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
    """Return a new message of Spark Connect."""
    return getattr(messages, kind)()


@_guard_errors
def load_function(command: bytes) -> object:
    """Return the content of a function's pickled command."""
    return loads(command)
