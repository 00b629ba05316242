"""Untrusted. Filters in parts of a plan that are not read on Spark Connect, for the log."""

from __future__ import annotations

from presieve.backend.connect.operators import Relation
from presieve.backend.connect.relations import inputs
from presieve.backend.connect.texts import filtering
from presieve.errors import Declined

_TABLE_FUNCTION = "common_inline_user_defined_table_function"


def notes(relation: Relation) -> tuple[Declined, ...]:
    """Why filters are left alone: each reason once."""
    found: list[Declined] = []
    stack = [(relation, False)]
    while stack:
        here, filtered = stack.pop()
        kind = here.WhichOneof("rel_type")
        if kind == "sql":
            found += filtering(here)
        if kind == _TABLE_FUNCTION and filtered:
            name = here.common_inline_user_defined_table_function.function_name
            reason = f"filters are not pushed through the table function {name} on Spark Connect"
            found.append(Declined("operator", reason))
        stack += [(part, filtered or kind == "filter") for _, part in inputs(here)]
    return tuple(dict.fromkeys(found))
