"""Functions of the features: each of a form of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc


class Best:
    def zero(self) -> Any:
        return None

    def reduce(self, acc: Any, row: Any) -> Any:
        return row.score if acc is None or row.score > acc else acc

    def finish(self, acc: Any) -> Any:
        return acc


class BestRow:
    def __init__(self) -> None:
        self.best: Any = None

    def eval(self, row: Any) -> None:
        if row["score"] is not None and (self.best is None or row["score"] > self.best):
            self.best = row["score"]

    def terminate(self) -> Iterator[Any]:
        yield (self.best,)


def best(score: Any) -> Any:
    found = None
    for s in score:
        if found is None or s > found:
            found = s
    return found


def best_of_array(score: Any) -> Any:
    found = None
    for s in score:
        value = s.as_py()
        if found is None or value > found:
            found = value
    return found


def best_of_batches(batches: Iterator[Any]) -> Any:
    found = None
    for score in batches:
        for s in score:
            if found is None or s > found:
                found = s
    return found


def best_of_table(pdf: Any) -> Any:
    return pd.DataFrame({"team": [pdf["team"].iloc[0]], "m": [pdf["score"].max()]})


def best_of_arrow(table: Any) -> Any:
    best = None
    for score in table["score"]:
        value = score.as_py()
        if value is not None and (best is None or value > best):
            best = value
    return pa.table({"m": pa.array([best], pa.float64())})


def doubled(pdf: Any) -> Any:
    pdf["score"] = pdf["score"] * 2
    return pdf


def of_batches(batches: Iterator[Any]) -> Iterator[Any]:
    for pdf in batches:
        pdf["score"] = pdf["score"] * 2
        yield pdf


def of_arrow_batches(batches: Iterator[Any]) -> Iterator[Any]:
    for batch in batches:
        yield batch.filter(pc.greater(batch["v"], 1))


def of_both(left: Any, right: Any) -> Any:
    return left.merge(right.rename(columns={"club": "team"}), on="team")[["team", "w"]]


def grade(score: Any) -> Any:
    if score is None:
        return None
    return "high" if score > 90 else "low"


def graded(limit: Any) -> Any:
    """A function that reads a broadcast variable."""

    def grade_by(score: Any) -> Any:
        return "high" if score is not None and score > limit.value else "low"

    return grade_by


def scaled(score: Any) -> Any:
    return score * 2.0


def cleaned(level: Any) -> Any:
    if level is None:
        return None
    return level.strip().title()


def median(pdf: Any) -> Any:
    return pd.DataFrame({"team": [pdf["team"].iloc[0]], "m": [pdf["score"].median()]})


def sized(score: Any) -> Any:
    return len(score)
