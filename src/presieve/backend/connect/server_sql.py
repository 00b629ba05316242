# SPDX-License-Identifier: Apache-2.0
"""Trusted. SQL text and views, which only the server can read: what it is asked about them.

Lemma: if Spark says that two analyzed plans are the same up to names and numbers
(``QueryPlan.sameResult``, behind ``DataFrame.sameSemantics``), and their columns have the same
names and types, one may replace the other.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from presieve.backend.connect.querytext import as_messages
from presieve.backend.connect.resolved_plan import Relation, copy_of, inputs, serialize_message
from presieve.backend.gateway import GatewayError
from presieve.errors import Declined

if TYPE_CHECKING:
    from presieve.backend.connect.client import Client

UNREAD_TEXT = (
    "this part of the plan is SQL text of a form that the server alone reads; "
    "write it with DataFrames, or run it without Spark Connect"
)


def texts(relation: Relation) -> list[Relation]:
    """Return the queries in SQL text in which names mean what the catalog says."""
    kind = relation.WhichOneof("rel_type")
    if kind == "sql":
        return [relation]
    if kind is None or kind == "with_relations":
        return []
    return [t for _, part in inputs(relation) for t in texts(part)]


_TABLE_FUNCTION = "common_inline_user_defined_table_function"
_FILTERING = re.compile(r"\b(?:WHERE|HAVING)\b", re.I)


def notes(relation: Relation) -> tuple[Declined, ...]:
    """Return why filters in parts that are not read are left alone, each reason once."""
    reasons: list[Declined] = []
    stack = [(relation, False)]
    while stack:
        current, filtered = stack.pop()
        kind = current.WhichOneof("rel_type")
        text = str(current.sql.query).strip()
        if kind == "sql" and _FILTERING.search(text):
            reasons.append(Declined("sql-text", f"{UNREAD_TEXT}: {text[:80]}"))
        if kind == _TABLE_FUNCTION and filtered:
            name = current.common_inline_user_defined_table_function.function_name
            reason = f"filters are not pushed through the table function {name} on Spark Connect"
            reasons.append(Declined("operator", reason))
        stack += [(part, filtered or kind == "filter") for _, part in inputs(current)]
    return tuple(dict.fromkeys(reasons))


def read_query(relation: Relation) -> Relation | None:
    """Read a query as messages, with its number. They are not checked here."""
    if {f.name for f, _ in relation.sql.ListFields()} != {"query"}:
        return None
    messages = as_messages(str(relation.sql.query), type(relation))
    if messages is not None and relation.HasField("common"):
        messages.common.CopyFrom(relation.common)
    return messages


def is_right(server: Client, relation: Relation, messages: Relation) -> bool:
    """Whether the server says that the messages mean what the text means."""
    try:
        if not server.same_semantics(relation, messages):
            return False
        return list(server.fields(relation)) == list(server.fields(messages))
    except GatewayError:
        return False  # it cannot resolve them


def put_in(relation: Relation, replacements: dict[bytes, Relation]) -> Relation:
    """Return the plan with messages in place of texts, by their content."""
    plan = copy_of(relation)
    _put_in(plan, replacements)
    return plan


def _put_in(relation: Relation, replacements: dict[bytes, Relation]) -> None:
    kind = relation.WhichOneof("rel_type")
    if kind == "sql" and serialize_message(relation) in replacements:
        relation.CopyFrom(replacements[serialize_message(relation)])
    elif kind not in (None, "sql", "with_relations"):
        for _, part in inputs(relation):
            _put_in(part, replacements)


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
