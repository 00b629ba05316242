"""The answers' SQL on Spark: what it says of each row and output is what the interpreter says.

The groups of a run are judged by the reference interpreter. Here every pre-filter is evaluated by
Spark on the rows of those groups, every filter and residual on the outputs that were met.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any

from tests.differential.trial import Trial
from tests.fuzz.execute import Row
from tests.fuzz.kinds import value_sort
from tests.support.lifting import columns

from presieve.ir.terms import Scope, Term
from presieve.semantics.interpret import evaluate
from presieve.semantics.values import Value, to_python

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = 1500
"""Of one family, at most; so many outputs, too."""


@dataclass
class Compared:
    """How many conditions on how many rows, each once, and where Spark says something else."""

    conditions: int = 0
    rows: int = 0
    values: int = 0
    failures: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Condition:
    """SQL, as the public surface gives it, and what it is read as."""

    label: str
    text: str
    term: Term


def compare(spark: SparkSession, trials: Sequence[Trial], told: Compared, random: Random) -> None:
    """The conditions of some benchmarks that were run, those with the same schemas together."""
    schemas = {(t.benchmark.schema, t.benchmark.returns) for t in trials}
    for schema, returns in sorted(schemas):
        here = [t for t in trials if (t.benchmark.schema, t.benchmark.returns) == (schema, returns)]
        rows = {x: row for t in here for x, row in zip(t.pool.texts, t.pool.rows, strict=True)}
        below = [
            Condition(f"pre-filter of {t}", t.answer.prefilter, t.pushed.prefilter) for t in here
        ]
        _compare(spark, schema, _some(rows, random), below, Scope.ROW, told)
        names = [c.name for c in columns(returns)]
        outputs = {
            repr(o): dict(zip(names, o, strict=True)) for t in here for o in t.python.outputs()
        }
        above = [Condition(f"filter of {t}", t.benchmark.filter.where, t.where) for t in here]
        above += [Condition(f"residual of {t}", t.answer.residual, t.pushed.residual) for t in here]
        _compare(spark, returns, _some(outputs, random), above, Scope.OUT, told)


def _some(rows: dict[str, Row], random: Random) -> list[Row]:
    return random.sample(list(rows.values()), min(ROWS, len(rows)))


def _compare(
    spark: SparkSession,
    schema: str,
    rows: Sequence[Row],
    conditions: Sequence[Condition],
    scope: Scope,
    told: Compared,
) -> None:
    different = {c.text: c for c in conditions}
    sorts = {c.name: value_sort(c.type) for c in columns(schema)}
    plain = [tuple(to_python(v, sorts[n]) for n, v in row.items()) for row in rows]
    nullable = schema.replace(" NOT NULL", "")
    df = spark.createDataFrame(plain, nullable).coalesce(1)
    texts = [f"({text}) AS c{i}" for i, text in enumerate(different)]
    found: list[Any] = df.selectExpr(*texts).collect()
    told.conditions += len(different)
    told.rows += len(rows)
    for row, answers in zip(rows, found, strict=True):
        env: dict[tuple[Scope, str], Value] = {(scope, n): v for n, v in row.items()}
        for answer, condition in zip(answers, different.values(), strict=True):
            told.values += 1
            meant = evaluate(condition.term, env)
            if meant is not answer:
                told.failures.append(
                    f"{condition.label}, {condition.text}: {meant}, Spark {answer} on {row}"
                )


def run(families: Iterable[Sequence[Trial]], seed: int) -> Compared:
    """All families, on a local session of its own."""
    from tests.fuzz.spark import session

    told = Compared()
    with tempfile.TemporaryDirectory() as folder:
        spark = session(folder)
        for trials in families:
            compare(spark, trials, told, Random(seed))
        spark.stop()
    return told
