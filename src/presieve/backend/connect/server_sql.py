"""Trusted. SQL text and views, which only the server can read: what it is asked about them.

Lemma: if Spark says that two analyzed plans are the same up to names and numbers
(``QueryPlan.sameResult``, behind ``DataFrame.sameSemantics``), and their columns have the same
names and types, one may replace the other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

from presieve.backend.connect.querytext import as_messages
from presieve.backend.connect.resolved_plan import FieldJson, Relation, inner
from presieve.backend.gateway import GatewayError
from presieve.errors import Declined

UNREAD_TEXT = (
    "this part of the plan is SQL text of a form that the server alone reads; "
    "write it with DataFrames, or run it without Spark Connect"
)


class SqlServer(Protocol):
    """What this module asks of the server."""

    def fields(self, relation: Relation) -> Sequence[FieldJson]:
        """Return the columns of a relation, each as the JSON of its ``StructField``."""

    def same_semantics(self, first: Relation, second: Relation) -> bool:
        """Whether two relations are analyzed to the same plan, up to names and numbers."""


def texts(relation: Relation) -> list[Relation]:
    """Return the queries in SQL text in which names mean what the catalog says."""
    kind = relation.WhichOneof("rel_type")
    if kind == "sql":
        return [relation]
    if kind is None or kind == "with_relations":
        return []
    return [t for part in _parts(relation) for t in texts(part)]


_FILTERING = re.compile(r"\b(?:WHERE|HAVING)\b", re.I)


def filtering(relation: Relation) -> tuple[Declined, ...]:
    """Return why filters in a query are left alone, if there are any."""
    text = str(relation.sql.query).strip()
    why = Declined("sql-text", f"{UNREAD_TEXT}: {text[:80]}")
    return (why,) if _FILTERING.search(text) else ()


def read_query(relation: Relation) -> Relation | None:
    """Read a query as messages, with its number. They are not checked here."""
    if {f.name for f, _ in relation.sql.ListFields()} != {"query"}:
        return None
    messages = as_messages(str(relation.sql.query), type(relation))
    if messages is not None and relation.HasField("common"):
        messages.common.CopyFrom(relation.common)
    return messages


def is_right(server: SqlServer, relation: Relation, messages: Relation) -> bool:
    """Whether the server says that the messages mean what the text means."""
    try:
        if not server.same_semantics(relation, messages):
            return False
        return list(server.fields(relation)) == list(server.fields(messages))
    except GatewayError:
        return False  # it cannot resolve them


def put_in(relation: Relation, replacements: dict[bytes, Relation]) -> Relation:
    """Return the plan with messages in place of texts, by :func:`key`."""
    plan = type(relation)()
    plan.CopyFrom(relation)
    _put_in(plan, replacements)
    return plan


def key(relation: Relation) -> bytes:
    """Return the content of a message as bytes."""
    return bytes(relation.SerializeToString(deterministic=True))


def _put_in(relation: Relation, replacements: dict[bytes, Relation]) -> None:
    kind = relation.WhichOneof("rel_type")
    if kind == "sql" and key(relation) in replacements:
        relation.CopyFrom(replacements[key(relation)])
    elif kind not in (None, "sql", "with_relations"):
        for part in _parts(relation):
            _put_in(part, replacements)


def _parts(relation: Relation) -> list[Relation]:
    relations: list[Relation] = []
    for field, value in inner(relation).ListFields():
        if field.message_type is not None and field.message_type.name == "Relation":
            relations += list(value) if field.is_repeated else [value]
    return relations


_COLUMNS = r"\[(?:\w+#\d+L?(?:, ?)?)*(?:\.\.\. \d+ more fields)?\]"
_LINES = re.compile(
    rf"SubqueryAlias [\w.]+|View \(`[\w.`]+`, {_COLUMNS}\)"
    rf"|Relation (?:[\w.]+)?{_COLUMNS} (?:parquet|orc|csv|json|avro|text)"
    rf"|LocalRelation {_COLUMNS}|LocalRelation <empty>, {_COLUMNS}"
    r"|Range \(\d+, \d+, step=\d+\)"
    r"|Project \[(?:\w+#\d+L?(?: AS \w+#\d+L?)?(?:, )?)*\]",
    re.ASCII,
)


def shows_a_table(explained: str) -> bool:
    """Whether Spark's text of an analyzed plan shows the rows of one table and no computation. A
    name with other characters than letters, digits and ``_`` does not count.
    """
    _, heading, after = explained.partition("== Analyzed Logical Plan ==\n")
    plan, end, _ = after.partition("\n\n== Optimized Logical Plan ==")
    _, line, plan = plan.partition("\n")  # the first line has names and types of columns
    lines = plan.split("\n")
    steps = [("   " * (i - 1) + "+- ") if i else "" for i in range(len(lines))]
    return bool(heading and end and line) and all(
        row.startswith(step) and _LINES.fullmatch(row[len(step) :]) is not None
        for row, step in zip(lines, steps, strict=True)
    )
