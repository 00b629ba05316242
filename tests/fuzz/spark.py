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
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from tests.fuzz import aliases, filters, programs, references, settings, vectors
from tests.fuzz.execute import Row, Runner
from tests.fuzz.kinds import NUMBERS
from tests.fuzz.loading import MODULES, Loaded
from tests.fuzz.pairs import FILTERS
from tests.fuzz.programs import Program
from tests.fuzz.settings import PLAIN
from tests.fuzz.spark_tables import CHANGES, grouped_rows, single_rows, table, write
from tests.support.lifting import columns
from tests.support.spark_version import WITHOUT_REBASING

from presieve.driver.cache.disk import CACHE
from presieve.driver.fold_inputs import Inputs, read_inputs
from presieve.driver.optimize import explain, optimize
from presieve.errors import UsageError
from presieve.records import replace

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from presieve.report.report import Report

CONSTANT = "constant"
"""The code of the assumption that a global of a module is in workers what it is in the driver."""
BUDGET = 8.0
"""Seconds of search for one pipeline."""
PARSER_STATES = 20_000
"""States of Spark's SQL parser that are kept: about 200 MB. It learns from each new text and never
forgets; a thousand texts of large random functions fill the heap. Before Spark 4.1 it cannot.
"""
MAKERS: dict[str, Callable[[Random], Program]] = {
    "supported": programs.make,
    "vectors": vectors.make,
    "rows": vectors.make_rows,
    "aliases": aliases.make,
    "references": references.make,
}
SHARES = {"supported": 0.45, "vectors": 0.25, "rows": 0.12, "aliases": 0.1, "references": 0.08}


@dataclass
class Tally:
    """What the pairs came to."""

    kinds: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    forms: Counter[str] = field(default_factory=Counter)
    assumed: Counter[str] = field(default_factory=Counter)
    scans: int = 0
    compiled: int = 0
    raising: int = 0
    rows: int = 0
    excused: int = 0
    wrong: list[str] = field(default_factory=list)

    @property
    def pairs(self) -> int:
        """How many there were."""
        return self.kinds.total()

    @property
    def accepted(self) -> int:
        """How many of them were rewritten."""
        return self.pairs - self.kinds["none"] - self.kinds["no boundary"]


def session(folder: str) -> SparkSession:
    """A small local session."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    found = (
        SparkSession.builder.master("local[1]")
        .appName("presieve-fuzz")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", "1g")
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.sql.parser.manageParserCaches", "true")
        .config("spark.sql.parser.parserDfaCacheFlushThreshold", str(PARSER_STATES))
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.warehouse.dir", folder)
        .getOrCreate()
    )
    for name, value in WITHOUT_REBASING.items():
        found.conf.set(name, value)
    found.sparkContext.setLogLevel("OFF")
    return found


def run(pairs: int, seed: int, seconds: float, log: Path, asked: Asked, start: int = 0) -> int:
    """So many pairs on Spark, or as many as fit; exit code 0 where all results are equal."""
    os.environ[CACHE] = "off"  # what runs here are searches
    started = time.monotonic()
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        # Workers import the modules of programs from there.
        modules = Path(folder) / "modules"
        modules.mkdir()
        os.environ[MODULES] = str(modules)
        os.environ["PYTHONPATH"] = os.pathsep.join((str(modules), *filter(None, sys.path)))
        spark = session(folder)
        try:
            fold = start
            while tally.pairs < pairs and time.monotonic() - started < seconds:
                made, label = program(seed, fold), f"spark/{seed}/{fold}"
                (Path(folder) / str(fold)).mkdir()
                one = Fold(spark, made, label, Path(folder) / str(fold), asked)
                _fold(spark, seed, fold, tally, one)
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
        "forms": dict(sorted(tally.forms.items())),
        "reasons": dict(tally.reasons.most_common(10)),
        "assumed": dict(tally.assumed.most_common()),
        "with_scan_filters": tally.scans,
        "compiled": tally.compiled,
        "result_rows": tally.rows,
        "folds_that_raise": tally.raising,
        "changed_by_the_driver_as_is_told": tally.excused,
        "wrong": tally.wrong,
    }
    with log.open("a") as out:
        out.write(json.dumps(found) + "\n")
    print(json.dumps(found, indent=1), flush=True)
    print(
        f"fuzz on Spark: {tally.pairs} pairs in {found['seconds']} s, {len(tally.wrong)} wrong; "
        f"accepted {tally.accepted} ({100 * tally.accepted / max(tally.pairs, 1):.1f} %)",
        flush=True,
    )


def program(seed: int, fold: int) -> Program:
    """The program of a fold: a function of pandas, its columns nullable, its key a text."""
    for attempt in range(1000):
        random = Random(f"spark/{seed}/{fold}/{attempt}")
        made = MAKERS[random.choices(tuple(SHARES), tuple(SHARES.values()))[0]](random)
        if made.form != "class":
            # A Parquet file has nullable columns, and so has what a pandas UDF returns.
            schema, returns = (x.replace(" NOT NULL", "") for x in (made.schema, made.returns))
            made = replace(made, schema=schema, returns=returns)
            numbers = made.of_series and _of_numbers(made)
            if numbers and random.random() < 0.4:
                made = vectors.with_second(random, made)
            return made
    raise AssertionError("no program of pandas in a thousand")


def _of_numbers(made: Program) -> bool:
    """Whether the parameters of a function of Series are columns of numbers."""
    return all(c.type in NUMBERS for c in columns(made.schema) if c.name in made.columns)


@dataclass(frozen=True)
class Asked:
    """What is asked of ``optimize``: with declared ``facts`` and other policies, and whether
    functions are to ``compile``; then the function is also run without a filter.
    """

    facts: bool = False
    compile: bool = False


@dataclass
class Fold:
    """A fold on Spark: its program, where its files are, and what is asked of ``optimize``."""

    spark: SparkSession
    made: Program
    label: str
    folder: Path
    asked: Asked

    def __post_init__(self) -> None:
        self.random = Random(self.label)
        self.setting = PLAIN
        if self.asked.facts and not self.of_rows:
            self.setting = settings.make(Random(f"{self.label}/setting"), self.made)
        self.change = self.random.choice(CHANGES) if self.random.random() < 0.25 else None
        self.invalid = self.random if self.random.random() < 0.3 else None

    @property
    def of_rows(self) -> bool:
        """Whether the function gives back rows of its table."""
        return self.made.form in ("rows", "batches")

    @property
    def options(self) -> dict[str, Any]:
        """What ``optimize`` is told."""
        told = {"policy": self.setting.policy, "declare": self.setting.declare}
        compiled = "always" if self.asked.compile else "never"
        return told | {"budget": BUDGET, "cost": "always", "compile": compiled}

    def rows(self, load: Loaded) -> list[Row] | None:
        """Rows for the table; None where there are none, or the program does not lift."""
        made = self.made
        if self.of_rows:
            return single_rows(self.random, made)
        first = replace(made, returns=made.returns.split(", second ")[0])
        try:
            inputs = read_inputs(load.object, first.schema, first.returns, first.keys, first.mode)
        except UsageError:
            return None
        if not isinstance(inputs, Inputs):
            return None
        return grouped_rows(self.random, Runner(first, load.worker, inputs), self.setting) or None

    def source(self, rows: list[Row]) -> DataFrame:
        """The table, as files or by a name."""
        path = self.folder / "t"
        write(self.made, rows, path, self.invalid)
        if self.change is None:
            return self.spark.read.schema(self.made.schema).parquet(str(path))
        self.spark.sql(
            f"CREATE TABLE {self.name} ({self.made.schema}) USING parquet LOCATION '{path}'"
        )
        return self.spark.table(self.name)

    @property
    def name(self) -> str:
        """The table's name."""
        return f"t_{self.folder.name}"

    def changed(self, rows: list[Row]) -> None:
        """Let the files change, if they are to."""
        if self.change is not None:
            more = table(self.made, self.random.choices(rows, k=len(rows) // 2), self.invalid)
            self.change(self.spark, self.name, self.folder / "t", more)


def _fold(spark: SparkSession, seed: int, fold: int, tally: Tally, one: Fold) -> None:
    made, random = one.made, one.random
    load = Loaded(made, f"spark {seed}:{fold}")
    with load as loaded, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = one.rows(load)
        if rows is None:
            return
        base = _applied(made, loaded, _below(random, one.source(rows)))
        # The functions give no keys, so that filters on them have nothing to stand on.
        named = made if made.of_series else replace(made, keys="")
        wheres = [filters.make(Random(f"spark/{seed}/{fold}/{j}"), named) for j in range(FILTERS)]
        written = [_above(random, base, w) for w in wheres]
        if one.asked.compile:
            wheres, written = [*wheres, "true"], [*written, base]
        better = [optimize(df, **one.options) for df in written]
        constant = set()
        for j, (df, now) in enumerate(zip(written, better, strict=True)):
            report = explain(df, **one.options)
            _count(tally, made, now is not df, report)
            if any(d.code == "internal" for b in report.boundaries for d in b.declined):
                tally.wrong.append(f"spark seed {seed} fold {fold} filter {wheres[j]!r}: an error")
            if made.module and CONSTANT in {
                a["code"] for b in report.boundaries for a in b.assumptions
            }:
                constant.add(j)
        one.changed(rows)
        told = _compare(written, better)
    if told is None:
        tally.raising += 1
        return
    tally.rows += told.rows
    for j in told.different:
        if j in constant:
            tally.excused += 1
            continue
        how = one.change.__name__ if one.change else "no change"
        pair = f"spark seed {seed} fold {fold} filter {wheres[j]!r} {one.setting} {how}"
        tally.wrong.append(f"{pair}: {told.different[j]}")
        text = f"{tally.wrong[-1]}\n{made.source}\n{made.patch}\n{made.schema}"
        print(text, file=sys.stderr, flush=True)


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
    if made.form == "batches":
        return df.mapInPandas(loaded, made.returns)
    if made.form == "rows":
        return df.groupBy("g").applyInPandas(loaded, made.returns)
    grouped = df.groupBy(*(k for k in made.keys.split(",") if k))
    if not made.of_series:
        return grouped.applyInPandas(loaded, made.returns)
    from pyspark.sql.pandas.functions import PandasUDFType, pandas_udf

    make: Callable[..., Any] = pandas_udf
    calls = []
    for column in columns(made.returns):
        function = loaded.__globals__[vectors.SECOND] if column.name == "second" else loaded
        udf = make(function, column.type, PandasUDFType.GROUPED_AGG)
        calls.append(udf(*made.columns).alias(column.name))
    return grouped.agg(*(calls if len(made.source) % 2 else reversed(calls)))


@dataclass
class _Told:
    """What a comparison found: the filters on which the two differ, and how; the rows compared."""

    different: dict[int, str]
    rows: int


def _compare(written: list[DataFrame], better: list[DataFrame]) -> _Told | None:
    """Run both, all filters together."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        original = _collected(written)
    except (PySparkException, Py4JError):
        return None  # it raises as written: nothing to compare
    try:
        optimized = _collected(better)
    except (PySparkException, Py4JError) as e:
        error = f"a new error: {str(e)[:2000]}"
        return _Told(dict.fromkeys(range(len(written)), error), 0)
    different = {
        j: f"{original[j]} became {optimized[j]}"
        for j in range(len(written))
        if original[j] != optimized[j]
    }
    return _Told(different, sum(original.values(), Counter()).total())


def _collected(frames: list[DataFrame]) -> dict[int, Counter[str]]:
    """The rows of every DataFrame, by one job, or by one each where Spark cannot merge them."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException
    from pyspark.sql import functions as F

    # Texts are compared by their bytes: what is no UTF-8 would be shown as one and the same.
    tagged = [
        df.select(
            *(F.col(f"`{n}`").cast("binary") if t == "string" else f"`{n}`" for n, t in df.dtypes),
            F.lit(j).alias("pair__"),
        )
        for j, df in enumerate(frames)
    ]
    try:
        rows = reduce(lambda a, b: a.unionAll(b), tagged).collect()
    except (PySparkException, Py4JError) as e:
        if "UnevaluableAggregateFunc" not in str(e):
            raise
        rows = [row for df in tagged for row in df.collect()]
    found: dict[int, Counter[str]] = {j: Counter() for j in range(len(frames))}
    for row in rows:
        *values, j = row
        found[j][repr([v.hex() if isinstance(v, float) else v for v in values])] += 1
    return found


def _count(tally: Tally, made: Program, changed: bool, report: Report) -> None:
    for boundary in report.boundaries:
        tally.kinds[boundary.kind if changed else "none"] += 1
        tally.forms[f"{made.form} {'accepted' if changed else 'not accepted'}"] += 1
        tally.reasons.update(d.code for d in boundary.declined)
        tally.assumed.update(a["code"] for a in boundary.assumptions if changed)
        tally.scans += bool(boundary.pushed_to_scan)
    tally.compiled += any(f.compiled for f in report.functions)
    if not report.boundaries:
        tally.kinds["no boundary"] += 1
