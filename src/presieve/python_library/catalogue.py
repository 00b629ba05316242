"""Trusted. Where a method or function is described."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from presieve.python_library.facts import NOT_DESCRIBED, Description, Result
from presieve.python_library.functions import FUNCTIONS
from presieve.python_library.object_methods import OF_LOGGER, OF_OBJECT
from presieve.python_library.pandas_methods import OF_COLUMN, OF_GROUPS, OF_TABLE, OF_WINDOW

Owner: TypeAlias = Literal["column", "table", "groups", "window", "object", "logger", "function"]

CATALOGUE: Mapping[Owner, dict[str, Description]] = {
    "column": OF_COLUMN,
    "table": OF_TABLE,
    "groups": OF_GROUPS,
    "window": OF_WINDOW,
    "object": OF_OBJECT,
    "logger": OF_LOGGER,
    "function": FUNCTIONS,
}
"""All descriptions: of methods by the kind of their owner and by name, of functions by path."""


def describe(owner: Owner, name: str) -> Description:
    """Return the facts about a method or function. Of one that is not listed nothing is known."""
    return CATALOGUE[owner].get(name, NOT_DESCRIBED)


def has_known_result(owner: Owner, name: str) -> bool:
    """Return whether it is known what a method or function returns."""
    return describe(owner, name).result is not Result.UNKNOWN
