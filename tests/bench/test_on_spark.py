"""The suite's extreme cases on Spark: groups that vanish, filters that never hold or always do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from benchmarks.suite import UNSATISFIABLE
from tests.bench import udfs
from tests.bench.answers import ANSWERS, BENCHMARKS, Answer
from tests.fuzz.kinds import KINDS
from tests.support.lifting import columns
from tests.support.pickling import pickled_by_value
from tests.support.running import same_rows

from presieve.driver.optimize import explain, optimize

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

CASES: dict[str, tuple[Any, str]] = {
    "20Nov_1": (udfs.any_awarded, "Adjudicada"),
    "Jdata_3": (udfs.has_bought, ""),
    "AggregationQuerySuite_4": (udfs.last_of_code, ""),
    "KeepRowWithMaxAge_1": (udfs.oldest, ""),
    "KeepRowWithMaxQuality_1": (udfs.best_measurement, ""),
}
"""The function of each filter that can never hold, and a text that its fold looks for."""

ALWAYS: dict[str, tuple[Any, str, str]] = {
    "TPCHUDAF_3": (udfs.pressing_orders, "2-HIGH", ""),
    "20Nov_1": (udfs.any_awarded, "Adjudicada", "won IN (0, 1)"),
}
"""The function, a text, and a filter that always holds, where it is not the published one."""


by_value = pickled_by_value(udfs)


@pytest.fixture(autouse=True)
def not_adaptive(spark: SparkSession) -> Iterator[None]:
    """The plan that is shown is the one that runs."""
    before = spark.conf.get("spark.sql.adaptive.enabled")
    spark.conf.set("spark.sql.adaptive.enabled", "false")
    yield
    spark.conf.set("spark.sql.adaptive.enabled", str(before))


# --- groups that vanish -------------------------------------------------------------------------


def folded(df: DataFrame, answer: Answer) -> DataFrame:
    """The fold's class, run for every ``g`` by Spark's Python workers."""
    fold = answer.benchmark.family.fold
    names = [c.name for c in columns(answer.returns)]
    types = {c.name: c.type for c in columns(answer.returns)}

    def run(key: tuple[Any, ...], table: pa.Table) -> pa.Table:
        import pyarrow

        user = fold()
        acc = user.zero()
        for row in table.to_pylist():
            acc = user.reduce(acc, row)
        result = user.finish(acc)
        cells = result if len(names) > 1 else (result,)
        arrow = {"bigint": "int64", "double": "float64", "boolean": "bool"}
        data = [pyarrow.array([key[0].as_py()], "string")]
        data += [pyarrow.array([x], arrow[types[n]]) for n, x in zip(names, cells, strict=True)]
        return pyarrow.table(data, names=["g", *names])

    return df.groupBy("g").applyInArrow(run, f"g string, {answer.returns}")


@pytest.mark.parametrize("answer", ANSWERS, ids=str)
def test_the_published_answer_loses_a_group(spark: SparkSession, answer: Answer) -> None:
    """The table against it, as verify gives it, with and without the published pre-filter."""
    verdict = answer.job().verify(answer.prefilter, answer.residual)
    shown = verdict.counterexample
    assert shown is not None
    names = [c.name for c in columns(answer.schema)]
    rows = [("lost", *(row[n] for n in names)) for row in shown.rows]
    df = spark.createDataFrame(rows, f"g string, {answer.schema}").coalesce(1)
    written = folded(df, answer).filter(answer.where).collect()
    fewer = folded(df.filter(answer.prefilter), answer)
    pushed = fewer.filter(answer.residual or answer.where).collect()
    assert [row.asDict() for row in written] == [{"g": "lost", **shown.original[0]}]  # type: ignore[dict-item]
    assert pushed == []


# --- filters that never hold --------------------------------------------------------------------


def stored(spark: SparkSession, path: Path, name: str, text: str) -> DataFrame:
    """Random rows for a benchmark in five groups, as Parquet."""
    random = Random(name)
    declared = columns(BENCHMARKS[name].schema)
    pools: dict[str, list[Any]] = {
        c.name: [text, "other"] if c.type == "string" else [*KINDS[c.type].usual, 50, 21]
        for c in declared
    }
    rows = [
        (f"g{random.randrange(5)}", *(random.choice(pools[c.name]) for c in declared))
        for _ in range(200)
    ]
    schema = "g string, " + BENCHMARKS[name].schema
    spark.createDataFrame(rows, schema).coalesce(1).write.parquet(str(path))
    return spark.read.parquet(str(path))


def grouped(df: DataFrame, name: str, function: Any) -> DataFrame:
    return df.groupBy("g").applyInPandas(function, f"g string, {BENCHMARKS[name].returns}")


def plan(df: DataFrame) -> tuple[str, str, int]:
    """The optimized and the physical plan, and the rows that leave its scans when it is run."""
    executed: Any = df._jdf.queryExecution()
    executed.executedPlan().executeCollect()
    leaves = executed.executedPlan().collectLeaves()
    read = 0
    for i in range(leaves.size()):
        metric = leaves.apply(i).metrics().get("numOutputRows")
        read += metric.get().value() if metric.isDefined() else 0
    return executed.optimizedPlan().toString(), executed.executedPlan().toString(), read


def test_all_five() -> None:
    assert set(CASES) == UNSATISFIABLE


@pytest.mark.parametrize("name", CASES)
def test_a_filter_that_never_holds_reads_nothing(
    spark: SparkSession, tmp_path: Path, name: str
) -> None:
    function, text = CASES[name]
    df = stored(spark, tmp_path / "t", name, text)
    written = grouped(df, name, function).filter(BENCHMARKS[name].filter.where)
    (boundary,) = explain(written).boundaries
    assert (boundary.kind, boundary.prefilter) == ("empty", "false")
    better = optimize(written)
    same_rows(written, better)
    assert better.collect() == []
    logical, physical, read = plan(better)
    assert "Relation [" not in logical
    assert "LocalRelation <empty>" in logical
    assert "Scan parquet" not in physical
    assert read == 0
    _, before, rows = plan(written)
    assert "Scan parquet" in before
    assert rows == 200


# --- filters that always hold -------------------------------------------------------------------


@pytest.mark.parametrize("name", ALWAYS)
def test_a_filter_that_always_holds_is_dropped(
    spark: SparkSession, tmp_path: Path, name: str
) -> None:
    function, text, other = ALWAYS[name]
    df = stored(spark, tmp_path / "t", name, text)
    groups = grouped(df, name, function)
    written = groups.filter(other or BENCHMARKS[name].filter.where)
    (boundary,) = explain(written).boundaries
    assert (boundary.kind, boundary.prefilter, boundary.residual) == ("exact", "true", "true")
    better = optimize(written)
    same_rows(written, better)
    assert better.count() == 5
    assert "Filter" not in plan(better)[0]
    assert "Filter" in plan(written)[0]
