"""Untrusted. Filters in parts of a Spark Connect plan that are not read, for the log."""

from __future__ import annotations

from presieve.backend.connect.resolved_plan import Relation
from presieve.backend.connect.resolver import inputs
from presieve.backend.connect.server_sql import filtering
from presieve.errors import Declined

_TABLE_FUNCTION = "common_inline_user_defined_table_function"


def notes(relation: Relation) -> tuple[Declined, ...]:
    """Return why filters are left alone, each reason once."""
    reasons: list[Declined] = []
    stack = [(relation, False)]
    while stack:
        current, filtered = stack.pop()
        kind = current.WhichOneof("rel_type")
        if kind == "sql":
            reasons += filtering(current)
        if kind == _TABLE_FUNCTION and filtered:
            name = current.common_inline_user_defined_table_function.function_name
            reason = f"filters are not pushed through the table function {name} on Spark Connect"
            reasons.append(Declined("operator", reason))
        stack += [(part, filtered or kind == "filter") for _, part in inputs(current)]
    return tuple(dict.fromkeys(reasons))
