"""Scalar UDFs that return a struct."""

from __future__ import annotations

import json
from typing import Any

from pyspark.sql import Row

SCHEMA = "kind string, double double, number int"


def label(v: Any) -> Any:
    if v is None:
        return None
    return ("high" if v > 100 else "low", None, 7)


def by_name(v: Any) -> Any:
    if v is None:
        return {"kind": "none"}
    return {"number": 3, "kind": "high" if v > 100 else "low", "more": 1}


def parts(v: Any) -> Any:
    if v is None:
        return None
    return ("high" if v > 100 else "low", v * 2, 7)


def passed(v: Any) -> Any:
    return ("all", None, v)


def listed(v: Any) -> Any:
    return ["none" if v is None else "some", 1.5, 2]


def too_short(v: Any) -> Any:
    return ("none" if v is None else "some", 1.5)


def wrong_class(v: Any) -> Any:
    return ("none" if v is None else "some", 1, 2)


def as_row(v: Any) -> Any:
    if v is None:
        return Row(kind=None, double=None, number=None)
    return Row(kind="high" if v > 100 else "low", double=v, number=7)


def as_row_in_another_order(v: Any) -> Any:
    return Row(number=7, kind="high", double=v)


def of_text(v: Any) -> Any:
    """Of which not all is read."""
    if v is None:
        return None, None
    try:
        read = json.loads(str(v))
    except (TypeError, ValueError):
        return "none", None
    return "read", str(read)
