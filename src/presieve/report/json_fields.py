# SPDX-License-Identifier: Apache-2.0
"""Untrusted. The records of a report as JSON types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from presieve.records import field_names, is_record
from presieve.semantics.values import plain

FORMAT = 1
"""The version of what is written for programs: reports, records of runs, sums of ledgers. Fields
may be added without a new version; whatever else changes gets one.
"""


class JsonFields:
    """A record that is shown to programs as its fields."""

    __slots__ = ()

    def to_json(self) -> dict[str, Any]:
        """As JSON types; dates, timestamps, bytes, NaN and infinities as strings."""
        return fields_json(self)


def fields_json(data: Any, *omitted: str) -> dict[str, Any]:
    """The fields of a record in order, by name, except those that are ``omitted``."""
    names = (name for name in field_names(data) if name not in omitted)
    return {name: _as_json(getattr(data, name)) for name in names}


def _as_json(value: Any) -> Any:
    if hasattr(value, "to_json"):
        return value.to_json()
    if isinstance(value, list | tuple):
        return [_as_json(v) for v in value]
    if isinstance(value, Mapping):
        return {name: _as_json(v) for name, v in value.items()}
    return fields_json(value) if is_record(value) else plain(value)
