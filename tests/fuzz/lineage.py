"""Random pipelines, and whether their lineage is right, by brute force.

A pipeline runs over many small databases at once: each row has the number of its database, by
which every group, window and join is divided as well. The databases are the whole one, the one of
the rows that the lineage names, the whole one without each of its rows, each row alone, and none.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import pandas as pd

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Row: TypeAlias = tuple[int, int | None, int | None]
"""Number, key and value."""

Database: TypeAlias = dict[str, list[Row]]

Result: TypeAlias = Counter[tuple[object, ...]]

WHOLE, NEEDED, NOTHING = 0, 1, 2
"""Numbers of databases; those with one row less, and with one row, follow."""

SCHEMA = "i int, k int, v int"


@dataclass(slots=True)
class Tally:
    pipelines: int = 0
    sources: int = 0
    exact: int = 0
    filtered: int = 0
    rows: int = 0
    needed: int = 0
    steps: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def text(self) -> str:
        return (
            f"{self.pipelines} pipelines, {self.sources} sources, {self.filtered} with a filter,"
            f" {self.exact} exact, {self.needed} of {self.rows} rows needed,"
            f" {len(self.wrong)} wrong; {dict(self.steps)}"
        )


@dataclass(frozen=True, slots=True)
class Place:
    """Where a step is applied: the sources, and the columns that divide databases."""

    sources: dict[str, DataFrame]
    by: tuple[str, ...]
    random: random.Random


Step: TypeAlias = Callable[[Place, "DataFrame"], "DataFrame"]
"""From columns k and v to columns k and v."""


def _rows_over(place: Place, df: DataFrame) -> DataFrame:
    return df.where(f"{place.random.choice('kv')} > {place.random.randint(0, 3)}")


def _computed(place: Place, df: DataFrame) -> DataFrame:
    new = place.random.choice(("v + 1", "coalesce(v, 0)", "k - v", "CASE WHEN v > 2 THEN v END"))
    return df.selectExpr(*place.by, "k", f"{new} AS v")


def _swapped(place: Place, df: DataFrame) -> DataFrame:
    return df.selectExpr(*place.by, "v AS k", "k AS v")


def _aggregated(place: Place, df: DataFrame) -> DataFrame:
    from pyspark.sql import functions as F

    call = place.random.choice(("max(v)", "min(v)", "count(*)", "sum(v)", "count(v)"))
    return df.groupBy(*place.by, "k").agg(F.expr(call).cast("int").alias("v"))


def _folded(place: Place, df: DataFrame) -> DataFrame:
    from pyspark.sql.pandas.functions import pandas_udf

    function = pandas_udf("int")(place.random.choice((_over, _largest)))  # type: ignore[call-overload]
    filled = df.selectExpr(*place.by, "k", "coalesce(v, 0) AS v")
    return filled.groupBy(*place.by, "k").agg(function("v").alias("v"))


def _over(v: pd.Series) -> int:
    count = 0
    for x in v:
        if x > 2:
            count += 1
    return count


def _largest(v: pd.Series) -> int:
    return v.max()  # type: ignore[no-any-return]


def _ranked(place: Place, df: DataFrame) -> DataFrame:
    by = ", ".join((*place.by, "k"))
    call = place.random.choice(("rank() OVER (PARTITION BY {} ORDER BY v)",
                                "max(v) OVER (PARTITION BY {})",
                                "count(*) OVER (PARTITION BY {} ORDER BY v)"))  # fmt: skip
    return df.selectExpr(*place.by, "k", f"CAST({call.format(by)} AS INT) AS v")


def _joined(place: Place, df: DataFrame) -> DataFrame:
    from pyspark.sql import functions as F

    other = place.sources[place.random.choice("AB")]
    kind = place.random.choice(("inner", "left", "right", "full", "left_semi", "left_anti"))
    other = other.selectExpr(*(f"{b} AS {b}2" for b in place.by), "k AS k2", "v AS v2")
    same = F.expr(" AND ".join(f"{b} = {b}2" for b in (*place.by, "k")))
    joined = df.join(other, same, kind)
    if kind in ("left_semi", "left_anti"):
        return joined
    merged = [f"coalesce({b}, {b}2) AS {b}" for b in (*place.by, "k")]
    return joined.selectExpr(*merged, "coalesce(v, v2) AS v")


def _with_more(place: Place, df: DataFrame) -> DataFrame:
    other = place.sources[place.random.choice("AB")].select(*place.by, "k", "v")
    return df.unionByName(other)


def _distinct(_: Place, df: DataFrame) -> DataFrame:
    return df.distinct()


def _without_others(place: Place, df: DataFrame) -> DataFrame:
    other = place.sources["B"].select(*place.by, "k", "v")
    return df.subtract(other) if place.random.random() < 0.5 else df.intersect(other)


STEPS: tuple[Step, ...] = (
    *(_rows_over, _computed, _swapped, _aggregated, _aggregated, _folded, _ranked, _ranked),
    *(_joined, _joined, _with_more, _distinct, _without_others),
)

WHERE = ("k = 1", "k IN (1, 2)", "v > 2", "v > 1 AND k < 3", "k IS NULL", "v = 3 OR k = 2", "v < 2")


def _pipeline(place: Place, tally: Tally | None = None) -> DataFrame:
    """The same one for equal random numbers."""
    df = place.sources[place.random.choice("AAAB")].select(*place.by, "k", "v")
    for _ in range(place.random.randint(1, 3)):
        step = place.random.choice(STEPS)
        if tally is not None:
            tally.steps[step.__name__.strip("_")] += 1
        df = step(place, df)
    return df


def _random_rows(rng: random.Random, count: int) -> list[Row]:
    def value() -> int | None:
        return None if rng.random() < 0.12 else rng.randint(0, 4)

    return [(i, value(), value()) for i in range(count)]


def one(spark: SparkSession, seed: int, tally: Tally) -> None:
    """One pipeline and one condition over random rows."""
    import presieve

    rng = random.Random(seed)
    rows: Database = {"A": _random_rows(rng, 6), "B": _random_rows(rng, 4)}
    where = rng.choice(WHERE)
    sources = {name: _local(spark, found, SCHEMA) for name, found in rows.items()}
    df = _pipeline(Place(sources, (), random.Random(seed)), tally)
    found = presieve.lineage(df, where, policy="strict" if seed % 3 == 0 else "default")
    needed: dict[str, set[int]] = {"A": set(), "B": set()}
    exact: dict[str, bool] = {}
    for source in found.sources:
        name = next(n for n, s in sources.items() if _is_of(s, source.dataframe))
        needed[name] |= {r.i for r in source.dataframe.collect()}
        exact[name] = source.exact
        tally.sources += 1
        tally.exact += source.exact
        tally.filtered += source.filter != "true"
        tally.rows += len(rows[name])
        tally.needed += len(needed[name])
    tally.pipelines += 1
    told = f"seed {seed}, {where}:\n{found}\n{rows}"
    databases = _databases(rows, needed)
    found_rows = _results(spark, list(databases.values()), seed, where)
    results = dict(zip(databases, found_rows, strict=True))
    tally.wrong += [f"{why}: {told}" for why in _wrong(results, rows, needed)]
    idle = [
        (name, row)
        for name, own in rows.items()
        if exact.get(name)
        for row in own
        if row[0] in needed[name] and not _matters(results, name, row[0])
    ]
    for name, (i, *_) in never_mattering(spark, seed, where, idle):
        tally.wrong.append(f"row {i} of {name} does not matter: {told}")


def _is_of(source: DataFrame, rows: DataFrame) -> bool:
    """Whether rows are some of a source, by its column with a name of its own."""
    one, other = (
        df._jdf.queryExecution().analyzed().collectLeaves().head() for df in (source, rows)
    )
    return bool(one.sameResult(other))


def _local(spark: SparkSession, rows: Sequence[tuple[object, ...]], schema: str) -> DataFrame:
    """Rows in the plan itself."""
    columns = [part.split() for part in schema.split(", ")]
    names = ", ".join(name for name, _ in columns)
    if not rows:
        nothing = ", ".join(f"CAST(NULL AS {kind}) AS {name}" for name, kind in columns)
        return spark.sql(f"SELECT {nothing} WHERE 1 = 0")
    values = ", ".join(
        "(" + ", ".join("CAST(NULL AS INT)" if x is None else str(x) for x in row) + ")"
        for row in rows
    )
    return spark.sql(f"SELECT * FROM VALUES {values} AS t({names})")


def _databases(rows: Database, needed: dict[str, set[int]]) -> dict[object, Database]:
    """By what tells them apart."""
    found: dict[object, Database] = {
        WHOLE: rows,
        NEEDED: {n: [r for r in rs if r[0] in needed[n]] for n, rs in rows.items()},
        NOTHING: {n: [] for n in rows},
    }
    for name, own in rows.items():
        for row in own:
            rest = [r for r in own if r is not row]
            found["without", name, row[0]] = {**rows, name: rest}
            found["alone", name, row[0]] = {n: [row] if n == name else [] for n in rows}
    return found


TRIES = (40, 400, 2_000)
"""Databases in which a row may matter, if it does neither in the one at hand nor alone: so many at
first, and more for the few rows that are left. Of a row ``(NULL, 4)`` a maximum wants another row
without a key, and that one to be smaller: 40 databases miss it once in some thousand pipelines.
"""


def never_mattering(
    spark: SparkSession, seed: int, where: str, idle: Sequence[tuple[str, Row]]
) -> list[tuple[str, Row]]:
    """The rows that change no result in random databases either: exact is a claim that each of them
    matters in some database.
    """
    rng = random.Random(seed)
    left = list(idle)
    for tries in TRIES:
        left = [
            row for row in left if not _matters_somewhere(spark, rng, tries, (seed, where, row))
        ]
    return left


def _matters_somewhere(
    spark: SparkSession, rng: random.Random, tries: int, case: tuple[int, str, tuple[str, Row]]
) -> bool:
    """Whether a row changes the result in one of some random databases."""
    seed, where, (name, row) = case
    others = [_companions(rng, row) for _ in range(tries)]
    added = [{**other, name: [row, *other[name]]} for other in others]
    results = _results(spark, [*others, *added], seed, where)
    return results[:tries] != results[tries:]


def _companions(rng: random.Random, row: Row) -> Database:
    """A few rows, many of them with the key or the value of a row."""
    _, key, value = row

    def other(i: int) -> Row:
        ((_, k, v),) = _random_rows(rng, 1)
        return (i, key if rng.random() < 0.6 else k, value if rng.random() < 0.3 else v)

    return {name: [other(i) for i in range(10, 10 + rng.randint(0, 3))] for name in "AB"}


def _matters(results: dict[object, Result], name: str, i: int) -> bool:
    """Whether a result is another one without the row, or there is one of the row alone."""
    there = results["without", name, i] != results[WHOLE]
    return there or results["alone", name, i] != results[NOTHING]


def _wrong(
    results: dict[object, Result], rows: Database, needed: dict[str, set[int]]
) -> Iterator[str]:
    """What is wrong about a lineage, by the results of the databases."""
    if results[WHOLE] != results[NEEDED]:
        yield "the rows named do not give the same"
    for name, own in rows.items():
        for i, *_ in own:
            matters = results["without", name, i] != results[WHOLE]
            if matters and i not in needed[name]:
                yield f"row {i} of {name} is missing"


def _results(
    spark: SparkSession, databases: Sequence[Database], seed: int, where: str
) -> list[Result]:
    """The chosen rows of each database."""
    sources = {
        name: _local(
            spark,
            [(number, *row) for number, database in enumerate(databases) for row in database[name]],
            f"d int, {SCHEMA}",
        )
        for name in ("A", "B")
    }
    df = _pipeline(Place(sources, ("d",), random.Random(seed))).where(where)
    found: dict[int, Result] = defaultdict(Counter)
    for row in df.select("d", "k", "v").collect():
        found[row.d][row.k, row.v] += 1
    return [found[number] for number in range(len(databases))]


def run(count: int, seed: int, seconds: float) -> int:
    """Exit code 0 where nothing was wrong, else 1."""
    import tempfile

    from tests.fuzz.spark import session

    tally, started = Tally(), time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        spark = session(folder)
        for number in range(count):
            one(spark, seed * 1_000_003 + number, tally)
            if (number + 1) % 100 == 0:
                print(tally.text(), file=sys.stderr, flush=True)
            if time.monotonic() - started > seconds:
                break
        spark.stop()
    for text in tally.wrong:
        print(text)
    print(tally.text())
    return 1 if tally.wrong else 0
