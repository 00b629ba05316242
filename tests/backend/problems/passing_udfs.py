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


RATES = {"a": 0.5, "b": 2.0}


def with_the_rate_of_a_group(key: Any, pdf: Any) -> Any:
    rate = RATES.get(key[0], 1.0)
    pdf["m"] = np.arctan((pdf["x"] * rate).clip(upper=7).round(2))
    pdf["k"] = key[0]
    return pdf[pdf["m"] > -1][["k", "y", "m"]]


def with_shares_of_a_group(key: Any, pdf: Any) -> Any:
    """Of ``m``, what a row has depends on which other rows there are."""
    rate = RATES.get(key[0], 1.0)
    size = pdf["x"].abs().fillna(1.0)
    pdf["m"] = np.arctan(size / size.max() * rate)
    return pdf[["k", "y", "m"]]


def weighted_pair(pdf: Any) -> Any:
    """It raises unless the group has two rows."""
    pdf["weight"] = [0.25, 0.75]
    pdf["m"] = np.arctan(pdf["x"])
    return pdf[["k", "y", "m"]]


def one_row_for_each_word(batches: Iterator[Any]) -> Iterator[Any]:
    for pdf in batches:
        words = pdf[["k", "words"]].explode("words").dropna(subset=["words"])
        yield words.rename(columns={"words": "word"})


def numbered_words(batches: Iterator[Any]) -> Iterator[Any]:
    """Numbers depend on the other rows."""
    for pdf in batches:
        words = pdf[["k", "words"]].explode("words", ignore_index=True)
        words["word"] = words["words"] + words.index.astype(str)
        yield words[["k", "word"]]


def as_they_are(batches: Iterator[Any]) -> Iterator[Any]:
    """Lifts, unlike the others."""
    for pdf in batches:
        yield pdf[["k", "y"]]


def _with_bins(pdf: Any) -> Any:
    edges = np.array([0.0, 2.0, 8.0])
    pdf["m"] = np.digitize(pdf["x"].abs(), edges) * edges[1]
    return pdf[["k", "y", "m"]]


def bins(batches: Iterator[Any]) -> Iterator[Any]:
    return map(_with_bins, batches)


def first_letters(batches: Iterator[Any]) -> Iterator[Any]:
    return (
        pdf.assign(
            letter=pdf["s"].str.extract(r"([a-z])", expand=False),
            m=np.log1p(pdf["x"].clip(0, None)),
        )[["k", "y", "m"]]
        for pdf in batches
        if len(pdf)
    )


def skipped(batches: Iterator[Any]) -> Iterator[Any]:
    for pdf in batches:
        texts = pdf.query("s != ''")
        if texts.empty:
            continue
        texts = texts.assign(m=np.log1p(texts["x"].clip(0, None)))
        yield texts[["k", "y", "m"]]


PASSING = {
    logarithms: ("k > 'a'", "k > 'a'"),
    upper: ("k = 'x'", "s = 'x'"),
    bins: ("k > 'a'", "k > 'a'"),
    first_letters: ("k > 'a'", "k > 'a'"),
    skipped: ("k > 'a'", "k > 'a'"),
}
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


def whole_if_chosen(batches: Iterator[Any]) -> Iterator[Any]:
    for pdf in batches:
        texts = pdf.query("s == 'é'")
        if texts.empty:
            continue
        pdf["m"] = 1.0
        yield pdf[["k", "y", "m"]]


def remembered(batches: Iterator[Any]) -> Iterator[Any]:
    last: list[Any] = []
    for pdf in batches:
        pdf["m"] = pdf["s"].map(lambda s: float(len(last.__iadd__([s]))))
        yield pdf[["k", "y", "m"]]


DEPENDING = (ranked, numbered, shifted, large_batches, whole_if_chosen, remembered)
"""What these make of a row depends on the others."""


def roots(batches: Iterator[Any]) -> Iterator[Any]:
    """Beside NULL pandas has other integers, of which the root of a negative one is no NULL."""
    for pdf in batches:
        pdf["m"] = np.sqrt(pdf["y"])
        yield pdf[["k", "y", "m"]]
