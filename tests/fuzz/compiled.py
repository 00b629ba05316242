"""Random functions of single rows on Spark: as written against as expressions."""

from __future__ import annotations

import datetime as dt
import importlib
import math
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JNetworkError
from tests.fuzz.rows import COLUMNS, HEAD, RAISES, RowFunction, make, result_of
from tests.fuzz.spark import session

from presieve.backend.open_plan import Reading
from presieve.driver.options import Options
from presieve.driver.stages.passes import Optimization
from presieve.driver.stages.pipeline import run_passes
from presieve.driver.stages.row_expressions import CompileDecision
from presieve.errors import Declined

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

BATCH = 20
_NAN, _INF = math.nan, math.inf
VALUES: dict[str, list[Any]] = {
    "i": [None, 0, 1, -1, 7, -8, 2**31 - 1, -(2**31), 100, 59],
    "h": [None, 0, 1, -1, 7, -8, 2**15 - 1, -(2**15), 12, 60],
    "n": [None, 0, 1, -1, 7, -8, 2**63 - 1, -(2**63), 2**53 + 1, -(2**53) - 1, 2**62, 10**12],
    "m": [0, 1, -1, 7, -8, 2**63 - 1, -(2**63), 86_400, 3],
    "x": [
        None,
        0.0,
        -0.0,
        1.0,
        -1.5,
        2.5,
        _NAN,
        _INF,
        -_INF,
        5e-324,
        1.7976931348623157e308,
        100.0,
    ],
    "y": [None, 0.0, -0.0, 1.0, 0.5, -2.0, _NAN, _INF, -_INF, 0.1, 1e16, 3.0],
    "s": [
        None,
        "",
        " ",
        "a",
        "ab",
        " a b ",
        "é",
        "e\u0301",
        "😀",
        "\u3000a",
        "a\tb",
        "abc",
        "A",
        "-12",
    ],
    "t": [None, "", "a", "b", "ba", "x", "-", "\x1fa", "zz", "\u200ba"],
    "d": [
        None,
        dt.date(1, 1, 1),
        dt.date(9999, 12, 31),
        dt.date(1969, 12, 31),
        dt.date(2024, 2, 29),
    ],
    "b": [None, True, False],
    "e": [None, [], [1], [7, None], [0, 1, 2], [-1], [2**31 - 1, 2**31 - 1]],
    "w": [None, [], ["a"], [None, "b"], ["", "a", "é"]],
    "k": [None, {}, {"a": 1}, {"a": None, "b": 7}, {"": 0}],
    "c": [
        None,
        dt.datetime(2024, 1, 1),
        dt.datetime(2023, 12, 31, 23, 59, 59),
        dt.datetime(2000, 2, 29, 12),
        dt.datetime(1970, 1, 1),
    ],
}
ROWS = 60


def rows(random: Random) -> list[dict[str, Any]]:
    """Every value of every column, in random company."""
    found: list[dict[str, Any]] = [{"id": i} for i in range(ROWS)]
    for name, values in VALUES.items():
        column = [*values, *random.choices(values, k=ROWS - len(values))]
        random.shuffle(column)
        for row, value in zip(found, column, strict=True):
            row[name] = value
    return found


def table(spark: SparkSession, data: Sequence[dict[str, Any]], folder: Path) -> DataFrame:
    """The rows as Parquet."""
    schema = ", ".join(["id int", *(f"{n} {t}" for n, t in COLUMNS.items())])
    values = [tuple(r.values()) for r in data]
    spark.createDataFrame(values, schema).coalesce(1).write.mode("overwrite").parquet(str(folder))
    return spark.read.parquet(str(folder))


@dataclass
class Tally:
    """What came of the functions. ``read``: how many call nothing unknown. ``wrong``: a source with
    what is wrong of it.
    """

    functions: int = 0
    read: int = 0
    compiled: int = 0
    raising: int = 0
    raising_compiled: int = 0
    declined: dict[str, int] = field(default_factory=dict)
    wrong: list[tuple[str, str]] = field(default_factory=list)

    def text(self) -> str:
        """For people."""
        most = sorted(self.declined.items(), key=lambda x: -x[1])[:12]
        return (
            f"{self.functions} functions, {self.read} of known calls, {self.compiled} compiled, "
            f"{self.raising} raise, of which {self.raising_compiled} compiled, "
            f"{len(self.wrong)} wrong; declined: " + ", ".join(f"{code} {n}" for code, n in most)
        )


@dataclass
class Fuzz:
    """Runs batches on a session. ``folder`` takes the modules of the functions."""

    spark: SparkSession
    folder: Path
    seed: int
    tally: Tally = field(default_factory=Tally)

    def batch(self, number: int, arrow: bool, size: int = BATCH) -> None:
        """One batch of functions on one table."""
        random = Random(f"{self.seed} {number}")
        made = [make(random, f"f{i}") for i in range(size)]
        data = rows(random)
        module = self._module(made, number)
        df = table(self.spark, data, self.folder / f"t{number}")
        where = {f.name: _failing(getattr(module, f.name), f, data, arrow) for f in made}
        columns = {f.name: self._column(module, f, arrow) for f in made}
        plain = [f for f in made if not where[f.name]]
        self.spark.conf.set("spark.sql.ansi.enabled", str(number % 4 < 2).lower())
        self.tally.functions += size
        self.tally.read += sum(f.is_read for f in made)
        self.tally.raising += size - len(plain)
        if plain:
            out = df.select("id", *(columns[f.name] for f in plain))
            self._compare(out, plain, f"batch {number}, arrow {arrow}")
        for f in made:
            if where[f.name]:
                self._raising(df, f, columns, where[f.name])

    def _module(self, made: Sequence[RowFunction], number: int) -> Any:
        name = f"rows_{self.seed}_{number}"
        text = HEAD + "\n\n" + "\n\n".join(f.source for f in made)
        (self.folder / f"{name}.py").write_text(text, encoding="utf-8")
        sys.path.insert(0, str(self.folder))
        importlib.invalidate_caches()
        try:
            module = importlib.import_module(name)
        finally:
            sys.path.remove(str(self.folder))
        from pyspark import cloudpickle

        cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]
        return module

    def _column(self, module: Any, f: RowFunction, arrow: bool) -> Any:
        from pyspark.sql.functions import udf

        made = udf(getattr(module, f.name), f.returns, useArrow=arrow)
        return made(*f.arguments).alias(f.name)

    def _compare(self, out: DataFrame, made: Sequence[RowFunction], label: str) -> None:
        better, decisions = optimized(out)
        self._count(decisions)
        expected, found = _collected(out), _collected(better)
        if isinstance(expected, str) or isinstance(found, str):
            if expected != found:
                self.tally.wrong.append((label, f"as written {expected}, compiled {found}"))
            return
        for f in made:
            for number, row in expected.items():
                if row[f.name] != found[number][f.name]:
                    text = next((d.text for d in decisions if d.site.outputs[0].name == f.name), "")
                    what = (
                        f"{label}, row {number}: {row[f.name]} is {found[number][f.name]}: {text}"
                    )
                    self.tally.wrong.append((f.source, what))
                    break

    def _raising(
        self, df: DataFrame, f: RowFunction, columns: dict[str, Any], failing: list[int]
    ) -> None:
        """On all rows it must raise; on those where it does not, it must give the same, be they
        filtered below it or above it.
        """
        out = df.select("id", columns[f.name])
        better, decisions = optimized(out)
        self._count(decisions)
        self.tally.raising_compiled += sum(d.verified is not None for d in decisions)
        if all(d.verified is None for d in decisions):
            return
        if not isinstance(_collected(better), str):
            self.tally.wrong.append((f.source, f"does not raise: {decisions[0].text}"))
        where = f"id NOT IN ({', '.join(map(str, failing))})"
        for good in (df.filter(where).select("id", columns[f.name]), out.filter(where)):
            self._compare(good, [f], f"rows where {f.name} does not raise")
        some = out.filter(f"id <> {failing[0]}" if len(failing) > 1 else "id >= 0")
        if not isinstance(_collected(optimized(some)[0]), str):
            self.tally.wrong.append((f.source, f"an error is lost below a filter on {where}"))

    def _count(self, decisions: Sequence[CompileDecision]) -> None:
        for d in decisions:
            self.tally.compiled += d.verified is not None
            if d.declined is not None:
                code = d.declined.code
                self.tally.declined[code] = self.tally.declined.get(code, 0) + 1


def optimized(df: DataFrame) -> tuple[DataFrame, tuple[CompileDecision, ...]]:
    """As ``optimize`` gives it, and what was decided."""
    job = Optimization(df, Options(compile="always"), Reading(at_once=True), time.perf_counter())
    applied = run_passes(job)
    if isinstance(applied, Declined):
        return df, ()
    return applied.df, applied.select(CompileDecision)


def _failing(
    function: Any, f: RowFunction, data: Sequence[dict[str, Any]], arrow: bool
) -> list[int]:
    """The rows on which Python raises, or Arrow."""
    results = ((r["id"], [r[a] for a in f.arguments]) for r in data)
    return [i for i, row in results if result_of(function, row, f.returns, arrow=arrow) is RAISES]


def _collected(df: DataFrame) -> dict[int, dict[str, str]] | str:
    """The rows by id, to the bit; or that Spark raises."""
    try:
        return {r["id"]: {n: repr(r[n]) for n in df.columns} for r in df.collect()}
    except Exception as error:
        if isinstance(error, Py4JNetworkError) or "OutOfMemoryError" in str(error):
            raise  # Spark is gone: nothing can be compared any more
        return "RAISES" if "rais" in str(error) or "Error" in str(error) else repr(error)


def run(functions: int, seed: int, seconds: float) -> int:
    """Exit code 0 where nothing was wrong, else 1."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        fuzz = Fuzz(session(folder), Path(folder), seed)
        for number in _numbers(functions):
            if time.monotonic() - started > seconds:
                break
            seen = len(fuzz.tally.wrong)
            fuzz.batch(number, arrow=number % 2 == 1)
            for source, what in fuzz.tally.wrong[seen:]:
                print(f"{source}\n{what}\n", file=sys.stderr, flush=True)
            print(fuzz.tally.text(), file=sys.stderr, flush=True)
    print(fuzz.tally.text())
    return 1 if fuzz.tally.wrong else 0


def _numbers(functions: int) -> Iterator[int]:
    yield from range(-(-functions // BATCH))
