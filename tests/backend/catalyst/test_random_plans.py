"""Random plans over Spark's own aggregates: as written and as optimized, the same rows.

``RANDOM_PLANS`` in the environment says how many, ``RANDOM_PLANS_SEED`` which.
"""

from __future__ import annotations

import os
from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.games.tables import Tables

from presieve.driver.optimize import explain, optimize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PLANS = int(os.environ.get("RANDOM_PLANS", "30"))
SEED = int(os.environ.get("RANDOM_PLANS_SEED", "1"))
AGGREGATES = ("max(v)", "min(v)", "count(v)", "max(score)", "max(level)", "count(*)", "sum(v)")
CONSTANTS: dict[str, tuple[str, ...]] = {
    "bigint": ("0", "1", "2", "11", "40"),
    "double": ("0.0D", "91.0D", "-3.0D", "double('nan')"),
    "string": ("'a'", "'error'", "'info'", "''"),
}


class Plans:
    """A random plan, and in words how it was made."""

    def __init__(self, random: Random, tables: Tables, other: DataFrame) -> None:
        self.random, self.other = random, other
        self.base = random.choice([tables.plain, tables.strange, tables.strange, tables.empty])
        self.words: list[str] = []
        self.made = 0

    def plan(self) -> DataFrame:
        df = self.aggregated(self.base)
        for _ in range(self.random.randint(1, 4)):
            df = self.random.choice(
                (
                    *(self.filtered, self.filtered, self.joined, self.joined, self.union),
                    *(self.window, self.distinct, self.sorted, self.limited),
                    *(self.projected, self.again),
                )
            )(df)
        return self.filtered(df)

    def columns(self, df: DataFrame) -> list[tuple[str, str]]:
        return [(n, t) for n, t in df.dtypes if t in CONSTANTS]

    def name(self) -> str:
        self.made += 1
        return f"c{self.made}"

    def say(self, word: str, df: DataFrame) -> DataFrame:
        self.words.append(word)
        return df

    def aggregated(self, df: DataFrame) -> DataFrame:
        from pyspark.sql import functions as F

        texts = self.random.sample(AGGREGATES, self.random.randint(1, 2))
        key = self.random.choice(["team", "team", "level"])
        found = [F.expr(t).alias(self.name()) for t in texts]
        return self.say(f"{texts} by {key}", df.groupBy(key).agg(*found))

    def condition(self, df: DataFrame) -> str:
        name, type_ = self.random.choice(self.columns(df))
        op = self.random.choice([">", ">=", "=", "<", "<>", "<=>"])
        text = f"{name} {op} {self.random.choice(CONSTANTS[type_])}"
        return self.random.choice(
            [text, text, text, f"NOT ({text})", f"{name} IS NULL", f"({text} OR {name} IS NULL)"]
        )

    def filtered(self, df: DataFrame) -> DataFrame:
        parts = [self.condition(df) for _ in range(self.random.randint(1, 2))]
        text = self.random.choice([" AND ", " AND ", " OR "]).join(parts)
        return self.say(f"filter {text}", df.filter(text))

    def joined(self, df: DataFrame) -> DataFrame:
        from pyspark.sql import functions as F

        strings = [n for n, t in df.dtypes if t == "string"]
        if not strings:
            return df
        key, name = self.random.choice(strings), self.name()
        other = self.random.choice([self.other, self.aggregated(self.base)])
        right = other.toDF(*[name, *[self.name() for _ in other.columns[1:]]])
        on = F.expr(f"{key} = {name}")
        if self.random.random() < 0.5:
            on = on & F.expr(self.condition(self.random.choice([df, right])))
        how = self.random.choice(["inner", "left", "right", "full", "semi", "anti"])
        left, right = (df, right) if self.random.random() < 0.6 else (right, df)
        return self.say(f"{how} join", left.join(right, on, how))

    def union(self, df: DataFrame) -> DataFrame:
        return self.say("union", df.union(df) if self.random.random() < 0.5 else df.unionAll(df))

    def window(self, df: DataFrame) -> DataFrame:
        from pyspark.sql import functions as F
        from pyspark.sql.window import Window

        by = self.random.choice(df.columns)
        one = self.random.choice([F.count("*"), F.max(self.random.choice(df.columns))])
        over = one.over(Window.partitionBy(by))
        return self.say(f"window by {by}", df.withColumn(self.name(), over))

    def distinct(self, df: DataFrame) -> DataFrame:
        return self.say("distinct", df.distinct())

    def sorted(self, df: DataFrame) -> DataFrame:
        return self.say("sort", df.orderBy(*df.columns))

    def limited(self, df: DataFrame) -> DataFrame:
        return self.say("sort, limit", df.orderBy(*df.columns).limit(3))

    def projected(self, df: DataFrame) -> DataFrame:
        kept = self.random.sample(df.columns, self.random.randint(1, len(df.columns)))
        name, condition = self.name(), self.condition(df)
        columns = [*(f"{c} AS {self.name()}" for c in kept), f"{condition} AS {name}"]
        return self.say("project", df.selectExpr(*columns))

    def again(self, df: DataFrame) -> DataFrame:
        from pyspark.sql import functions as F

        key, read = self.random.choice(df.columns), self.random.choice(df.columns)
        how = self.random.choice([F.count, F.max, F.min])
        return self.say(f"again by {key}", df.groupBy(key).agg(how(read).alias(self.name())))


def rows(df: DataFrame) -> Counter[str]:
    return Counter(map(repr, df.collect()))


@pytest.fixture(scope="module")
def other(spark: SparkSession) -> DataFrame:
    rows: list[Any] = [("a", 1), ("a", None), ("b", 2), ("error", 3), (None, 4), ("x", 11)]
    return spark.createDataFrame(rows, "word string, size bigint")


def test_random_plans(spark: SparkSession, tables: Tables, other: DataFrame) -> None:
    changed = again = 0
    for number in range(PLANS):
        plans = Plans(Random(f"{SEED} {number}"), tables, other)
        df = plans.plan()
        better = optimize(df)
        if better is df:
            continue
        changed += 1
        told = f"plan {number} of seed {SEED}: {plans.words}\n{explain(df)}"
        assert better.schema == df.schema, told
        assert rows(better) == rows(df), told
        again += optimize(better) is not better
    assert again <= PLANS // 10, "what is optimized mostly stays as it is"
    assert changed > PLANS // 10
