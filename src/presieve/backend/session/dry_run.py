# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Replace PySpark's writers in a process that should find out what a job does without
doing it.

Writes are skipped: the writers of DataFrames and RDDs, ``foreach``, and all SQL statements except
those listed here, which read or belong to the session. Reads run, because the job may go on with
the rows. A checkpoint is not computed before it is read. A read of data that the job would have
written gets a checkpoint of that data, if the format keeps columns and types. Streams are refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, TypeAlias

from presieve.backend.classic.version_differences import ClassicDataFrame
from presieve.backend.session.hooks import ACTIONS, SAVES, WRITERS, Instead, find_class
from presieve.errors import UsageError

Skipped: TypeAlias = Callable[[str], None]
"""Called with each call that was not made."""

_WRITERS = {
    **WRITERS,
    "pyspark.sql.connect.readwriter": ("DataFrameWriter", "DataFrameWriterV2"),
    "pyspark.sql.connect.merge": ("MergeIntoWriter",),
}
_RDDS = ("pyspark.core.rdd", "pyspark.rdd")
"""Modules of RDDs: since 4.0, and before."""
_KEEPING = ("parquet", "orc", "saveAsTable")
"""Formats that keep columns and types: data that is read back has the same ones."""
_READERS = {
    "pyspark.sql.readwriter": ("DataFrameReader", ("parquet", "orc", "load", "table")),
    "pyspark.sql.session": ("SparkSession", ("table",)),
}
_STREAMS = {
    "pyspark.sql.streaming.readwriter": "DataStreamWriter",
    "pyspark.sql.connect.streaming.readwriter": "DataStreamWriter",
}
_SESSIONS = ("pyspark.sql.session", "pyspark.sql.connect.session")

_RUN = (
    *("SELECT", "FROM", "WITH", "VALUES", "TABLE", "SHOW", "DESCRIBE", "DESC", "EXPLAIN", "USE"),
    *("SET", "RESET", "CACHE", "UNCACHE", "CLEAR", "REFRESH", "DECLARE", "ADD", "LIST"),
)
"""First words of statements that only read, or change nothing but the session."""
_TEMPORARY = re.compile(r"CREATE\s+(OR\s+REPLACE\s+)?(GLOBAL\s+)?(TEMP|TEMPORARY)\s", re.I)
_INSERTS = re.compile(r"\bINSERT\s+(INTO|OVERWRITE)\b", re.I)
_CACHES = re.compile(r"^\s*CACHE\s+TABLE\b", re.I)
_LEADING = re.compile(r"(\s|--[^\n]*(\n|$)|/\*.*?\*/|\()*", re.S)


def is_run(statement: str) -> bool:
    """Whether a SQL statement is executed in a dry run, too."""
    text = statement[_LEADING.match(statement).end() :]  # type: ignore[union-attr]
    if _TEMPORARY.match(text):
        return True
    first = re.match(r"\w*", text)
    return first is not None and first[0].upper() in _RUN and not _INSERTS.search(text)


def install(skipped: Skipped, *, plan_only: bool = False) -> dict[str, Instead]:
    """Make this process a dry one, for good. Returns the members of DataFrames to replace, as
    :meth:`presieve.backend.session.hooks.Hooks.install` takes them. ``plan_only``: reads get no
    rows.
    """
    written: dict[str, Any] = {}
    for module, owners in _WRITERS.items():
        for owner in owners:
            _skip(module, owner, SAVES, skipped, written)
    for module in [m for m in _RDDS if find_class(m, "RDD") is not None][:1]:
        saves = [n for n in vars(find_class(module, "RDD")) if n.startswith("saveAs")]
        _skip(module, "RDD", saves, skipped, {})
    for module, (owner, methods) in _READERS.items():
        _read_back(module, owner, methods, written)
    for module, owner in _STREAMS.items():
        _refuse(module, owner)
    for module in _SESSIONS:
        _read_only(module, skipped, lazily=plan_only)

    def nothing(before: Any, *_: Any, **__: Any) -> None:
        skipped(before.__name__)

    reads: tuple[str, ...] = (*ACTIONS, "rdd") if plan_only else ()
    return {
        **dict.fromkeys(reads, _without_rows),
        "checkpoint": lambda _, df, *__, **___: df.localCheckpoint(),
        "localCheckpoint": lambda before, df, *_, **__: before(df, eager=False),
        "show": lambda *_, **__: None,
        "foreach": nothing,
        "foreachPartition": nothing,
    }


def _without_rows(before: Any, df: Any, *args: Any, **kwargs: Any) -> Any:
    """Run the action on no rows: Spark then reads nothing, and the answer has the right types."""
    return before(df.limit(0), *args, **kwargs)


def _skip(
    module: str, name: str, methods: Iterable[str], skipped: Skipped, written: dict[str, Any]
) -> None:
    owner = find_class(module, name)
    for method in methods:
        before = vars(owner).get(method) if owner is not None else None
        if before is not None:
            setattr(owner, method, _skipping(before, skipped, written))


def _skipping(before: Any, skipped: Skipped, written: dict[str, Any]) -> Any:
    name = before.__name__

    @wraps(before)
    def call(self: Any, *args: Any, **kwargs: Any) -> None:
        texts = [a for a in (*args, *kwargs.values()) if isinstance(a, str)]
        skipped(f"{name}({texts[0]!r})" if texts else name)
        # Classic writers have the DataFrame, those of Connect have its plan.
        df = getattr(self, "_df", None)
        if texts and name in _KEEPING and df is not None:
            written[texts[0]] = df

    return call


def _read_back(module: str, name: str, methods: Iterable[str], written: dict[str, Any]) -> None:
    owner = find_class(module, name)
    for method in methods:
        setattr(owner, method, _reading(getattr(owner, method), written))


def _reading(before: Any, written: dict[str, Any]) -> Any:
    """Wrap a reader so that it returns a checkpoint of data that was to be written. The job's
    DataFrame was reported when it was to be written, so its checkpoint is made by a method that is
    not hooked, and it is not reported again.
    """
    checkpoint = ClassicDataFrame.localCheckpoint

    @wraps(before)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        arguments = [*args, *kwargs.values()]
        if len(arguments) == 1 and isinstance(arguments[0], str) and arguments[0] in written:
            return checkpoint(written[arguments[0]], eager=False)
        return before(self, *args, **kwargs)

    return call


def _refuse(module: str, name: str) -> None:
    def call(*_: Any, **__: Any) -> None:
        raise UsageError("the job starts a stream, which explain does not run")

    owner = find_class(module, name)
    for method in ("start", "toTable"):
        if owner is not None:
            setattr(owner, method, call)


def _read_only(module: str, skipped: Skipped, *, lazily: bool) -> None:
    owner = find_class(module, "SparkSession")
    if owner is None:
        return
    before: Any = owner.sql

    @wraps(before)
    def sql(self: Any, sqlQuery: str, *args: Any, **kwargs: Any) -> Any:  # noqa: N803
        if is_run(sqlQuery):
            text = _CACHES.sub("CACHE LAZY TABLE", sqlQuery) if lazily else sqlQuery
            return before(self, text, *args, **kwargs)
        skipped(" ".join(sqlQuery.split())[:80])
        return self.range(0).drop("id")  # Spark's result for a statement without one

    owner.sql = sql
