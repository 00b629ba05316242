"""Untrusted. The dataclasses of a report as JSON types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any


def fields_json(data: Any, *omitted: str) -> dict[str, Any]:
    """The fields of a dataclass in order, by name, except those that are ``omitted``."""
    names = (f.name for f in fields(data) if f.name not in omitted)
    return {name: _as_json(getattr(data, name)) for name in names}


def _as_json(value: Any) -> Any:
    if hasattr(value, "to_json"):
        return value.to_json()
    if isinstance(value, list | tuple):
        return [_as_json(v) for v in value]
    if isinstance(value, Mapping):
        return dict(value)
    return fields_json(value) if is_dataclass(value) else value
