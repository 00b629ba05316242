"""Untrusted. Pipelines over tables of TPC-H."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.on_spark.run import ByHand, Job
from benchmarks.on_spark.transpiled import transpiler
from benchmarks.tpch.queries import Query
from benchmarks.tpch.tables import TABLES
from presieve.ir.pushdown import Kind

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def read(spark: SparkSession, folder: Path) -> dict[str, DataFrame]:
    """The tables of a folder."""
    return {name: spark.read.parquet(str(folder / f"{name}.parquet")) for name in TABLES}


def written(query: Query, tables: Mapping[str, DataFrame]) -> DataFrame:
    """A query as written."""
    return query.folded(query.read(tables)).filter(query.where)


def transpiled(query: Query, tables: Mapping[str, DataFrame]) -> DataFrame:
    """A query as written, with Spark's own transpiler, which leaves functions of groups alone. The
    setting must be on where it is run, too.
    """
    with transpiler(_session(tables), on=True):
        return written(query, tables)


def _session(tables: Mapping[str, DataFrame]) -> SparkSession:
    return tables[TABLES[0]].sparkSession


def jobs(queries: tuple[Query, ...], tables: Mapping[str, DataFrame]) -> Iterator[Job]:
    """Each query on the tables. Its number of rows is what its function reads. Until the next one
    is asked for, the setting of Spark's transpiler is as the query needs it.
    """
    for query in queries:
        rows = query.read(tables).count()
        plain, by_hand = written(query, tables), partial(_by_hand, query, tables)
        if not query.arguments:
            yield Job(query.name, rows, plain, by_hand)
            continue
        other = transpiled(query, tables)
        with transpiler(_session(tables), on=True):
            yield Job(query.name, rows, plain, by_hand, other)


def _by_hand(query: Query, tables: Mapping[str, DataFrame]) -> ByHand:
    df = query.read(tables)
    fewer = df if query.prefilter == "true" else df.filter(query.prefilter)
    with transpiler(_session(tables), on=False):
        folded = query.folded(fewer)
    return ByHand(
        kind=kind(query),
        prefilter=query.prefilter,
        residual=query.residual,
        declined="",
        pipeline=folded if query.residual == "true" else folded.filter(query.residual),
        kept=fewer.count,
    )


def kind(query: Query) -> Kind:
    """What is typed by hand, in the words of a pushdown."""
    if query.prefilter == "true":
        return "none"
    if query.residual == "true":
        return "exact"
    return "partial" if query.residual == query.where else "split"
