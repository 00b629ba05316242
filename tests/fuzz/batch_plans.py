"""Random functions of batches and columns on Spark, with filters above: as written and as
``presieve.optimize`` gives them, over files of two writers with NULL, NaN and extremes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from tests.fuzz.batch_functions import COLUMNS, BatchFunction, make
from tests.fuzz.batches import VALUES, loaded
from tests.fuzz.comparing import Tally, compare, run_plans, unless_guarded
from tests.support.lifting import arrow_type

import presieve

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FUNCTIONS_OF_A_TABLE = 40
ROWS = 60
CONSTANTS = {
    "int": ("0", "1", "7", "-1", "2147483647"),
    "bigint": ("0", "1", "7", "-1", "1000", "9007199254740993"),
    "double": ("0.0D", "1.0D", "2.5D", "-1.5D", "double('NaN')", "1e16D"),
    "string": ("''", "'a'", "'-'", "'ab'", "'big'", "'x'"),
    "date": ("DATE '2024-02-29'", "DATE '1970-01-01'"),
    "timestamp_ntz": ("TIMESTAMP_NTZ '2024-02-29 12:00:00'",),
}


def condition(random: Random, columns: dict[str, str]) -> str:
    """One or two conditions on the columns of the result."""
    return " AND ".join(_condition(random, columns) for _ in range(random.choice((1, 1, 2))))


def _condition(random: Random, columns: dict[str, str]) -> str:
    name = "r" if random.random() < 0.6 else random.choice(sorted(columns))
    if random.random() < 0.2:
        return f"{name} IS {random.choice(('NULL', 'NOT NULL'))}"
    if columns[name] == "boolean":
        return random.choice((name, f"NOT {name}"))
    constant = random.choice(CONSTANTS[columns[name]])
    compared = f"{name} {random.choice(('=', '<', '>', '<=', '>=', '<>', '<=>'))} {constant}"
    return random.choice(
        (compared, compared, f"NOT ({compared})", f"({compared} OR {name} IS NULL)")
    )


@dataclass
class Fuzz:
    """Runs functions on a session, with tables in a folder."""

    spark: SparkSession
    folder: Path
    seed: int
    tally: Tally = field(default_factory=lambda: Tally("functions of batches"))
    table: tuple[int, DataFrame] | None = None

    def one(self, index: int) -> None:
        """The function of an index, with a filter: default options, and left in Python."""
        random = Random(f"batch plans/{self.seed}/{index}")
        made = make(random, "f")
        function = loaded(made, f"<batch plans {self.seed} {index}>")
        df, columns = applied(random, made, function, self._table(index))
        where = condition(random, columns)
        written = df.where(where)
        forms: dict[str, Callable[[], DataFrame]] = {
            "default options": lambda: presieve.optimize(written, cost="always"),
            "compile=never": lambda: presieve.optimize(written, cost="always", compile="never"),
        }
        found = unless_guarded(compare(written, forms), written)
        self.tally.add(
            found, f"seed {self.seed} index {index}\n{made.source}{made.returns} {where}"
        )

    def _table(self, index: int) -> DataFrame:
        number = index // FUNCTIONS_OF_A_TABLE
        if self.table is None or self.table[0] != number:
            path = self.folder / f"{number}.parquet"
            write(Random(f"batch tables/{self.seed}/{number}"), self.spark, path)
            self.table = (number, self.spark.read.parquet(str(path)))
        return self.table[1]


def applied(
    random: Random, made: BatchFunction, function: Any, table: DataFrame
) -> tuple[DataFrame, dict[str, str]]:
    """The function on a table, and the columns that come of it with their types."""
    from pyspark.sql.pandas.functions import pandas_udf

    taken = {c: COLUMNS[c] for c in made.columns}
    if made.form == "columns":
        as_udf: Any = pandas_udf
        columns = as_udf(function, made.returns)(*made.columns)
        return table.select("id", *made.columns, columns.alias("r")), {**taken, "r": made.returns}
    types = dict(c.split(" ") for c in made.returns.split(", "))
    chosen = table.select(*made.columns)
    if made.form == "map":
        return chosen.mapInPandas(function, made.returns), types
    key = random.choice(made.columns)
    return chosen.groupBy(key).applyInPandas(function, made.returns), types


def write(random: Random, spark: SparkSession, path: Path) -> None:
    """A table of all columns in small row groups; a third of the columns has no NULL, and two
    thirds of the tables no integer at which arithmetic raises.
    """
    whole = {c for c in COLUMNS if c == "m" or random.random() < 0.3}
    values = {c: [v for v in VALUES[c] if v is not None or c not in whole] for c in COLUMNS}
    if random.random() < 0.67:
        for c in ("i", "n", "m"):
            values[c] = [v for v in values[c] if v is None or abs(v) < 1000]
    data = {c: [random.choice(values[c]) for _ in range(ROWS)] for c in COLUMNS}
    arrays = {"id": pa.array(range(ROWS), pa.int64())}
    arrays |= {c: pa.array(data[c], arrow_type(COLUMNS[c])) for c in COLUMNS}
    if random.random() < 0.5:
        pq.write_table(pa.table(arrays), path, row_group_size=8)
        return
    other = path.with_suffix(".other")
    pq.write_table(pa.table(arrays), other)
    spark.read.parquet(str(other)).sortWithinPartitions("x").coalesce(1).write.option(
        "parquet.block.size", 1024
    ).parquet(str(path))


def run(functions: int, seed: int, seconds: float, start: int = 0) -> int:
    """So many functions, or as many as fit; exit code 0 where nothing was wrong, else 1."""
    return run_plans(
        lambda spark, folder: Fuzz(spark, folder, seed),
        range(start, start + functions),
        seconds,
        {"spark.sql.execution.arrow.maxRecordsPerBatch": "7"},
    )
