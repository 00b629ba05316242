"""Modules that workers import again, written into a folder, and what a driver may do to them."""

from __future__ import annotations

import importlib
import itertools
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TEXT = """
import dataclasses
import functools
import os
from typing import NamedTuple

import pandas as pd
import pyarrow as pa

LIMIT = 10.0
FROM_OUTSIDE = float(os.environ.get("PRESIEVE_TEST_LIMIT", "10"))
LEVELS = ["error"]
LOOKUP = {"error": 10.0}


def is_high(value):
    return value is not None and value > 10.0


def least(value, limit=10.0, *, also=0.0):
    return value is not None and value > limit and value > also


def highest(series):
    best = None
    for value in series:
        if value > LIMIT and (best is None or value > best):
            best = value
    return best


def highest_by_helper(series):
    best = None
    for value in series:
        if is_high(value) and (best is None or value > best):
            best = value
    return best


def highest_by_default(series, limit=10.0):
    best = None
    for value in series:
        if value > limit and (best is None or value > best):
            best = value
    return best


def frame(pdf):
    best = None
    for row in pdf.itertuples():
        if row.score > LIMIT and (best is None or row.score > best):
            best = row.score
    return pd.DataFrame({"team": [pdf.team.iloc[0]], "m": [best]})


def table(key, table):
    best = None
    for value in table["score"].to_pylist():
        if value is not None and value > LIMIT and (best is None or value > best):
            best = value
    names = pa.array([key[0].as_py()], pa.string())
    return pa.table({"team": names, "m": pa.array([best], pa.float64())})


def rows(batches):
    for pdf in batches:
        yield pdf[pdf["score"] > LIMIT]


def season(score):
    return None if score is None else 1 if score > LIMIT else 0


def season_by_lookup(level):
    return LOOKUP.get(level, 0.0)


def season_by_list(level):
    return 1 if level in LEVELS else 0


def season_by_helper(score):
    return 1 if is_high(score) else 0


def season_by_default(score):
    return 1 if least(score) else 0


def season_from_outside(score):
    return 1 if score is not None and score > FROM_OUTSIDE else 0


@dataclasses.dataclass(frozen=True)
class Pair:
    low: float = 10.0
    high: float = 20.0

    def inside(self, value):
        return value > self.low


class Named(NamedTuple):
    low: float = 10.0


def season_by_dataclass(score):
    return 1 if score is not None and Pair().inside(score) else 0


def season_by_field(score):
    return 1 if score is not None and score > Pair().low else 0


def season_by_named_tuple(score):
    return 1 if score is not None and score > Named().low else 0


class Plain:
    LOW = 10.0

    def __init__(self):
        self.low = 10.0

    def inside(self, value):
        return value > self.low


def season_by_object(score):
    return 1 if score is not None and Plain().inside(score) else 0


class Base:
    LIMIT = 10.0

    def passes(self, value):
        return value is not None and value > self.LIMIT

    @staticmethod
    def better(a, b):
        return a is None or b > a


class Best(Base):
    def zero(self):
        return None

    def reduce(self, acc, row):
        if self.passes(row.score) and self.better(acc, row.score):
            return row.score
        return acc

    def finish(self, acc):
        return acc


class Alone:
    LIMIT = 10.0
    FROM_OUTSIDE = float(os.environ.get("PRESIEVE_TEST_LIMIT", "10"))

    def __init__(self, limit=10.0):
        self.limit = limit

    def zero(self):
        return None

    def reduce(self, acc, row):
        if row.score is None or row.score <= self.limit or row.score <= self.LIMIT:
            return acc
        return row.score if acc is None or row.score > acc else acc

    def finish(self, acc):
        return acc


class FromOutside(Alone):
    def reduce(self, acc, row):
        if row.score is None or row.score <= self.FROM_OUTSIDE:
            return acc
        return row.score if acc is None or row.score > acc else acc


class Outer:
    class Inner(Alone):
        pass


class Partition:
    LIMIT = 10.0

    def __init__(self):
        self.best = None
        self.team = None

    def eval(self, row):
        self.team = row["team"]
        if row["score"] is not None and row["score"] > self.LIMIT:
            if self.best is None or row["score"] > self.best:
                self.best = row["score"]

    def terminate(self):
        yield (self.team, self.best)
"""

_numbers = itertools.count()


@dataclass(frozen=True)
class Module:
    """A module in a folder of its own. Its name is new, so that no worker has it already."""

    found: Any  # a module, of which a test sets names
    file: Path

    def __getattr__(self, name: str) -> Any:
        return getattr(self.found, name)


def imported(folder: Path, text: str = TEXT, spark: SparkSession | None = None) -> Module:
    """The module of that text, which the workers of the session find, too."""
    name = f"presieve_shipped_{next(_numbers)}"
    file = folder / f"{name}.py"
    file.write_text(text)
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        found = importlib.import_module(name)
    finally:
        sys.path.remove(str(folder))
    made = Module(found, file)
    if spark is not None:
        spark_finds(spark, made)
    return made


def spark_finds(spark: SparkSession, module: Module) -> None:
    """Have the workers find the module as its file is now."""
    if type(spark).__module__.startswith("pyspark.sql.connect"):
        spark.addArtifacts(str(module.file), pyfile=True)
    else:
        spark.sparkContext.addPyFile(str(module.file))


Change = Callable[[ModuleType], object]
Build = Callable[[Any, "DataFrame"], "DataFrame"]


def changed(path: str, value: object) -> Change:
    """An assignment to a dotted name of the module. A function stands for what it gives of it."""

    def change(module: ModuleType) -> None:
        *parts, last = path.split(".")
        owner: Any = module
        for part in parts:
            owner = getattr(owner, part)
        setattr(owner, last, value)

    return change


def deleted(path: str) -> Change:
    """The deletion of a dotted name of the module."""

    def change(module: ModuleType) -> None:
        *parts, last = path.split(".")
        owner: Any = module
        for part in parts:
            owner = getattr(owner, part)
        delattr(owner, last)

    return change
