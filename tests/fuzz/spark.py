"""Pairs as real DataFrames: Parquet files, pandas UDFs, one session; as written and optimized.

All filters on one fold run in one job as written and in one as optimized, because a job costs about
a second. Columns of Parquet files are nullable, whatever the program was generated for.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from tests.fuzz import filters, programs, settings, tables
from tests.fuzz.execute import Row, Runner
from tests.fuzz.kinds import value_sort
from tests.fuzz.loading import Loaded
from tests.fuzz.pairs import FILTERS
from tests.fuzz.programs import Program
from tests.fuzz.settings import Setting
from tests.lift.lifting import columns

from presieve.driver.inputs import Inputs, read_inputs
from presieve.driver.optimize import explain, optimize
from presieve.driver.store import CACHE
from presieve.ir.terms import SQL_TRUE
from presieve.semantics.interpret import Raised
from presieve.semantics.types import decimal_type
from presieve.semantics.values import Value, to_python

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from presieve.report.report import Report

GROUPS = 24
_ARROW: dict[str, pa.DataType] = {
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "double": pa.float64(),
    "string": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "timestamp_ntz": pa.timestamp("us"),
}


@dataclass
class Tally:
    """What the pairs came to."""

    kinds: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    scans: int = 0
    raising: int = 0
    rows: int = 0
    wrong: list[str] = field(default_factory=list)

    @property
    def pairs(self) -> int:
        """How many there were."""
        return self.kinds.total()


def session(folder: str) -> SparkSession:
    """A small local session."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    found = (
        SparkSession.builder.master("local[1]")
        .appName("presieve-fuzz")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "1g")
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.parquet.datetimeRebaseModeInRead", "CORRECTED")
        .config("spark.sql.warehouse.dir", folder)
        .getOrCreate()
    )
    found.sparkContext.setLogLevel("OFF")
    return found


def run(pairs: int, seed: int, seconds: float, log: Path) -> int:
    """So many pairs on Spark, or as many as fit; exit code 0 where all results are equal."""
    os.environ[CACHE] = "off"  # what runs here are searches
    started = time.monotonic()
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        spark = session(folder)
        try:
            fold = 0
            while tally.pairs < pairs and time.monotonic() - started < seconds:
                _fold(spark, seed, fold, tally, Path(folder))
                fold += 1
                if fold % 10 == 0:
                    told = f"{time.monotonic() - started:6.0f} s  {tally.pairs} pairs on Spark"
                    print(f"{told}, {len(tally.wrong)} wrong", file=sys.stderr, flush=True)
        finally:
            _tell(tally, seed, started, log)
            spark.stop()
    return 1 if tally.wrong else 0


def _tell(tally: Tally, seed: int, started: float, log: Path) -> None:
    found = {
        "spark_pairs": tally.pairs,
        "seed": seed,
        "seconds": round(time.monotonic() - started, 1),
        "kinds": dict(tally.kinds.most_common()),
        "reasons": dict(tally.reasons.most_common(10)),
        "with_scan_filters": tally.scans,
        "result_rows": tally.rows,
        "folds_that_raise": tally.raising,
        "wrong": tally.wrong,
    }
    with log.open("a") as out:
        out.write(json.dumps(found) + "\n")
    print(json.dumps(found, indent=1), flush=True)


def program(seed: int, fold: int) -> Program:
    """The program of a fold: a function of pandas, its columns nullable, its key a text."""
    for attempt in range(1000):
        made = programs.make(Random(f"spark/{seed}/{fold}/{attempt}"))
        if made.form != "class":
            # A Parquet file has nullable columns, and so has what a pandas UDF returns.
            schema, returns = (x.replace(" NOT NULL", "") for x in (made.schema, made.returns))
            return replace(made, schema=schema, returns=returns)
    raise AssertionError("no program of pandas in a thousand")


def _fold(spark: SparkSession, seed: int, fold: int, tally: Tally, folder: Path) -> None:
    made = program(seed, fold)
    random = Random(f"spark/{seed}/{fold}")
    with Loaded(made, f"spark {seed}:{fold}") as loaded, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        inputs = read_inputs(loaded, made.schema, made.returns, made.keys, made.mode)
        if not isinstance(inputs, Inputs):
            return
        setting = settings.make(Random(f"spark/{seed}/{fold}/setting"), made)
        options: dict[str, Any] = {"policy": setting.policy, "declare": setting.declare}
        options["budget"] = 8.0
        rows = _rows(random, Runner(made, loaded, inputs), setting)
        if not rows:
            return
        path = folder / f"t{fold}.parquet"
        pq.write_table(_table(made, rows), path, row_group_size=16)
        source = spark.read.schema(made.schema).parquet(str(path))
        base = _applied(made, loaded, _below(random, source))
        # The functions give no keys, so that filters on them have nothing to stand on.
        named = made if made.form == "series" else replace(made, keys="")
        wheres = [filters.make(Random(f"spark/{seed}/{fold}/{j}"), named) for j in range(FILTERS)]
        written = [_above(random, base, w) for w in wheres]
        better = [optimize(df, **options) for df in written]
        told = _compare(written, better)
        if told is None:
            tally.raising += 1
            return
        for df, now in zip(written, better, strict=True):
            _count(tally, df, now, explain(df, **options))
    tally.rows += told.rows
    for j in told.different:
        pair = f"spark seed {seed} fold {fold} filter {wheres[j]!r} {setting}"
        tally.wrong.append(f"{pair}: {told.text}")
        print(f"{tally.wrong[-1]}\n{made.source}\n{made.schema}", file=sys.stderr, flush=True)


def _rows(random: Random, runner: Runner, setting: Setting) -> list[Row]:
    """Some groups, none of which makes the function raise."""
    problem, _ = setting.problem(runner.inputs, SQL_TRUE)
    groups: list[list[Row]] = []
    for i in range(GROUPS):
        keys, pool = tables.rows_of(random, problem, runner.inputs)
        if not pool:
            return []
        key = _key(runner, i)
        if not tables.lawful_key(problem, key):
            key = random.choice(keys)
        if i == 0 and tables.lawful_key(problem, dict.fromkeys(key)):
            key = dict.fromkeys(key)
        rows = [{**r, **key} for r in pool]
        group = [random.choice(rows) for _ in range(random.choice((1, 2, 3, 5)))]
        if not isinstance(runner.run(group), Raised):
            groups.append(group)
    # Groups are mixed, but the rows of each keep the order in which they were tried.
    turns = [i for i, group in enumerate(groups) for _ in group]
    random.shuffle(turns)
    ordered = [iter(group) for group in groups]
    return [next(ordered[i]) for i in turns]


def _key(runner: Runner, i: int) -> Row:
    """The key of a group; booleans can tell two groups apart, which have a text besides."""
    types = {c.name: c.type for c in runner.inputs.schema}
    values: dict[str, Value] = {"string": f"g{i}", "boolean": i % 2 == 0}
    return {k: values.get(types[k], i) for k in runner.inputs.keys}


def _arrow(kind: str) -> pa.DataType:
    digits = decimal_type(kind)
    return pa.decimal128(*digits) if digits else _ARROW[kind]


def _table(made: Program, rows: Sequence[Row]) -> pa.Table:
    schema = columns(made.schema)
    arrays = {
        c.name: pa.array([to_python(r[c.name], value_sort(c.type)) for r in rows], _arrow(c.type))
        for c in schema
    }
    return pa.table(arrays)


def _below(random: Random, df: DataFrame) -> DataFrame:
    """What may stand between the file and the function."""
    shapes: list[Callable[[DataFrame], DataFrame]] = [
        lambda df: df.where("g IS NOT NULL"),
        lambda df: df.where("g <> 'g1' OR g IS NULL"),
        lambda df: df.select("*"),
    ]
    return random.choice(shapes)(df) if random.random() < 0.3 else df


def _above(random: Random, df: DataFrame, where: str) -> DataFrame:
    """The filter, alone or among what may stand between it and the function."""
    from pyspark.sql import functions as F

    names = df.columns
    shapes: list[Callable[[], DataFrame]] = [
        lambda: df.select(*reversed(names)).where(where).select(*names),
        lambda: df.withColumn("extra", F.lit(1)).where(where).drop("extra"),
        lambda: df.where(where).where(f"{names[-1]} IS NOT NULL"),
        lambda: df.where(f"{names[0]} IS NOT NULL").where(where),
        lambda: df.where(where).withColumn(names[-1], F.lit(None).cast(df.dtypes[-1][1])),
        lambda: df.where(where).select(names[0], *names[1:]),
        lambda: df.alias("t").where(where),
    ]
    return random.choice(shapes)() if random.random() < 0.35 else df.where(where)


def _applied(made: Program, loaded: Any, df: DataFrame) -> DataFrame:
    """The aggregation as a user writes it."""
    grouped = df.groupBy(*(k for k in made.keys.split(",") if k))
    if made.form != "series":
        return grouped.applyInPandas(loaded, made.returns)
    from pyspark.sql.pandas.functions import PandasUDFType, pandas_udf

    name, kind = made.returns.split(" ", 1)
    make: Callable[..., Any] = pandas_udf
    udf = make(loaded, kind, PandasUDFType.GROUPED_AGG)
    return grouped.agg(udf(*made.columns).alias(name))


@dataclass
class _Told:
    """What a comparison found: the filters on which the two differ, and the rows compared."""

    different: list[int]
    rows: int
    text: str = ""


def _compare(written: list[DataFrame], better: list[DataFrame]) -> _Told | None:
    """Run both, all filters together."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        original = _collected(written)
    except PySparkException:
        return None  # it raises as written: nothing to compare
    try:
        optimized = _collected(better)
    except (PySparkException, Py4JError) as e:
        return _Told(list(range(len(written))), 0, f"a new error: {str(e)[:2000]}")
    different = [j for j in range(len(written)) if original[j] != optimized[j]]
    text = "; ".join(f"{original[j]} became {optimized[j]}" for j in different)
    return _Told(different, sum(original.values(), Counter()).total(), text)


def _collected(frames: list[DataFrame]) -> dict[int, Counter[str]]:
    """The rows of every DataFrame, by one job."""
    from pyspark.sql import functions as F

    tagged = [df.withColumn("pair__", F.lit(j)) for j, df in enumerate(frames)]
    found: dict[int, Counter[str]] = {j: Counter() for j in range(len(frames))}
    for row in reduce(lambda a, b: a.unionAll(b), tagged).collect():
        *values, j = row
        found[j][repr([v.hex() if isinstance(v, float) else v for v in values])] += 1
    return found


def _count(tally: Tally, df: DataFrame, better: DataFrame, report: Report) -> None:
    for boundary in report.boundaries:
        tally.kinds[boundary.kind if better is not df else "none"] += 1
        tally.reasons.update(d.code for d in boundary.declined)
        tally.scans += bool(boundary.pushed_to_scan)
    if not report.boundaries:
        tally.kinds["no boundary"] += 1
