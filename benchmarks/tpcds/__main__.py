"""Untrusted. The queries of TPC-DS as they are and as presieve optimizes them: rows and plans.

    python -m benchmarks.tpcds [SCALE]

writes ``docs/tpcds.md`` and ``benchmarks/results/tpcds.md``, and exits with 1 where rows differ or
more of them are read than as written.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import presieve
from benchmarks.on_spark.parquet import default_directory
from benchmarks.on_spark.run import run
from benchmarks.tpcds import document
from benchmarks.tpcds.document import Row
from benchmarks.tpcds.tables import generated, queries
from benchmarks.tpch.scans import Scans, by_table
from presieve.backend.classic.gateway import ClassicGateway
from presieve.demo.demo_session import session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCALE = 0.1
SECONDS = 60.0


class Queries:
    """The queries over the tables of a folder, in a classic session."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self._spark = spark
        self._scans = Scans(ClassicGateway(spark))
        # Names of columns stand in double quotes.
        spark.conf.set("spark.sql.ansi.doubleQuotedIdentifiers", "true")
        for table in folder.glob("*.parquet"):
            spark.read.parquet(str(table)).createOrReplaceTempView(table.stem)

    def measured(self, number: int, text: str) -> Row:
        """A query in both forms. What is proved must not depend on how busy the machine is."""
        df = self._spark.sql(text)
        report = presieve.explain(df, cost="always", budget=SECONDS)
        better = presieve.optimize(df, cost="always", budget=SECONDS)
        (_, rows), (_, others) = run(df), run(better)
        before, after = (by_table(self._scans.of(d)) for d in (df, better))
        new = {t: found - before.get(t, Counter()) for t, found in after.items()}
        return Row(
            number,
            tuple(word for word, mark in _MARKS.items() if re.search(mark, text, re.IGNORECASE)),
            len(rows),
            rows == others,
            better is not df,
            tuple(f"{b.operator}: {b.prefilter}" for b in report.boundaries if b.kind != "none"),
            tuple(sorted(f"{t}: {c}" for t, found in new.items() for c in found)),
            tuple(sorted({d.code for b in report.boundaries for d in b.declined})),
            _scanned(report) if better is not df else (0, 0),
        )


def _scanned(report: presieve.Report) -> tuple[int, int]:
    """The rows out of all scans as written and as optimized."""
    measured = report.measure()
    return measured.written.scanned, measured.optimized.scanned


_MARKS = {"windows": r"\bover\s*\(", "ROLLUP": r"\brollup\b"}


def main(arguments: Sequence[str]) -> int:
    """Measure, compare and write."""
    scale = float(arguments[0]) if arguments else SCALE
    folder = generated(scale, default_directory())
    rows = []
    with session() as spark:
        tables = Queries(spark, folder)
        for number, text in queries().items():
            rows.append(tables.measured(number, text))
            print(rows[-1].line(), flush=True)
    document.write(rows, scale)
    return int(not all(row.equal and not row.reads_more for row in rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
