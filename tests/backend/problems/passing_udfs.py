"""Functions of batches that do not lift, of which some pass columns on row by row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np


def logarithms(batches: Iterator[Any]) -> Iterator[Any]:
    base = np.log(2.0)
    for pdf in batches:
        pdf["m"] = np.log1p(pdf["x"].clip(0, None)) / base
        yield pdf[["k", "y", "m"]]


def upper(batches: Iterator[Any]) -> Iterator[Any]:
    for pdf in batches:
        kept = pdf[pdf["s"].notna()].copy()
        kept["m"] = kept["s"].str.upper().str.len() * 1.0
        yield kept.rename(columns={"s": "k", "k": "old"})[["k", "y", "m"]]


def of_a_group(pdf: Any) -> Any:
    pdf["m"] = np.sqrt(pdf["x"].abs())
    return pdf[["k", "y", "m"]]


def as_they_are(batches: Iterator[Any]) -> Iterator[Any]:
    """Lifts, unlike the others."""
    for pdf in batches:
        yield pdf[["k", "y"]]


PASSING = {logarithms: ("k > 'a'", "k > 'a'"), upper: ("k = 'x'", "s = 'x'")}
"""With a filter above, and what it is below."""


def ranked(batches: Iterator[Any]) -> Iterator[Any]:
    for pdf in batches:
        pdf["m"] = pdf["x"].rank()
        yield pdf[["k", "y", "m"]]


def numbered(batches: Iterator[Any]) -> Iterator[Any]:
    count = 0
    for pdf in batches:
        pdf["m"] = np.arange(count, count + len(pdf)) * 1.0
        count += len(pdf)
        yield pdf[["k", "y", "m"]]


def shifted(batches: Iterator[Any]) -> Iterator[Any]:
    for pdf in batches:
        pdf["k"] = pdf["k"].shift(1)
        pdf["m"] = pdf["x"]
        yield pdf[["k", "y", "m"]]


def large_batches(batches: Iterator[Any]) -> Iterator[Any]:
    for pdf in batches:
        pdf["m"] = 1.0 if len(pdf) > 3 else 0.0
        yield pdf[["k", "y", "m"]]


def remembered(batches: Iterator[Any]) -> Iterator[Any]:
    last: list[Any] = []
    for pdf in batches:
        pdf["m"] = pdf["s"].map(lambda s: float(len(last.__iadd__([s]))))
        yield pdf[["k", "y", "m"]]


DEPENDING = (ranked, numbered, shifted, large_batches, remembered)
"""What these make of a row depends on the others."""


def roots(batches: Iterator[Any]) -> Iterator[Any]:
    """Beside NULL pandas has other integers, of which the root of a negative one is no NULL."""
    for pdf in batches:
        pdf["m"] = np.sqrt(pdf["y"])
        yield pdf[["k", "y", "m"]]
