"""Untrusted. The suite's benchmarks as PySpark pipelines: Parquet, a fold per group, a filter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.on_spark.parquet import KEY
from benchmarks.suite import Benchmark
from presieve.spark import group_fold
from presieve.sql.ddl import parse_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_ALL = "outputs"


@dataclass(frozen=True, slots=True)
class Pipeline:
    """One benchmark on one table.

    The fold runs as an Arrow aggregate function (:func:`presieve.spark.group_fold`); a fold with
    several outputs gives a struct, whose fields become columns.
    """

    benchmark: Benchmark
    table: DataFrame

    def written(self) -> DataFrame:
        """As a user writes it: group, fold, filter."""
        return self.folded(self.table).filter(self.benchmark.filter.where)

    def by_hand(self, prefilter: str, residual: str) -> DataFrame:
        """With the filters typed below and above the same function, and nothing of ours."""
        below = self.table if prefilter == "true" else self.table.filter(prefilter)
        folded = self.folded(below)
        return folded if residual == "true" else folded.filter(residual)

    def folded(self, table: DataFrame) -> DataFrame:
        """Without the filter."""
        outputs = parse_schema(self.benchmark.returns)
        named = ", ".join(f"`{o.name}`: {o.type}" for o in outputs)
        single = len(outputs) == 1
        returns = outputs[0].type if single else f"struct<{named}>"
        fold = group_fold(self.benchmark.family.fold, returns)
        inputs = [c.name for c in parse_schema(self.benchmark.schema)]
        folded = fold(*inputs).alias(outputs[0].name if single else _ALL)
        groups = table.groupBy(KEY).agg(folded)
        if single:
            return groups
        return groups.select(KEY, *(f"{_ALL}.`{o.name}`" for o in outputs))
