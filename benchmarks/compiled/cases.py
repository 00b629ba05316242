"""Untrusted. What is measured: folds of groups and functions of rows, written and by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from benchmarks.compiled.by_hand import BY_HAND, ORDERLESS
from benchmarks.on_spark.parquet import KEY
from benchmarks.on_spark.pipelines import Pipeline
from benchmarks.row_functions.catalogue import MODULES, ROW_FUNCTIONS, RowFunction
from benchmarks.suite import Benchmark, Family
from benchmarks.values import Contents

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FOLD = "fold"
"""The form of a function of groups, beside those of functions of rows."""


@dataclass(frozen=True, slots=True)
class Case:
    """One function over a table, as a user writes it and by hand."""

    name: str
    form: str
    contents: Contents
    written: Callable[[DataFrame], DataFrame]
    by_hand: Callable[[DataFrame], DataFrame]


def cases(families: Iterable[Family]) -> tuple[Case, ...]:
    """The fold of each family, and the functions of rows."""
    return (*map(_of_groups, families), *map(_of_rows, ROW_FUNCTIONS))


@contextmanager
def by_value() -> Iterator[None]:
    """Functions reach the workers as code, as those of a job's main file do."""
    from pyspark import cloudpickle

    for module in MODULES:
        cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        for module in MODULES:
            cloudpickle.unregister_pickle_by_value(module)  # type: ignore[no-untyped-call]


def _of_groups(family: Family) -> Case:
    benchmark = Benchmark(family, 1)
    data = {**family.data, **ORDERLESS.get(family.name, {})}

    def written(table: DataFrame) -> DataFrame:
        return Pipeline(benchmark, table).folded(table)

    contents = Contents(family.name, family.schema, data)
    return Case(family.name, FOLD, contents, written, partial(_aggregated, family.name))


def _aggregated(name: str, table: DataFrame) -> DataFrame:
    from pyspark.sql.functions import expr

    outputs = (expr(sql).alias(output) for output, sql in BY_HAND[name].items())
    return table.groupBy(KEY).agg(*outputs)


def _of_rows(row: RowFunction) -> Case:
    name = row.function.__name__
    return Case(name, row.form, Contents(name, row.schema, row.data), row.written, row.typed)
