"""Functions of tables that read a few columns, and twins that look at all of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

FACTOR = 2.0
SEEN: list[Any] = []


def median(key: Any, pdf: Any) -> Any:
    return pd.DataFrame({"k": [key[0]], "m": [float(np.nanmedian(pdf["x"].fillna(0)))]})


def slope(pdf: Any) -> Any:
    fit = np.polyfit(pdf["y"].astype(float), pdf["x"].fillna(0.0), 1) if len(pdf) > 1 else [0.0]
    return pd.DataFrame({"k": [pdf["k"].iloc[0]], "m": [round(float(fit[0]), 6)]})


def longest(pdf: Any) -> Any:
    best = pdf.sort_values(["y", "x"]).head(1)
    return pd.DataFrame({"k": best["k"], "m": best["x"] * FACTOR})


def in_a_loop(key: Any, pdf: Any) -> Any:
    total = 0.0
    for column in ("x", "y"):
        total += float(pdf[column].fillna(0).sum())
    return pd.DataFrame([(*key, total)], columns=["k", "m"])


def caught(key: Any, pdf: Any) -> Any:
    try:
        value = 1.0 / float(pdf.y.iloc[0] - pdf.y.iloc[-1])
    except ZeroDivisionError:
        print("one value in", len(pdf))
        value = 0.0
    return pd.DataFrame({"k": [key[0]], "m": [value]})


def _mean(frame: Any) -> float:
    return float(frame["x"].fillna(1.0).mean())


def helped(key: Any, pdf: Any) -> Any:
    return pd.DataFrame({"k": [key[0]], "m": [_mean(pdf[pdf.y >= 0])]})


def rows_only(key: Any, pdf: Any) -> Any:
    return pd.DataFrame({"k": [key[0]], "m": [float(len(pdf))]})


NARROW = {
    median: "k x",
    slope: "k x y",
    longest: "k x y",
    in_a_loop: "k x y",
    caught: "k y",
    helped: "k x y",
    rows_only: "k",
}
"""With what they read."""


def _row(key: Any, value: Any) -> Any:
    return pd.DataFrame({"k": [key[0]], "m": [float(value)]})


def counts_columns(key: Any, pdf: Any) -> Any:
    return _row(key, len(pdf.columns))


def shape(key: Any, pdf: Any) -> Any:
    return _row(key, pdf.shape[1])


def size(key: Any, pdf: Any) -> Any:
    return _row(key, pdf.size)


def complete_rows(key: Any, pdf: Any) -> Any:
    return _row(key, len(pdf.dropna()))


def different_rows(key: Any, pdf: Any) -> Any:
    return _row(key, len(pdf[["s", "y"]].drop_duplicates()) + len(pdf.drop_duplicates()))


def types(key: Any, pdf: Any) -> Any:
    return _row(key, sum(t == "float64" for t in pdf.dtypes))


def described(key: Any, pdf: Any) -> Any:
    return _row(key, len(pdf.describe().columns))


def one_type(key: Any, pdf: Any) -> Any:
    """A row of a table of numbers has one type: big integers are rounded beside a double."""
    numbers = pdf.drop(columns=["k", "s", "t"])
    return _row(key, sum(int(row["y"]) % 7 for _, row in numbers.iterrows()))


def applied(key: Any, pdf: Any) -> Any:
    return _row(key, pdf.apply(lambda row: len(row), axis=1).sum())


def by_position(key: Any, pdf: Any) -> Any:
    return _row(key, pdf.iloc[:, -1].count())


def last_field(key: Any, pdf: Any) -> Any:
    return _row(key, sum(len(str(row[-1])) for row in pdf.itertuples()))


def records(key: Any, pdf: Any) -> Any:
    return _row(key, sum(len(r) for r in pdf.to_dict("records")))


def by_name(key: Any, pdf: Any) -> Any:
    return _row(key, sum(pdf[c].count() for c in pdf))


def asked_for(key: Any, pdf: Any) -> Any:
    return _row(key, "z" in pdf)


def local_variables(key: Any, pdf: Any) -> Any:
    return _row(key, len(locals()["pdf"].columns))


def as_text(key: Any, pdf: Any) -> Any:
    return _row(key, len(repr(pdf)))


WIDE = (
    *(counts_columns, shape, size, complete_rows, different_rows, types, described, one_type),
    *(applied, by_position, last_field, records, by_name, asked_for, local_variables, as_text),
)
"""What these give depends on columns that they do not name."""


def remembers(key: Any, pdf: Any) -> Any:
    SEEN.append(pdf)
    return _row(key, len(SEEN) > 0)


def doubled(batches: Iterator[Any]) -> Iterator[Any]:
    factor = FACTOR
    for pdf in batches:
        yield pdf[pdf["y"] > 0][["k", "x"]].assign(m=lambda d: d.x * factor).drop(columns="x")


def centred(batches: Iterator[Any]) -> Iterator[Any]:
    for pdf in batches:
        pdf["m"] = pdf["y"] - pdf["y"].mean()
        yield pdf[["k", "m"]]


def of_integers(batches: Iterator[Any]) -> Iterator[Any]:
    for pdf in batches:
        yield pd.DataFrame({"k": pdf["y"].astype(str), "m": pdf["x"]})


def of_two(key: Any, left: Any, right: Any) -> Any:
    total = float(left["x"].fillna(0).sum()) + float(right["w"].fillna(0).sum())
    return pd.DataFrame({"k": [key[0]], "m": [total]})


def length(text: str) -> int:
    return 0 if text is None else len(text)


def lengths(texts: pd.Series) -> pd.Series:
    return texts.str.len().fillna(0).astype("int64")


def highest(numbers: pd.Series) -> int:
    return int(numbers.max())


def arrow_named(batches: Iterator[Any]) -> Iterator[Any]:
    for batch in batches:
        kept = batch.filter(pc.greater(batch.column("x"), 1.0))
        arrays = [kept.column("k"), kept.column("x"), kept["t"]]
        yield pa.RecordBatch.from_arrays(arrays, names=["k", "m", "t"])


def arrow_numbered(batches: Iterator[Any]) -> Iterator[Any]:
    """The last column is another one where there are fewer."""
    for batch in batches:
        yield pa.RecordBatch.from_arrays([batch.column("k"), batch.column(5)], names=["k", "m"])


def arrow_whole(batches: Iterator[Any]) -> Iterator[Any]:
    for batch in batches:
        yield batch.filter(pc.greater(batch.column("x"), 1.0))


def arrow_counting(batches: Iterator[Any]) -> Iterator[Any]:
    for batch in batches:
        wide = pc.add(batch.column("x"), float(batch.num_columns))
        yield pa.RecordBatch.from_arrays([batch.column("k"), wide], names=["k", "m"])
