"""``python -m tests.cost.calibrate``: what a row costs Spark here, for ``presieve.cost.model``.

Nanoseconds that tasks and Python workers compute a row, each from the difference of two runs of the
same session. Absolute values are those of the machine; the model needs their ratios.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any

from tests.cost.measure import run
from tests.cost.tables import write
from tests.cost.udfs import best, top_two

from presieve.demo.demo_session import session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def nanoseconds(df: DataFrame, rows: int, repetitions: int) -> float:
    """What is computed a row, the first run apart: the least, as other work only adds to it."""
    run(df)
    return 1e9 * min(run(df)[0].computed for _ in range(repetitions)) / rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--python-rows", type=int, default=300_000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--data", type=Path, default=Path(gettempdir()) / "presieve-cost")
    options = parser.parse_args()
    large, small = (write(options.data, n) for n in (options.rows, options.python_rows))
    with session() as spark:
        import pyspark.sql.functions as F
        from pyspark.sql.pandas import functions

        pandas_udf: Any = functions.pandas_udf
        table, few = spark.read.parquet(str(large)), spark.read.parquet(str(small))

        def native(df: DataFrame) -> float:
            return nanoseconds(df, options.rows, options.repeat)

        def python(df: DataFrame) -> float:
            return nanoseconds(df, options.python_rows, options.repeat)

        def counted(condition: str) -> float:
            """A filter that drops nothing, below what counts rows."""
            kept = f"({condition}) OR n >= 0"
            return native(table.filter(kept).agg(F.count("n"))) - base

        base = native(table.filter("n >= 0").agg(F.count("n")))
        one = native(table.agg(F.max("n")))
        two = native(table.agg(F.max("n"), F.max("t")))
        grouped = native(table.groupBy("g").agg(F.max("n")))
        again = native(table.groupBy("g").agg(F.max("n"), F.min("n")))
        whole = python(few.groupBy("g").agg(pandas_udf(best, "double")("v")))
        pairs = few.select("g", "v").groupBy("g")
        loop = python(pairs.applyInPandas(top_two, "g bigint, first double, second double"))
        figures: dict[str, Callable[[], float]] = {
            "scan of a column": lambda: two - one,
            "max in groups, with the scan of the key": lambda: grouped - one,
            "a further aggregate": lambda: again - grouped,
            "check of a number": lambda: counted("n < -1 OR n < -2 OR n < -3 OR n < -4") / 4,
            "check of a text": lambda: counted("s < 'a' OR s < 'b' OR s < 'c' OR s < 'd'") / 4,
            "check of a decimal": lambda: counted("c < -1 OR c < -2 OR c < -3 OR c < -4") / 4,
            "exchange, and a Python function that does not loop": lambda: whole,
            "exchange, and a Python function that loops over rows": lambda: loop,
        }
        for name, figure in figures.items():
            print(f"{name}: {figure():.1f} ns")


if __name__ == "__main__":
    main()
