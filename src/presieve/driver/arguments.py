# SPDX-License-Identifier: Apache-2.0
"""Trusted. Checks the caller's arguments before anything is done. Each mistake raises one clear
line.

Each function raises :class:`UsageError` if the value is invalid.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from presieve.errors import UsageError


def check_budget(value: object) -> None:
    """Check a number of seconds."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 < value < math.inf:  # type: ignore[operator]
        raise UsageError(f"budget is a positive number of seconds, not {value!r}")


def check_truth(value: object) -> None:
    """Raise :class:`UsageError` unless the value is true or false."""
    if not isinstance(value, bool):
        raise UsageError(f"must be true or false, not {value!r}")


def check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """Check that the value is one of a few words."""
    if not isinstance(value, str) or value not in choices:
        *most, last = (repr(k) for k in choices)
        raise UsageError(f"{name} is {', '.join(most)} or {last}, not {value!r}")


def check_text(name: str, value: object, example: str) -> None:
    """Check that the value is a text that is not blank."""
    if not isinstance(value, str):
        raise UsageError(f"{name} is a string such as {example!r}, not {value!r}")
    if not value.strip():
        raise UsageError(f"{name} is empty; write a string such as {example!r}")


def check_texts(name: str, value: object, example: str) -> None:
    """Check that the value is a text or several texts."""
    if isinstance(value, str):
        return
    if not isinstance(value, Collection) or not all(isinstance(v, str) for v in value):
        raise UsageError(f"{name} is a string such as {example!r} or a list of them, not {value!r}")


def check_dataframe(value: object, verb: str) -> None:
    """Check for a PySpark DataFrame, classic or Connect, without importing PySpark."""
    classes = type(value).__mro__
    if any(c.__name__ == "DataFrame" and c.__module__.startswith("pyspark.sql") for c in classes):
        return
    kind = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
    remedy = ""
    if kind.startswith("pandas."):
        remedy = "; spark.createDataFrame makes one of a pandas DataFrame"
    elif kind.endswith(".GroupedData"):
        remedy = "; a groupBy becomes one with agg or applyInPandas"
    raise UsageError(f"{verb} takes a DataFrame of PySpark, not {kind}{remedy}")
