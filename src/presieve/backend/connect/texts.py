"""Trusted. What the server is asked about that it alone can read: SQL text and views.

Lemma: where Spark says that two analyzed plans are the same up to names and numbers
(``QueryPlan.sameResult``, behind ``DataFrame.sameSemantics``), and their columns have the same
names and types, one may stand for the other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

from presieve.backend.connect.operators import FieldJson, Relation, inner
from presieve.backend.connect.querytext import as_messages
from presieve.backend.gateway import GatewayError
from presieve.errors import Declined

UNREAD_TEXT = (
    "this part of the plan is SQL text of a form that the server alone reads; "
    "write it with DataFrames, or run it without Spark Connect"
)


class Server(Protocol):
    """What is asked here."""

    def fields(self, relation: Relation) -> Sequence[FieldJson]:
        """The columns of a relation, each as the JSON of its ``StructField``."""

    def same_semantics(self, one: Relation, other: Relation) -> bool:
        """Whether two relations are analyzed to the same plan, but for names and numbers."""


def texts(relation: Relation) -> list[Relation]:
    """The queries in SQL text that stand in a plan, where nothing but the catalog gives names their
    meaning.
    """
    kind = relation.WhichOneof("rel_type")
    if kind == "sql":
        return [relation]
    if kind is None or kind == "with_relations":
        return []
    return [t for part in _parts(relation) for t in texts(part)]


_FILTERING = re.compile(r"\b(?:WHERE|HAVING)\b", re.I)


def filtering(relation: Relation) -> tuple[Declined, ...]:
    """Why filters in a query are left alone, if there are any."""
    text = str(relation.sql.query).strip()
    found = Declined("sql-text", f"{UNREAD_TEXT}: {text[:80]}")
    return (found,) if _FILTERING.search(text) else ()


def read(relation: Relation) -> Relation | None:
    """A query as messages, with its number; nobody has checked it."""
    if {f.name for f, _ in relation.sql.ListFields()} != {"query"}:
        return None
    made = as_messages(str(relation.sql.query), type(relation))
    if made is not None and relation.HasField("common"):
        made.common.CopyFrom(relation.common)
    return made


def is_right(server: Server, relation: Relation, made: Relation) -> bool:
    """Whether the server says that messages mean what the text means."""
    try:
        if not server.same_semantics(relation, made):
            return False
        return list(server.fields(relation)) == list(server.fields(made))
    except GatewayError:
        return False  # it cannot resolve them


def put_in(relation: Relation, found: dict[bytes, Relation]) -> Relation:
    """The plan with messages in the place of texts, by :func:`key`."""
    made = type(relation)()
    made.CopyFrom(relation)
    _put_in(made, found)
    return made


def key(relation: Relation) -> bytes:
    """What a message says."""
    return bytes(relation.SerializeToString(deterministic=True))


def _put_in(relation: Relation, found: dict[bytes, Relation]) -> None:
    kind = relation.WhichOneof("rel_type")
    if kind == "sql" and key(relation) in found:
        relation.CopyFrom(found[key(relation)])
    elif kind not in (None, "sql", "with_relations"):
        for part in _parts(relation):
            _put_in(part, found)


def _parts(relation: Relation) -> list[Relation]:
    found: list[Relation] = []
    for field, value in inner(relation).ListFields():
        if field.message_type is not None and field.message_type.name == "Relation":
            found += list(value) if field.is_repeated else [value]
    return found


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
    """Whether Spark's drawing of an analyzed plan shows the rows of one table and nothing that is
    computed; a name in which anything but letters, digits and ``_`` stands shows nothing.
    """
    _, found, rest = explained.partition("== Analyzed Logical Plan ==\n")
    plan, end, _ = rest.partition("\n\n== Optimized Logical Plan ==")
    _, line, plan = plan.partition("\n")  # the first line has names and types of columns
    lines = plan.split("\n")
    steps = [("   " * (i - 1) + "+- ") if i else "" for i in range(len(lines))]
    return bool(found and end and line) and all(
        row.startswith(step) and _LINES.fullmatch(row[len(step) :]) is not None
        for row, step in zip(lines, steps, strict=True)
    )
